//! `MCP.md`: the tool servers that an agent connects to (B12).

use super::line::{pair, statements};
use super::uri::is_uri;
use serde::Serialize;
use std::collections::HashSet;

/// The file.
pub const FILE: &str = "MCP.md";

/// What an `MCP.md` says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Servers {
    /// The servers, in the order in which they stand; the first of a name wins.
    pub servers: Vec<McpServer>,
    /// The entries that name no server, and why.
    pub skipped: Vec<Skipped>,
}

/// One tool server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpServer {
    /// The name, as it is spelled.
    pub name: String,
    /// The address.
    pub uri: String,
}

/// An entry that names no server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The name, as it is spelled.
    pub name: String,
    /// Why it was skipped.
    pub reason: SkipReason,
}

/// Why an entry was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The value is not an `http` or `https` address. Files say such things on purpose; nobody needs to act.
    NotHttp,
    /// The value begins like an address and does not parse as one. Somebody should look.
    BadUri,
}

/// Reads the servers.
pub fn parse(text: &str) -> Servers {
    let mut found = Servers::default();
    let mut names = HashSet::new();
    for (name, value) in statements(text).filter_map(pair) {
        if name.is_empty() || value.is_empty() {
            continue;
        }
        let mut skip = |reason| {
            found.skipped.push(Skipped {
                name: name.to_owned(),
                reason,
            });
        };
        if !value.starts_with("http://") && !value.starts_with("https://") {
            skip(SkipReason::NotHttp);
        } else if !is_uri(value) {
            skip(SkipReason::BadUri);
        } else if names.insert(name) {
            found.servers.push(McpServer {
                name: name.to_owned(),
                uri: value.to_owned(),
            });
        }
    }
    found
}

/// Returns what the names of a server's tools begin with.
pub fn tool_prefix(server: &str) -> String {
    let mut prefix = String::with_capacity(server.len() + 1);
    for c in server.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            prefix.push(c);
        } else if !prefix.is_empty() && !prefix.ends_with('_') {
            prefix.push('_');
        }
    }
    if prefix.is_empty() {
        prefix.push_str("mcp");
    }
    if !prefix.ends_with('_') {
        prefix.push('_');
    }
    prefix
}
