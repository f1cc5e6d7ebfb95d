//! What the session of a thread begins with: what was said there before (E13).

use crate::access::record;
use crate::surface::PastMessage;
use chitin_contract::SurfaceRules;
use serde_json::Value;

/// The most messages that are asked for, whatever a configuration says.
const MOST: u32 = 1_000;
/// How much of a thread's id is shown.
const MOST_ID: usize = 200;
/// What the record is called in its marks.
const MARKER: &str = "THREAD_HISTORY";
/// Says what it is.
const INTRO: &str = "What was said in this thread before you came, the newest last.";

/// Returns how many earlier messages of a thread its session begins with; zero is none.
pub fn history_limit(config: &Value, channel: &str, rules: SurfaceRules) -> u32 {
    let section = &config["channels"][channel.trim().to_lowercase()]["thread"];
    let said = section["initialHistoryLimit"].as_u64();
    said.map_or(rules.thread_history, |limit| {
        u32::try_from(limit).unwrap_or(MOST)
    })
    .min(MOST)
}

/// Says that a thread's session begins without the thread's earlier messages, and by which tool it can read them.
pub fn how_to_read(thread_id: &str, reader: Option<&str>) -> String {
    let begins = "This session begins in a thread, and earlier messages of the thread are not part of this conversation.";
    let thread = thread_id.chars().filter(|c| !c.is_control());
    let thread: String = thread.take(MOST_ID).collect();
    match reader {
        Some(tool) => format!(
            "[Thread] {begins} If the message below refers to them, read them first: call `{tool}` with {{\"action\": \"read\", \"threadId\": {}}}.",
            Value::from(thread)
        ),
        None => format!(
            "[Thread] {begins} This session has no `message` tool to read them with: ask for what you need to know."
        ),
    }
}

/// Writes down what was said before, marked as the words of others; the newest are kept when there is too much. Nothing when
/// nothing was said.
pub fn told(past: &[PastMessage]) -> Option<String> {
    record(past, INTRO, MARKER)
}
