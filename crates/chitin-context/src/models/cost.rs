//! What a request costs, to the billionth of a dollar.

use super::ModelFacts;
use chitin_protocol::config::Price;
use serde::Serialize;
use std::fmt;

/// The tokens of a request, by how they are charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestTokens {
    /// Sent, neither put into the cache nor read from it.
    pub fresh: u64,
    /// Sent and put into the cache.
    pub cache_write: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Answered.
    pub output: u64,
}

impl RequestTokens {
    /// Returns how many tokens the prompt has, cached or not.
    pub const fn prompt(self) -> u64 {
        self.fresh
            .saturating_add(self.cache_write)
            .saturating_add(self.cache_read)
    }
}

/// An amount of money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Billionths of a US dollar.
    pub nanodollars: u64,
}

impl fmt::Display for Cost {
    /// Writes four decimals, and more where that would hide what there is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (decimals, unit) = match self.nanodollars {
            0 | 50_000.. => (4, 100_000),
            500..=49_999 => (6, 1000),
            1..=499 => (9, 1),
        };
        let rounded = self.nanodollars.saturating_add(unit / 2) / unit;
        let whole = 1_000_000_000 / unit;
        write!(f, "${}.{:0decimals$}", rounded / whole, rounded % whole)
    }
}

/// Works out what a request costs; none when the model's prices are not known.
pub fn cost(model: &ModelFacts, usage: RequestTokens) -> Option<Cost> {
    let prices = match model.long_prompt {
        Some(long) if usage.prompt() > long.above => long.prices,
        Some(_) | None => model.prices?,
    };
    // Millionths of a dollar for a million tokens are millionths of a millionth for one.
    let picodollars = |tokens: u64, price: Price| u128::from(tokens) * u128::from(price.micros());
    let sum = picodollars(usage.fresh, prices.input)
        + picodollars(usage.cache_write, prices.cache_write)
        + picodollars(usage.cache_read, prices.cache_read)
        + picodollars(usage.output, prices.output);
    Some(Cost {
        nanodollars: u64::try_from((sum + 500) / 1000).unwrap_or(u64::MAX),
    })
}

/// A part of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShareOfWindow {
    /// Thousandths; more than a thousand when it does not fit.
    pub permille: u64,
}

impl fmt::Display for ShareOfWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} %", self.permille / 10, self.permille % 10)
    }
}

/// Works out how much of the model's window so many tokens take, rounded up; none when the window is not known.
pub fn window_share(model: &ModelFacts, tokens: u64) -> Option<ShareOfWindow> {
    let window = model.context_window.filter(|window| *window > 0)?;
    let permille = (u128::from(tokens) * 1000).div_ceil(u128::from(window));
    Some(ShareOfWindow {
        permille: u64::try_from(permille).unwrap_or(u64::MAX),
    })
}
