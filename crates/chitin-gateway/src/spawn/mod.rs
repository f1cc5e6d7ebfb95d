//! Sessions that begin other sessions: who may, how many, and what a child is told (R31–R34).

pub mod limits;
pub mod prompt;
mod role;
mod words;

pub use limits::SpawnLimits;
pub use role::{Capabilities, ControlScope, Role};
