//! Interface strings of OpenClaw that the sections use.

/// The first line of the notice before a user's prompt while set-up is pending (2026.4).
pub(crate) const BOOTSTRAP_PENDING: &str = "[Bootstrap pending]";

/// The heading of what is said about the `message` tool.
pub(crate) const MESSAGE_TOOL: &str = "### message tool";

/// The heading of the directory of tools whose schemas are loaded on demand (2026.9).
pub(crate) const DEFERRED_TOOLS: &str = "### Deferred Tool Schemas";
