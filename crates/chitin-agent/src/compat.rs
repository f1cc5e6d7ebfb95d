//! Words of other programs that we read and write as they are: OpenClaw 2026.4 and 2026.9.

/// The id of the engine that passes a conversation on as it is.
pub const LEGACY_ENGINE: &str = "legacy";
/// The name of that engine.
pub const LEGACY_ENGINE_NAME: &str = "Legacy Context Engine";
/// The version of that engine.
pub const LEGACY_ENGINE_VERSION: &str = "1.0.0";
/// Who owns that id.
pub const CORE_OWNER: &str = "core";
/// Who owns the ids of engines that others register.
pub const PUBLIC_OWNER: &str = "public-sdk";

/// The field of somebody's words that names the turn which they began, so that it happens once.
pub const IDEMPOTENCY_KEY: &str = "idempotencyKey";
/// The field of words that no person said: where they come from (R25).
pub const PROVENANCE: &str = "provenance";
/// The field that names the turn that heard a message while it ran. Ours.
pub const STEERED_INTO: &str = "steeredInto";

/// The field of a record that says where its text comes from, as far as it is not the owner's. Ours.
pub const ORIGINS: &str = "chitin:origins";

/// What a model answers when nothing is to be said.
pub const NO_REPLY: &str = "NO_REPLY";

/// The note to the model that holds workspace files which are not in the system prompt. Ours.
pub const WORKSPACE_FILES_RECORD: &str = "chitin:workspace-files";
/// The record that says that the agent wrote down what it would forget. Ours.
pub const MEMORY_FLUSH_RECORD: &str = "chitin:memory-flush";
/// What the index says of it when it went well.
pub const FLUSH_SUCCEEDED: &str = "succeeded";
/// What the index says of it when it did not.
pub const FLUSH_FAILED: &str = "failed";
/// The tool that appends to the day's note while that is being done.
pub const WRITE_TOOL: &str = "write";
/// Tools that may be used meanwhile, because they only look.
pub const LOOKING_TOOLS: [&str; 3] = ["read", "memory_search", "memory_get"];

/// Stands for a picture that was old enough to go (C61).
pub const IMAGE_AGED: &str = "[image data removed - already processed by model]";
/// Stands for a reference to media that was old enough to go (C61).
pub const MEDIA_AGED: &str = "[media reference removed - already processed by model]";
/// Stands for a picture in a result that was trimmed (C45).
pub const IMAGE_PRUNED: &str = "[image removed during context pruning]";
/// Stands for a result that was cleared (C43).
pub const RESULT_CLEARED: &str = "[Old tool result content cleared]";
/// Stands for a result that a conversation lacks (C51).
pub const RESULT_MISSING: &str = "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.";
/// The detail that says that a result was made up (C51).
pub const MADE_UP_DETAIL: &str = "openclawSyntheticMissingToolResult";
/// Why it was made up (C51).
pub const MADE_UP_REASON: &str = "missing_tool_result";
/// The name of a tool whose name is not known (C55).
pub const UNKNOWN_TOOL: &str = "unknown";
/// Ends a summary that was cut (C39).
pub const SUMMARY_CUT: &str = "\n\n[Compaction summary truncated to fit budget]";
/// Stands between the beginning and the end of a result that was cut (C62).
pub const MIDDLE_CUT: &str =
    "\n\n\u{26a0}\u{fe0f} [... middle content omitted \u{2014} showing head and tail ...]\n\n";
/// Stands for a picture in text that is to be summarised (C10).
pub const IMAGE_OMITTED: &str = "[image data omitted from summary input]";
/// Stands for anything else that is no text, in text that is to be summarised (C10).
pub const DATA_OMITTED: &str = "[non-text data omitted from summary input]";
/// What stands before a tool result in text that is to be summarised (C10).
pub const RESULT_LABEL: &str = "\n\n[Tool result]: ";

/// Heads the beginning of a turn that was cut in two (C38).
pub const SPLIT_TURN_HEADING: &str = "**Turn Context (split turn):**";
/// Heads turns that are kept word by word (C38).
pub const PRESERVED_HEADING: &str = "## Recent turns preserved verbatim";
/// Heads failures of tools (C38).
pub const FAILURES_HEADING: &str = "## Tool Failures";
/// Encloses rules of the workspace that must not be forgotten (C38).
pub const CRITICAL_RULES_TAG: &str = "workspace-critical-rules";
/// Ends rules that were cut (C38).
pub const CRITICAL_RULES_CUT: &str = "\n...[truncated]...";
/// Sections of `AGENTS.md` that hold such rules, by preference (C38).
pub const CRITICAL_SECTIONS: [[&str; 2]; 2] = [
    ["Session Startup", "Red Lines"],
    ["Every Session", "Safety"],
];
/// The record of what a rule of the workspace refused. Our own.
pub const REFUSED_RECORD: &str = "chitin:refused";
/// Encloses files that were read (C35).
pub const READ_FILES_TAG: &str = "read-files";
/// Encloses files that were changed (C35).
pub const MODIFIED_FILES_TAG: &str = "modified-files";
/// The sections that a summary must have, in this order (C37).
pub const SUMMARY_SECTIONS: [&str; 5] = [
    "## Decisions",
    "## Open TODOs",
    "## Constraints/Rules",
    "## Pending user asks",
    "## Exact identifiers",
];

/// Roles of messages besides the three that we write.
pub mod role {
    /// A note to the model that a program wrote.
    pub const CUSTOM: &str = "custom";
    /// A command that the user ran.
    pub const BASH: &str = "bashExecution";
    /// A summary of a branch that was left.
    pub const BRANCH_SUMMARY: &str = "branchSummary";
    /// A summary of what came before.
    pub const COMPACTION_SUMMARY: &str = "compactionSummary";
}

/// Types of records besides those that we write.
pub mod record {
    /// A note to the model that a program wrote.
    pub const CUSTOM_MESSAGE: &str = "custom_message";
    /// A summary of a branch that was left.
    pub const BRANCH_SUMMARY: &str = "branch_summary";
}
