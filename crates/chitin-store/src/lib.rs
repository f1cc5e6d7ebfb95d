//! Sessions and append-only transcripts: nothing acknowledged is ever lost.
//!
//! In: records to keep. Out: the same records, whatever happened to the process in between. Everything is synchronous and
//! knows no clock, no environment and no home directory: they are handed in. Files are only touched beneath the directory
//! that was named, links are not followed there, and OpenClaw's own files are read and never written.
//!
//! ```
//! use chitin_protocol::message::Message;
//! use chitin_contract::TranscriptRules;
//! use chitin_protocol::transcript::EntryBody;
//! use chitin_store::{Begin, FileStore, LockMode, NewEntry, RandomIds, SessionStore};
//!
//! # fn main() -> Result<(), chitin_store::StoreError> {
//! # let state = tempfile::tempdir().unwrap();
//! let directory = FileStore::directory_of(state.path(), "main");
//! let store = FileStore::new(directory, &TranscriptRules::CANONICAL, RandomIds);
//! let begin = Begin {
//!     workspace: "/home/ada/workspace",
//!     now: "2026-04-01T12:00:00.000Z",
//!     now_ms: 1_775_044_800_000,
//!     new_session: false,
//! };
//! let mut session = store.open("agent:main:main", &begin, LockMode::Wait(1_000))?;
//! let hello = EntryBody::Message(Message::user("Hello", begin.now_ms));
//! // Once this returns, the record is on the disk.
//! session.append(vec![NewEntry { body: hello }], begin.now)?;
//! assert_eq!(session.branch().entries.len(), 1);
//! # Ok(())
//! # }
//! ```

mod append;
mod archive;
mod backup;
mod begin;
pub mod compat;
mod disk;
mod entry;
mod file_session;
mod file_store;
mod forget;
mod fork;
mod ids;
mod index;
pub mod job_log;
mod measure;
mod names;
pub mod openclaw;
mod read;
mod rebuild;
pub mod reset;
mod reverse;
mod shape;
pub mod store;
mod transfer;

pub use archive::{
    ArchiveReason, Archived, ArchivedTranscript, Prune, PruneMode, PruneReport, PrunedKind,
};
pub use backup::{IndexHold, SessionFileKind, hold_index};
pub use file_store::FileStore;
pub use forget::SessionFiles;
pub use ids::{Ids, RandomIds};
pub use job_log::{
    ForgetJobs, ForgottenJobs, JobChange, JobLog, JobLogBackup, JobLogDamage, JobLogEvent,
    JobLogHealth, OpenItem, OutcomeLimits, StillOpen,
};
pub use measure::{BranchMeasure, Passed};
pub use openclaw::OpenClawSessions;
pub use read::{BranchReach, TranscriptInspection};
pub use shape::{Run, SessionSpeaker, for_writing};
pub use store::{
    Begin, Branch, LockMode, NewEntry, OpenSession, PendingRecords, SessionCursor, SessionEntry,
    SessionPage, SessionStore, SessionTotals, StoreError, StoreNote, TranscriptRemoval,
};
