//! Session keys: parse, classify, build, thread, depth (rules W12, W13 and R1–R10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a key's text is split; recorded releases differ (W12, R1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyGrammar {
    /// 2026.2: empty segments dropped, the first segment exactly `agent`, the rest not trimmed.
    Strict,
    /// 2026.4 and canonical: empty segments dropped, letter case ignored.
    Lenient,
    /// 2026.9: empty segments kept in the rest, refused before it.
    Exact,
}
