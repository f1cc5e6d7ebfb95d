//! The promises of `chitin-tools`, one module per topic.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod approval;
mod approval_shell;
mod carry;
mod exec;
mod exec_output;
mod files;
mod kit;
mod mcp;
mod output;
mod patch;
mod policy;
mod process;
mod redact;
mod sandbox;
mod sandbox_guarded;
mod sandbox_lab;
mod sandbox_limits;
mod search;
mod toolbox;
mod web_fetch;
