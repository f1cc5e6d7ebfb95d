//! An answer as the parts that a server sends one by one, whatever the format.

use chitin_protocol::message::StopReason;
use chitin_protocol::script::{ScriptCall, ScriptReply, ScriptUsage};
use serde_json::Value;

/// What Anthropic and OpenAI want back with a thought; nobody checks it here.
pub(super) const SIGNATURE: &str = "c2lnbmVk";

/// The parts of an answer, and how many characters of text each of them carries.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<(String, usize)>,
}

impl Parts {
    /// Adds a part without text.
    pub(super) fn push(&mut self, part: String) {
        self.parts.push((part, 0));
    }

    /// Adds a part that carries a piece of text.
    pub(super) fn push_text(&mut self, part: String, text: &str) {
        self.parts.push((part, text.chars().count()));
    }

    /// Returns what is sent: all of it, or all until the cut and half of the part after it.
    pub(super) fn finish(self, reply: &ScriptReply) -> Vec<String> {
        let Some(cut_after) = reply.cut_after else {
            return self.parts.into_iter().map(|(part, _)| part).collect();
        };
        let mut sent = Vec::new();
        let mut characters = 0;
        for (mut part, carried) in self.parts {
            if characters >= cut_after && (carried > 0 || cut_after > 0) {
                let half = part.floor_char_boundary(part.len() / 2);
                part.truncate(half);
                sent.push(part);
                break;
            }
            characters += carried;
            sent.push(part);
        }
        sent
    }
}

/// Writes a server-sent event.
pub(super) fn event(name: Option<&str>, data: &Value) -> String {
    name.map_or_else(
        || format!("data: {data}\n\n"),
        |name| format!("event: {name}\ndata: {data}\n\n"),
    )
}

/// Cuts a text into pieces, as a model makes them: a few characters each, and a seam where the script cuts.
pub(super) fn deltas(text: &str, cut_after: Option<usize>) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let seam = cut_after.unwrap_or(usize::MAX).min(characters.len());
    let size = (characters.len() / 2000).max(7);
    [&characters[..seam], &characters[seam..]]
        .into_iter()
        .flat_map(|half| half.chunks(size))
        .map(|piece| piece.iter().collect())
        .collect()
}

/// Returns the tokens that a reply reports.
pub(super) fn usage(reply: &ScriptReply) -> ScriptUsage {
    reply.usage.unwrap_or_else(|| ScriptUsage {
        input: 100,
        output: reply
            .text
            .as_ref()
            .map_or(1, |text| text.len() as u64 / 4 + 1),
        ..ScriptUsage::default()
    })
}

/// Returns why a reply ends.
pub(super) fn stop_reason(reply: &ScriptReply) -> StopReason {
    reply.stop_reason.clone().unwrap_or({
        if reply.tool_calls.is_empty() {
            StopReason::Stop
        } else {
            StopReason::ToolUse
        }
    })
}

/// Returns the provider's name for a call.
pub(super) fn call_id(call: &ScriptCall, prefix: &str, number: usize, index: usize) -> String {
    call.id
        .clone()
        .unwrap_or_else(|| format!("{prefix}{number}x{index}"))
}
