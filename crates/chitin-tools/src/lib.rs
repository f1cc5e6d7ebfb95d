//! The tools of an agent, who may use them, and the sandbox that commands run in.
//!
//! In: a call with arguments from a model, which is not trusted. Out: text for the model, bounded, valid UTF-8 and without
//! secrets. Files are reached only beneath the workspace unless the user allows more; commands run in a sandbox, and the
//! level that was reached is reported as it is.

pub mod approval;
pub mod compat;
pub mod exec;
pub mod files;
pub mod mcp;
pub mod memory_slot;
pub mod output;
pub mod policy;
pub mod process;
pub mod redact;
pub mod rights;
pub mod sandbox;
pub mod schema;
pub mod session_status;
pub mod tool;
pub mod toolbox;
pub mod untrusted;
pub mod web_fetch;

pub use rights::{GuestRights, Rights};
pub use tool::{
    Approval, ApprovalRequest, Approver, CallContext, Tool, ToolConcurrency, ToolOutcome,
    TypedTool, definition_of,
};
pub use toolbox::{ToolOffer, Toolbox};
pub use untrusted::{GuardedDeed, Untrusted};
