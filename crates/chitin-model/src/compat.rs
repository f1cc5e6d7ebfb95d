//! Strings of other programs that stand in requests and transcripts, with the release they come from.

/// Parts the system prompt into what stays the same and what changes (OpenClaw 2026.4, P10).
pub(crate) const CACHE_BOUNDARY: &str = "\n<!-- OPENCLAW_CACHE_BOUNDARY -->\n";

/// Begins what may be moved to the first message (OpenClaw 2026.9).
pub(crate) const MOVABLE_BEGIN: &str = "<!-- OPENCLAW-RELOCATABLE-BOUNDARY -->";

/// Ends what may be moved to the first message (OpenClaw 2026.9).
pub(crate) const MOVABLE_END: &str = "<!-- /OPENCLAW-RELOCATABLE-BOUNDARY -->";

/// What stands for the text of a result that is only a picture (OpenClaw 2026.4).
pub(crate) const IMAGE_ONLY: &str = "(see attached image)";

/// What stands for thoughts that the provider keeps to itself (OpenClaw 2026.4).
pub(crate) const REDACTED: &str = "[Reasoning redacted]";

/// The field of an unfinished call that holds the arguments as far as they came (OpenClaw 2026.4).
pub(crate) const PARTIAL_ARGUMENTS: &str = "partialJson";

/// Begins the name that a call of Ollama gets when the server gives none (OpenClaw 2026.4).
pub(crate) const OLLAMA_CALL: &str = "ollama_call_";

/// Hosts that are known to keep a prefix for an hour (OpenClaw 2026.4, P11).
pub(crate) const LONG_RETENTION_HOSTS: [&str; 2] =
    ["api.anthropic.com", "aiplatform.googleapis.com"];

/// What the names of further such hosts end in (OpenClaw 2026.4).
pub(crate) const LONG_RETENTION_SUFFIX: &str = "-aiplatform.googleapis.com";

/// How many breakpoints a request may have (Anthropic).
pub(crate) const MOST_BREAKPOINTS: usize = 4;
