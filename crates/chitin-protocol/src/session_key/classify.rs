//! What kind of session a key names.

use super::{KeyGrammar, SessionKey, starts_with_ignoring_case};
use crate::text::trim_js;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shape of a key's text (R2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyShape {
    /// Blank.
    Missing,
    /// An agent key.
    Agent,
    /// Begins like an agent key and is none.
    MalformedAgent,
    /// Anything else, such as `main` or `discord:channel:55`.
    LegacyOrAlias,
}

/// Returns the shape of a key's text.
pub fn shape(text: &str, grammar: KeyGrammar) -> KeyShape {
    let text = trim_js(text);
    if text.is_empty() {
        KeyShape::Missing
    } else if SessionKey::parse(text, grammar).is_some() {
        KeyShape::Agent
    } else if starts_with_ignoring_case(text, "agent:") {
        KeyShape::MalformedAgent
    } else {
        KeyShape::LegacyOrAlias
    }
}

/// Tells whether the key names a subagent's session (W12).
pub fn is_subagent(text: &str, grammar: KeyGrammar) -> bool {
    starts_with_ignoring_case(trim_js(text), "subagent:")
        || rest_starts_with(text, "subagent:", grammar)
}

/// Tells whether the key names a session of the agent client protocol (R3).
pub fn is_acp(text: &str, grammar: KeyGrammar) -> bool {
    starts_with_ignoring_case(trim_js(text), "acp:") || rest_starts_with(text, "acp:", grammar)
}

/// Tells whether the key names a scheduled job's session; a bare `cron:` is none (W13).
pub fn is_cron(text: &str, grammar: KeyGrammar) -> bool {
    rest_starts_with(text, "cron:", grammar)
}

/// Tells whether the key names one run of a scheduled job: `cron:<job>:run:<run>` (W13).
pub fn is_cron_run(text: &str, grammar: KeyGrammar) -> bool {
    let Some(parsed) = SessionKey::parse(text, grammar) else {
        return false;
    };
    let rest = parsed.rest.to_lowercase();
    let mut segments = rest.split(':');
    let is_run = segments.next() == Some("cron")
        && segments.next().is_some_and(|job| !job.is_empty())
        && segments.next() == Some("run")
        && segments.next().is_some_and(|run| !run.is_empty());
    is_run
        && match grammar {
            KeyGrammar::Strict | KeyGrammar::Lenient => segments.next().is_none(),
            KeyGrammar::Exact => true,
        }
}

/// Returns the key of a scheduled job's session without the run that it names, and the run (W13).
pub fn without_cron_run(text: &str, grammar: KeyGrammar) -> (&str, Option<&str>) {
    if !is_cron_run(text, grammar) {
        return (text, None);
    }
    let found = text.to_ascii_lowercase().rfind(":run:");
    found.map_or((text, None), |at| {
        let run = text[at + ":run:".len()..].split(':').next();
        (&text[..at], run)
    })
}

/// Returns how deep in a tree of subagents the key says it is; a stored depth is better knowledge (R4).
pub fn subagent_depth(text: &str, grammar: KeyGrammar) -> usize {
    let text = trim_js(text).to_lowercase();
    match grammar {
        KeyGrammar::Strict | KeyGrammar::Lenient => text.matches(":subagent:").count(),
        KeyGrammar::Exact => {
            let named = text.split(':').filter(|segment| *segment == "subagent");
            // The last segment has no colon after it.
            named.count() - usize::from(text.rsplit(':').next() == Some("subagent"))
        }
    }
}

fn rest_starts_with(text: &str, prefix: &str, grammar: KeyGrammar) -> bool {
    SessionKey::parse(text, grammar).is_some_and(|parsed| {
        let rest = match grammar {
            KeyGrammar::Strict => parsed.rest.as_str(),
            KeyGrammar::Lenient | KeyGrammar::Exact => trim_js(&parsed.rest),
        };
        starts_with_ignoring_case(rest, prefix)
    })
}
