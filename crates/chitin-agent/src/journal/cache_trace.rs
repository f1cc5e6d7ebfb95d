//! The cache trace: what goes to the provider at every stage, and what of it the provider had in its cache (R113).

use super::compat::stage;
use super::digest::{self, Fingerprints};
use super::log::Log;
use super::moment::{RequestSent, RunStarted};
use super::run::{JournalEnvironment, Run, STREAM_STRATEGY, transport};
use super::switches::CacheTraceSwitch;
use chitin_contract::CacheStates;
use chitin_protocol::message::{Message, Usage};
use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value, json};

/// The cache trace.
#[derive(Debug)]
pub(super) struct CacheTrace {
    pub(super) log: Log,
    switch: CacheTraceSwitch,
    seq: u64,
    tools: ToolDigest,
    system_digest: String,
    /// What the last request was made of, in this turn or an earlier one.
    last: Option<Snapshot>,
    /// How many tokens the last request had from the cache.
    last_cache_read: Option<u64>,
    changes: Value,
    requests: u64,
    usage: Option<Usage>,
}

/// What of the tools counts for a cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ToolDigest {
    digest: String,
    names: Vec<String>,
}

/// What of a request counts for a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Snapshot {
    model: String,
    system: String,
    tools: ToolDigest,
}

/// What a stage says beside its name.
#[derive(Default)]
struct Stage<'a> {
    prompt: Option<&'a str>,
    system: Option<&'a str>,
    options: Option<Value>,
    model: Option<Value>,
    messages: Option<&'a [Message]>,
    note: Option<String>,
    at: Option<i64>,
}

impl CacheTrace {
    pub(super) fn new(switch: CacheTraceSwitch) -> Self {
        Self {
            log: Log::new(switch.path.clone(), None),
            switch,
            seq: 0,
            tools: ToolDigest::default(),
            system_digest: String::new(),
            last: None,
            last_cache_read: None,
            changes: Value::Null,
            requests: 0,
            usage: None,
        }
    }

    pub(super) fn start(&mut self, started: &RunStarted<'_>) {
        self.seq = 0;
        self.requests = 0;
        self.usage = None;
        self.tools = ToolDigest::of(started.tools);
    }

    pub(super) fn loaded(
        &mut self,
        messages: &[Message],
        system: &str,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        self.system_digest = digest::of(system);
        let stage = Stage {
            system: Some(system),
            messages: Some(messages),
            note: Some(format!(
                "{} messages, {} bytes of system prompt",
                messages.len(),
                system.len()
            )),
            ..Stage::default()
        };
        self.write(stage::LOADED, stage, run, around)
    }

    pub(super) fn messages(
        &mut self,
        name: &str,
        messages: &[Message],
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let stage = Stage {
            messages: Some(messages),
            ..Stage::default()
        };
        self.write(name, stage, run, around)
    }

    pub(super) fn prompt(
        &mut self,
        prompt: &str,
        messages: &[Message],
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let mut trouble = None;
        if around.rules.cache_states == CacheStates::PerRun {
            trouble = self.state(None, run, around);
        }
        let stage = Stage {
            prompt: Some(prompt),
            messages: Some(messages),
            ..Stage::default()
        };
        trouble.or(self.write(stage::PROMPT, stage, run, around))
    }

    pub(super) fn images(
        &mut self,
        prompt: &str,
        messages: &[Message],
        images: usize,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let stage = Stage {
            prompt: Some(prompt),
            messages: Some(messages),
            note: Some(format!("pictures: {images}")),
            ..Stage::default()
        };
        self.write(stage::IMAGES, stage, run, around)
    }

    pub(super) fn request(
        &mut self,
        sent: &RequestSent<'_>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        self.requests += 1;
        self.system_digest = digest::of(sent.system);
        self.tools = ToolDigest::of(sent.tools);
        let mut trouble = None;
        let snapshot = self.snapshot(run);
        self.changes = changes(self.last.as_ref(), &snapshot);
        if around.rules.cache_states == CacheStates::PerRequest {
            trouble = self.state(Some(sent.sent_at), run, around);
        }
        self.last = Some(snapshot);
        let body = serde_json::from_slice(&sent.prepared.body).unwrap_or_default();
        let stage = Stage {
            system: Some(sent.system),
            options: Some(json!({
                "requestIndex": sent.call,
                "sessionId": run.session_id,
                "transport": transport(run.api),
                "maxTokens": sent.max_tokens,
                "toolCount": sent.tools.len(),
                "bodyBytes": sent.prepared.body.len(),
                "bodyDigest": sent.prepared.digest,
                "breakpoints": breakpoints(&body),
            })),
            model: Some(json!({"id": run.model, "provider": run.provider, "api": run.api.name()})),
            messages: Some(sent.messages),
            at: Some(sent.sent_at),
            ..Stage::default()
        };
        trouble.or(self.write(stage::CONTEXT, stage, run, around))
    }

    pub(super) fn answer(
        &mut self,
        usage: Option<Usage>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let usage = usage?;
        self.usage = Some(usage);
        match around.rules.cache_states {
            CacheStates::PerRun => None,
            CacheStates::PerRequest => {
                let mut options = Map::new();
                options.insert("requestIndex".to_owned(), json!(self.requests));
                options.insert("broke".to_owned(), json!(self.broke(usage)));
                if let Some(before) = self.last_cache_read {
                    options.insert("previousCacheRead".to_owned(), json!(before));
                }
                options.insert("input".to_owned(), json!(usage.input));
                options.insert("cacheRead".to_owned(), json!(usage.cache_read));
                options.insert("cacheWrite".to_owned(), json!(usage.cache_write));
                options.insert("changes".to_owned(), self.changes.clone());
                let stage = Stage {
                    options: Some(Value::Object(options)),
                    ..Stage::default()
                };
                let trouble = self.write(stage::RESULT, stage, run, around);
                self.last_cache_read = Some(usage.cache_read);
                trouble
            }
        }
    }

    /// What the cache gave in all, in contracts that say it once.
    pub(super) fn end(&mut self, run: &Run, around: &JournalEnvironment) -> Option<String> {
        let usage = match around.rules.cache_states {
            CacheStates::PerRun => self.usage.take()?,
            CacheStates::PerRequest => return None,
        };
        let note = if self.broke(usage) {
            "less came from the cache than last time"
        } else {
            "the cache held"
        };
        self.last_cache_read = Some(usage.cache_read);
        let stage = Stage {
            options: Some(json!({"cacheRead": usage.cache_read})),
            note: Some(note.to_owned()),
            ..Stage::default()
        };
        self.write(stage::RESULT, stage, run, around)
    }

    /// A conversation only grows: less from the cache than last time means that its beginning changed or was forgotten.
    fn broke(&self, usage: Usage) -> bool {
        self.last_cache_read
            .is_some_and(|before| usage.cache_read < before)
    }

    fn snapshot(&self, run: &Run) -> Snapshot {
        Snapshot {
            model: format!("{}/{}/{}", run.provider, run.model, run.api.name()),
            system: self.system_digest.clone(),
            tools: self.tools.clone(),
        }
    }

    fn state(&mut self, at: Option<i64>, run: &Run, around: &JournalEnvironment) -> Option<String> {
        let mut options = json!({"snapshot": {
            "provider": run.provider,
            "modelId": run.model,
            "modelApi": run.api.name(),
            "streamStrategy": STREAM_STRATEGY,
            "transport": transport(run.api),
            "systemPromptDigest": self.system_digest,
            "toolDigest": self.tools.digest,
            "toolCount": self.tools.names.len(),
            "toolNames": self.tools.names,
        }});
        if around.rules.cache_states == CacheStates::PerRequest {
            options["changes"] = self.changes.clone();
            if let Some(before) = self.last_cache_read {
                options["previousCacheRead"] = json!(before);
            }
            options["requestIndex"] = json!(self.requests);
        }
        let stage = Stage {
            options: Some(options),
            at,
            ..Stage::default()
        };
        self.write(stage::STATE, stage, run, around)
    }

    fn write(
        &mut self,
        name: &str,
        stage: Stage<'_>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        self.seq += 1;
        let mut record = run.record(stage.at.unwrap_or_else(|| around.now()));
        let mut put = |name: &str, value: Value| record.insert(name.to_owned(), value);
        put("seq", json!(self.seq));
        put("stage", json!(name));
        if let Some(prompt) = stage.prompt.filter(|_| self.switch.prompt) {
            put("prompt", json!(prompt));
        }
        if let Some(system) = stage.system {
            if self.switch.system {
                put("system", json!(system));
            }
            put("systemDigest", json!(digest::of(system)));
        }
        if let Some(options) = stage.options {
            put("options", options);
        }
        if let Some(model) = stage.model {
            put("model", model);
        }
        if let Some(messages) = stage.messages {
            let prints = Fingerprints::of(messages);
            put("messageCount", json!(messages.len()));
            put("messageRoles", json!(prints.roles));
            put("messageFingerprints", json!(prints.each));
            put("messagesDigest", json!(prints.all));
            if self.switch.messages {
                put("messages", json!(messages));
            }
        }
        if let Some(note) = stage.note {
            put("note", json!(note));
        }
        let mut record = Value::Object(record);
        around.redactor.value(&mut record);
        self.log.line(record.to_string())
    }
}

impl ToolDigest {
    fn of(tools: &[ToolSpec]) -> Self {
        Self {
            digest: digest::of(tools),
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
        }
    }
}

/// Says what is different from the last request; null when nothing is or there was none.
fn changes(before: Option<&Snapshot>, now: &Snapshot) -> Value {
    let Some(before) = before else {
        return Value::Null;
    };
    let mut changes = Vec::new();
    if before.model != now.model {
        changes
            .push(json!({"code": "model", "detail": format!("{} → {}", before.model, now.model)}));
    }
    if before.system != now.system {
        changes.push(json!({"code": "systemPrompt", "detail": "the system prompt changed"}));
    }
    if before.tools != now.tools {
        let missing = |from: &ToolDigest, of: &ToolDigest| -> Vec<String> {
            let gone = of.names.iter().filter(|name| !from.names.contains(name));
            gone.cloned().collect()
        };
        let detail = json!({
            "added": missing(&before.tools, &now.tools),
            "removed": missing(&now.tools, &before.tools),
        });
        changes.push(json!({"code": "tools", "detail": detail}));
    }
    if changes.is_empty() {
        Value::Null
    } else {
        Value::Array(changes)
    }
}

/// Finds the places of a body that a provider is asked to cache up to, such as `system[0]`.
fn breakpoints(body: &Value) -> Vec<String> {
    fn look(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                if fields.contains_key("cache_control") {
                    found.push(path.to_owned());
                }
                for (name, field) in fields {
                    let below = if path.is_empty() {
                        name.clone()
                    } else {
                        format!("{path}.{name}")
                    };
                    look(field, &below, found);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    look(item, &format!("{path}[{at}]"), found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    look(body, "", &mut found);
    found
}
