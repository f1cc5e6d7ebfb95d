//! Progress as data.

use chitin_pack::Digest;
use std::time::Duration;

/// Takes events as they happen. Implemented by whoever shows progress; it must be quick and must not block.
pub trait ProgressListener: Send + Sync {
    /// Something moved.
    fn event(&self, event: TransferEvent);
}

/// What happened to a blob or manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferEvent {
    /// The other end has it.
    AlreadyThere {
        /// Which.
        digest: Digest,
        /// Its size.
        total: u64,
    },
    /// Its bytes begin to move.
    Started {
        /// Which.
        digest: Digest,
        /// How many bytes an earlier try had moved.
        resumed: u64,
        /// Its size.
        total: u64,
    },
    /// More of it has moved.
    Advanced {
        /// Which.
        digest: Digest,
        /// How much of it is there.
        done: u64,
        /// Its size.
        total: u64,
    },
    /// It failed and is tried again.
    Retrying {
        /// Which.
        digest: Digest,
        /// How long we wait first.
        delay: Duration,
    },
    /// It is there, whole and checked.
    Finished {
        /// Which.
        digest: Digest,
        /// Its size.
        total: u64,
    },
}

/// Shows nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl ProgressListener for Silent {
    fn event(&self, _event: TransferEvent) {}
}
