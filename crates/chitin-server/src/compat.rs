//! Names that clients and session files know from OpenClaw and from OpenAI.

/// The part of a session key that names a caller's own session, before the name.
pub(crate) const OPENAI_USER: &str = "openai-user";
/// The part of a session key of a request that names no session, before a name that nobody else has.
pub(crate) const OPENAI: &str = "openai";
/// Where the transcript keeps the name of the turn that a user's words began.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotencyKey";
/// What ends a stream of OpenAI's.
pub(crate) const DONE: &str = "[DONE]";
