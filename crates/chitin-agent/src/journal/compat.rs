//! Words that other programs read and write: OpenClaw's names for variables, files, stages and fields (R110–R118).

/// How OpenClaw's variables begin.
pub(super) const OPENCLAW_PREFIX: &str = "OPENCLAW_";
/// How our own begin; the rest is the same.
pub(super) const CHITIN_PREFIX: &str = "CHITIN_";

/// What follows the prefix of a variable.
pub(super) mod variable {
    pub(in crate::journal) const PAYLOAD_LOG: &str = "ANTHROPIC_PAYLOAD_LOG";
    pub(in crate::journal) const PAYLOAD_LOG_FILE: &str = "ANTHROPIC_PAYLOAD_LOG_FILE";
    pub(in crate::journal) const RAW_STREAM: &str = "RAW_STREAM";
    pub(in crate::journal) const RAW_STREAM_PATH: &str = "RAW_STREAM_PATH";
    pub(in crate::journal) const CACHE_TRACE: &str = "CACHE_TRACE";
    pub(in crate::journal) const CACHE_TRACE_FILE: &str = "CACHE_TRACE_FILE";
    pub(in crate::journal) const CACHE_TRACE_MESSAGES: &str = "CACHE_TRACE_MESSAGES";
    pub(in crate::journal) const CACHE_TRACE_PROMPT: &str = "CACHE_TRACE_PROMPT";
    pub(in crate::journal) const CACHE_TRACE_SYSTEM: &str = "CACHE_TRACE_SYSTEM";
    pub(in crate::journal) const MODEL_PAYLOAD: &str = "DEBUG_MODEL_PAYLOAD";
    pub(in crate::journal) const TRAJECTORY: &str = "TRAJECTORY";
    pub(in crate::journal) const TRAJECTORY_DIR: &str = "TRAJECTORY_DIR";
}

/// Our own word in the usage of a turn: the provider did not say how many tokens some answer took.
pub(super) const TOKENS_UNKNOWN: &str = "tokensUnknown";

/// Names of files below `logs/`.
pub(super) const PAYLOAD_FILE: &str = "anthropic-payload.jsonl";
pub(super) const RAW_STREAM_FILE: &str = "raw-stream.jsonl";
pub(super) const CACHE_TRACE_FILE: &str = "cache-trace.jsonl";
pub(super) const TRAJECTORY_DIRECTORY: &str = "trajectory";
/// How a trajectory beside its transcript ends.
pub(super) const TRAJECTORY_ENDING: &str = ".trajectory.jsonl";
/// How the file ends that says where a trajectory is.
pub(super) const POINTER_ENDING: &str = ".trajectory-path.json";

/// What trajectories and what is exported from them call themselves.
pub(super) const TRACE_SCHEMA: &str = "openclaw-trajectory";
pub(super) const POINTER_SCHEMA: &str = "openclaw-trajectory-pointer";
pub(super) const SCHEMA_VERSION: u32 = 1;
/// Why data of an event is missing.
pub(super) const OVERSIZE_REASON: &str = "trajectory-event-size-limit";

/// Types of events (R116).
pub(super) mod event {
    pub(in crate::journal) const STARTED: &str = "session.started";
    pub(in crate::journal) const METADATA: &str = "trace.metadata";
    pub(in crate::journal) const CONTEXT: &str = "context.compiled";
    pub(in crate::journal) const PROMPT: &str = "prompt.submitted";
    pub(in crate::journal) const TOOL_CALL: &str = "tool.call";
    pub(in crate::journal) const TOOL_RESULT: &str = "tool.result";
    pub(in crate::journal) const COMPLETED: &str = "model.completed";
    pub(in crate::journal) const ARTIFACTS: &str = "trace.artifacts";
    pub(in crate::journal) const ENDED: &str = "session.ended";
    /// Our own: a rule of the workspace refused the message or the reply.
    pub(in crate::journal) const REFUSED: &str = "permission.refused";
    /// Our own: the bytes of a request.
    pub(in crate::journal) const REQUEST: &str = "model.request";
}

/// Stages of the cache trace (R113).
pub(super) mod stage {
    pub(in crate::journal) const LOADED: &str = "session:loaded";
    pub(in crate::journal) const SANITIZED: &str = "session:sanitized";
    pub(in crate::journal) const LIMITED: &str = "session:limited";
    pub(in crate::journal) const STATE: &str = "cache:state";
    pub(in crate::journal) const PROMPT: &str = "prompt:before";
    pub(in crate::journal) const IMAGES: &str = "prompt:images";
    pub(in crate::journal) const CONTEXT: &str = "stream:context";
    pub(in crate::journal) const AFTER: &str = "session:after";
    pub(in crate::journal) const RESULT: &str = "cache:result";
}

/// What stands for the workspace and for home in what is exported (R118).
pub(super) const WORKSPACE_MARK: &str = "$WORKSPACE_DIR";
pub(super) const HOME_MARK: &str = "~";
/// What stands for values that a limit left out.
pub(super) const TRUNCATED_MARK: &str = "[Truncated]";
/// Where bundles go below the workspace, and how they are called (R117).
pub(super) const EXPORT_DIRECTORY: &str = ".openclaw/trajectory-exports";
pub(super) const EXPORT_PREFIX: &str = "openclaw-trajectory";

/// How a turn ended, in one word.
pub(super) mod status {
    pub(in crate::journal) const SUCCESS: &str = "success";
    pub(in crate::journal) const ERROR: &str = "error";
    pub(in crate::journal) const INTERRUPTED: &str = "interrupted";
}
