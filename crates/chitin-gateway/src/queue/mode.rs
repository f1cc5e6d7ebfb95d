//! Words for modes and drop policies (R80).

use chitin_contract::{DropPolicy, OldQueueWords, QueueMode};
use chitin_protocol::text::trim_js;

/// Reads a mode; none when the word means nothing.
pub fn parse(text: &str, old_words: OldQueueWords) -> Option<QueueMode> {
    match trim_js(text).to_lowercase().as_str() {
        "steer" | "steering" => Some(QueueMode::Steer),
        "followup" | "followups" | "follow-ups" => Some(QueueMode::Followup),
        "collect" | "coalesce" => Some(QueueMode::Collect),
        "interrupt" | "interrupts" | "abort" => Some(QueueMode::Interrupt),
        other => match old_words {
            OldQueueWords::Unknown => None,
            OldQueueWords::Read => old_word(other),
        },
    }
}

fn old_word(text: &str) -> Option<QueueMode> {
    match text {
        "queue" | "queued" => Some(QueueMode::Steer),
        "steer-backlog" | "steer+backlog" | "steer_backlog" => Some(QueueMode::SteerBacklog),
        _ => None,
    }
}

/// Reads a drop policy; none when the word means nothing.
pub fn parse_drop(text: &str) -> Option<DropPolicy> {
    match trim_js(text).to_lowercase().as_str() {
        "old" | "oldest" => Some(DropPolicy::Old),
        "new" | "newest" => Some(DropPolicy::New),
        "summarize" | "summary" => Some(DropPolicy::Summarize),
        _ => None,
    }
}
