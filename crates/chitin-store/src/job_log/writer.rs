//! The thread that writes the job log for all.

use super::file::LogFile;
use super::health::{JobLogEvent, SharedHealth};
use super::{Answer, JobChange, Submitted};
use crate::store::StoreError;
use std::collections::VecDeque;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often a log that cannot be written is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How many batches that nobody waits for are kept for later, while the log cannot be written. What they say is found out again after
/// a restart.
const MOST_LATE: usize = 100_000;

/// Writes whatever waits in one go, until nobody can send any more.
pub(super) fn write_all(
    file: LogFile,
    receiver: &mpsc::Receiver<Submitted>,
    health: &SharedHealth,
) {
    let mut writer = Writer {
        file,
        health: health.clone(),
        late: VecDeque::new(),
        is_failing: false,
    };
    loop {
        let first = if writer.is_failing {
            receiver.recv_timeout(AGAIN)
        } else {
            receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match first {
            Ok(first) => {
                let mut submitted = vec![first];
                submitted.extend(receiver.try_iter());
                writer.write(submitted);
            }
            Err(RecvTimeoutError::Timeout) => writer.write(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if !writer.late.is_empty() {
        writer.write(Vec::new());
    }
}

struct Writer {
    file: LogFile,
    health: SharedHealth,
    /// What nobody waits for and could not be written.
    late: VecDeque<Vec<JobChange>>,
    is_failing: bool,
}

impl Writer {
    fn write(&mut self, submitted: Vec<Submitted>) {
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
            }
        }
        if !batches.is_empty() || !is_asked {
            self.append(batches, answers);
        }
        for (id, now_ms, answer) in asked {
            answer(self.file.outcome(&id, now_ms));
        }
        for (what, answer) in forgets {
            answer(self.file.forget(&what));
        }
    }

    fn append(&mut self, batches: Vec<Vec<JobChange>>, answers: Vec<Option<Answer>>) {
        // An empty batch finds out whether the log can be written again.
        let probe = [Vec::new()];
        let probe = if batches.is_empty() && self.late.is_empty() {
            &probe[..]
        } else {
            &[]
        };
        let all = self.late.iter().chain(&batches).chain(probe);
        let waits = self.is_failing || answers.iter().any(Option::is_some);
        let written = self.file.append(all, waits);
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
