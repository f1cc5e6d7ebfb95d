//! The trajectory: one file per session that says what every turn was made of and what came of it (R115, R116).

use super::compat::{self, event};
use super::fs;
use super::log::Log;
use super::moment::{RequestSent, RunEnded, RunStarted};
use super::oversize::{bulky, fit};
use super::payload::body_text;
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
    log: Option<Log>,
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
            self.log = Some(Log::new(path, Some(rules.trajectory_bytes)));
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
        if self.tally.contexts == 0 {
            self.tally.contexts = 1;
            let before = &sent.messages[..sent.before_prompt.min(sent.messages.len())];
            let messages = bulky(before, around.rules.trajectory_event_bytes);
            let context = data::context(sent, &messages, run, &around.rules);
            trouble = self.event(event::CONTEXT, at, context, run, around);
            let prompt = data::prompt(sent, messages);
            trouble = trouble.or(self.event(event::PROMPT, at, prompt, run, around));
        }
        if around.rules.trajectory_requests {
            let mut fields = data::request(sent, run);
            fields.extend(self.encoder.encode(body_text(&sent.prepared.body, around)));
            let had = fields.get("body").is_some_and(Value::is_string);
            let (line, whole) = self.line(event::REQUEST, at, fields, run, around);
            if !(had && whole) {
                self.encoder.reset();
            }
            trouble = trouble.or(self.log.as_mut().and_then(|log| log.line(line)));
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
        let mut trouble = self.event(event::COMPLETED, at, completed, run, around);
        trouble = trouble.or(self.event(event::ARTIFACTS, at, artifacts, run, around));
        trouble.or(self.event(event::ENDED, at, end, run, around))
    }

    /// Writes what was held back.
    pub(super) fn release(&mut self) -> Option<String> {
        let trouble = self.log.as_mut().and_then(Log::release);
        let pointed = self.pointer.take().and_then(|(path, text)| {
            let failed = fs::write_small(&path, &text).err()?;
            Some(format!("`{}` was not written: {failed}", path.display()))
        });
        trouble.or(pointed)
    }

    fn event(
        &mut self,
        kind: &str,
        at: i64,
        data: Map<String, Value>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let (line, _) = self.line(kind, at, data, run, around);
        self.log.as_mut().and_then(|log| log.line(line))
    }

    /// Returns an event as a line, and whether nothing was left out of it.
    fn line(
        &mut self,
        kind: &str,
        at: i64,
        data: Map<String, Value>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> (String, bool) {
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
        (Value::Object(record).to_string(), whole)
    }
}
