//! What an engine is told, and its answers: a context, whole or not at all.

use super::typed;
use chitin_agent::engine::{
    AssembledContext, Assembly, Bootstrapped, CompactOrder, Ingested, SessionRef, When,
};
use chitin_agent::history::{estimate, estimate_text};
use chitin_contract::EstimateRules;
use chitin_protocol::message::{Block, Content, Message};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_workspace::adapter::AgentDefinition;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The longest addition to the system prompt, in bytes.
const LONGEST_ADDITION: usize = 256 << 10;
/// The longest summary, in bytes.
const LONGEST_SUMMARY: usize = 256 << 10;

#[derive(Debug, Serialize)]
pub(crate) struct Session<'a> {
    id: &'a str,
    key: &'a str,
}

impl<'a> From<SessionRef<'a>> for Session<'a> {
    fn from(session: SessionRef<'a>) -> Self {
        Self {
            id: session.id,
            key: session.key,
        }
    }
}

/// What `engine/bootstrap` is given.
#[derive(Debug, Serialize)]
pub struct BootstrapParams<'a> {
    session: Session<'a>,
    entries: &'a [TranscriptEntry],
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<&'a AgentDefinition>,
}

impl<'a> BootstrapParams<'a> {
    /// Puts the records of a session together.
    pub fn new(session: SessionRef<'a>, branch: &'a [TranscriptEntry]) -> Self {
        Self {
            session: session.into(),
            entries: branch,
            definition: None,
        }
    }

    /// Adds the agent's definition, for an engine that wants it.
    #[must_use]
    pub const fn with_definition(mut self, definition: Option<&'a AgentDefinition>) -> Self {
        self.definition = definition;
        self
    }
}

/// What `engine/ingest` is given.
#[derive(Debug, Serialize)]
pub struct IngestParams<'a> {
    session: Session<'a>,
    message: &'a Message,
}

impl<'a> IngestParams<'a> {
    /// Names one message of a session.
    pub fn new(session: SessionRef<'a>, message: &'a Message) -> Self {
        Self {
            session: session.into(),
            message,
        }
    }
}

/// What `engine/assemble` is given.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AssembleParams<'a> {
    session: Session<'a>,
    messages: &'a [Message],
    token_budget: u64,
    model: &'a str,
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<&'a AgentDefinition>,
}

impl<'a> AssembleParams<'a> {
    pub(crate) fn new(session: SessionRef<'a>, assembly: &'a Assembly) -> Self {
        Self {
            session: session.into(),
            messages: &assembly.messages,
            token_budget: assembly.token_budget,
            model: &assembly.model,
            prompt: assembly.prompt.as_deref(),
            definition: None,
        }
    }

    /// Adds the agent's definition, for an engine that wants it.
    pub(crate) const fn with_definition(mut self, definition: Option<&'a AgentDefinition>) -> Self {
        self.definition = definition;
        self
    }
}

/// What `engine/compact` is given.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactParams<'a> {
    session: Session<'a>,
    entries: &'a [TranscriptEntry],
    tokens: u64,
    overhead_tokens: u64,
    window: u64,
    force: bool,
    instructions: Option<&'a str>,
}

impl<'a> CompactParams<'a> {
    /// Puts together what is to be shortened, and how much room there is.
    pub fn new(session: SessionRef<'a>, order: &'a CompactOrder<'a>) -> Self {
        Self {
            session: session.into(),
            entries: order.branch,
            tokens: order.tokens,
            overhead_tokens: order.overhead_tokens,
            window: order.options.window,
            force: order.when == When::Now,
            instructions: order.options.instructions,
        }
    }
}

/// Reads the answer of `engine/bootstrap`.
pub fn bootstrapped(value: Value) -> Result<Bootstrapped, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Answer {
        bootstrapped: bool,
        #[serde(default)]
        imported_messages: Option<usize>,
        #[serde(default)]
        reason: Option<String>,
    }
    let answer: Answer = typed(value)?;
    Ok(Bootstrapped {
        bootstrapped: answer.bootstrapped,
        imported_messages: answer.imported_messages,
        reason: answer.reason,
    })
}

/// Reads the answer of `engine/ingest`.
pub fn ingested(value: Value) -> Result<Ingested, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Answer {
        ingested: bool,
    }
    typed::<Answer>(value).map(|answer| Ingested {
        ingested: answer.ingested,
    })
}

/// Reads the answer of `engine/assemble` to messages that were given. What comes back is a context that can be sent: it
/// ends with the message that the given ones end with, every result of a tool follows its call, and no call lost its result.
pub fn assembled(value: Value, given: &[Message]) -> Result<AssembledContext, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Answer {
        messages: Vec<Value>,
        #[serde(default)]
        estimated_tokens: u64,
        #[serde(default)]
        system_prompt_addition: Option<String>,
    }
    let answer: Answer = typed(value)?;
    let mut messages = Vec::with_capacity(answer.messages.len());
    let mut last = None;
    for (at, item) in answer.messages.into_iter().enumerate() {
        let (index, message) =
            one_message(item, given).map_err(|reason| format!("message {at}: {reason}"))?;
        if let (Some(index), Some(before)) = (index, last)
            && index <= before
        {
            return Err(format!("message {at}: {index} comes after {before}"));
        }
        last = index.or(last);
        messages.push(message);
    }
    if messages.last() != given.last() {
        return Err("the last message is not the last one that was given".to_owned());
    }
    check_calls(&messages, given)?;
    let addition = answer
        .system_prompt_addition
        .filter(|addition| !addition.trim().is_empty());
    if addition
        .as_ref()
        .is_some_and(|addition| addition.len() > LONGEST_ADDITION)
    {
        return Err(format!(
            "`systemPromptAddition` has more than {LONGEST_ADDITION} bytes"
        ));
    }
    Ok(AssembledContext {
        messages,
        estimated_tokens: answer.estimated_tokens,
        system_prompt_addition: addition,
    })
}

/// Returns a message of an answer: one of the given ones by its position, or a new one.
fn one_message(item: Value, given: &[Message]) -> Result<(Option<usize>, Message), String> {
    if let Some(index) = item.as_u64() {
        let index = usize::try_from(index).map_err(|error| error.to_string())?;
        let message = given
            .get(index)
            .ok_or_else(|| format!("there is no message {index}; {} were given", given.len()))?;
        return Ok((Some(index), message.clone()));
    }
    let message: Message = typed(item)?;
    let is_known = match &message {
        Message::User(user) => is_understood(&user.content),
        // The texts of models and tools cannot be made up: signatures and calls belong to them.
        Message::Assistant(_) | Message::ToolResult(_) | Message::Other(_) => {
            given.contains(&message)
        }
    };
    if is_known {
        Ok((None, message))
    } else {
        Err("a new message must be of the role `user`, with text or blocks".to_owned())
    }
}

fn is_understood(content: &Content) -> bool {
    match content {
        Content::Text(text) => !text.is_empty(),
        Content::Blocks(blocks) => {
            !blocks.is_empty()
                && blocks.iter().all(|block| match block {
                    Block::Text(_) | Block::Image(_) => true,
                    Block::Thinking(_) | Block::ToolCall(_) | Block::Other(_) => false,
                })
        }
        Content::Other(_) => false,
    }
}

/// Every result has its call before it, and a call whose result was given has it still.
fn check_calls(messages: &[Message], given: &[Message]) -> Result<(), String> {
    let results = |messages: &[Message]| -> BTreeSet<String> {
        let found = messages.iter().filter_map(|message| match message {
            Message::ToolResult(result) => Some(result.tool_call_id.clone()),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => None,
        });
        found.collect()
    };
    let (kept, there_were) = (results(messages), results(given));
    let mut called = BTreeSet::new();
    for message in messages {
        match message {
            Message::Assistant(assistant) => {
                for call in assistant.tool_calls() {
                    if there_were.contains(&call.id) && !kept.contains(&call.id) {
                        return Err(format!(
                            "the call `{}` is there, and its result is not",
                            call.id
                        ));
                    }
                    called.insert(call.id.clone());
                }
            }
            Message::ToolResult(result) => {
                let was_called_before = given.iter().any(|given| match given {
                    Message::Assistant(assistant) => assistant
                        .tool_calls()
                        .any(|call| call.id == result.tool_call_id),
                    Message::User(_) | Message::ToolResult(_) | Message::Other(_) => false,
                });
                if was_called_before && !called.contains(&result.tool_call_id) {
                    return Err(format!(
                        "the result of `{}` is there, and its call is not",
                        result.tool_call_id
                    ));
                }
            }
            Message::User(_) | Message::Other(_) => {}
        }
    }
    Ok(())
}

/// What an engine made of a conversation that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    tag = "outcome",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum CompactAnswer {
    /// Nothing: there is no need, or nothing to shorten.
    Nothing,
    /// The built-in summary is to be made.
    BuiltIn,
    /// A summary of what comes before a record.
    Summary {
        /// The summary.
        summary: String,
        /// The first record that is still sent.
        first_kept_entry_id: String,
    },
}

/// Where a conversation may be cut, and how much may stay.
#[derive(Debug, Clone)]
pub struct CompactRoom {
    /// The records that may be the first to stay, with the tokens of what stays then.
    cuts: Vec<(String, u64)>,
    /// How many tokens summary and kept messages may take together.
    tokens: u64,
    estimate: EstimateRules,
}

impl CompactRoom {
    /// Finds out where the branch of an order may be cut: at messages of users and models behind the last cut.
    pub fn new(order: &CompactOrder<'_>) -> Self {
        let last = order
            .branch
            .iter()
            .rev()
            .find_map(|entry| match &entry.body {
                EntryBody::Compaction(compaction) => Some(&compaction.first_kept_entry_id),
                EntryBody::Message(_)
                | EntryBody::ModelChange { .. }
                | EntryBody::ThinkingLevelChange { .. }
                | EntryBody::Custom { .. }
                | EntryBody::Other(_) => None,
            });
        let start = last.and_then(|id| order.branch.iter().position(|entry| entry.id == *id));
        let start = start.unwrap_or_default();
        let mut kept = 0;
        let mut cuts = Vec::new();
        for entry in order.branch.iter().skip(start + 1).rev() {
            let Some(message) = entry.message() else {
                continue;
            };
            kept += estimate(message, &order.rules.estimate);
            match message {
                Message::User(_) | Message::Assistant(_) => cuts.push((entry.id.clone(), kept)),
                Message::ToolResult(_) | Message::Other(_) => {}
            }
        }
        let window = order.options.window;
        let reserve = order.options.compacting.reserve_tokens.min(window / 2);
        let room = window
            .saturating_sub(reserve)
            .saturating_sub(order.overhead_tokens);
        Self {
            cuts,
            // A summary that saves nothing is of no use either.
            tokens: room.min(order.tokens),
            estimate: order.rules.estimate,
        }
    }

    /// Returns what a conversation takes after a cut with a summary, if it may be cut there and fits.
    pub(crate) fn tokens_after(&self, summary: &str, first_kept: &str) -> Result<u64, String> {
        let (_, kept) = self
            .cuts
            .iter()
            .find(|(id, _)| id == first_kept)
            .ok_or_else(|| {
                format!(
                    "`firstKeptEntryId` is `{first_kept}`, which is not a message of the user or the model that may come first"
                )
            })?;
        let after = kept + estimate_text(summary, &self.estimate);
        if after > self.tokens {
            return Err(format!(
                "what stays takes {after} tokens, and there is room for {}",
                self.tokens
            ));
        }
        Ok(after)
    }
}

/// Reads the answer of `engine/compact`.
pub fn compacted(value: Value, room: &CompactRoom) -> Result<CompactAnswer, String> {
    let answer: CompactAnswer = typed(value)?;
    if let CompactAnswer::Summary {
        summary,
        first_kept_entry_id,
    } = &answer
    {
        if summary.trim().is_empty() || summary.len() > LONGEST_SUMMARY {
            return Err(format!(
                "`summary` must have text, and at most {LONGEST_SUMMARY} bytes"
            ));
        }
        room.tokens_after(summary, first_kept_entry_id)?;
    }
    Ok(answer)
}
