//! What the model is asked when nobody asks it.

use chitin_protocol::text::trim_js;

/// What the model is asked, unless a configuration asks otherwise.
pub const DEFAULT_PROMPT: &str = "\
This is a heartbeat: nobody wrote to you. Look into HEARTBEAT.md in your workspace and see to what it asks for now, and to \
nothing else; matters of earlier conversations are not open again because of this. If nothing needs attention, reply with \
exactly HEARTBEAT_OK.";

/// Returns what the model is asked: the configured words, or ours.
pub fn prompt(configured: Option<&str>) -> &str {
    configured
        .map(trim_js)
        .filter(|text| !text.is_empty())
        .unwrap_or(DEFAULT_PROMPT)
}
