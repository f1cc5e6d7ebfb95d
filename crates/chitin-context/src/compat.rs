//! Interface strings of OpenClaw that this crate writes: headings, markers, comments. Prose is in `words`.

use chitin_protocol::record::{FileRefusal, OversizeFile};

/// The heading of the block of files.
pub(crate) const PROJECT_CONTEXT: &str = "# Project Context";
/// The heading of the block of files below the boundary.
pub(crate) const DYNAMIC_CONTEXT: &str = "# Dynamic Project Context";
/// The line below which nothing is cached.
pub(crate) const BOUNDARY: &str = "\n<!-- OPENCLAW_CACHE_BOUNDARY -->\n";
/// The heading of search results.
pub(crate) const MEMORY_RESULTS: &str = "## Memory Search Results";
/// Begins text in a message that is from the runtime; the releases take it out of what people see and of what is searched.
pub(crate) const INTERNAL_BEGIN: &str = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
/// Ends such text.
pub(crate) const INTERNAL_END: &str = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
/// The line that opens an announcement of cuts.
pub(crate) const TRUNCATION_WARNING: &str = "[Bootstrap truncation warning]";
/// The line that opens a digest of rules.
pub(crate) const POLICY_DIGEST: &str = "[Policy digest from AGENTS.md]";

/// Begins what a provider may move to the end of the request (2026.9).
pub(crate) const RELOCATABLE_START: &str = "<!-- OPENCLAW-RELOCATABLE-BOUNDARY -->";

/// Ends what a provider may move to the end of the request (2026.9).
pub(crate) const RELOCATABLE_END: &str = "<!-- /OPENCLAW-RELOCATABLE-BOUNDARY -->";

/// The title under which old templates document the default heartbeat prompt.
pub(crate) const HEARTBEAT_TITLE: &str = "Default heartbeat prompt:";

/// Tells whether a text is the default heartbeat prompt, by its first and last words.
pub(crate) fn is_heartbeat_prompt(text: &str) -> bool {
    const OPENINGS: [&str; 2] = [
        "Read HEARTBEAT.md if it exists",
        "Follow the heartbeat monitor scratch context when provided.",
    ];
    OPENINGS.iter().any(|opening| text.starts_with(opening)) && text.ends_with("HEARTBEAT_OK.")
}

/// Says where a file that is not there was expected.
pub(crate) fn missing(path: &str) -> String {
    format!("[MISSING] Expected at: {path}")
}

/// Says that a file was not read, and why.
pub(crate) fn refused(reason: FileRefusal, path: &str) -> String {
    format!("[REFUSED] {reason}: {path}")
}

/// Says that only the beginning of a file was read.
pub(crate) fn oversize(oversize: OversizeFile, path: &str) -> String {
    format!(
        "[OVERSIZE] {} of {} bytes: {path}",
        oversize.kept, oversize.size
    )
}

/// Stands between head and tail, when there is room for it.
pub(crate) fn full_marker(name: &str, head: usize, tail: usize, length: usize) -> String {
    format!(
        "\n{}\n{}\n",
        read_for_more(name),
        kept(name, head, tail, length)
    )
}

/// Stands between head and tail, when there is little room.
pub(crate) fn compact_marker(head: usize, tail: usize, length: usize) -> String {
    format!("[…truncated {head}+{tail}/{length}]")
}

/// Tells the model where the rest is.
pub(crate) fn read_for_more(name: &str) -> String {
    format!("[...truncated, read {name} for full content...]")
}

/// Tells the model how much there is.
fn kept(name: &str, head: usize, tail: usize, length: usize) -> String {
    format!("…(truncated {name}: kept {head}+{tail} chars of {length})…")
}

/// The same for a file with a digest.
pub(crate) fn kept_with_digest(
    name: &str,
    head: usize,
    digest: usize,
    tail: usize,
    length: usize,
) -> String {
    format!("…(truncated {name}: kept {head}+policy {digest}+{tail} chars of {length})…")
}

/// Tells the model how many rules the digest leaves out.
pub(crate) fn rules_omitted(count: usize) -> String {
    format!("[...{count} more policy lines omitted...]")
}
