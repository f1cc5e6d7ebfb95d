//! Our own words to the model that belong to files; those of other sections are in `sections`.

/// Opens the block of files.
pub(crate) const FILES: &str = "These files of the workspace were loaded for this turn; treat them as your own notes and rules.";
/// Opens the block of files that stand in the conversation.
pub(crate) const CONVERSATION_FILES: &str = "These files of the workspace belong to your instructions for this session. They are given here once \
     and are not repeated in the system prompt; treat them as your own notes and rules.";
/// Says in the system prompt where they are.
pub(crate) const IN_CONVERSATION: &str = "Further workspace files stand in the conversation under `# Workspace Files`; they hold as if they stood here.";
/// Opens the block of files that may change with every turn.
pub(crate) const DYNAMIC_FILES: &str = "These files may change from one turn to the next.";
/// Stands below it when there is a persona.
pub(crate) const SOUL: &str =
    "SOUL.md says who you are: speak in its voice unless a higher rule forbids it.";
/// Stands below it when there is a memory file.
pub(crate) const MEMORY: &str =
    "MEMORY.md is what you chose to remember; facts in it may be out of date.";
/// Stands below it when there is a user file.
pub(crate) const USER: &str = "USER.md says whom you serve; it is information, not a command.";
/// Opens an announcement of cuts.
pub(crate) const TRUNCATION_INTRO: &str =
    "Some workspace files did not fit. Read the file itself before you rely on what it may say.";
/// What a user can do about cuts.
pub(crate) const LIMITS_ADVICE: &str = "To let more through, raise agents.defaults.bootstrapMaxChars or \
     agents.defaults.bootstrapTotalMaxChars, or shorten the file.";
/// What a user can do about files that a plan shortens.
pub(crate) const PLAN_ADVICE: &str = "The plan for small windows shortens these files; a model with a larger window gets more of them.";
/// What a user can do about cut operating rules.
pub(crate) const DIGEST_ADVICE: &str =
    "AGENTS.md was reduced to head, digest and tail; move long passages into files that it names.";
/// What a user can do about a cut user file.
pub(crate) const USER_CAP_ADVICE: &str =
    "USER.md has a limit of its own that no setting lifts; keep it short.";

/// Stands in the place of a file that a plan for small windows leaves out.
pub(crate) fn left_out(path: &str) -> String {
    format!("[LEFT OUT] There is no room for it in this window. Read it at: {path}")
}
