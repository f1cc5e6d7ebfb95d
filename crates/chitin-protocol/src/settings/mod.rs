//! What `chitin.json5` may say about running an agent, one file per part. Everything may be left out.

mod access;
mod exec;
mod history;
mod limits;
mod mcp;
mod memory;
mod plugins;
mod providers;
mod server;
mod sessions;
mod subagents;
mod tools;
mod trace;
mod undo;

pub use access::*;
pub use exec::*;
pub use history::*;
pub use limits::*;
pub use mcp::*;
pub use memory::*;
pub use plugins::*;
pub use providers::*;
pub use server::*;
pub use sessions::*;
pub use subagents::*;
pub use tools::*;
pub use trace::*;
pub use undo::*;
