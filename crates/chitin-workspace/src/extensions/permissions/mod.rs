//! `PERMISSIONS.md`: policies as plain data, and decisions about messages (B13).
//!
//! A policy holds no state and reads no clock. Whoever asks hands in the time, the caller's roles and a [`Usage`] with
//! what that caller has used so far; [`Permissions::decide`] only looks, [`Permissions::admit`] also counts. A control
//! that is broken fails the load: it never disappears in silence.

mod class;
mod decide;
mod parse;
mod pattern;
mod plain;
mod policy;
mod time_window;
mod translate;

pub use decide::{Decision, Request, Usage};
pub use parse::{KEYS, PermissionsError, PermissionsProblem, parse, problem};
pub use pattern::Pattern;
pub use policy::{Permissions, Policy, Rule};
pub use time_window::{TimeWindow, WORKING_DAYS, Zone};

/// The file.
pub const FILE: &str = "PERMISSIONS.md";
