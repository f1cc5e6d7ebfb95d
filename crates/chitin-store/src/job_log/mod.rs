//! Things that are to be done, kept until they are: whatever is open when the process dies is open when it comes back.
//!
//! One file of lines. A line is a batch of changes with a number and a checksum: it counts whole or not at all, and one that is
//! damaged or lost is noticed. Whoever writes waits for the disk together with everybody else who writes at that moment. When most
//! of the file is about things that are done, it is written anew.
//!
//! | file | does |
//! |---|---|
//! | `line.rs` | the format of a line |
//! | `contents.rs` | reads a file: what is open, and what is damaged |
//! | `file.rs` | appends, and writes the file anew |
//! | `writer.rs` | the thread that writes for all |
//! | `items.rs`, `outcomes.rs` | what is open, and where the outcomes of what is over stand |
//! | `passing.rs` | the log goes to another process of the same server, and may come back |
//! | `aside.rs` | damaged files are kept beside the log |
//! | `health.rs` | how the log is, for whoever runs the server |
//! | `backup.rs` | copies a log that another process has |
//! | `forget.rs` | takes jobs out, to the last byte |
//! | `inspect.rs` | looks at a log from outside, and writes the earlier format |

mod aside;
mod backup;
mod contents;
mod file;
mod forget;
mod health;
mod inspect;
mod items;
mod line;
mod outcomes;
mod passing;
mod writer;

pub use backup::JobLogBackup;
pub use forget::{ForgetJobs, ForgottenJobs, StillOpen};
pub use health::{JobLogDamage, JobLogEvent, JobLogHealth};
pub use inspect::{JobLogInspection, downgrade, inspect};
pub use outcomes::OutcomeLimits;

use crate::store::{LockMode, StoreError};
use file::LogFile;
use health::SharedHealth;
use items::Known;
use passing::Passing;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
pub enum JobChange {
    /// Something is to be done from now on. What was open under that name is replaced.
    Open {
        /// Its name.
        id: String,
        /// What it is.
        body: Value,
    },
    /// A part of it is done. What is not open has no parts.
    Mark {
        /// Its name.
        id: String,
        /// The part.
        mark: String,
    },
    /// It is done.
    Close {
        /// Its name.
        id: String,
    },
    /// It is done, and how it ended is kept for a while, so that whoever asks under the same name is told.
    End {
        /// Its name.
        id: String,
        /// When it ended, in milliseconds since 1970.
        at: i64,
        /// How it ended.
        outcome: Value,
    },
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenItem {
    /// Its name.
    pub id: String,
    /// What it is.
    pub body: Value,
    /// Which parts of it are done, in the order in which they were.
    pub marks: Vec<String>,
}

/// Tells whether changes are on the disk.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// Says what was forgotten.
type ForgetAnswer = Box<dyn FnOnce(Result<ForgottenJobs, StoreError>) + Send>;
/// What the thread that writes is to do.
enum Submitted {
    /// Put changes onto the disk.
    Changes(Vec<JobChange>, Option<Answer>),
    /// Say how a job ended.
    Outcome(String, i64, Box<dyn FnOnce(Option<Value>) + Send>),
    /// Forget jobs.
    Forget(ForgetJobs, ForgetAnswer),
    /// Give the file to another process, or take it back.
    Pass(Passing),
}

/// Keeps what is to be done. One process at a time has it.
#[derive(Debug)]
pub struct JobLog {
    /// None: nothing is kept.
    sender: Option<mpsc::Sender<Submitted>>,
    writer: Option<JoinHandle<()>>,
    open_bytes: Arc<AtomicU64>,
    health: SharedHealth,
    known: Known,
}

impl JobLog {
    /// Opens the log in a directory, which is made if need be, and returns what is open, oldest first.
    pub fn open(directory: &Path) -> Result<(Self, Vec<OpenItem>), StoreError> {
        Self::open_with(directory, OutcomeLimits::default())
    }

    /// The same, and says how long outcomes are kept.
    pub fn open_with(
        directory: &Path,
        limits: OutcomeLimits,
    ) -> Result<(Self, Vec<OpenItem>), StoreError> {
        Self::open_within(directory, limits, LockMode::Refuse)
    }

    /// The same, and waits for a process that is about to let go of the log.
    pub fn open_within(
        directory: &Path,
        limits: OutcomeLimits,
        wait: LockMode,
    ) -> Result<(Self, Vec<OpenItem>), StoreError> {
        let health = SharedHealth::default();
        let known = Known::new(limits);
        let (file, open) = LogFile::open(directory, health.clone(), known.clone(), wait)?;
        let open_bytes = file.open_bytes();
        let (sender, receiver) = mpsc::channel();
        let writer = std::thread::Builder::new()
            .name("job-log".to_owned())
            .spawn({
                let health = health.clone();
                move || writer::write_all(file, &receiver, &health)
            })
            .map_err(|source| StoreError::Io {
                path: directory.to_path_buf(),
                source,
            })?;
        let ledger = Self {
            sender: Some(sender),
            writer: Some(writer),
            open_bytes,
            health,
            known,
        };
        Ok((ledger, open))
    }

    /// A log that keeps nothing: what is open ends with the process. For a conversation that somebody sits in front of.
    pub fn volatile() -> Self {
        Self {
            sender: None,
            writer: None,
            open_bytes: Arc::default(),
            health: SharedHealth::default(),
            known: Known::default(),
        }
    }

    /// Tells whether something of that name is open, or how it ended is kept.
    pub fn knows(&self, id: &str, now_ms: i64) -> bool {
        self.known.knows(id, now_ms)
    }

    /// Tells whether something of that name is open.
    pub fn is_open(&self, id: &str) -> bool {
        self.known.is_open(id)
    }

    /// Says through `answer` how something ended, if that is kept.
    pub fn outcome(
        &self,
        id: &str,
        now_ms: i64,
        answer: impl FnOnce(Option<Value>) + Send + 'static,
    ) {
        let sender = self.sender.as_ref();
        let Some(sender) = sender.filter(|_| self.knows(id, now_ms)) else {
            return answer(None);
        };
        let asked = Submitted::Outcome(id.to_owned(), now_ms, Box::new(answer));
        if let Err(mpsc::SendError(Submitted::Outcome(_, _, answer))) = sender.send(asked) {
            answer(None);
        }
    }

    /// Returns how it is.
    pub fn health(&self) -> JobLogHealth {
        self.health.get()
    }

    /// Sets who hears what happens to it. Once; called by the thread that writes, which waits for it.
    pub fn watch(&self, watcher: impl Fn(&JobLogEvent) + Send + Sync + 'static) {
        self.health.watch(Box::new(watcher));
    }

    /// Returns how many bytes are kept of what is open, roughly: what a caller bounds before it opens more.
    pub fn open_bytes(&self) -> u64 {
        self.open_bytes.load(Ordering::Relaxed)
    }

    /// Tells whether it keeps nothing.
    pub const fn is_volatile(&self) -> bool {
        self.sender.is_none()
    }

    /// Writes changes, all or none, and says through `answer` when they are on the disk.
    pub fn submit(
        &self,
        changes: Vec<JobChange>,
        answer: impl FnOnce(Result<(), StoreError>) + Send + 'static,
    ) {
        self.send(changes, Some(Box::new(answer)));
    }

    /// Writes changes, all or none; they are on the disk when this returns. Blocks.
    pub fn write(&self, changes: Vec<JobChange>) -> Result<(), StoreError> {
        let (sender, receiver) = mpsc::channel();
        self.submit(changes, move |written| {
            let _ = sender.send(written);
        });
        receiver.recv().unwrap_or_else(|_| Err(gone()))
    }

    /// Writes changes soon, as soon as the disk lets it. For what may be found out again after a crash.
    pub fn note(&self, changes: Vec<JobChange>) {
        self.send(changes, None);
    }

    fn send(&self, changes: Vec<JobChange>, answer: Option<Answer>) {
        let Some(sender) = &self.sender else {
            if let Some(answer) = answer {
                answer(Ok(()));
            }
            return;
        };
        let lost = sender.send(Submitted::Changes(changes, answer)).err();
        if let Some(mpsc::SendError(Submitted::Changes(_, Some(answer)))) = lost {
            answer(Err(gone()));
        }
    }
}

impl Drop for JobLog {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn gone() -> StoreError {
    StoreError::Damaged {
        path: file::NAME.into(),
        reason: "its writer has stopped".to_owned(),
    }
}
