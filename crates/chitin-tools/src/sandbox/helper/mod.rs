//! The helper program: what runs between this process and a command.

mod apply;
#[cfg_attr(not(target_os = "linux"), path = "no_control_group.rs")]
mod control_group;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod landlock;
mod limits;
mod nested;
mod shield;
mod supervise;
mod tree;

pub(super) use shield::{ShieldMount, links};

use super::HELPER_ARGUMENT;
use std::ffi::OsString;
use std::process::ExitCode;

/// The argument of the part that watches.
pub(super) const SUPERVISE: &str = "supervise";
/// The argument of the part that becomes the command.
pub(super) const APPLY: &str = "apply";

/// Is the helper. The binary's `main` calls it, before anything else and with a single thread, when its first argument is
/// [`HELPER_ARGUMENT`].
pub fn helper(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter().skip(1).peekable();
    arguments.next_if(|first| first == HELPER_ARGUMENT);
    match arguments.next().as_ref().and_then(|stage| stage.to_str()) {
        Some(SUPERVISE) => supervise::run(),
        Some(APPLY) => apply::run(),
        _ => ExitCode::from(2),
    }
}
