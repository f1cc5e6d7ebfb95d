//! What every record says about its turn, and what surrounds the journal.

use super::moment::RunStarted;
use super::redact::JournalRedactor;
use chitin_contract::TraceRules;
use chitin_model::Api;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// Tells the time, in milliseconds since 1970.
pub type JournalClock = Arc<dyn Fn() -> i64 + Send + Sync>;
/// Takes a line for people.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// What the journal is given by the program around it.
#[derive(Clone)]
pub struct JournalEnvironment {
    /// The contract's rules.
    pub rules: TraceRules,
    /// Takes secrets out of everything that is written.
    pub redactor: JournalRedactor,
    /// Tells the time.
    pub clock: JournalClock,
    /// Takes notes about what could not be written.
    pub note: Say,
    /// Takes the summaries of requests, which are for stderr.
    pub summary: Say,
}

impl JournalEnvironment {
    pub(super) fn now(&self) -> i64 {
        (self.clock)()
    }
}

impl fmt::Debug for JournalEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// What every record says about its turn.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) session_id: String,
    pub(super) session_key: String,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) api: Api,
    pub(super) workspace: String,
}

impl Run {
    pub(super) fn new(started: &RunStarted<'_>) -> Self {
        Self {
            id: started.run_id.to_owned(),
            session_id: started.session_id.to_owned(),
            session_key: started.session_key.to_owned(),
            provider: started.provider.to_owned(),
            model: started.model.to_owned(),
            api: started.api,
            workspace: started.workspace.to_string_lossy().into_owned(),
        }
    }

    /// Begins a record of the payload log or the cache trace.
    pub(super) fn record(&self, at: i64) -> Map<String, Value> {
        let mut record = Map::with_capacity(24);
        let mut put = |name: &str, value: &str| record.insert(name.to_owned(), json!(value));
        put("runId", &self.id);
        put("sessionId", &self.session_id);
        put("sessionKey", &self.session_key);
        put("provider", &self.provider);
        put("modelId", &self.model);
        put("modelApi", self.api.name());
        put("workspaceDir", &self.workspace);
        put("ts", &instant(at));
        record
    }
}

/// Writes a time as an ISO instant in UTC, to the millisecond.
pub(super) fn instant(milliseconds: i64) -> String {
    let instant = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    format!("{instant:.3}")
}

/// How answers come over the wire.
pub(super) const fn transport(api: Api) -> &'static str {
    match api {
        Api::AnthropicMessages | Api::OpenaiCompletions | Api::OpenaiResponses => "sse",
        Api::Ollama => "ndjson",
        Api::Offline | Api::Scripted => "none",
    }
}

/// How requests are made: the same for every provider.
pub(super) const STREAM_STRATEGY: &str = "exact-bytes";
