//! The layout of the list, as OpenClaw's readers know it (2026.4.23 and 2026.9.6).

/// What stands before the guidance.
pub(super) const LEAD: &str = "\n\n";

/// What stands between the guidance and the first skill.
pub(super) const LIST_START: &str = "\n\n<available_skills>";

/// What stands after the last skill.
pub(super) const LIST_END: &str = "\n</available_skills>";

/// The start of a skill, up to its name.
pub(super) const SKILL_START: &str = "\n  <skill>\n    <name>";

/// The end of the name.
pub(super) const NAME_END: &str = "</name>";

/// The start of the line with the description.
pub(super) const DESCRIPTION_START: &str = "\n    <description>";

/// The end of that line.
pub(super) const DESCRIPTION_END: &str = "</description>";

/// The start of the line with the path of the file.
pub(super) const LOCATION_START: &str = "\n    <location>";

/// The end of that line.
pub(super) const LOCATION_END: &str = "</location>";

/// The start of the line that says how the file is reached.
pub(super) const LOCATION_NOTE_START: &str = "\n    <location_note>";

/// The end of that line.
pub(super) const LOCATION_NOTE_END: &str = "</location_note>";

/// The end of a skill.
pub(super) const SKILL_END: &str = "\n  </skill>";

/// What a description that was cut ends in.
pub(super) const CUT_MARK: &str = "...";

/// What stands for the home directory.
pub(super) const HOME: &str = "~/";

/// Returns how a character is written when it is not written as it is.
pub(super) const fn entity(c: u8) -> Option<&'static str> {
    match c {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'"' => Some("&quot;"),
        b'\'' => Some("&apos;"),
        _ => None,
    }
}
