//! The trajectory: one file per session that says what every turn was made of and what came of it (R115, R116).

use super::compat::{self, event};
use super::fs;
use super::moment::{RequestSent, RunEnded, RunStarted};
use super::oversize::{bulky, fit};
use super::payload::body_text;
use super::recording_log::{Entry, RecordingLog, RequestEntry};
use super::request_text::Encoder;
use super::run::{JournalEnvironment, Run, instant};
use super::switches::{TrajectorySwitch, beside, file_name};
use super::trajectory_data as data;
use crate::limits::add_usage;
use chitin_contract::{TraceRules, TrajectoryPlace};
use chitin_protocol::event::{RefusedPart, RuleRefusal};
use chitin_protocol::message::{AssistantMessage, ToolCallBlock, ToolResultMessage, Usage};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Returns where a session's trajectory is.
pub fn trajectory_path(
    switch: &TrajectorySwitch,
    rules: &TraceRules,
    session_id: &str,
    session_file: Option<&Path>,
) -> PathBuf {
    let name = format!("{}.jsonl", file_name(session_id));
    match (&switch.directory, rules.trajectory_place, session_file) {
        (Some(directory), _, _) => directory.join(name),
        (None, TrajectoryPlace::BesideTranscript, Some(transcript)) => {
            beside(transcript, compat::TRAJECTORY_ENDING)
        }
        (None, TrajectoryPlace::BesideTranscript, None) | (None, TrajectoryPlace::Logs, _) => {
            switch.logs.join(compat::TRAJECTORY_DIRECTORY).join(name)
        }
    }
}

/// The trajectory of the session that a turn belongs to.
#[derive(Debug)]
pub(super) struct Trajectory {
    switch: TrajectorySwitch,
    log: Option<RecordingLog>,
    /// The file that says where the trajectory is, until it is written.
    pointer: Option<(PathBuf, String)>,
    seq: u64,
    encoder: Encoder,
    tally: Tally,
}

/// What a turn came to so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) texts: Vec<String>,
    pub(super) usage: Usage,
    pub(super) last_usage: Option<Usage>,
    /// What came from the cache in the call before the last one.
    pub(super) previous_cache_read: Option<u64>,
    pub(super) answered_at: Option<i64>,
    pub(super) tools_started: usize,
    pub(super) tools: Vec<Value>,
    pub(super) compactions: u64,
    contexts: u32,
}

impl Trajectory {
    pub(super) fn new(switch: TrajectorySwitch) -> Self {
        Self {
            switch,
            log: None,
            pointer: None,
            seq: 0,
            encoder: Encoder::default(),
            tally: Tally::default(),
        }
    }

    pub(super) fn start(
        &mut self,
        started: &RunStarted<'_>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let rules = &around.rules;
        let path = trajectory_path(
            &self.switch,
            rules,
            started.session_id,
            started.session_file,
        );
        let previous = self.tally.last_usage.map(|usage| usage.cache_read);
        self.seq = 0;
        self.encoder.reset();
        self.tally = Tally {
            previous_cache_read: previous,
            ..Tally::default()
        };
        if self.log.as_ref().is_none_or(|log| log.path() != path) {
            self.pointer = started
                .session_file
                .filter(|_| rules.trajectory_pointer)
                .map(|file| {
                    let pointer = json!({
                        "traceSchema": compat::POINTER_SCHEMA,
                        "schemaVersion": compat::SCHEMA_VERSION,
                        "sessionId": started.session_id,
                        "runtimeFile": path.to_string_lossy(),
                    });
                    let text = serde_json::to_string_pretty(&pointer).unwrap_or_default();
                    (beside(file, compat::POINTER_ENDING), text + "\n")
                });
            self.log = Some(RecordingLog::new(path, rules.trajectory_bytes));
        }
        if let Some(log) = &mut self.log {
            log.hold();
        }
        let at = around.now();
        let trouble = self.event(
            event::STARTED,
            at,
            data::started(started, rules),
            run,
            around,
        );
        let metadata = data::metadata(started, at, around);
        trouble.or(self.event(event::METADATA, at, metadata, run, around))
    }

    pub(super) fn request(
        &mut self,
        sent: &RequestSent<'_>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let mut trouble = None;
        let at = sent.sent_at;
        // What is told together is written together.
        let is_held_here = self.hold();
        if self.tally.contexts == 0 {
            self.tally.contexts = 1;
            let before = &sent.messages[..sent.before_prompt.min(sent.messages.len())];
            let messages = bulky(before, around.rules.trajectory_event_bytes);
            let context = data::context(sent, &messages, run, &around.rules);
            trouble = self.event(event::CONTEXT, at, context, run, around);
            let prompt = data::prompt(sent, messages);
            trouble = trouble.or(self.event(event::PROMPT, at, prompt, run, around));
        }
        // Whatever the contract says in events: whoever builds a request again needs all of it.
        let text = body_text(&sent.prepared.body, around);
        let request = RequestEntry {
            run_id: run.id.clone(),
            call: sent.call,
            digest: sent.prepared.digest.clone(),
            text: text.clone(),
        };
        trouble = trouble.or(self.entry(Entry::Request(request)));
        if around.rules.trajectory_requests {
            let mut fields = data::request(sent, run);
            fields.extend(self.encoder.encode(text.clone()));
            let had = fields.get("body").is_some_and(Value::is_string);
            let (mut record, whole) = self.record(event::REQUEST, at, fields, run, around);
            if !(had && whole) {
                self.encoder.reset();
            }
            let body = BodyMark::put(&mut record, &text);
            trouble = trouble.or(self.entry(Entry::Event {
                kind: event::REQUEST.into(),
                record,
                body,
            }));
        }
        if is_held_here {
            trouble = trouble.or(self.release());
        }
        trouble
    }

    pub(super) fn answer(&mut self, message: &AssistantMessage, around: &JournalEnvironment) {
        let text = message.content.text();
        if !text.is_empty() {
            self.tally.texts.push(text);
        }
        if let Some(usage) = message.usage {
            if let Some(last) = self.tally.last_usage {
                self.tally.previous_cache_read = Some(last.cache_read);
            }
            add_usage(&mut self.tally.usage, &usage);
            self.tally.last_usage = Some(usage);
            self.tally.answered_at = Some(around.now());
        }
    }

    /// A conversation that was put into a summary is another context: it is told anew.
    pub(super) const fn compacted(&mut self) {
        self.tally.compactions += 1;
        self.tally.contexts = 0;
    }

    pub(super) fn tool_call(
        &mut self,
        call: &ToolCallBlock,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        self.tally.tools_started += 1;
        if !around.rules.trajectory_tools {
            return None;
        }
        let at = around.now();
        self.event(event::TOOL_CALL, at, data::tool_call(call), run, around)
    }

    pub(super) fn tool_result(
        &mut self,
        result: &ToolResultMessage,
        summary: Option<&str>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let mut meta = Map::new();
        meta.insert("toolName".to_owned(), json!(result.tool_name));
        if let Some(summary) = summary {
            meta.insert("meta".to_owned(), json!(summary));
        }
        self.tally.tools.push(Value::Object(meta));
        if !around.rules.trajectory_tools {
            return None;
        }
        let at = around.now();
        self.event(
            event::TOOL_RESULT,
            at,
            data::tool_result(result),
            run,
            around,
        )
    }

    pub(super) fn refused(
        &mut self,
        part: RefusedPart,
        by: &RuleRefusal,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let mut data = Map::new();
        data.insert("part".to_owned(), json!(part));
        if let Value::Object(by) = json!(by) {
            data.extend(by);
        }
        self.event(event::REFUSED, around.now(), data, run, around)
    }

    pub(super) fn end(
        &mut self,
        ended: &RunEnded<'_>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let at = around.now();
        let rules = &around.rules;
        let mut completed = data::outcome(ended, &self.tally, rules);
        let artifacts = data::artifacts(&completed, ended, &self.tally, at);
        completed.insert(
            "messagesSnapshot".to_owned(),
            bulky(ended.messages, rules.trajectory_event_bytes),
        );
        let end = data::ended(ended, rules);
        let is_held_here = self.hold();
        let mut trouble = self.event(event::COMPLETED, at, completed, run, around);
        trouble = trouble.or(self.event(event::ARTIFACTS, at, artifacts, run, around));
        trouble = trouble.or(self.event(event::ENDED, at, end, run, around));
        if is_held_here {
            trouble = trouble.or(self.release());
        }
        trouble
    }

    fn hold(&mut self) -> bool {
        self.log.as_mut().is_some_and(RecordingLog::hold)
    }

    /// Lets others write the file. It is opened again by the next entry.
    pub(super) fn close(&mut self) {
        if let Some(log) = &mut self.log {
            log.close();
        }
    }

    /// Writes what was held back.
    pub(super) fn release(&mut self) -> Option<String> {
        let trouble = self.log.as_mut().and_then(RecordingLog::release);
        let pointed = self.pointer.take().and_then(|(path, text)| {
            let failed = fs::write_small(&path, &text).err()?;
            Some(format!("`{}` was not written: {failed}", path.display()))
        });
        trouble.or(pointed)
    }

    fn event(
        &mut self,
        kind: &'static str,
        at: i64,
        data: Map<String, Value>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let (record, _) = self.record(kind, at, data, run, around);
        let body = None;
        self.entry(Entry::Event {
            kind: kind.into(),
            record,
            body,
        })
    }

    fn entry(&mut self, entry: Entry) -> Option<String> {
        self.log.as_mut().and_then(|log| log.entry(entry))
    }

    /// Returns an event, and whether nothing was left out of it.
    fn record(
        &mut self,
        kind: &str,
        at: i64,
        data: Map<String, Value>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> (Value, bool) {
        self.seq += 1;
        let rules = &around.rules;
        let mut record = Map::with_capacity(16);
        let mut put = |name: &str, value: Value| record.insert(name.to_owned(), value);
        put("traceSchema", json!(compat::TRACE_SCHEMA));
        put("schemaVersion", json!(compat::SCHEMA_VERSION));
        put("traceId", json!(run.session_id));
        put("source", json!("runtime"));
        put("type", json!(kind));
        put("ts", json!(instant(at)));
        put("seq", json!(self.seq));
        put("sourceSeq", json!(self.seq));
        put("sessionId", json!(run.session_id));
        put("sessionKey", json!(run.session_key));
        put("runId", json!(run.id));
        put("workspaceDir", json!(run.workspace));
        put("provider", json!(run.provider));
        put("modelId", json!(run.model));
        put("modelApi", json!(run.api.name()));
        let head = Value::Object(record.clone()).to_string().len() + ",\"data\":".len();
        let room = rules.trajectory_event_bytes.saturating_sub(head + 1);
        let (data, whole) = fit(data, room, rules);
        let mut data = Value::Object(data);
        around.redactor.value(&mut data);
        record.insert("data".to_owned(), data);
        (Value::Object(record), whole)
    }
}

/// What stands in an event for a part of the body of the request before it: how many bytes are left out at its beginning and end.
pub(super) struct BodyMark {
    prefix: usize,
    suffix: usize,
}

impl BodyMark {
    const FIELD: &str = "sameAsRequest";

    /// Puts it into an event, and returns what stood there. Nothing is put where another text stands.
    pub(super) fn put(record: &mut Value, request: &str) -> Option<String> {
        let data = record.get_mut("data")?.as_object_mut()?;
        let place = |name: &str| match data.get(name) {
            None => Some(0),
            Some(number) => usize::try_from(number.as_u64()?).ok(),
        };
        let mark = Self {
            prefix: place("samePrefix")?,
            suffix: place("sameSuffix")?,
        };
        let body = data.get_mut("body")?;
        if body.as_str()? != mark.part(request)? {
            return None;
        }
        let mark = json!({Self::FIELD: [mark.prefix, mark.suffix]});
        match std::mem::replace(body, mark) {
            Value::String(body) => Some(body),
            _ => None,
        }
    }

    /// Finds it in an event.
    pub(super) fn find(record: &Value) -> Option<Self> {
        let mark = record.get("data")?.get("body")?.get(Self::FIELD)?;
        let [prefix, suffix] = mark.as_array()?.as_slice() else {
            return None;
        };
        let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
        Some(Self {
            prefix: number(prefix)?,
            suffix: number(suffix)?,
        })
    }

    /// Returns the part of a request that it stands for.
    pub(super) fn part<'a>(&self, request: &'a str) -> Option<&'a str> {
        let end = request.len().checked_sub(self.suffix)?;
        request.get(self.prefix..end)
    }
}
