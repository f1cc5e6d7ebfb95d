//! The model that figures are reckoned with: its window, its tokens, its prices.

use crate::display::grouped;
use crate::error::{ErrorKind, RuntimeError};
use crate::setup::Setup;
use chitin_context::models::{self, AS_OF, Cost, Model, cost, window_share};
use chitin_context::tokens::{Basis, Counting, TokenCount};
use chitin_context::view::View;
use chitin_workspace::config::ChitinSettings;
use serde::Serialize;

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
    model: Model,
    /// Whether the user named it; otherwise it is only an example.
    named: bool,
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
    /// How many tokens the system prompt has for this model, which may make more of a text than others.
    pub tokens: u64,
    /// How much of the window the system prompt takes, in thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_permille: Option<u64>,
    /// What the system prompt costs on a turn, nothing cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The same when what stands above the cache boundary is put into the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_writing_cache: Option<Cost>,
    /// The same when what stands above the cache boundary comes from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_cached: Option<Cost>,
    /// When the prices were looked up.
    pub prices_as_of: &'static str,
}

impl ModelFigures {
    /// Finds the model: the one typed, the one configured, else an example.
    pub fn find(
        typed: Option<&str>,
        own: &ChitinSettings,
        setup: &Setup,
    ) -> Result<Self, RuntimeError> {
        let (name, kind) = match (typed, own.model.as_deref()) {
            (Some(name), _) => (name, ErrorKind::Usage),
            (None, Some(name)) => (name, ErrorKind::Config),
            (None, None) => (models::DEFAULT, ErrorKind::Internal),
        };
        let model = models::find(name, &setup.configuration.models).map_err(|error| {
            RuntimeError::new(kind, error.to_string())
                .hint("what a model takes and costs can be said in `chitin.json5`, under `models`")
        })?;
        Ok(Self {
            model,
            named: typed.is_some() || own.model.is_some(),
        })
    }

    /// Takes the model that a turn is about to ask; nothing need be known of it.
    pub fn running(name: &str, named: bool, setup: &Setup) -> Self {
        let model = models::find(name, &setup.configuration.models);
        Self {
            model: model.unwrap_or_else(|_| Model::unknown(name)),
            named,
        }
    }

    /// Returns the model's name, as `provider/name`.
    pub fn id(&self) -> &str {
        &self.model.id
    }

    /// Returns the model's name, if the user named one: only then does the prompt speak of it.
    pub fn name(&self) -> Option<&str> {
        self.named.then_some(&*self.model.id)
    }

    /// Returns how many tokens it takes, if that is known.
    pub fn window(&self) -> Option<usize> {
        usize::try_from(self.model.context_window?).ok()
    }

    /// Returns how many tokens as we count them are a share of its window, in percent.
    pub fn share_of_window(&self, percent: u8) -> Option<usize> {
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

    /// Works out what a prompt means for the model.
    pub fn reckon(&self, view: &View) -> Reckoning {
        let total = self.of_model(view.total.tokens);
        let cached = self.of_model(view.cached.tokens);
        let below = total.saturating_sub(cached);
        let usage = |fresh, cache_write, cache_read| models::Tokens {
            fresh,
            cache_write,
            cache_read,
            output: 0,
        };
        Reckoning {
            model: self.model.id.clone(),
            named: self.named,
            window: self.model.context_window,
            tokens: total,
            share_permille: window_share(&self.model, total).map(|share| share.permille),
            cost: cost(&self.model, usage(total, 0, 0)),
            cost_writing_cache: cost(&self.model, usage(below, cached, 0)),
            cost_cached: cost(&self.model, usage(below, 0, cached)),
            prices_as_of: AS_OF,
        }
    }

    /// Says what it costs to put so many tokens into the cache again instead of reading them.
    pub fn cost_of_rewriting(&self, tokens: usize) -> Option<String> {
        let more = self.price_of_rewriting(tokens)?;
        Some(format!("{more} more, once, on {}", self.model.id))
    }

    /// Returns what so many tokens cost, nothing cached.
    pub fn price(&self, tokens: usize) -> Option<Cost> {
        let usage = models::Tokens {
            fresh: self.of_model(tokens),
            ..models::Tokens::default()
        };
        cost(&self.model, usage)
    }

    /// Returns what it costs more to put so many tokens into the cache again than to read them.
    pub fn price_of_rewriting(&self, tokens: usize) -> Option<Cost> {
        let tokens = self.of_model(tokens);
        let written = models::Tokens {
            cache_write: tokens,
            ..models::Tokens::default()
        };
        let read = models::Tokens {
            cache_read: tokens,
            ..models::Tokens::default()
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
        if parts.is_empty() {
            parts.push("neither its window nor its prices are known".to_owned());
        }
        let example = if self.named { "" } else { ", for example" };
        format!("{}{example}: {}", self.model, parts.join("; "))
    }
}
