//! Names, markers and words of OpenClaw that this crate reads or writes.

/// The channel whose thread ids have letter case.
pub const MATTERMOST: &str = "mattermost";

/// What stands for every peer or every account in a binding.
pub const ANY: &str = "*";

/// What a peer is called that has no id.
pub const UNKNOWN: &str = "unknown";

/// Opens a block that the runtime wrote (R40).
pub const INTERNAL_BEGIN: &str = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
/// Closes it.
pub const INTERNAL_END: &str = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
/// What the opening marker becomes inside the words of others.
pub const INTERNAL_BEGIN_ESCAPED: &str = "[[OPENCLAW_INTERNAL_CONTEXT_BEGIN]]";
/// What the closing marker becomes inside the words of others.
pub const INTERNAL_END_ESCAPED: &str = "[[OPENCLAW_INTERNAL_CONTEXT_END]]";
/// The first line of a block that the runtime wrote.
pub const INTERNAL_HEADER: &str = "OpenClaw runtime context (internal):";

/// The first line of an event about a child's end.
pub const COMPLETION_EVENT: &str = "[Internal task completion event]";
/// Opens a child's words.
pub const RESULT_BEGIN: &str = "<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>";
/// Closes a child's words.
pub const RESULT_END: &str = "<<<END_UNTRUSTED_CHILD_RESULT>>>";
/// What the opening marker of a child's words becomes inside them.
pub const RESULT_BEGIN_ESCAPED: &str = "[[UNTRUSTED_CHILD_RESULT_BEGIN]]";
/// What the closing marker of a child's words becomes inside them.
pub const RESULT_END_ESCAPED: &str = "[[UNTRUSTED_CHILD_RESULT_END]]";
/// Opens data in a prompt.
pub const DATA_BEGIN: &str = "<prompt-data>";
/// Closes data in a prompt.
pub const DATA_END: &str = "</prompt-data>";
/// The line that stands for the words of a child that said nothing, where no fence is put around them.
pub const NO_RESULT_LINE: &str = "Child result: (no output)";
/// What stands for the words of a child that said nothing.
pub const NO_OUTPUT: &str = "(no output)";
/// What stands for the label of a task that has none.
pub const UNNAMED_TASK: &str = "unnamed task";
/// Ends a label that was cut.
pub const LABEL_CUT: &str = "…[truncated]";
/// Before what a parent shall do, in a block.
pub const ACTION: &str = "Action:";
/// Before what a parent shall do, in a plain message.
pub const INSTRUCTION: &str = "Instruction:";
/// Begins the line that says where a message of another session came from.
pub const INTER_SESSION: &str = "[Inter-session message]";
/// The tool that such a line names for announces.
pub const ANNOUNCE_TOOL: &str = "subagent_announce";
/// What the provenance of such a message says of its kind (R25).
pub const INTER_SESSION_KIND: &str = "inter_session";
/// The channel that such a line names.
pub const INTERNAL_CHANNEL: &str = "internal";
/// A child's reply that means: do not announce.
pub const ANNOUNCE_SKIP: &str = "ANNOUNCE_SKIP";

/// Begins the paragraph that tells a child what it is.
pub const SUBAGENT_CONTEXT: &str = "[Subagent Context]";
/// Begins a child's task.
pub const SUBAGENT_TASK: &str = "[Subagent Task]";

/// Headings of a child's part of the system prompt, in their order (R34).
pub mod heading {
    /// The first one.
    pub const CONTEXT: &str = "# Subagent Context";
    /// What the child is for.
    pub const ROLE: &str = "## Your Role";
    /// How it works.
    pub const RULES: &str = "## Rules";
    /// What its last message looks like.
    pub const OUTPUT: &str = "## Output Format";
    /// What is not its business.
    pub const NOT: &str = "## What You DON'T Do";
    /// Whether it may begin others.
    pub const SPAWNING: &str = "## Sub-Agent Spawning";
    /// Facts of this session.
    pub const SESSION: &str = "## Session Context";
}

/// Begins the name of a session's lane.
pub const SESSION_LANE: &str = "session:";
/// The lane of ordinary turns.
pub const MAIN_LANE: &str = "main";
/// The lane of subagents.
pub const SUBAGENT_LANE: &str = "subagent";
/// The lane of schedules.
pub const CRON_LANE: &str = "cron";

/// The file that a heartbeat looks into.
pub const HEARTBEAT_FILE: &str = "HEARTBEAT.md";
/// Ends the key of a session that each heartbeat begins anew.
const HEARTBEAT_SUFFIX: &str = ":heartbeat";

/// Returns the session that each heartbeat of a conversation begins anew.
pub fn heartbeat_session(base: &str) -> String {
    format!("{base}{HEARTBEAT_SUFFIX}")
}

/// Returns the conversation that a session of heartbeats belongs to.
pub fn heartbeat_base(key: &str) -> &str {
    key.strip_suffix(HEARTBEAT_SUFFIX).unwrap_or(key)
}

/// What the index says of where and what was last said.
pub mod last {
    /// The word for the last place in a configuration.
    pub const WORD: &str = "last";
    /// Who or where on it.
    pub const TO: &str = "lastTo";
    /// The account.
    pub const ACCOUNT: &str = "lastAccountId";
    /// The thread.
    pub const THREAD: &str = "lastThreadId";
    /// When each task of HEARTBEAT.md was last done, in milliseconds since 1970.
    pub const TASKS: &str = "heartbeatTaskState";
    /// The words of the last heartbeat that said something.
    pub const BEAT_TEXT: &str = "lastHeartbeatText";
    /// When that was, in milliseconds since 1970.
    pub const BEAT_AT: &str = "lastHeartbeatSentAt";
}
