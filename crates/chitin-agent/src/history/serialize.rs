//! A conversation as plain text, for a model that is to summarise it and not to go on with it.

use super::tool_results::clip;
use super::view::{compact, content_of, is_image, text_field};
use crate::compat::role;
use chitin_protocol::message::{Block, Content, Message};
use chitin_protocol::text::{utf16_len, utf16_prefix, utf16_suffix};
use serde_json::Value;
use std::fmt::Write as _;

/// How much of a tool result is shown.
const RESULT_CHARS: usize = 2000;
/// How much of anything else that somebody said is shown.
const MESSAGE_CHARS: usize = 20_000;
/// How much of one argument of a call is shown.
const ARGUMENT_CHARS: usize = 500;

/// Writes messages as text: who said what, calls on one line, tool results shortened. Thoughts are left out, and pictures
/// are named. The text is at most `limit` long; of a longer one the middle goes.
pub(super) fn conversation_text<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    limit: usize,
) -> String {
    let parts: Vec<String> = messages.into_iter().filter_map(one).collect();
    without_middle(&parts.join("\n\n"), limit)
}

/// Leaves out the middle of a text that is too long: its beginning says what was wanted, its end how it stands.
pub(super) fn without_middle(text: &str, limit: usize) -> String {
    let length = utf16_len(text);
    if length <= limit {
        return text.to_owned();
    }
    let mark = format!("\n\n[... {length} characters in all; the middle is left out ...]\n\n");
    let room = limit.saturating_sub(utf16_len(&mark));
    let head = utf16_prefix(text, room * 3 / 10);
    let tail = utf16_suffix(text, room - room * 3 / 10);
    utf16_prefix(&format!("{head}{mark}{tail}"), limit).to_owned()
}

fn one(message: &Message) -> Option<String> {
    match message {
        Message::User(user) => labelled("User", &said(&user.content), MESSAGE_CHARS),
        Message::Assistant(answer) => {
            let text = labelled("Assistant", &said(&answer.content), MESSAGE_CHARS);
            let calls: Vec<String> = answer.content.blocks().iter().filter_map(call).collect();
            let calls = labelled("Assistant calls", &calls.join("; "), MESSAGE_CHARS);
            let parts: Vec<String> = text.into_iter().chain(calls).collect();
            (!parts.is_empty()).then(|| parts.join("\n\n"))
        }
        Message::ToolResult(result) => {
            let name = result.tool_name.as_deref().unwrap_or("tool");
            let label = if result.is_error {
                format!("Result of {name}, failed")
            } else {
                format!("Result of {name}")
            };
            labelled(&label, &said(&result.content), RESULT_CHARS)
        }
        Message::Other(value) => match message.role() {
            role::BASH => {
                let command = clip(text_field(value, "command"), ARGUMENT_CHARS, "...");
                let output = text_field(value, "output");
                labelled("User ran", &format!("{command}\n{output}"), RESULT_CHARS)
            }
            role::BRANCH_SUMMARY | role::COMPACTION_SUMMARY => {
                labelled("Summary", text_field(value, "summary"), MESSAGE_CHARS)
            }
            role::CUSTOM => {
                let content = content_of(message)?;
                labelled("Note", &said(&content), MESSAGE_CHARS)
            }
            _ => None,
        },
    }
}

fn labelled(label: &str, text: &str, limit: usize) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    Some(format!("[{label}]: {}", without_middle(text, limit)))
}

/// Returns the text of a message, with a word for each kind of picture.
fn said(content: &Content) -> String {
    let mut text = content.text();
    let images = content
        .blocks()
        .iter()
        .filter(|block| is_image(block))
        .count();
    if images > 0 {
        let between = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{between}[{images} image(s), not shown here]");
    }
    text
}

fn call(block: &Block) -> Option<String> {
    let Block::ToolCall(call) = block else {
        return None;
    };
    let given = match &call.arguments {
        Some(Value::Object(fields)) => {
            let fields = fields.iter().map(|(name, value)| {
                format!("{name}={}", clip(&compact(value), ARGUMENT_CHARS, "..."))
            });
            fields.collect::<Vec<_>>().join(", ")
        }
        Some(other) => clip(&compact(other), ARGUMENT_CHARS, "..."),
        None => String::new(),
    };
    Some(format!("{}({given})", call.name))
}
