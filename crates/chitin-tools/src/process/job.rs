//! One command, with what it printed.

use crate::exec::{Collector, Excerpt, Redact};
use crate::sandbox::{CommandRequest, Ending, Running, Sandbox, SandboxReport, StartError};
use chitin_protocol::origin::Origin;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// What is added to an excerpt at most: the marker of a cut.
const MARKER: usize = 64;

/// One command, with what it printed. Dropping it ends the command.
pub struct CommandProcess {
    /// The command line, without secrets.
    pub command: String,
    /// The session that it belongs to.
    pub session_key: String,
    /// What holds it.
    pub report: SandboxReport,
    /// What untrusted text has to do with it.
    pub text: CommandText,
    running: Running,
    output: Arc<Mutex<Collector>>,
    grew: Arc<Notify>,
    cursor: Mutex<Cursor>,
    redact: Redact,
    finished: Mutex<Option<Duration>>,
}

/// What untrusted text has to do with a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandText {
    /// Where its output comes from, if not from the owner.
    pub origin: Option<Origin>,
    /// Whether the files that the agent is made of, and the network, are closed to it.
    pub keeps_own: bool,
    /// Whether it may follow untrusted text, or brings some.
    pub is_untrusted: bool,
}

#[derive(Debug, Default)]
struct Cursor {
    read: u64,
    seen: u64,
}

/// Some output of a job, as text without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReading {
    /// The text.
    pub text: String,
    /// How many bytes are missing from it.
    pub missing: u64,
}

impl fmt::Debug for CommandProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("command", &self.command)
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

impl CommandProcess {
    /// Starts a command; `keep` is how many bytes of its output are kept. It may block for the moment that a start takes.
    pub fn start(
        sandbox: &Sandbox,
        mut request: CommandRequest,
        command: &str,
        session_key: &str,
        keep: usize,
        redact: Redact,
    ) -> Result<Self, StartError> {
        let report = sandbox.reach()?.clone();
        let output = Arc::new(Mutex::new(Collector::new(keep)));
        let grew = Arc::new(Notify::new());
        let (sink, bell) = (Arc::clone(&output), Arc::clone(&grew));
        request.sink = Arc::new(move |bytes| {
            lock(&sink).push(bytes);
            bell.notify_one();
        });
        let running = sandbox.start(&request)?;
        Ok(Self {
            command: redact(command),
            session_key: session_key.to_owned(),
            report,
            text: CommandText::default(),
            running,
            output,
            grew,
            cursor: Mutex::default(),
            redact,
            finished: Mutex::default(),
        })
    }

    /// Returns how it ended, if it did.
    pub fn ending(&self) -> Option<Ending> {
        let ending = self.running.ending();
        if ending.is_some() {
            lock(&self.finished).get_or_insert_with(|| self.running.age());
        }
        ending
    }

    /// Returns how long it ran, or has been running.
    pub fn duration(&self) -> Duration {
        let _ = self.ending();
        lock(&self.finished).unwrap_or_else(|| self.running.age())
    }

    /// Returns how long ago it ended.
    pub fn since_end(&self) -> Option<Duration> {
        self.ending()?;
        Some(self.running.age().saturating_sub(self.duration()))
    }

    /// Waits for its end.
    pub async fn wait(&self) -> Ending {
        let ending = self.running.wait().await;
        let _ = self.ending();
        ending
    }

    /// Waits until it printed more than was read.
    pub async fn wait_for_output(&self) {
        while self.total() <= lock(&self.cursor).seen {
            self.grew.notified().await;
        }
    }

    /// Ends it with everything that it started, and waits until that is done.
    pub async fn stop(&self) -> Ending {
        let ending = self.running.stop_and_wait().await;
        let _ = self.ending();
        ending
    }

    pub(super) fn stop_blocking(&self, patience: Duration) {
        self.running.stop_blocking(patience);
    }

    pub(super) fn stop_soon(&self) {
        self.running.stop();
    }

    /// Writes to its input, and closes it when asked to.
    pub fn write(&self, bytes: &[u8], then: StdinState) -> std::io::Result<()> {
        self.running.write(bytes)?;
        match then {
            StdinState::StaysOpen => Ok(()),
            StdinState::Closes => self.running.close_input(),
        }
    }

    /// Returns how many bytes it printed.
    pub fn total(&self) -> u64 {
        lock(&self.output).total()
    }

    /// Returns all that is kept of its output, in at most so many bytes. It counts as read.
    pub fn whole(&self, limit: usize) -> JobReading {
        let ended = self.ending().is_some();
        let mut cursor = lock(&self.cursor);
        let output = lock(&self.output);
        let to = if ended {
            output.total()
        } else {
            output.settled()
        };
        let excerpt = output.between(0, to, limit.saturating_sub(MARKER));
        cursor.read = cursor.read.max(to);
        cursor.seen = output.total();
        drop(output);
        drop(cursor);
        self.reading(&excerpt, limit)
    }

    /// Returns what it printed since this was last called, in at most so many bytes. While it runs, an unfinished word waits
    /// for its end, so that a secret is not handed out in halves.
    pub fn news(&self, limit: usize, unfinished: Unfinished) -> JobReading {
        let ended = self.ending().is_some();
        let mut cursor = lock(&self.cursor);
        let output = lock(&self.output);
        // A question that waits for an answer ends in the middle of a line, and must be seen.
        let quiet = cursor.seen == output.total() && unfinished == Unfinished::WaitsOnce;
        let to = if ended || quiet {
            output.total()
        } else {
            output.settled().max(cursor.read)
        };
        let excerpt = output.between(cursor.read, to, limit.saturating_sub(MARKER));
        cursor.read = to;
        cursor.seen = output.total();
        drop(output);
        drop(cursor);
        self.reading(&excerpt, limit)
    }

    fn reading(&self, excerpt: &Excerpt, limit: usize) -> JobReading {
        let text = (self.redact)(&excerpt.text);
        // Bytes that are not UTF-8 take three each as text, and what stands for a secret may be longer than it.
        let (text, more) = bounded(text, limit);
        JobReading {
            text,
            missing: excerpt.missing + more,
        }
    }
}

/// What becomes of an unfinished word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// It waits until it is finished.
    Waits,
    /// It waits while more is coming, and is handed out when nothing came since the last call.
    WaitsOnce,
}

/// Whether more input comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinState {
    /// It does.
    StaysOpen,
    /// It does not.
    Closes,
}

/// Cuts a text in the middle; returns how many bytes were left out.
pub(crate) fn bounded(text: String, limit: usize) -> (String, u64) {
    if text.len() <= limit {
        return (text, 0);
    }
    let mut collector = Collector::new(limit.saturating_sub(MARKER));
    collector.push(text.as_bytes());
    let excerpt = collector.excerpt(0, limit.saturating_sub(MARKER));
    (excerpt.text, excerpt.missing)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
