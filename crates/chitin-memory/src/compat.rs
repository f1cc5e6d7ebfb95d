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
pub const LINE_CUT: &str =
    "\n\n[This line is longer than what is shown. The tool `read` shows all of it.]";

/// The parts of a session's key that say that others read along.
pub const SHARED_CHATS: [&str; 2] = ["channel", "group"];

/// What stands between a text and the place where it is from.
pub const SOURCE: &str = "\n\nSource: ";

/// The tool that searches.
pub const SEARCH_TOOL: &str = "memory_search";

/// The tool that reads.
pub const GET_TOOL: &str = "memory_get";

/// What an answer calls the search itself.
pub const BACKEND: &str = "builtin";

/// What an answer calls the absence of an embedding provider.
pub const NO_PROVIDER: &str = "none";

/// What is to be done when the search tool cannot search, word for word: programs look for it.
pub const UNAVAILABLE_ACTION: &str =
    "Check embedding provider configuration and retry memory_search.";

/// The code of a file that may not be read.
pub const PATH_NOT_ALLOWED: &str = "MEMORY_PATH_NOT_ALLOWED";

/// The code of a file that cannot be read.
pub const READ_FAILED: &str = "MEMORY_READ_FAILED";

/// The same for extra paths, which that tool may not reach.
pub const EXTRA_LINE_CUT: &str = "\n\n[This line is longer than what is shown.]";
