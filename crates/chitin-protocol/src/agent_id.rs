//! Agent ids: how free text becomes the id under which an agent is known (rules W40 and R6).

use crate::text::{trim_js, utf16_prefix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The id of the agent that exists without any configuration.
pub const MAIN: &str = "main";

/// The account that a channel has without any configuration.
pub const DEFAULT_ACCOUNT: &str = "default";

/// The longest id, in UTF-16 code units.
const MAX_UNITS: usize = 64;

/// A normalised agent id: never empty, at most 64 units.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct AgentId(String);

impl AgentId {
    /// Normalises free text; blank or unusable text gives `main`.
    pub fn normalize(text: &str) -> Self {
        Self(normalize_id(text).unwrap_or_else(|| MAIN.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Normalises the name of an account on a channel; blank or unusable text gives `default`.
pub fn normalize_account_id(text: &str) -> String {
    normalize_id(text)
        .filter(|id| !matches!(id.as_str(), "__proto__" | "prototype" | "constructor"))
        .unwrap_or_else(|| DEFAULT_ACCOUNT.to_owned())
}

fn normalize_id(text: &str) -> Option<String> {
    let trimmed = trim_js(text);
    if is_valid(trimmed) {
        return Some(trimmed.to_ascii_lowercase());
    }
    let mut id = String::with_capacity(trimmed.len());
    let mut in_foreign_run = false;
    for c in trimmed.to_lowercase().chars() {
        let foreign = !is_id_char(c);
        if !foreign {
            id.push(c);
        } else if !in_foreign_run {
            id.push('-');
        }
        in_foreign_run = foreign;
    }
    let id = utf16_prefix(id.trim_matches('-'), MAX_UNITS);
    (!id.is_empty()).then(|| id.to_owned())
}

/// Tells whether `text` is a valid id as it stands (letter case aside).
pub fn is_valid(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphanumeric())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && text.len() <= MAX_UNITS
}

const fn is_id_char(c: char) -> bool {
    matches!(c, 'a'..='z' | '0'..='9' | '_' | '-')
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for AgentId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
