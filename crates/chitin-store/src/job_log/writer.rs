//! The thread that writes the job log for all.

use super::file::LogFile;
use super::health::{JobLogEvent, SharedHealth};
use super::items::Known;
use super::passing::{Passing, Teller};
use super::{Answer, JobChange, Submitted, gone};
use crate::store::{LockMode, StoreError};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often a log that cannot be written is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How many batches that nobody waits for are kept for later, while the log cannot be written. What they say is found out again after
/// a restart.
const MOST_LATE: usize = 100_000;
/// How long the file is waited for when it comes back, in milliseconds.
const COMING_BACK: u64 = 5_000;

/// Writes whatever waits in one go, until nobody can send any more.
pub(super) fn write_all(
    file: LogFile,
    receiver: &mpsc::Receiver<Submitted>,
    health: &SharedHealth,
) {
    let mut writer = Writer {
        directory: file.path().to_path_buf(),
        known: file.known().clone(),
        open_bytes: file.open_bytes(),
        file: Place::Here(Box::new(file)),
        health: health.clone(),
        late: VecDeque::new(),
        is_failing: false,
    };
    loop {
        let first = if writer.is_failing && matches!(writer.file, Place::Here(_)) {
            receiver.recv_timeout(AGAIN)
        } else {
            receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match first {
            Ok(first) => {
                let mut submitted = vec![first];
                submitted.extend(receiver.try_iter());
                writer.take(submitted);
            }
            Err(RecvTimeoutError::Timeout) => writer.write(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if !writer.late.is_empty() {
        writer.write(Vec::new());
    }
}

/// Where the file is.
enum Place {
    /// Open here.
    Here(Box<LogFile>),
    /// Another process may have it, which is not decided yet. What was submitted waits.
    Undecided(Vec<Submitted>),
    /// Another process has it.
    Gone(Teller),
}

struct Writer {
    file: Place,
    directory: PathBuf,
    known: Known,
    open_bytes: Arc<AtomicU64>,
    health: SharedHealth,
    /// What nobody waits for and could not be written.
    late: VecDeque<Vec<JobChange>>,
    is_failing: bool,
}

impl Writer {
    /// Does what was submitted, in its order.
    fn take(&mut self, submitted: Vec<Submitted>) {
        let mut together = Vec::new();
        for one in submitted {
            match one {
                Submitted::Pass(passing) => {
                    self.write_some(std::mem::take(&mut together));
                    self.pass(passing);
                }
                other @ (Submitted::Changes(..)
                | Submitted::Outcome(..)
                | Submitted::Forget(..)) => together.push(other),
            }
        }
        self.write_some(together);
    }

    fn write_some(&mut self, submitted: Vec<Submitted>) {
        if !submitted.is_empty() {
            self.write(submitted);
        }
    }

    fn pass(&mut self, passing: Passing) {
        match passing {
            Passing::Release(answer) => {
                let released = self.settle();
                if released.is_ok() && matches!(self.file, Place::Here(_)) {
                    self.file = Place::Undecided(Vec::new());
                }
                let _ = answer.send(released);
            }
            Passing::TakeBack(answer) => {
                let _ = answer.send(self.take_back());
            }
            Passing::Gone(tell) => {
                if let Place::Undecided(waiting) =
                    std::mem::replace(&mut self.file, Place::Gone(tell))
                {
                    self.write_some(waiting);
                }
            }
        }
    }

    /// Writes what could not be written before, and sees to it that the next process finds everything.
    fn settle(&mut self) -> Result<(), StoreError> {
        if self.is_failing || !self.late.is_empty() {
            self.append(Vec::new(), Vec::new())?;
        }
        match &mut self.file {
            Place::Here(file) => file.settle(),
            Place::Undecided(_) | Place::Gone(_) => Ok(()),
        }
    }

    fn take_back(&mut self) -> Result<(), StoreError> {
        let Place::Undecided(waiting) = &mut self.file else {
            return Ok(());
        };
        let waiting = std::mem::take(waiting);
        self.known.clear();
        let opened = LogFile::open(
            &self.directory,
            self.health.clone(),
            self.known.clone(),
            LockMode::Wait(COMING_BACK),
        );
        match opened {
            Ok((mut file, _)) => {
                file.count_with(&self.open_bytes);
                self.file = Place::Here(Box::new(file));
                self.write_some(waiting);
                Ok(())
            }
            Err(error) => {
                self.file = Place::Undecided(waiting);
                Err(error)
            }
        }
    }

    fn write(&mut self, submitted: Vec<Submitted>) {
        match &mut self.file {
            Place::Here(_) => {}
            Place::Undecided(waiting) => return waiting.extend(submitted),
            Place::Gone(tell) => {
                for one in submitted {
                    match one {
                        Submitted::Changes(changes, answer) => {
                            if !changes.is_empty() {
                                tell(changes);
                            }
                            if let Some(answer) = answer {
                                answer(Ok(()));
                            }
                        }
                        Submitted::Outcome(_, _, answer) => answer(None),
                        // Whoever has the log now forgets.
                        Submitted::Forget(_, answer) => answer(Err(gone())),
                        Submitted::Pass(_) => {}
                    }
                }
                return;
            }
        }
        let (mut batches, mut answers, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        let mut forgets = Vec::new();
        let is_asked = !submitted.is_empty();
        for one in submitted {
            match one {
                Submitted::Changes(batch, answer) => {
                    batches.push(batch);
                    answers.push(answer);
                }
                Submitted::Outcome(id, now_ms, answer) => asked.push((id, now_ms, answer)),
                Submitted::Forget(what, answer) => forgets.push((what, answer)),
                Submitted::Pass(_) => {}
            }
        }
        if !batches.is_empty() || !is_asked {
            let _ = self.append(batches, answers);
        }
        for (id, now_ms, answer) in asked {
            answer(match &self.file {
                Place::Here(file) => file.outcome(&id, now_ms),
                Place::Undecided(_) | Place::Gone(_) => None,
            });
        }
        for (what, answer) in forgets {
            answer(match &mut self.file {
                Place::Here(file) => file.forget(&what),
                Place::Undecided(_) | Place::Gone(_) => Err(gone()),
            });
        }
    }

    fn append(
        &mut self,
        batches: Vec<Vec<JobChange>>,
        answers: Vec<Option<Answer>>,
    ) -> Result<(), StoreError> {
        // An empty batch finds out whether the log can be written again.
        let probe = [Vec::new()];
        let probe = if batches.is_empty() && self.late.is_empty() {
            &probe[..]
        } else {
            &[]
        };
        let all = self.late.iter().chain(&batches).chain(probe);
        let waits = self.is_failing || answers.iter().any(Option::is_some);
        let written = match &mut self.file {
            Place::Here(file) => file.append(all, waits),
            Place::Undecided(_) | Place::Gone(_) => Err(gone()),
        };
        self.note(&written);
        if written.is_ok() {
            self.late.clear();
        } else {
            let unheard = batches.into_iter().zip(&answers);
            let unheard = unheard.filter(|(_, answer)| answer.is_none());
            self.late.extend(unheard.map(|(batch, _)| batch));
            while self.late.len() > MOST_LATE {
                self.late.pop_front();
            }
        }
        for answer in answers.into_iter().flatten() {
            answer(match &written {
                Ok(()) => Ok(()),
                Err(error) => Err(error.again()),
            });
        }
        written
    }

    /// Notes whether the log can be written, and tells when that changes.
    fn note(&mut self, written: &Result<(), StoreError>) {
        let event = match written {
            Ok(()) if self.is_failing => JobLogEvent::Works,
            Ok(()) => return,
            Err(error) => {
                let text = error.to_string();
                self.health.change(|health| {
                    health.failed_writes += 1;
                    health.failing = Some(text.clone());
                });
                if self.is_failing {
                    return;
                }
                JobLogEvent::Failing(text)
            }
        };
        self.is_failing = written.is_err();
        if !self.is_failing {
            self.health.change(|health| health.failing = None);
        }
        self.health.tell(&event);
    }
}
