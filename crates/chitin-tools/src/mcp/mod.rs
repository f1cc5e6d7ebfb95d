//! Tools of other programs, by the Model Context Protocol.
//!
//! In: servers from `MCP.md`, `openclaw.json` and `chitin.json5`. Out: [tools](crate::Tool) like any other, named
//! `<server>__<tool>` in the way that OpenClaw's bundle names them. A server is started when its tools are first asked for, and
//! lives as long as they do. One that crashes is started again for the next call: at once the first time, then after growing
//! pauses until it answers. A call that a crash interrupts is an error, unless it did not reach the server or may be repeated.
//!
//! Programs that are started here are the user's own choice and run **outside** the sandbox of commands unless their settings
//! ask for it. Either way they get a small environment and do not outlive this process.

mod backoff;
mod config;
mod connection;
mod http;
mod names;
mod outcome;
mod oversized;
mod servers;
mod speak;
mod stdio;

pub use config::{ServerConfig, ServerTransport, servers};
pub use names::{server_name, tool_name};
pub use servers::{McpServers, McpSurroundings, McpTools};
pub use speak::speak;
