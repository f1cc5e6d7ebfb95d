//! Control groups are Linux's own: elsewhere there are none.

use super::super::limits::CommandLimits;
use std::io;

/// The group of one command.
pub(super) struct ControlGroup;

impl ControlGroup {
    /// Limits nothing together.
    pub(super) fn create(limits: &mut CommandLimits) -> Option<Self> {
        limits.total_memory_bytes = None;
        None
    }

    /// Starts something.
    pub(super) fn start<T>(&self, start: impl FnOnce() -> T) -> io::Result<T> {
        Ok(start())
    }

    /// Tells whether it counts processes.
    pub(super) fn counts_processes(&self) -> bool {
        false
    }

    /// Says which limit was exceeded.
    pub(super) fn exceeded(&self) -> Option<String> {
        None
    }
}
