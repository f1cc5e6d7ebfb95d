//! `session_status`: what time it is, which model speaks, and what the session took so far.

use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolConcurrency, ToolOutcome, TypedTool};
use chitin_protocol::message::Usage;
use chitin_protocol::tool::ToolSpec;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::Arc;

/// Somebody who knows the session. Implemented by whoever runs turns; asked anew with every call.
pub trait SessionFacts: Send + Sync {
    /// Says how a session is.
    fn status(&self, session_key: &str) -> SessionStatus;
}

/// How a session is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// The time, written as people here write it, with the time zone.
    pub time: String,
    /// The model, as `provider/name`.
    pub model: String,
    /// How many tokens the model takes in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// How many tokens the last request had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// How many turns there were, with the one that runs; left out where nobody counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// How often the conversation was made shorter.
    pub compactions: u64,
    /// What all answers of earlier turns together took, as far as that is known.
    pub usage: Usage,
    /// Whether the provider did not say how many tokens some answer took.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tokens_unknown: bool,
    /// Whether the cost of some answer is unknown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cost_unknown: bool,
    /// How much the user set as a limit, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_limit: Option<f64>,
}

/// It takes no arguments.
const PARAMETERS: &str = r#"{"type": "object", "additionalProperties": false, "properties": {}}"#;

/// Shows how the session is.
pub struct SessionStatusTool {
    spec: ToolSpec,
    facts: Arc<dyn SessionFacts>,
}

impl std::fmt::Debug for SessionStatusTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionStatusTool").finish_non_exhaustive()
    }
}

impl SessionStatusTool {
    /// Makes the tool.
    pub fn new(facts: Arc<dyn SessionFacts>) -> Self {
        Self {
            spec: Self::definition(),
            facts,
        }
    }

    /// Returns what a model is told of the tool.
    pub fn definition() -> ToolSpec {
        let description = "Shows the time, the model, how full its context window is, and the session's tokens and cost.";
        spec_on_file("session_status", description, PARAMETERS)
    }
}

impl TypedTool for SessionStatusTool {
    type Arguments = IgnoredAny;
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Shared;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, _: IgnoredAny, context: &CallContext<'_>) -> Result<ToolOutcome, String> {
        let status = self.facts.status(context.session_key);
        let text = describe(&status, context.session_key);
        Ok(ToolOutcome::text(text).with_details(json!(status)))
    }
}

fn describe(status: &SessionStatus, session_key: &str) -> String {
    let usage = &status.usage;
    let window = match (status.context_tokens, status.context_window) {
        (Some(tokens), Some(window)) if window > 0 => Some(format!(
            "{tokens} of {window} tokens ({} %)",
            tokens.saturating_mul(100) / window
        )),
        (Some(tokens), _) => Some(format!("{tokens} tokens")),
        (None, Some(window)) => Some(format!("up to {window} tokens")),
        (None, None) => None,
    };
    let limit = status
        .cost_limit
        .map(|limit| format!(" of at most ${limit:.2}"))
        .unwrap_or_default();
    let lines = [
        ("Time", Some(status.time.clone())),
        ("Session", Some(session_key.to_owned())),
        ("Model", Some(status.model.clone())),
        ("Window", window),
        (
            "Turns",
            Some(
                status
                    .turns
                    .map_or_else(|| "unknown".to_owned(), |turns| turns.to_string()),
            ),
        ),
        ("Compactions", Some(status.compactions.to_string())),
        (
            "Tokens",
            Some(format!(
                "{} input, {} output, {} cache read, {} cache write{}",
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
                if status.tokens_unknown {
                    ", plus some that were not counted"
                } else {
                    ""
                }
            )),
        ),
        (
            "Cost",
            Some(if status.cost_unknown {
                format!("unknown{limit}")
            } else {
                format!("${:.4}{limit}", usage.cost.total)
            }),
        ),
    ];
    let lines: Vec<String> = lines
        .into_iter()
        .filter_map(|(name, value)| {
            Some(format!(
                "{name}: {}",
                value.filter(|value| !value.is_empty())?
            ))
        })
        .collect();
    lines.join("\n")
}
