//! Names and words that other programs know.

/// The files that are kept by hand.
pub const CURATED_FILES: [&str; 2] = ["MEMORY.md", "USER.md"];
