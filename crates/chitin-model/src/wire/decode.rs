//! What the decoders have in common: frames, the end, and faults.

use super::Decoder;
use super::assembly::{Assembly, Fault};
use super::failure::{bounded, said};
use super::json;
use super::lines::{LineLimits, LineReader, TooMuch};
use super::sse::EventReader;
use crate::error::ModelError;
use crate::stream::StreamEvent;
use chitin_protocol::message::StopReason;
use serde_json::Value;

/// What the frames of a format mean. Implemented once per format.
pub(super) trait Machine: Send {
    /// Takes the next frame. `text` is the frame as it came.
    fn frame(
        &mut self,
        frame: &Value,
        text: &str,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) -> Step;

    /// Nothing more comes: says whether the answer is complete.
    fn end(&mut self, end: StreamEnd, message: &Assembly) -> Step;
}

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The server said so.
    Said,
    /// The connection is closed.
    Closed,
}

/// What follows from a frame.
#[derive(Debug)]
pub(super) enum Step {
    /// More frames are to come.
    More,
    /// The answer is complete.
    Done(StopReason),
    /// The provider says that something is wrong.
    Failed(Fault),
}

/// How frames are parted.
#[derive(Debug)]
pub(super) enum Frames {
    /// As server-sent events.
    Events(EventReader),
    /// One on each line.
    Lines(LineReader),
}

impl Frames {
    pub(super) const fn events(limits: LineLimits) -> Self {
        Self::Events(EventReader::new(limits))
    }

    pub(super) const fn lines(limits: LineLimits) -> Self {
        Self::Lines(LineReader::new(limits))
    }

    fn feed(&mut self, bytes: &[u8], frames: &mut Vec<String>) -> Result<(), TooMuch> {
        match self {
            Self::Events(reader) => reader.feed(bytes, frames),
            Self::Lines(reader) => reader.feed(bytes, |line| {
                frames.push(String::from_utf8_lossy(line).into_owned());
                Ok(())
            }),
        }
    }

    fn finish(&mut self, frames: &mut Vec<String>) -> Result<(), TooMuch> {
        match self {
            Self::Events(reader) => reader.finish(frames),
            Self::Lines(reader) => reader.finish(|line| {
                frames.push(String::from_utf8_lossy(line).into_owned());
                Ok(())
            }),
        }
    }

    fn stray(&self) -> &str {
        match self {
            Self::Events(reader) => reader.stray(),
            Self::Lines(_) => "",
        }
    }
}

/// Ends streams of Chat Completions; other formats get it from proxies that mean well.
const SENTINEL: &str = "[DONE]";

/// A decoder: frames, what they mean, and the message they become.
pub(super) struct Framed<M> {
    provider: String,
    frames: Frames,
    machine: M,
    message: Assembly,
    is_ended: bool,
}

impl<M: Machine> Framed<M> {
    pub(super) fn new(provider: &str, frames: Frames, machine: M, message: Assembly) -> Self {
        Self {
            provider: provider.to_owned(),
            frames,
            machine,
            message,
            is_ended: false,
        }
    }

    fn step(&mut self, step: Step, out: &mut Vec<StreamEvent>) {
        match step {
            Step::More => {}
            Step::Done(stop_reason) => {
                self.is_ended = true;
                self.message.done(stop_reason, out);
            }
            Step::Failed(fault) => {
                self.is_ended = true;
                let fault = Fault {
                    message: bounded(&fault.message),
                    kind: fault.kind.as_deref().map(bounded),
                };
                out.push(self.message.failed(StopReason::Error, &fault));
            }
        }
    }

    /// The answer is not what the format says. What had come is not lost.
    fn broken(&mut self, problem: &str, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        self.is_ended = true;
        let message = bounded(problem);
        if self.message.is_started() {
            out.push(self.message.failed(StopReason::Error, &Fault::new(message)));
            return Ok(());
        }
        Err(ModelError::Malformed {
            provider: self.provider.clone(),
            message,
        })
    }

    /// Takes frames until one is the last.
    fn take(&mut self, frames: Vec<String>, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        for text in frames {
            let data = text.trim();
            if data.is_empty() {
                continue;
            }
            let step = if data == SENTINEL {
                self.machine.end(StreamEnd::Said, &self.message)
            } else if let Some(frame) = json::parse(data) {
                self.machine.frame(&frame, data, &mut self.message, out)
            } else {
                return self.broken(&format!("a piece of it is not JSON: `{data}`"), out);
            };
            self.step(step, out);
            if self.is_ended {
                return Ok(());
            }
            if self.message.is_over() {
                return self.broken("it has too many blocks", out);
            }
        }
        Ok(())
    }
}

impl<M: Machine> Decoder for Framed<M> {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if self.is_ended {
            return Ok(());
        }
        let mut frames = Vec::new();
        let fed = self.frames.feed(bytes, &mut frames);
        self.take(frames, out)?;
        match fed {
            Err(TooMuch { what, limit }) if !self.is_ended => {
                self.broken(&format!("{what} has more than {limit} bytes"), out)
            }
            Err(_) | Ok(()) => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if self.is_ended {
            return Ok(());
        }
        let mut frames = Vec::new();
        // Too much at the end is no other fault than a cut end.
        let _ = self.frames.finish(&mut frames);
        frames.retain(|frame| frame.trim() == SENTINEL || json::parse(frame.trim()).is_some());
        self.take(frames, out)?;
        if self.is_ended {
            return Ok(());
        }
        let step = self.machine.end(StreamEnd::Closed, &self.message);
        self.step(step, out);
        if self.is_ended {
            return Ok(());
        }
        let stray = self.frames.stray();
        let problem = if self.message.is_started() {
            "the connection was closed before the answer was complete".to_owned()
        } else if stray.is_empty() {
            "the answer is empty".to_owned()
        } else {
            format!(
                "the answer is not a stream of events: `{}`",
                said(stray.as_bytes()).message
            )
        };
        self.broken(&problem, out)
    }

    fn abort(&mut self) -> StreamEvent {
        self.is_ended = true;
        let fault = Fault::new("stopped before the answer was complete");
        self.message.failed(StopReason::Aborted, &fault)
    }
}
