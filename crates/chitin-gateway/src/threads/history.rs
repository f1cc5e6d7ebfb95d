//! What the session of a thread begins with: what was said there before (E13).

use crate::surface::Past;
use crate::trust::record;
use chitin_protocol::rules::SurfaceRules;
use serde_json::Value;

/// The most messages that are asked for, whatever a configuration says.
const MOST: u32 = 1_000;
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

/// Writes down what was said before, marked as the words of others; the newest are kept when there is too much. Nothing when
/// nothing was said.
pub fn told(past: &[Past]) -> Option<String> {
    record(past, INTRO, MARKER)
}
