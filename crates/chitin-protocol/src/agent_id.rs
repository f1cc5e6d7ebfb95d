//! Agent ids: how free text becomes the id under which an agent is known (rules W40 and R6).

use crate::text::{trim_js, utf16_prefix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The id of the agent that exists without any configuration.
pub const MAIN: &str = "main";

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
        let trimmed = trim_js(text);
        if trimmed.is_empty() {
            return Self(MAIN.to_owned());
        }
        if is_valid(trimmed) {
            return Self(trimmed.to_ascii_lowercase());
        }
        let mut id = String::with_capacity(trimmed.len());
        for c in trimmed.to_lowercase().chars() {
            if is_id_char(c) {
                id.push(c);
            } else if !id.ends_with('\u{0}') {
                // A run of foreign characters becomes one dash; NUL marks "inside such a run" until the run ends.
                id.push('\u{0}');
            }
        }
        let id = id.replace('\u{0}', "-");
        let id = utf16_prefix(id.trim_matches('-'), MAX_UNITS);
        Self(if id.is_empty() { MAIN } else { id }.to_owned())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
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
