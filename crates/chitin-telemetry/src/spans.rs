//! Turns happenings into spans.

use chitin_gateway::JobStatus;
use chitin_gateway::events::{EventKind, GatewayEvent};
use chitin_protocol::event::TurnEvent;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// How many turns are followed at once; further ones make no spans.
const MOST_OPEN: usize = 4_096;
/// How many spans one turn has at most.
const MOST_OF_ONE: usize = 1_000;

/// Something that took a while.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// What it belongs to, 16 bytes in hexadecimal: the same for all of one turn.
    pub trace_id: String,
    /// Its name there, 8 bytes in hexadecimal.
    pub span_id: String,
    /// The span that it is part of.
    pub parent: Option<String>,
    /// What it is.
    pub name: String,
    /// Whether somebody else was asked.
    pub kind: SpanKind,
    /// When it began, in milliseconds since 1970.
    pub began: i64,
    /// When it ended.
    pub ended: i64,
    /// What is known of it.
    pub facts: Vec<(&'static str, Value)>,
    /// What went wrong, in a word; nothing when it went well.
    pub failed: Option<String>,
}

impl Span {
    /// Returns it without secrets: a session, a model, a tool or an agent may be named by one.
    pub(crate) fn redacted(&self, redact: &dyn Fn(&str) -> String) -> Self {
        let mut span = self.clone();
        span.name = redact(&span.name);
        span.failed = span.failed.map(|reason| redact(&reason));
        for (_, fact) in &mut span.facts {
            if let Value::String(text) = fact {
                *text = redact(text);
            }
        }
        span
    }
}

/// Whether somebody else was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// It happened here.
    Inside,
    /// Somebody over the network did it.
    Client,
}

/// Follows turns until they are over.
#[derive(Debug, Default)]
pub struct Recorder {
    open: HashMap<String, Turn>,
}

#[derive(Debug)]
struct Turn {
    trace_id: String,
    root: String,
    began: i64,
    count: u64,
    facts: Vec<(&'static str, Value)>,
    model: Option<String>,
    request: Option<Open>,
    tools: HashMap<String, Open>,
    done: Vec<Span>,
}

#[derive(Debug)]
struct Open {
    span_id: String,
    began: i64,
    name: String,
}

impl Recorder {
    /// Hears what happened. Returns the spans of a turn when it is over.
    pub fn hear(&mut self, happening: &GatewayEvent) -> Vec<Span> {
        let at = happening.at;
        match &happening.what {
            EventKind::Accepted { .. } if self.open.len() < MOST_OPEN => {
                let turn = Turn::new(happening);
                self.open.entry(happening.job_id.clone()).or_insert(turn);
            }
            EventKind::Turn { event } => {
                if let Some(turn) = self.open.get_mut(&happening.job_id) {
                    turn.hear(at, event);
                }
            }
            EventKind::Spawned { child } => {
                if let Some(turn) = self.open.get_mut(&happening.job_id) {
                    turn.facts.push(("chitin.spawned", child.clone().into()));
                }
            }
            EventKind::Merged { .. } | EventKind::Dropped { .. } => {
                self.open.remove(&happening.job_id);
            }
            EventKind::Finished { outcome } => {
                let turn = self.open.remove(&happening.job_id);
                let failed = match outcome.status {
                    JobStatus::Ok => None,
                    JobStatus::TimedOut => Some("timed out"),
                    JobStatus::Stopped => Some("stopped"),
                    JobStatus::Failed => Some("failed"),
                    JobStatus::Dropped => Some("dropped"),
                };
                let tokens = [
                    ("gen_ai.usage.input_tokens", outcome.input_tokens),
                    ("gen_ai.usage.output_tokens", outcome.output_tokens),
                ];
                return turn.map_or_else(Vec::new, |turn| turn.end(at, failed, tokens));
            }
            EventKind::Accepted { .. }
            | EventKind::Delayed { .. }
            | EventKind::Delivered { .. }
            | EventKind::NotDelivered { .. }
            | EventKind::ApprovalRequested { .. }
            | EventKind::ApprovalResolved { .. } => {}
        }
        Vec::new()
    }
}

impl Turn {
    fn new(happening: &GatewayEvent) -> Self {
        let trace_id = hex::encode(&Sha256::digest(&happening.job_id)[..16]);
        let root = span_id(&trace_id, 0);
        Self {
            trace_id,
            root,
            began: happening.at,
            count: 0,
            facts: vec![
                ("chitin.session", happening.session_key.clone().into()),
                ("chitin.job", happening.job_id.clone().into()),
            ],
            model: None,
            request: None,
            tools: HashMap::new(),
            done: Vec::new(),
        }
    }

    fn hear(&mut self, at: i64, event: &TurnEvent) {
        match event {
            TurnEvent::TurnStarted {
                model, contract, ..
            } => {
                self.facts
                    .push(("chitin.contract", contract.clone().into()));
                self.facts
                    .push(("gen_ai.request.model", model.clone().into()));
                self.model = Some(model.clone());
            }
            TurnEvent::RequestSent { .. } => {
                self.end_request(at, None);
                let name = format!("chat {}", self.model.as_deref().unwrap_or("model"));
                self.request = Some(self.begin(at, name));
            }
            TurnEvent::Retrying { model, .. } => {
                self.end_request(at, Some("asked again"));
                self.model = Some(model.clone());
            }
            TurnEvent::ToolStarted { call_id, name, .. } => {
                self.end_request(at, None);
                let open = self.begin(at, name.clone());
                self.tools.insert(call_id.clone(), open);
            }
            TurnEvent::ToolFinished {
                call_id, is_error, ..
            } => {
                if let Some(open) = self.tools.remove(call_id) {
                    let facts = vec![("gen_ai.tool.name", open.name.clone().into())];
                    let failed = is_error.then(|| "the tool failed".to_owned());
                    let name = format!("execute_tool {}", open.name);
                    self.close(Open { name, ..open }, at, SpanKind::Inside, facts, failed);
                }
            }
            TurnEvent::TurnFinished { calls, .. } => {
                self.end_request(at, None);
                self.facts.push(("chitin.calls", (*calls).into()));
            }
            TurnEvent::Said { .. } => self.end_request(at, None),
            _ => {}
        }
    }

    fn begin(&mut self, at: i64, name: String) -> Open {
        self.count += 1;
        Open {
            span_id: span_id(&self.trace_id, self.count),
            began: at,
            name,
        }
    }

    fn end_request(&mut self, at: i64, failed: Option<&str>) {
        if let Some(open) = self.request.take() {
            let model = self.model.clone().unwrap_or_default();
            let facts = vec![
                ("gen_ai.operation.name", "chat".into()),
                ("gen_ai.request.model", model.into()),
            ];
            self.close(open, at, SpanKind::Client, facts, failed.map(str::to_owned));
        }
    }

    fn close(
        &mut self,
        open: Open,
        at: i64,
        kind: SpanKind,
        facts: Vec<(&'static str, Value)>,
        failed: Option<String>,
    ) {
        if self.done.len() < MOST_OF_ONE {
            self.done.push(Span {
                trace_id: self.trace_id.clone(),
                parent: Some(self.root.clone()),
                span_id: open.span_id,
                name: open.name,
                kind,
                began: open.began,
                ended: at.max(open.began),
                facts,
                failed,
            });
        }
    }

    fn end(mut self, at: i64, failed: Option<&str>, tokens: [(&'static str, u64); 2]) -> Vec<Span> {
        self.end_request(at, failed);
        let mut facts = self.facts;
        facts.extend(tokens.map(|(name, count)| (name, count.into())));
        let mut spans = self.done;
        spans.push(Span {
            trace_id: self.trace_id,
            span_id: self.root,
            parent: None,
            name: "turn".to_owned(),
            kind: SpanKind::Inside,
            began: self.began,
            ended: at.max(self.began),
            facts,
            failed: failed.map(str::to_owned),
        });
        spans
    }
}

fn span_id(trace_id: &str, number: u64) -> String {
    hex::encode(&Sha256::digest(format!("{trace_id} {number}"))[..8])
}
