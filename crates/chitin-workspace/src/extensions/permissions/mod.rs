//! `PERMISSIONS.md`: policies as plain data, and decisions about messages (B13).
//!
//! A policy holds no state and reads no clock. Whoever asks hands in the time, the caller's roles and a [`CallerUsage`] with
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

pub use decide::{CallerUsage, MessageDecision, PermissionRequest};
pub use parse::{KEYS, PermissionsError, PermissionsProblem, parse, problem};
pub use pattern::Pattern;
pub use policy::{CONCURRENCY_LIMIT, PermissionPolicy, Permissions, PolicyRule};
pub use time_window::{JavaZone, TimeWindow, WORKING_DAYS};

/// The file.
pub const FILE: &str = "PERMISSIONS.md";
