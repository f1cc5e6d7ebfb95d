//! Tests of the binary, one module per topic.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod adapters;
mod approvals;
mod architecture;
mod channels;
mod check;
mod commands;
mod config;
mod context;
mod embed;
mod extension_files;
mod extension_reads;
mod figures;
mod guardrails;
mod identity;
mod log;
mod machine;
mod mcp;
mod memory;
mod older_home;
mod pairing;
mod plugins;
mod process;
mod reference;
mod releases;
mod request_figures;
mod run;
mod secrets;
mod serve;
mod sessions;
mod ship;
mod skill_roots;
mod state_roots;
mod trace;
mod undo;
mod walls;
