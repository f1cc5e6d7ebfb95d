//! A process that runs, and one question at a time to it.

use crate::fault::PluginFault;
use crate::protocol::{
    LONGEST_LINE, LineBuffer, MOST_NOTIFICATIONS, MessageError, PluginMessage, parse, request_line,
};
use chitin_tools::sandbox::{
    Cause, CommandRequest, Ending, ErrorOutput, Running, Sandbox, SandboxRefusal, StartError,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many lines wait to be read. A plugin that writes more is held back by its pipe.
const WAITING_LINES: usize = 4;
/// How long a process that closed its output has to end.
const DYING: Duration = Duration::from_secs(2);
/// How long a process has to end after its input was closed.
const LEAVING: Duration = Duration::from_millis(500);
/// The longest end of the error output that is repeated, in characters.
const LONGEST_ERRORS: usize = 600;

/// A process that runs. Dropping it ends the process and everything that it started.
#[derive(Debug)]
pub(super) struct Connection {
    running: Running,
    /// The lines that the plugin wrote; nothing stands for one that was too long.
    lines: Receiver<Option<Vec<u8>>>,
    next_id: u64,
}

impl Connection {
    /// Starts the program.
    pub(super) fn start(
        sandbox: &Sandbox,
        command: &[String],
        workdir: Option<PathBuf>,
    ) -> Result<Self, PluginFault> {
        let (sender, lines) = sync_channel(WAITING_LINES);
        let buffer = Mutex::new(LineBuffer::default());
        let request = CommandRequest {
            program: command.to_vec(),
            environment: BTreeMap::new(),
            workdir,
            readable: Vec::new(),
            keeps_own: false,
            is_untrusted: false,
            timeout: None,
            limited: false,
            errors: ErrorOutput::Tail,
            sink: Arc::new(move |bytes| {
                let mut buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
                buffer.push(bytes, |line| {
                    // Where nobody listens any more, the rest is dropped.
                    let _ = sender.send(line);
                });
            }),
        };
        let running = sandbox.start(&request).map_err(|error| match error {
            StartError::Refused(refusal @ SandboxRefusal::NoProgram { .. }) => {
                PluginFault::NotStarted(refusal.to_string())
            }
            StartError::Refused(refusal) => PluginFault::NoSandbox(refusal.to_string()),
            StartError::Helper(error) => PluginFault::NotStarted(error.to_string()),
        })?;
        Ok(Self {
            running,
            lines,
            next_id: 1,
        })
    }

    /// Asks one question and waits for its answer.
    pub(super) fn ask(
        &mut self,
        method: &'static str,
        params: &impl Serialize,
        deadline: Instant,
        limit: Duration,
    ) -> Result<Value, PluginFault> {
        let id = self.next_id;
        let line = request_line(id, method, params).map_err(|error| PluginFault::BadAnswer {
            method,
            reason: format!("the request cannot be written: {error}"),
        })?;
        if line.len() > LONGEST_LINE {
            return Err(PluginFault::TooLarge {
                method,
                bytes: line.len(),
            });
        }
        self.next_id += 1;
        if self.running.write(&line).is_err() {
            return Err(self.gone(method));
        }
        let mut unasked = 0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(Some(line)) => line,
                Ok(None) => {
                    return Err(PluginFault::LineTooLong {
                        method,
                        limit: LONGEST_LINE,
                    });
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(PluginFault::TimedOut { method, limit });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone(method)),
            };
            let bad = |reason: String| PluginFault::BadAnswer { method, reason };
            match parse(&line) {
                Ok(PluginMessage::Answer {
                    id: answered,
                    outcome,
                }) if answered == id => {
                    return outcome.map_err(|error| PluginFault::Rejected {
                        method,
                        code: error.code,
                        message: error.message,
                    });
                }
                Ok(PluginMessage::Answer { id: answered, .. }) => {
                    return Err(bad(format!(
                        "it answers request {answered}, and {id} is open"
                    )));
                }
                Ok(PluginMessage::Notification { .. }) => {
                    unasked += 1;
                    if unasked > MOST_NOTIFICATIONS {
                        return Err(PluginFault::Flooded {
                            method,
                            limit: MOST_NOTIFICATIONS,
                        });
                    }
                }
                Err(MessageError::TooLong) => {
                    return Err(PluginFault::LineTooLong {
                        method,
                        limit: LONGEST_LINE,
                    });
                }
                Err(error @ (MessageError::Malformed(_) | MessageError::Request(_))) => {
                    return Err(bad(error.to_string()));
                }
            }
        }
    }

    /// Closes the input, gives the process a moment, and ends it.
    pub(super) fn close(self) {
        if self.running.close_input().is_ok() {
            self.wait(LEAVING);
        }
    }

    fn wait(&self, patience: Duration) -> Option<Ending> {
        let until = Instant::now() + patience;
        loop {
            if let Some(ending) = self.running.ending() {
                return Some(ending);
            }
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Says why nothing more comes.
    fn gone(&self, method: &'static str) -> PluginFault {
        let Some(ending) = self.wait(DYING) else {
            return PluginFault::ClosedOutput { method };
        };
        let how = match (ending.cause, ending.code, ending.signal) {
            (Cause::NotStarted, _, _) => return PluginFault::NotStarted(shown(&ending.message)),
            (_, Some(code), _) => format!("exit code {code}"),
            (_, None, Some(signal)) => format!("signal {signal}"),
            (Cause::Lost, None, None) => "the sandbox helper was lost".to_owned(),
            (Cause::Exited | Cause::TimedOut | Cause::Limited | Cause::Stopped, None, None) => {
                "stopped".to_owned()
            }
        };
        let errors = shown(&ending.message);
        PluginFault::Died {
            method,
            how: if errors.is_empty() {
                how
            } else {
                format!("{how}; its error output ends with: {errors}")
            },
        }
    }
}

/// Returns the end of a program's error output, on one line and without what could move a terminal's cursor.
fn shown(errors: &str) -> String {
    let clean: String = errors
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let from = clean.chars().count().saturating_sub(LONGEST_ERRORS);
    clean.chars().skip(from).collect()
}
