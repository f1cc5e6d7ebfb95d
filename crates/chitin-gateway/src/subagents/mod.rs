//! Sessions that spawn other sessions, and announces to their parents (R17, R30–R48).
//!
//! | file | does |
//! |---|---|
//! | `request.rs` | what a model asks for, and the plan that comes of it |
//! | `limits.rs`, `role.rs` | rules: how many, how deep, and what a session at a depth may do |
//! | `spawn.rs`, `child.rs` | [`crate::Gateway::spawn`]: checks the request, then makes the child's files, thread, session and job |
//! | `workspaces.rs`, `attachments.rs` | which workspace a child gets, and the files that its parent gives it |
//! | `prompt.rs`, `texts.rs` | what a child is told |
//! | `tree.rs`, `position.rs` | runs that are not settled, and the place of a session in the tree |
//! | `children.rs` | [`crate::Gateway::open_children`] and how one of them is stopped |
//! | `announce/` | what a parent is told when a child is done |
//! | `archive.rs` | children that are long done |
//! | `sessions_spawn.rs`, `subagents_tool.rs`, `agents_list.rs` | the tools |

pub(crate) mod agents_list;
pub mod announce;
mod archive;
pub mod attachments;
mod child;
mod children;
pub mod limits;
mod position;
pub mod prompt;
pub mod request;
mod role;
pub(crate) mod sessions_spawn;
mod spawn;
pub(crate) mod subagents_tool;
mod texts;
pub(crate) mod tree;
mod workspaces;

pub use attachments::{AttachedFiles, AttachmentLimits};
pub use child::Spawned;
pub use children::{ChildState, OpenChild};
pub use limits::SpawnLimits;
pub use position::child_prompt;
pub use request::{SpawnPlan, SpawnRefusal, SpawnRequest};
pub use role::{ControlScope, SessionCapabilities, SessionRole};
