//! What an answer costs, given prices.

use chitin_protocol::message::{CostShares, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// US dollars per million tokens, by kind of token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenPrices {
    /// For what is sent fresh.
    pub input: f64,
    /// For what is answered.
    pub output: f64,
    /// For what comes from the cache.
    pub cache_read: f64,
    /// For what is put into the cache.
    pub cache_write: f64,
}

impl TokenPrices {
    /// Returns what some usage costs.
    pub fn cost(&self, usage: &Usage) -> CostShares {
        let input = share(usage.input, self.input);
        let output = share(usage.output, self.output);
        let cache_read = share(usage.cache_read, self.cache_read);
        let cache_write = share(usage.cache_write, self.cache_write);
        CostShares {
            input,
            output,
            cache_read,
            cache_write,
            total: input + output + cache_read + cache_write,
        }
    }

    /// Writes the cost into the usage.
    pub fn apply(&self, usage: &mut Usage) {
        usage.cost = self.cost(usage);
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no answer has as many tokens as a float is unable to count"
)]
fn share(tokens: u64, price: f64) -> f64 {
    tokens as f64 * price / 1_000_000.0
}
