//! What is written down for people who debug: payload log, raw stream, cache trace, trajectories (R110–R118).
//!
//! A turn loop tells a [`Journal`] of its [`TurnMoment`]s; what is written, and where, is decided by [`Switches`]. A journal
//! that is off costs one comparison per moment. Nothing that cannot be written ever fails a turn: it is said once, as a note.
//!
//! Until the first request is on its way lines wait in memory; from then on each is written at once, in one write. So the
//! journal never stands between the user's words and the first byte to the provider.

mod bundle;
mod cache_trace;
mod cleaning;
mod compat;
mod contents;
mod digest;
mod forget;
pub mod fragments;
mod fs;
mod log;
mod moment;
mod oversize;
mod packed;
mod payload;
mod raw_stream;
mod read;
mod recording;
mod recording_log;
mod redact;
mod request_text;
mod run;
mod summary;
mod switches;
mod trajectory;
mod trajectory_data;
mod turns;

pub use bundle::{
    Bundle, BundleFile, BundleInput, Transcript, build, default_export_path, exports_directory,
};
pub use cleaning::{cleaned, is_recording};
pub use contents::RecordedContents;
pub use forget::{ForgetMode, ForgottenRecordings, RecordedSession, RecordingPlaces, forget};
pub use moment::{
    RequestSent, RunEnded, RunError, RunStarted, RunSurroundings, TurnMoment, TurnStop,
};
pub use read::{
    LoggedRequest, RecordedRun, TraceError, TraceEvent, TraceFile, TraceSummary, find,
    logged_request, read, summarize,
};
pub use redact::{JournalRedactor, REDACTED};
pub use run::{JournalClock, JournalEnvironment, Say};
pub use switches::{
    CacheTraceSwitch, LookupDirectories, SummarySwitch, Switches, TrajectorySwitch,
};
pub use trajectory::trajectory_path;
pub use turns::{RecordedTurn, RecordedTurns};

use cache_trace::CacheTrace;
use chitin_model::model::Tee;
use compat::stage;
use fragments::InjectedFile;
use log::Log;
use payload::PayloadLog;
use raw_stream::RawStream;
use run::Run;
use std::sync::Arc;
use trajectory::Trajectory;

/// Writes down what happens in turns, as far as the user switched it on.
#[derive(Debug)]
pub struct Journal {
    writers: Option<Box<Writers>>,
}

#[derive(Debug)]
struct Writers {
    around: JournalEnvironment,
    payload: Option<PayloadLog>,
    raw_stream: Option<RawStream>,
    cache_trace: Option<CacheTrace>,
    summary: Option<SummarySwitch>,
    trajectory: Option<Trajectory>,
    contents: Option<RecordedContents>,
    /// Files of the turn that are kept once its request is out.
    files: Vec<InjectedFile>,
    after: Option<AfterTurn>,
    run: Option<Run>,
}

/// What is done when a turn is over and recorded.
#[derive(Clone)]
struct AfterTurn(Arc<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for AfterTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AfterTurn")
    }
}

impl Journal {
    /// Makes a journal that writes nothing.
    pub const fn off() -> Self {
        Self { writers: None }
    }

    /// Makes a journal. The disk is not touched before there is something to write.
    pub fn new(switches: &Switches, around: JournalEnvironment) -> Self {
        if switches.is_off() {
            return Self::off();
        }
        let log = |path: &std::path::PathBuf| Log::new(path.clone(), None);
        Self {
            writers: Some(Box::new(Writers {
                payload: switches
                    .payload_log
                    .as_ref()
                    .map(|path| PayloadLog::new(log(path))),
                raw_stream: switches
                    .raw_stream
                    .as_ref()
                    .map(|path| RawStream::new(log(path))),
                cache_trace: switches.cache_trace.clone().map(CacheTrace::new),
                summary: switches.payload_summary,
                trajectory: switches.trajectory.clone().map(Trajectory::new),
                contents: None,
                files: Vec::new(),
                after: None,
                around,
                run: None,
            })),
        }
    }

    /// Keeps what is read of files that are in prompts, while turns are recorded.
    #[must_use]
    pub fn with_contents(mut self, contents: RecordedContents) -> Self {
        if let Some(writers) = &mut self.writers
            && writers.trajectory.is_some()
        {
            writers.contents = Some(contents);
        }
        self
    }

    /// Does something whenever a turn is over and recorded.
    #[must_use]
    pub fn after_turns(mut self, after: Arc<dyn Fn() + Send + Sync>) -> Self {
        if let Some(writers) = &mut self.writers {
            writers.after = Some(AfterTurn(after));
        }
        self
    }

    /// Tells whether the journal writes nothing at all.
    pub const fn is_off(&self) -> bool {
        self.writers.is_none()
    }

    /// Returns what is to get every byte of an answer before it is parsed, when somebody wants to know.
    pub fn tee(&self) -> Option<Tee> {
        let writers = self.writers.as_deref()?;
        writers.payload.as_ref()?.tee(&writers.around.rules)
    }

    /// Writes down a moment of a turn. Moments outside a turn are passed over.
    pub fn observe(&mut self, moment: TurnMoment<'_>) {
        if let Some(writers) = self.writers.as_deref_mut()
            && let Some(trouble) = writers.observe(moment)
        {
            (writers.around.note)(&trouble);
        }
    }
}

/// Keeps the first trouble of several writers; each says its own only once.
struct Troubles(Vec<String>);

impl Troubles {
    fn note(&mut self, trouble: Option<String>) {
        self.0.extend(trouble);
    }

    fn text(self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("; "))
    }
}

impl Writers {
    fn observe(&mut self, moment: TurnMoment<'_>) -> Option<String> {
        let mut troubles = Troubles(Vec::new());
        if let TurnMoment::RunStarted(started) = moment {
            let run = Run::new(started);
            self.hold();
            if let Some(trace) = &mut self.cache_trace {
                trace.start(started);
            }
            if let Some(trajectory) = &mut self.trajectory {
                troubles.note(trajectory.start(started, &run, &self.around));
            }
            if self.contents.is_some() {
                self.files = started.surroundings.files.to_vec();
            }
            self.run = Some(run);
            return troubles.text();
        }
        let mut run = self.run.take()?;
        if let TurnMoment::RequestSent(sent) = moment {
            run.api = sent.prepared.api;
            sent.provider.clone_into(&mut run.provider);
            sent.model.clone_into(&mut run.model);
        }
        self.write(moment, &run, &mut troubles);
        match moment {
            TurnMoment::RequestSent(_) | TurnMoment::NotAnswered { .. } => {
                self.release(&mut troubles);
            }
            TurnMoment::RunEnded(_) => {
                self.release(&mut troubles);
                // A journal of another turn may write this file next.
                if let Some(trajectory) = &mut self.trajectory {
                    trajectory.close();
                }
                if let Some(AfterTurn(after)) = &self.after {
                    after();
                }
                return troubles.text();
            }
            TurnMoment::RunStarted(_)
            | TurnMoment::SessionLoaded { .. }
            | TurnMoment::SessionSanitized { .. }
            | TurnMoment::SessionLimited { .. }
            | TurnMoment::PromptBefore { .. }
            | TurnMoment::PromptImages { .. }
            | TurnMoment::Streamed(_)
            | TurnMoment::Answered { .. }
            | TurnMoment::ToolCalled(_)
            | TurnMoment::ToolDone { .. }
            | TurnMoment::Refused { .. }
            | TurnMoment::Compacted
            | TurnMoment::SessionAfter { .. } => {}
        }
        self.run = Some(run);
        troubles.text()
    }

    fn write(&mut self, moment: TurnMoment<'_>, run: &Run, troubles: &mut Troubles) {
        let around = &self.around;
        let Self {
            payload,
            raw_stream,
            cache_trace,
            trajectory,
            ..
        } = self;
        match moment {
            TurnMoment::RunStarted(_) => {}
            TurnMoment::SessionLoaded { messages, system } => {
                if let Some(trace) = cache_trace {
                    troubles.note(trace.loaded(messages, system, run, around));
                }
            }
            TurnMoment::SessionSanitized { messages } => {
                if let Some(trace) = cache_trace {
                    troubles.note(trace.messages(stage::SANITIZED, messages, run, around));
                }
            }
            TurnMoment::SessionLimited { messages } => {
                if let Some(trace) = cache_trace {
                    troubles.note(trace.messages(stage::LIMITED, messages, run, around));
                }
            }
            TurnMoment::PromptBefore { prompt, messages } => {
                if let Some(trace) = cache_trace {
                    troubles.note(trace.prompt(prompt, messages, run, around));
                }
            }
            TurnMoment::PromptImages {
                prompt,
                messages,
                images,
            } => {
                if let Some(trace) = cache_trace {
                    troubles.note(trace.images(prompt, messages, images, run, around));
                }
            }
            TurnMoment::RequestSent(sent) => {
                if let Some(trajectory) = trajectory {
                    troubles.note(trajectory.request(sent, run, around));
                }
                if let Some(trace) = cache_trace {
                    troubles.note(trace.request(sent, run, around));
                }
                if let Some(payload) = payload {
                    troubles.note(payload.request(sent, run, around));
                }
                if let Some(switch) = self.summary {
                    summary::say(switch, sent, run, around);
                }
            }
            TurnMoment::Streamed(event) => {
                if let Some(stream) = raw_stream {
                    troubles.note(stream.event(event, run, around));
                }
            }
            TurnMoment::Answered { call, message } => {
                if let Some(trajectory) = trajectory {
                    trajectory.answer(message, around);
                }
                if let Some(trace) = cache_trace {
                    troubles.note(trace.answer(message.usage, run, around));
                }
                if let Some(payload) = payload {
                    troubles.note(payload.answer(call, message, run, around));
                }
            }
            TurnMoment::NotAnswered { call, error } => {
                if let Some(payload) = payload {
                    troubles.note(payload.no_answer(call, error, run, around));
                }
                if let Some(stream) = raw_stream {
                    troubles.note(stream.flush(around));
                }
            }
            TurnMoment::ToolCalled(call) => {
                if let Some(trajectory) = trajectory {
                    troubles.note(trajectory.tool_call(call, run, around));
                }
            }
            TurnMoment::ToolDone { result, summary } => {
                if let Some(trajectory) = trajectory {
                    troubles.note(trajectory.tool_result(result, summary, run, around));
                }
                if let Some(stream) = raw_stream {
                    troubles.note(stream.tool_result(result, run, around));
                }
            }
            TurnMoment::Refused { part, by } => {
                if let Some(trajectory) = trajectory {
                    troubles.note(trajectory.refused(part, by, run, around));
                }
            }
            TurnMoment::Compacted => {
                if let Some(trajectory) = trajectory {
                    trajectory.compacted();
                }
            }
            TurnMoment::SessionAfter { messages } => {
                if let Some(trace) = cache_trace {
                    troubles.note(trace.messages(stage::AFTER, messages, run, around));
                }
            }
            TurnMoment::RunEnded(ended) => {
                if let Some(trajectory) = trajectory {
                    troubles.note(trajectory.end(ended, run, around));
                }
                if let Some(trace) = cache_trace {
                    troubles.note(trace.end(run, around));
                }
                if let Some(payload) = payload {
                    troubles.note(payload.end(run, around));
                }
                if let Some(stream) = raw_stream {
                    troubles.note(stream.flush(around));
                }
            }
        }
    }

    /// Keeps every log in memory until the request is out.
    fn hold(&mut self) {
        for log in self.logs() {
            log.hold();
        }
    }

    fn release(&mut self, troubles: &mut Troubles) {
        for log in self.logs() {
            let trouble = log.release();
            troubles.note(trouble);
        }
        if let Some(trajectory) = &mut self.trajectory {
            troubles.note(trajectory.release());
        }
        let files = std::mem::take(&mut self.files);
        if let Some(contents) = &self.contents {
            let (now, redactor) = (self.around.now(), &self.around.redactor);
            troubles.note(contents.keep(&files, now, redactor));
        }
    }

    fn logs(&mut self) -> impl Iterator<Item = &mut Log> {
        let payload = self.payload.as_mut().map(|payload| &mut payload.log);
        let raw_stream = self.raw_stream.as_mut().map(|stream| &mut stream.log);
        let cache_trace = self.cache_trace.as_mut().map(|trace| &mut trace.log);
        [payload, raw_stream, cache_trace].into_iter().flatten()
    }
}
