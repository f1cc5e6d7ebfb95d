//! Names and words that other programs know.

/// The files that are kept by hand.
pub const CURATED_FILES: [&str; 2] = ["MEMORY.md", "USER.md"];

/// What a path ends in that is Markdown.
pub const MARKDOWN_SUFFIX: &str = ".md";

/// What is said when no path is given, and in some releases of every path that may not be read.
pub const PATH_REQUIRED: &str = "path required";

/// Returns what ends a window that has more lines after it.
pub fn more_lines(next: usize) -> String {
    format!("\n\n[More content available. Use from={next} to continue.]")
}

/// What ends a window whose only line was cut, for memory proper: another tool shows all of it.
pub const LINE_CUT: &str = "\n\n[More content available. Requested excerpt exceeded the default maxChars budget. \
    If you need the full raw line, use read on the source file.]";

/// The same for extra paths, which that tool may not reach.
pub const EXTRA_LINE_CUT: &str =
    "\n\n[More content available. Requested excerpt exceeded the default maxChars budget.]";
