//! Sessions that begin other sessions: who may, how many, what is asked for, and what a child is told (R30–R34).

pub mod attachments;
pub mod limits;
pub mod prompt;
pub mod request;
mod role;
mod words;

pub use attachments::{Attached, AttachmentLimits};
pub use limits::SpawnLimits;
pub use request::{SpawnPlan, SpawnRefusal, SpawnRequest};
pub use role::{Capabilities, ControlScope, Role};
