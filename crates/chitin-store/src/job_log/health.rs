//! How the job log is: whether it can be written, and what was found and mended.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How the job log is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobLogHealth {
    /// Why it cannot be written, while that is so.
    pub failing: Option<String>,
    /// What was damaged when it was opened.
    pub damage: Option<JobLogDamage>,
    /// How many lines were found whose write was interrupted; nobody was told that they were stored.
    pub torn: u64,
    /// How many writes failed.
    pub failed_writes: u64,
    /// How often it could not be shortened; it went on as it was.
    pub failed_rewrites: u64,
    /// How often the file was gone and was made again.
    pub recreated: u64,
}

/// Damage that was found in a job log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLogDamage {
    /// The file.
    pub path: PathBuf,
    /// How many bytes could not be read.
    pub bytes: u64,
    /// How many lines are lost, as far as that can be said.
    pub lines: u64,
    /// How many lines are whole, and out of order, there twice or with another line end. They count.
    pub misplaced: u64,
    /// Where the damaged file is now; none if it could not be set aside.
    pub set_aside: Option<PathBuf>,
    /// Whether nothing was left of the file.
    pub is_gone: bool,
}

impl fmt::Display for JobLogDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        if self.is_gone {
            return write!(
                f,
                "the job log `{path}` is gone or empty although it was written before: jobs that were open in it are lost"
            );
        }
        let lines = |count: u64, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 line {one}")),
            count => Some(format!("{count} lines {more}")),
        };
        let unreadable = (self.bytes > 0).then(|| format!("{} bytes cannot be read", self.bytes));
        let lost = lines(self.lines, "is lost", "are lost");
        let misplaced = lines(
            self.misplaced,
            "that counts is out of order, there twice or has another line end",
            "that count are out of order, there twice or have other line ends",
        );
        let what: Vec<String> = [unreadable, lost, misplaced]
            .into_iter()
            .flatten()
            .collect();
        let what = if what.is_empty() {
            "its first line is missing".to_owned()
        } else {
            what.join(" and ")
        };
        write!(f, "the job log `{path}` is damaged: {what}")?;
        match &self.set_aside {
            Some(aside) => write!(f, "; the damaged file is kept as `{}`", aside.display()),
            None => write!(f, "; it could not be set aside"),
        }
    }
}

/// Something that whoever runs the server should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobLogEvent {
    /// It cannot be written any more.
    Failing(String),
    /// It can be written again.
    Works,
    /// The file was gone; what is open was written to a new one.
    Recreated(PathBuf),
    /// It could not be shortened and goes on as it is.
    NotShortened(String),
}

impl fmt::Display for JobLogEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failing(error) => write!(
                f,
                "The job log cannot be written: {error}. No message is accepted until it can."
            ),
            Self::Works => f.write_str("The job log can be written again."),
            Self::Recreated(path) => write!(
                f,
                "The job log `{}` was deleted or replaced. All open jobs were written to a new one.",
                path.display()
            ),
            Self::NotShortened(error) => {
                write!(
                    f,
                    "The job log could not be shortened and is used as it is: {error}."
                )
            }
        }
    }
}

/// Hears what happens to the job log.
type Watcher = Box<dyn Fn(&JobLogEvent) + Send + Sync>;

/// How the job log is, shared by those who write it and those who ask.
#[derive(Clone, Default)]
pub(super) struct SharedHealth(Arc<(Mutex<JobLogHealth>, OnceLock<Watcher>)>);

impl SharedHealth {
    pub(super) fn get(&self) -> JobLogHealth {
        self.0
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut JobLogHealth)) {
        change(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn watch(&self, watcher: Watcher) {
        let _ = self.0.1.set(watcher);
    }

    pub(super) fn tell(&self, event: &JobLogEvent) {
        if let Some(watcher) = self.0.1.get() {
            watcher(event);
        }
    }
}

impl fmt::Debug for SharedHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedHealth").field(&self.get()).finish()
    }
}
