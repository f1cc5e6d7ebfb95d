//! The model that figures are reckoned with: its window, its tokens, its prices.

use super::tally::Tally;
use crate::display::{grouped, plain};
use crate::models::from_openclaw;
use crate::setup::Setup;
use chitin_config::ChitinSettings;
use chitin_context::models::{self, AS_OF, Cost, ModelFacts, cost, window_share};
use chitin_context::tokens::{Basis, Counting, TokenCount};
use chitin_context::view::View;
use chitin_model::providers::stated_window;
use serde::Serialize;
use std::collections::BTreeMap;

/// How tokens are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenCounting {
    /// By a quick estimate.
    #[default]
    Estimate,
    /// With a published tokenizer; for models without one it is still an estimate.
    Exact,
}

/// The model that figures are reckoned with.
#[derive(Debug, Clone)]
pub struct ModelFigures {
    model: ModelFacts,
    origin: ModelOrigin,
}

/// Where the name of a model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelOrigin {
    /// Chitin was told: by a flag, `chitin.json5` or the user of a running session. The prompt names such a model.
    Chitin,
    /// `openclaw.json` configures it, or the environment offers it. The prompt does not name it.
    Elsewhere,
    /// No model is configured; this one serves as an example.
    Example,
}

/// What the prompt means for the model.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reckoning {
    /// The model, as `provider/name`.
    pub model: String,
    /// Whether the user named the model; otherwise it is an example.
    pub named: bool,
    /// How many tokens it takes, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// How many tokens the whole request has for this model, which may make more of a text than others.
    pub tokens: u64,
    /// How many of them the system prompt has.
    pub system_tokens: u64,
    /// How much of the window the whole request takes, in thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_permille: Option<u64>,
    /// What the whole request costs, nothing cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The same when tool definitions, what stands above the cache boundary, and the history are put into the cache. The history
    /// does not count where recalled memory stands before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_writing_cache: Option<Cost>,
    /// The same when these come from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_cached: Option<Cost>,
    /// When the prices were looked up.
    pub prices_as_of: &'static str,
}

impl ModelFigures {
    /// Finds the model: the one typed, the one in `chitin.json5`, the one in `openclaw.json`, else an example. A model that no table
    /// knows has no prices, and only the window that `openclaw.json` states; everything else still holds.
    pub fn find(typed: Option<&str>, own: &ChitinSettings, setup: &Setup) -> Self {
        let told = typed.or(own.model.as_deref());
        if let Some(name) = told {
            return Self::named(name, ModelOrigin::Chitin, setup);
        }
        let configured = from_openclaw(setup.configuration.value(), setup);
        match configured.first() {
            Some(name) => Self::named(name, ModelOrigin::Elsewhere, setup),
            None => Self::named(models::DEFAULT, ModelOrigin::Example, setup),
        }
    }

    /// Takes the model that a turn is about to ask.
    pub fn running(name: &str, named: bool, setup: &Setup) -> Self {
        let origin = if named {
            ModelOrigin::Chitin
        } else {
            ModelOrigin::Elsewhere
        };
        Self::named(name, origin, setup)
    }

    fn named(name: &str, origin: ModelOrigin, setup: &Setup) -> Self {
        let mut model = models::find(name, &setup.configuration.models)
            .unwrap_or_else(|| ModelFacts::unknown(name));
        // As for a turn: what Chitin knows holds, then what OpenClaw was told.
        let told = || stated_window(setup.configuration.value().get("models"), name);
        model.context_window = model.context_window.or_else(told);
        Self { model, origin }
    }

    /// Says what is not known of the model, if anything is not.
    pub fn unknown(&self) -> Option<String> {
        let what = match (self.model.context_window, &self.model.prices) {
            (Some(_), Some(_)) => return None,
            (None, None) => "window and price unknown",
            (None, Some(_)) => "window unknown",
            (Some(_), None) => "price unknown",
        };
        let id = plain(&self.model.id, '\u{fffd}');
        let near = models::nearest(&self.model.id, &BTreeMap::new());
        let near: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
        let near = match (self.model.listed_as, near.is_empty()) {
            (None, false) => format!(". Did you mean {}?", near.join(" or ")),
            (Some(_), _) | (None, true) => String::new(),
        };
        Some(format!(
            "`{id}`: {what}; `models` in `chitin.json5` can state them{near}"
        ))
    }

    /// Returns the model's name, as `provider/name`.
    pub fn id(&self) -> &str {
        &self.model.id
    }

    /// Returns the model's name, if Chitin was told one: only then does the prompt name it.
    pub fn name(&self) -> Option<&str> {
        (self.origin == ModelOrigin::Chitin).then_some(&*self.model.id)
    }

    /// Returns the model's name, unless it is only an example.
    pub fn configured(&self) -> Option<&str> {
        (self.origin != ModelOrigin::Example).then_some(&*self.model.id)
    }

    /// Returns how many tokens it takes, if that is known.
    pub fn window(&self) -> Option<usize> {
        usize::try_from(self.model.context_window?).ok()
    }

    /// Returns how many tokens as we count them are a share of its window, in percent.
    pub(crate) fn share_of_window(&self, percent: u8) -> Option<usize> {
        let tokens = self.window()?.saturating_mul(usize::from(percent)) / 100;
        Some(tokens.saturating_mul(1000) / usize::from(self.model.per_thousand.max(1)))
    }

    /// Returns what counts tokens: the same for all models without a published tokenizer, so that figures compare.
    pub fn counter(&self, tokens: TokenCounting) -> impl FnMut(&str) -> usize + use<> {
        let (own, counting) = (self.model.encoding, self.counting(tokens));
        move |text| TokenCount::of(text, counting, own).tokens
    }

    /// Returns how many tokens the model itself makes where we count so many.
    fn of_model(&self, tokens: usize) -> u64 {
        let scale = if self.model.encoding.is_some() {
            1000
        } else {
            usize::from(self.model.per_thousand)
        };
        let tokens = tokens.saturating_mul(scale).div_ceil(1000);
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }

    fn counting(&self, tokens: TokenCounting) -> Counting {
        match tokens {
            TokenCounting::Estimate => Counting::Estimate,
            TokenCounting::Exact => self.model.exact_counting(),
        }
    }

    /// Says what counts rest on.
    pub fn basis(&self, tokens: TokenCounting) -> &'static str {
        match self.model.count("", self.counting(tokens)).basis {
            Basis::Estimate => "estimate",
            Basis::Tokenizer => "exact",
            Basis::Neighbour => "estimate: counted with another model's tokenizer",
        }
    }

    /// Works out what a request means for the model.
    pub fn reckon(&self, view: &View, tally: &Tally) -> Reckoning {
        let total = self.of_model(tally.request.size.tokens);
        let cached = self.of_model(tally.cached);
        let below = total.saturating_sub(cached);
        let usage = |fresh, cache_write, cache_read| models::RequestTokens {
            fresh,
            cache_write,
            cache_read,
            output: 0,
        };
        Reckoning {
            model: self.model.id.clone(),
            named: self.origin != ModelOrigin::Example,
            window: self.model.context_window,
            tokens: total,
            system_tokens: self.of_model(view.total.tokens),
            share_permille: window_share(&self.model, total).map(|share| share.permille),
            cost: cost(&self.model, usage(total, 0, 0)),
            cost_writing_cache: cost(&self.model, usage(below, cached, 0)),
            cost_cached: cost(&self.model, usage(below, 0, cached)),
            prices_as_of: AS_OF,
        }
    }

    /// Says what it costs to put so many tokens into the cache again instead of reading them.
    pub(crate) fn cost_of_rewriting(&self, tokens: usize) -> Option<String> {
        let more = self.price_of_rewriting(tokens)?;
        Some(format!("{more} more, once, on {}", self.model.id))
    }

    /// Returns what so many tokens cost, nothing cached.
    pub fn price(&self, tokens: usize) -> Option<Cost> {
        let usage = models::RequestTokens {
            fresh: self.of_model(tokens),
            ..models::RequestTokens::default()
        };
        cost(&self.model, usage)
    }

    /// Returns what it costs more to put so many tokens into the cache again than to read them.
    pub(crate) fn price_of_rewriting(&self, tokens: usize) -> Option<Cost> {
        let tokens = self.of_model(tokens);
        let written = models::RequestTokens {
            cache_write: tokens,
            ..models::RequestTokens::default()
        };
        let read = models::RequestTokens {
            cache_read: tokens,
            ..models::RequestTokens::default()
        };
        let (written, read) = (cost(&self.model, written)?, cost(&self.model, read)?);
        Some(Cost {
            nanodollars: written.nanodollars.saturating_sub(read.nanodollars),
        })
    }
}

impl Reckoning {
    /// Says it in one line.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        if let (Some(share), Some(window)) = (self.share_permille, self.window) {
            let share = format!("{}.{} %", share / 10, share % 10);
            let window = usize::try_from(window).map_or_else(|_| window.to_string(), grouped);
            parts.push(format!("{share} of a window of {window} tokens"));
        }
        if let (Some(cost), Some(cached)) = (self.cost, self.cost_cached) {
            parts.push(format!("{cost} a turn, {cached} once cached"));
        }
        match (self.window, self.cost) {
            (Some(_), Some(_)) => {}
            (Some(_), None) => parts.push("price unknown".to_owned()),
            (None, Some(_)) => parts.push("window unknown".to_owned()),
            (None, None) => parts.push("window and price unknown".to_owned()),
        }
        let example = if self.named { "" } else { ", for example" };
        format!("{}{example}: {}", self.model, parts.join("; "))
    }
}
