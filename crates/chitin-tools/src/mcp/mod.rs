//! Tools of other programs, by the Model Context Protocol.
//!
//! In: servers from `MCP.md`, `openclaw.json` and `chitin.json5`. Out: [tools](crate::Tool) like any other, named
//! `<server>__<tool>` in the way that OpenClaw's bundle names them. A server is started when its tools are first asked for, and
//! ended with this value. One that crashes makes its call an error, and is started once more for the next.
//!
//! Programs that are started here are the user's own choice and run **outside** the sandbox of commands unless their settings
//! ask for it. Either way they get a small environment and do not outlive this process.

mod config;
mod connection;
mod names;
mod outcome;
mod servers;
mod stdio;

pub use config::{ServerConfig, ServerTransport, servers};
pub use names::{server_name, tool_name};
pub use servers::{HttpClient, McpServers, McpSurroundings, McpTools};
