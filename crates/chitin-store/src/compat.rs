//! Interface strings of OpenClaw, as 2026.4.23 and 2026.9.6 write them.

/// The session index.
pub const INDEX: &str = "sessions.json";
/// How transcripts end.
pub const TRANSCRIPT: &str = ".jsonl";
/// Marks the file name of a transcript whose session was reset; a time follows.
pub const RESET: &str = ".reset.";
/// What stands in the name of a transcript whose session was deleted; a time follows.
pub const DELETED: &str = ".deleted.";
/// How the record of what the model received ends, beside a transcript.
pub const TRAJECTORY: &str = ".trajectory.jsonl";
/// How the file ends that says where that record is.
pub const TRAJECTORY_PATH: &str = ".trajectory-path.json";
/// The first line's type.
pub const SESSION: &str = "session";
/// The field of the first line that names the transcript which the session was forked from.
pub const PARENT_SESSION: &str = "parentSession";
/// The field of a record that names the one before it.
pub const PARENT_ID: &str = "parentId";
/// The custom record that says which model answers.
pub const MODEL_SNAPSHOT: &str = "model-snapshot";
/// The custom record that marks a turn with the full context.
pub const FULL_CONTEXT: &str = "openclaw:bootstrap-context:full";
/// The custom record about results of tools that are no longer sent (2026.9).
pub const CACHE_TTL: &str = "openclaw.cache-ttl";
/// The custom type of a message about a call inside a call (2026.9).
pub const NESTED_TOOL: &str = "openclaw.nested-tool.v1";
/// The field of a message for what the runtime notes (2026.9).
pub const RUNTIME: &str = "__openclaw";
/// Whether the owner spoke, in [`RUNTIME`].
pub const SENDER_IS_OWNER: &str = "senderIsOwner";
/// The run, in [`RUNTIME`].
pub const RUN_ID: &str = "runId";
/// The field of somebody's words that keeps them from being stored twice (2026.9).
pub const IDEMPOTENCY_KEY: &str = "idempotencyKey";
/// The field of an answer for the model that gave it (2026.9).
pub const RESPONSE_MODEL: &str = "responseModel";
/// The field of tokens for how full the model's window was (2026.9).
pub const CONTEXT_USAGE: &str = "contextUsage";
/// What comes before the name of a session that was asked for by name, after `agent:<id>:`.
pub const EXPLICIT: &str = "explicit:";
/// The directory of all agents, in the state directory.
pub const AGENTS: &str = "agents";
/// The directory of an agent's sessions.
pub const SESSIONS: &str = "sessions";
