//! The log goes from one process of a server to the next.
//!
//! One process at a time has the file, and the lock says which. The one that lets go of it writes all that was submitted first, and
//! keeps what is submitted from then on until it is decided what becomes of it: the file comes back and it is written, or another
//! process has the file for good and is told of it.

use super::{JobChange, JobLog, Submitted, gone};
use crate::store::StoreError;
use std::fmt;
use std::sync::mpsc;

/// Tells another process of changes.
pub(super) type Teller = Box<dyn FnMut(Vec<JobChange>) + Send>;

/// What becomes of the file.
pub(super) enum Passing {
    /// It is closed, and its lock is free.
    Release(mpsc::Sender<Result<(), StoreError>>),
    /// It is opened again.
    TakeBack(mpsc::Sender<Result<(), StoreError>>),
    /// Another process has it from now on.
    Gone(Teller),
}

impl fmt::Debug for Passing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Release(_) => "Release",
            Self::TakeBack(_) => "TakeBack",
            Self::Gone(_) => "Gone",
        })
    }
}

impl JobLog {
    /// Writes all that was submitted, closes the file and gives its lock back, so that another process can open it. What is submitted
    /// from now on waits. Blocks. After a failure the file is still open.
    pub fn release(&self) -> Result<(), StoreError> {
        self.pass(Passing::Release)
    }

    /// Opens the file again after [`Self::release`] and writes what waits. Blocks. If it fails, it can be tried again.
    pub fn take_back(&self) -> Result<(), StoreError> {
        self.pass(Passing::TakeBack)
    }

    /// After [`Self::release`]: another process has the file, and is told of what waits and of all changes from now on. Whoever waits
    /// for the disk waits no longer than for that.
    pub fn gone_to(&self, tell: impl FnMut(Vec<JobChange>) + Send + 'static) {
        if let Some(sender) = &self.sender {
            let _ = sender.send(Submitted::Pass(Passing::Gone(Box::new(tell))));
        }
    }

    fn pass(
        &self,
        passing: impl FnOnce(mpsc::Sender<Result<(), StoreError>>) -> Passing,
    ) -> Result<(), StoreError> {
        let Some(submit) = &self.sender else {
            return Ok(());
        };
        let (sender, receiver) = mpsc::channel();
        let sent = submit.send(Submitted::Pass(passing(sender)));
        sent.map_err(|_| gone())?;
        receiver.recv().unwrap_or_else(|_| Err(gone()))
    }
}
