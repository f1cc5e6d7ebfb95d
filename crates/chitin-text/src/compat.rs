//! Names, markers and tokens of OpenClaw that this crate reads.

/// The channel where a thread is a channel of its own.
pub const DISCORD: &str = "discord";

/// The channel where the replies to a message are a thread.
pub const SLACK: &str = "slack";

/// The channel whose messages are HTML.
pub const TELEGRAM: &str = "telegram";

/// The channel of the web page, which has no settings of its own.
pub const WEBCHAT: &str = "webchat";

/// A reply that means: say nothing.
pub const NO_REPLY: &str = "NO_REPLY";

/// A reply that means: nothing needs attention.
pub const HEARTBEAT_OK: &str = "HEARTBEAT_OK";

/// How reasoning begins that is shown in italics as a whole.
pub const REASONING_OPENING: &str = "Reasoning:\n_";

/// Tags that hold reasoning, without the prefixes of vendors.
pub const REASONING_TAGS: [&str; 4] = ["thinking", "think", "thought", "antthinking"];

/// Words on a line of their own that announce reasoning.
pub const REASONING_WORDS: [&str; 5] = ["thinking", "think", "thought", "analysis", "reasoning"];

/// Endings of file names that are country codes too, so that a file would be taken for a link.
pub const FILE_ENDINGS: [&str; 9] = ["md", "go", "py", "pl", "sh", "am", "at", "be", "cc"];
