//! How a damaged conversation is put right, so that every provider takes it (C50–C56).

mod by_id;
mod by_occurrence;
mod calls;

pub(super) use calls::rename_answered;
pub use calls::{CallRepair, repair_calls};

use super::view::{block_type, failed, only_text, paired_calls};
use crate::compat::{MADE_UP_DETAIL, MADE_UP_REASON, RESULT_MISSING, UNKNOWN_TOOL};
use chitin_contract::{Pairing, RepairRules};
use chitin_protocol::message::{Extra, Message, ToolResultMessage};
use chitin_protocol::text::trim_js;
use serde_json::json;
use std::borrow::Cow;

/// What happens to the results of an answer that failed or was stopped (C54).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailedResults {
    /// They stay.
    #[default]
    Preserve,
    /// They go.
    Drop,
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRepair {
    /// The conversation; the same as before if nothing changed.
    pub messages: Vec<Message>,
    /// How many results were made up.
    pub added: usize,
    /// How many results were there twice.
    pub dropped_duplicates: usize,
    /// How many results had no call.
    pub dropped_orphans: usize,
    /// Whether anything changed.
    pub changed: bool,
}

/// Puts every result directly behind its call, makes up what is missing, and drops what has no call.
pub fn repair(messages: &[Message], failed: FailedResults, rules: &RepairRules) -> HistoryRepair {
    match rules.pairing {
        Pairing::UpToNextAnswer => by_id::repair(messages, failed, rules),
        Pairing::ByOccurrence => by_occurrence::repair(messages, failed, rules),
    }
}

/// A call that wants a result.
struct Wanted {
    id: String,
    name: Option<String>,
}

/// Returns the calls of a message that want a result, and whether the answer failed.
fn wanted(message: &Message) -> Option<(Vec<Wanted>, bool)> {
    let Message::Assistant(answer) = message else {
        return None;
    };
    let calls: Vec<Wanted> = paired_calls(answer)
        .map(|call| Wanted {
            id: call.id.to_owned(),
            name: call.name.map(str::to_owned),
        })
        .collect();
    (!calls.is_empty()).then(|| (calls, failed(answer)))
}

fn made_up(call: &Wanted, rules: &RepairRules) -> ToolResultMessage {
    let name = call
        .name
        .as_deref()
        .map(trim_js)
        .filter(|name| !name.is_empty());
    ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: Some(name.unwrap_or(UNKNOWN_TOOL).to_owned()),
        content: only_text(RESULT_MISSING),
        details: rules
            .made_up_details
            .then(|| json!({ MADE_UP_DETAIL: true, "reason": MADE_UP_REASON })),
        is_error: true,
        timestamp: None,
        extra: Extra::new(),
    }
}

/// Tells whether a result was made up by a repair, here or elsewhere.
fn is_made_up(result: &ToolResultMessage) -> bool {
    let detail = result
        .details
        .as_ref()
        .and_then(|details| details.get(MADE_UP_DETAIL));
    let says_so = detail.and_then(serde_json::Value::as_bool) == Some(true);
    let text = result
        .content
        .blocks()
        .iter()
        .any(|block| block_type(block) == "text" && block.as_text() == Some(RESULT_MISSING));
    result.is_error && (says_so || text)
}

/// Gives a result the name of its tool: its own, trimmed, or that of the call (C55).
fn named<'a>(result: &'a ToolResultMessage, call: Option<&str>) -> Cow<'a, ToolResultMessage> {
    let trimmed = |name: Option<&str>| {
        name.map(trim_js)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    };
    let own = result.tool_name.as_deref();
    let name = trimmed(own)
        .or_else(|| trimmed(call))
        .or_else(|| own.map(|_| UNKNOWN_TOOL.to_owned()));
    match name {
        Some(name) if own != Some(name.as_str()) => Cow::Owned(ToolResultMessage {
            tool_name: Some(name),
            ..result.clone()
        }),
        Some(_) | None => Cow::Borrowed(result),
    }
}
