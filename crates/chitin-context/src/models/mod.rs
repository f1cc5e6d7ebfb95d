//! Language models: how much they take, how their tokens are counted, and what they cost.
//!
//! The built-in list ([`AS_OF`]) is what makers publish; configuration can correct or add to it under `models`. Names are
//! found by `provider/name` or by the bare name, with dates and other endings ignored where the list does not know them.

mod cost;
mod find;
mod table;

pub use cost::{Cost, RequestTokens, ShareOfWindow, cost, window_share};
pub use find::{find, known, nearest};
pub use table::{AS_OF, DEFAULT};

use crate::tokens::{Counting, TokenCount, TokenEncoding};
use chitin_protocol::config::Price;
use serde::Serialize;

/// A model, as far as a context needs to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFacts {
    /// The name that was asked for, as `provider/name` where the provider is known.
    pub id: String,
    /// The entry of the built-in list that it was found under; none when only configuration knows it.
    pub listed_as: Option<&'static str>,
    /// How many tokens it takes in all; none when nobody said.
    pub context_window: Option<u64>,
    /// How many tokens an answer has at most.
    pub max_output: Option<u64>,
    /// What its tokens cost; none when nobody said.
    pub prices: Option<ModelPrices>,
    /// What they cost when the prompt is long, for makers who ask more then.
    pub long_prompt: Option<LongPrompt>,
    /// Its own published vocabulary.
    pub encoding: Option<TokenEncoding>,
    /// How many tokens it is said to make where other vocabularies make a thousand.
    pub per_thousand: u16,
}

/// Prices for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrices {
    /// Sent and not cached.
    pub input: Price,
    /// Answered.
    pub output: Price,
    /// Put into the cache; the shortest time to live, where there are several.
    pub cache_write: Price,
    /// Read from the cache.
    pub cache_read: Price,
}

/// Other prices for long prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LongPrompt {
    /// They hold for the whole request when the prompt has more tokens than this.
    pub above: u64,
    /// The prices.
    pub prices: ModelPrices,
}

impl ModelFacts {
    /// A model of which nothing is known but its name.
    pub fn unknown(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            listed_as: None,
            context_window: None,
            max_output: None,
            prices: None,
            long_prompt: None,
            encoding: None,
            per_thousand: 1000,
        }
    }

    /// Counts the tokens of a text for this model, as exactly as is possible and asked for.
    ///
    /// Where the model has its own, unpublished vocabulary that is known to make more tokens than others, the count is
    /// raised by as much.
    pub fn count(&self, text: &str, counting: Counting) -> TokenCount {
        let mut count = TokenCount::of(text, counting, self.encoding);
        if !count.basis.is_exact() {
            count.tokens = count
                .tokens
                .saturating_mul(usize::from(self.per_thousand))
                .div_ceil(1000);
        }
        count
    }

    /// Returns the most exact way to count that there is for this model: its own vocabulary, else a neighbour's.
    pub fn exact_counting(&self) -> Counting {
        Counting::Exact(self.encoding.unwrap_or(TokenEncoding::O200kBase))
    }
}
