//! Reading a key: `agent:<id>:<rest>`, by grammar.

use super::{MAIN, letter_case, main_key, starts_with_ignoring_case};
use crate::agent_id::AgentId;
use crate::text::trim_js;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

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

/// The text of a session key, as somebody spelled it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct SessionKey(String);

/// What an agent key says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParsedKey {
    /// The agent, trimmed but not normalised; see [`ParsedKey::agent`].
    pub agent_id: String,
    /// What follows the agent.
    pub rest: String,
}

impl ParsedKey {
    /// Returns the normalised id of the agent.
    pub fn agent(&self) -> AgentId {
        AgentId::normalize(&self.agent_id)
    }
}

impl SessionKey {
    /// Keeps a key as it is spelled.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads an agent key; gives nothing for any other text.
    pub fn parse(text: &str, grammar: KeyGrammar) -> Option<ParsedKey> {
        let text = trim_js(text);
        match grammar {
            KeyGrammar::Strict => parse_segments(text),
            KeyGrammar::Lenient => parse_segments(&text.to_lowercase()),
            KeyGrammar::Exact => parse_exact(&letter_case::fold(text)),
        }
    }
}

/// Splits on colons and drops empty segments.
fn parse_segments(text: &str) -> Option<ParsedKey> {
    let mut segments = text.split(':').filter(|segment| !segment.is_empty());
    if segments.next() != Some("agent") {
        return None;
    }
    let agent_id = trim_js(segments.next()?);
    let rest = segments.collect::<Vec<_>>().join(":");
    if agent_id.is_empty() || rest.is_empty() {
        return None;
    }
    Some(ParsedKey {
        agent_id: agent_id.to_owned(),
        rest,
    })
}

/// Takes the id up to the next colon, and all that follows it.
fn parse_exact(text: &str) -> Option<ParsedKey> {
    let (agent_id, rest) = text.strip_prefix("agent:")?.split_once(':')?;
    let agent_id = trim_js(agent_id);
    if agent_id.is_empty() || rest.is_empty() || rest.starts_with(':') {
        return None;
    }
    Some(ParsedKey {
        agent_id: agent_id.to_owned(),
        rest: rest.to_owned(),
    })
}

/// Returns the key by which a caller asks: the rest of an agent key, any other text trimmed; nothing when blank.
pub fn request_key(text: &str, grammar: KeyGrammar) -> Option<String> {
    let text = trim_js(text);
    if text.is_empty() {
        return None;
    }
    Some(SessionKey::parse(text, grammar).map_or_else(|| text.to_owned(), |parsed| parsed.rest))
}

/// Returns the key under which a session of `agent` is stored.
///
/// Blank text and `main` mean the agent's main key; an agent key keeps its own agent; other text belongs to `agent`.
pub fn store_key(text: &str, agent: &str, main_key_name: &str, grammar: KeyGrammar) -> String {
    let text = trim_js(text);
    if text.is_empty() || text.eq_ignore_ascii_case(MAIN) {
        return main_key(agent, main_key_name);
    }
    let folded = match grammar {
        KeyGrammar::Strict | KeyGrammar::Lenient => text.to_lowercase(),
        KeyGrammar::Exact => letter_case::fold(text),
    };
    match SessionKey::parse(&folded, grammar) {
        Some(ParsedKey { agent_id, rest }) => format!("agent:{agent_id}:{rest}"),
        // A broken agent key stays as it is: putting another agent before it would hide the mistake.
        None if starts_with_ignoring_case(&folded, "agent:") => folded,
        None => format!("agent:{}:{folded}", AgentId::normalize(agent)),
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SessionKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
