//! What configuration says about budgets and turns, read as the contract's runtime reads it (W21, W32, W55, CN7, CN10).

use crate::agents;
use chitin_contract::{Contract, UnknownInjection};
use chitin_protocol::agent_id::AgentId;
use serde::Serialize;
use serde_json::Value;

/// Budgets and modes of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextSettings {
    /// The bound of one file, in UTF-16 units.
    pub max_chars: u64,
    /// The bound of all files together.
    pub total_max_chars: Option<u64>,
    /// When files are injected.
    pub context_injection: String,
    /// When a truncation is announced; none when it always is.
    pub truncation_warning: Option<TruncationWarning>,
}

/// When a truncation is announced to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TruncationWarning {
    /// Never.
    Off,
    /// Once per distinct truncation.
    Once,
    /// On every turn.
    Always,
}

/// The values of `contextInjection`.
pub mod injection {
    /// Every turn has the full set.
    pub const ALWAYS: &str = "always";
    /// A continuation turn has less.
    pub const CONTINUATION_SKIP: &str = "continuation-skip";
    /// No turn has any.
    pub const NEVER: &str = "never";
}

/// Reads the settings that hold for an agent.
pub fn settings(config: &Value, agent: Option<&str>, contract: &Contract) -> ContextSettings {
    let defaults = &config["agents"]["defaults"];
    let roster = agents::roster(config, contract);
    let entry = agent
        .map(AgentId::normalize)
        .and_then(|id| roster.into_iter().find(|entry| entry.id == id));
    let own = |key: &str, allowed: bool| {
        entry
            .as_ref()
            .filter(|_| allowed)
            .map(|entry| &entry.settings[key])
    };
    let budgets = &contract.budgets;
    let bound = |key: &str| {
        own(key, budgets.per_agent)
            .and_then(positive)
            .or_else(|| positive(&defaults[key]))
    };
    let injected =
        own("contextInjection", contract.turns.per_agent).filter(|value| !value.is_null());
    ContextSettings {
        max_chars: bound("bootstrapMaxChars").unwrap_or(u64::from(budgets.max_chars)),
        total_max_chars: budgets
            .total_max_chars
            .map(|total| bound("bootstrapTotalMaxChars").unwrap_or(u64::from(total))),
        context_injection: injection_value(
            injected.unwrap_or(&defaults["contextInjection"]),
            contract,
        ),
        truncation_warning: budgets.warning_modes.then(|| {
            match defaults["bootstrapPromptTruncationWarning"].as_str() {
                Some("off") => TruncationWarning::Off,
                Some("always") => TruncationWarning::Always,
                _ => TruncationWarning::Once,
            }
        }),
    }
}

fn injection_value(value: &Value, contract: &Contract) -> String {
    let text = value.as_str().unwrap_or(injection::ALWAYS);
    let known = contract.turns.injection_values.contains(&text);
    match contract.turns.unknown_injection {
        UnknownInjection::Always if !known => injection::ALWAYS.to_owned(),
        UnknownInjection::Always | UnknownInjection::Kept => text.to_owned(),
    }
}

/// A finite number above zero, cut to an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and finite; the cast saturates"
)]
fn positive(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    (number.is_finite() && number > 0.0).then(|| number.floor() as u64)
}
