//! The text that a parent gets (R40, R41).

use super::{escape, texts};
use crate::compat;
use chitin_contract::{AnnounceRules, AnnounceTurn, ResultFence};
use chitin_protocol::text::{utf16_len, utf16_prefix};
use std::fmt::Write as _;

/// How much of a child's words is passed on, in UTF-16 units. The rest is in its transcript.
const MOST_RESULT: usize = 100_000;

/// A child is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionEvent {
    /// What kind of work it was: `subagent` or `cron`.
    pub source: String,
    /// The child's session.
    pub session_key: String,
    /// The id of the child's transcript.
    pub session_id: Option<String>,
    /// The same kind in words: `subagent task` or `cron job`.
    pub announce_type: String,
    /// What the work is called.
    pub task_label: String,
    /// How it ended, in one word; said if there is no label.
    pub status: String,
    /// How it ended, in words.
    pub status_label: String,
    /// What the child said.
    pub result: String,
    /// What it took.
    pub stats_line: Option<String>,
    /// What the parent is asked to do.
    pub action: String,
}

/// What is sent to the parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnounceMessage {
    /// The message.
    pub message: String,
    /// A second message after it, which the runtime writes.
    pub context: Option<String>,
}

/// Returns the block that the runtime writes about children that are done; nothing for none.
pub fn block(events: &[CompletionEvent], rules: &AnnounceRules) -> String {
    if events.is_empty() {
        return String::new();
    }
    let told: Vec<String> = events
        .iter()
        .map(|event| {
            let head = format!("{}\n", compat::COMPLETION_EVENT);
            tell(event, &head, compat::ACTION, rules)
        })
        .collect();
    [
        compat::INTERNAL_BEGIN,
        compat::INTERNAL_HEADER,
        texts::BLOCK_NOTE,
        "",
        &told.join(SEPARATOR),
        compat::INTERNAL_END,
    ]
    .join("\n")
}

/// Returns what is sent to the parent; nothing for no events.
pub fn turn(events: &[CompletionEvent], rules: &AnnounceRules) -> Option<AnnounceMessage> {
    let last = events.last()?;
    Some(match rules.turn {
        AnnounceTurn::Block => AnnounceMessage {
            message: block(events, rules),
            context: None,
        },
        AnnounceTurn::PlainAndBlock => AnnounceMessage {
            message: plain(events, last, rules),
            context: Some(quoted(events, last)),
        },
    })
}

const SEPARATOR: &str = "\n\n---\n\n";

fn plain(events: &[CompletionEvent], last: &CompletionEvent, rules: &AnnounceRules) -> String {
    let told: Vec<String> = events
        .iter()
        .map(|event| {
            let head = format!("{}\n\n", texts::PLAIN_NOTE);
            tell(event, &head, compat::INSTRUCTION, rules)
        })
        .collect();
    let origin = origin(last);
    format!(
        "{}\n\n{origin}\n{}",
        told.join(SEPARATOR),
        texts::ORIGIN_NOTE
    )
}

/// Returns a block with everything that others said in quotes.
fn quoted(events: &[CompletionEvent], last: &CompletionEvent) -> String {
    let mut text = format!("{}\n{}\n", compat::INTERNAL_BEGIN, texts::PLAIN_NOTE);
    let quote = |data: &str| serde_json::Value::from(escape::block_markers(data)).to_string();
    for event in events {
        let mut data = format!("{}\n{}", compat::COMPLETION_EVENT, fields(event, None));
        let result = escape::lines(cut(&event.result).as_str(), compat::NO_OUTPUT);
        let _ = write!(data, "\n\n{result}");
        if let Some(stats) = stats(event) {
            let _ = write!(data, "\n\n{stats}");
        }
        let action = escape::lines(&event.action, "");
        let _ = write!(
            text,
            "\n{}\n{}\n\n{action}\n",
            texts::QUOTED_NOTE,
            quote(&data)
        );
    }
    let _ = write!(
        text,
        "\n{}\n{}\n\n{}\n{}",
        texts::QUOTED_NOTE,
        quote(&origin(last)),
        texts::ORIGIN_NOTE,
        compat::INTERNAL_END
    );
    text
}

/// Returns the line that says which session a message came from.
fn origin(event: &CompletionEvent) -> String {
    let session = escape::one_line(&event.session_key, compat::UNKNOWN);
    let session: String = session.split_whitespace().collect::<Vec<_>>().join("_");
    format!(
        "{} sourceSession={session} sourceChannel={} sourceTool={} isUser=false",
        compat::INTER_SESSION,
        compat::INTERNAL_CHANNEL,
        compat::ANNOUNCE_TOOL
    )
}

fn tell(event: &CompletionEvent, head: &str, ask: &str, rules: &AnnounceRules) -> String {
    let mut text = format!(
        "{head}{}\n\n{}",
        fields(event, rules.label_limit),
        fenced(&event.result, rules.fence)
    );
    if let Some(stats) = stats(event) {
        let _ = write!(text, "\n\n{stats}");
    }
    let _ = write!(text, "\n\n{ask}\n{}", escape::lines(&event.action, ""));
    text
}

fn fields(event: &CompletionEvent, label_limit: Option<u32>) -> String {
    let unknown = compat::UNKNOWN;
    let id = event.session_id.as_deref().unwrap_or_default();
    let label = escape::one_line(
        &event.status_label,
        &escape::one_line(&event.status, unknown),
    );
    [
        ("source", escape::one_line(&event.source, unknown)),
        ("session_key", escape::one_line(&event.session_key, unknown)),
        ("session_id", escape::one_line(id, unknown)),
        ("type", escape::one_line(&event.announce_type, unknown)),
        (
            "task",
            escape::one_line(&event.task_label, compat::UNNAMED_TASK),
        ),
        ("status", short(label, label_limit)),
    ]
    .map(|(name, value)| format!("{name}: {value}"))
    .join("\n")
}

fn stats(event: &CompletionEvent) -> Option<String> {
    let stats = escape::lines(event.stats_line.as_deref()?, "");
    (!stats.is_empty()).then_some(stats)
}

/// Puts a fence around a child's words.
fn fenced(result: &str, fence: ResultFence) -> String {
    let result = cut(result);
    match fence {
        ResultFence::Markers | ResultFence::OpenMarkers => {
            let result = escape::lines(&result, compat::NO_OUTPUT);
            let result = match fence {
                ResultFence::Markers => escape::result_markers(&result),
                ResultFence::OpenMarkers | ResultFence::PromptData => result,
            };
            format!(
                "{}\n{}\n{result}\n{}",
                texts::RESULT_NOTE,
                compat::RESULT_BEGIN,
                compat::RESULT_END
            )
        }
        ResultFence::PromptData => {
            let data = escape::data(&result);
            if data.is_empty() {
                return compat::NO_RESULT_LINE.to_owned();
            }
            format!(
                "{}\n{}\n{data}\n{}",
                texts::RESULT_NOTE,
                compat::DATA_BEGIN,
                compat::DATA_END
            )
        }
    }
}

/// Cuts a child's words to what is passed on, and says so.
fn cut(result: &str) -> String {
    let kept = utf16_prefix(result, MOST_RESULT);
    if kept.len() == result.len() {
        return result.to_owned();
    }
    let left = utf16_len(&result[kept.len()..]);
    format!("{kept}\n[{left} more characters are in the child's transcript]")
}

/// Cuts a label to its limit, mark included.
fn short(label: String, limit: Option<u32>) -> String {
    let Some(limit) = limit.map(|limit| limit as usize) else {
        return label;
    };
    if utf16_len(&label) <= limit {
        return label;
    }
    let room = limit.saturating_sub(utf16_len(compat::LABEL_CUT));
    format!("{}{}", utf16_prefix(&label, room), compat::LABEL_CUT)
}
