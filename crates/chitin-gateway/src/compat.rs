//! Names, markers and words of OpenClaw that this crate reads or writes.

/// The answer that means "say nothing".
pub const NO_REPLY: &str = "NO_REPLY";

/// The answer that means "nothing to report" to a heartbeat.
pub const HEARTBEAT_OK: &str = "HEARTBEAT_OK";

/// How reasoning begins that is shown in italics as a whole.
pub const REASONING_OPENING: &str = "Reasoning:\n_";

/// Tags that hold reasoning, without the prefixes of vendors.
pub const REASONING_TAGS: [&str; 4] = ["thinking", "think", "thought", "antthinking"];

/// Words on a line of their own that announce reasoning.
pub const REASONING_WORDS: [&str; 5] = ["thinking", "think", "thought", "analysis", "reasoning"];

/// The channel of the web page, which has no settings of its own.
pub const WEBCHAT: &str = "webchat";

/// Endings of file names that are country codes too, so that a file would be taken for a link.
pub const FILE_ENDINGS: [&str; 9] = ["md", "go", "py", "pl", "sh", "am", "at", "be", "cc"];
