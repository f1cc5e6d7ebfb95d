//! Names and markers that other programs chose. Recorded from the Atmosphere bridge of August 2026.

/// The facts of one user with one agent.
pub(super) const FACTS_FILE: &str = "MEMORY.md";
/// The daily notes beside them.
pub(super) const NOTES_DIRECTORY: &str = "memory";
/// What stands before the id of an entry.
pub(super) const ENTRY_START: &str = "- [id:";
/// What stands between the id and the instant.
pub(super) const ENTRY_INSTANT: &str = "|at:";
