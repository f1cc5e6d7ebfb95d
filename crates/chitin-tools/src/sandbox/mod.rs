//! The sandbox that commands run in.
//!
//! In: a command, a workspace and what the user allows. Out: a running process whose whole tree ends with it, and a report
//! of what was really enforced. Nothing is restricted in this process, which has threads and keys: a helper program is
//! started (the same binary, called with [`HELPER_ARGUMENT`]), watches the command and kills everything it left behind.
//!
//! ```text
//! chitin ──▶ helper "supervise" ──▶ [bwrap ──▶] helper "apply" = the command, after it gave its rights away
//! ```
//!
//! The supervisor's standard input is its lifeline: when it closes, because the call is over or because this process was
//! killed, the tree is killed too. Its environment is empty, so no key is to be found in it.

mod bwrap;
mod config;
mod environment;
mod fs;
mod helper;
mod level;
mod limits;
mod own;
mod policy;
mod prepared;
mod reach;
mod running;
mod wire;

pub use config::{SandboxConfig, WorkspaceAccess};
pub use environment::is_loader_variable;
pub use helper::helper;
pub use level::{Guard, SandboxLevel, SandboxReport};
pub use limits::CommandLimits;
pub use policy::PolicyError;
pub use reach::{Sandbox, SandboxRefusal, StartError};
pub use running::{CommandRequest, Ending, OutputSink, Running};
pub use wire::{Cause, ErrorOutput};

pub(crate) use running::AsyncParts;
pub(crate) use wire::CommandExit;

/// The first argument that makes the binary a sandbox helper.
pub const HELPER_ARGUMENT: &str = "__sandbox";
