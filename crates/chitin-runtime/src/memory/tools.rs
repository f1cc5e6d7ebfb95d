//! `memory_search` and `memory_get`: what an agent asks its memory.

use super::AgentMemory;
use chitin_contract::MemoryRules;
use chitin_memory::answer::{self, SearchNotes};
use chitin_memory::cite::Citations;
use chitin_memory::compat;
use chitin_memory::keeper::Effort;
use chitin_memory::read::{MemoryReadError, Window};
use chitin_memory::search::{ChunkSource, SearchRequest};
use chitin_protocol::settings::CitationSetting;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::memory_slot::MemoryTools;
use chitin_tools::{CallContext, Tool, ToolConcurrency, ToolOutcome};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How many results a model may ask for.
const MOST_RESULTS: usize = 50;
/// How long a search may be busy with bringing notes into the index; then what is there is searched.
const PATIENCE: Duration = Duration::from_secs(20);

/// Both tools of an agent's memory.
pub struct MemoryToolset(pub Arc<AgentMemory>);

impl MemoryTools for MemoryToolset {
    fn search(&self) -> Arc<dyn Tool> {
        Arc::new(Asking::new(&self.0, Verb::Search))
    }

    fn get(&self) -> Arc<dyn Tool> {
        Arc::new(Asking::new(&self.0, Verb::Get))
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Search,
    Get,
}

struct Asking {
    spec: ToolSpec,
    verb: Verb,
    kit: Arc<AgentMemory>,
}

impl Asking {
    fn new(kit: &Arc<AgentMemory>, verb: Verb) -> Self {
        Self {
            spec: definition(verb, &kit.setup.contract().runtime.memory),
            verb,
            kit: Arc::clone(kit),
        }
    }
}

/// Returns what a model is told of both tools.
pub(crate) fn definitions(rules: &MemoryRules) -> [ToolSpec; 2] {
    [
        definition(Verb::Search, rules),
        definition(Verb::Get, rules),
    ]
}

fn definition(verb: Verb, rules: &MemoryRules) -> ToolSpec {
    let (name, description, parameters) = match verb {
        Verb::Search => (
            compat::SEARCH_TOOL,
            "Finds lines in memory: `MEMORY.md`, `memory/**.md` and past conversations. Use it before you answer \
                 about earlier work, decisions, dates, people, preferences or open tasks.",
            answer::search_schema(rules),
        ),
        Verb::Get => (
            compat::GET_TOOL,
            "Shows lines of a memory file. Use it after `memory_search`, to read around what was found.",
            answer::get_schema(rules),
        ),
    };
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    }
}

impl Tool for Asking {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Shared
    }

    fn call<'a>(
        &'a self,
        arguments: Value,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        async move {
            let (kit, verb) = (Arc::clone(&self.kit), self.verb);
            let (session, cancel) = (context.session_key.to_owned(), context.cancel.clone());
            // SQLite waits for the disk, and vectors may come over the network.
            let asking = tokio::task::spawn_blocking(move || match verb {
                Verb::Search => search(&kit, &arguments, &session, &|| cancel.is_cancelled()),
                Verb::Get => get(&kit, &arguments, &session),
            });
            match asking.await {
                Ok(outcome) => outcome,
                Err(error) => ToolOutcome::error(error.to_string()),
            }
        }
        .boxed()
    }
}

fn search(
    kit: &AgentMemory,
    arguments: &Value,
    session: &str,
    cancelled: &dyn Fn() -> bool,
) -> ToolOutcome {
    let Some(query) = arguments["query"].as_str() else {
        return ToolOutcome::error("`query` is missing: what shall be looked for?");
    };
    let mut within = kit.within(session);
    let only = match arguments["corpus"].as_str() {
        Some("memory") => Some(ChunkSource::Memory),
        Some("sessions") => Some(ChunkSource::Sessions),
        Some(_) | None => None,
    };
    if let Some(only) = only {
        within.sources.retain(|source| *source == only);
    }
    if within.sources.is_empty() {
        return outcome(&answer::unavailable_json(
            "This session has no memory of that kind.",
        ));
    }
    let made = kit.made();
    let setting = made.memory.setting();
    let told = SearchNotes {
        citations: citations(kit.options.citations),
        session_key: session,
        provider: setting.embedder.as_ref().map(|embedder| embedder.name()),
        model: None,
    };
    let wanted = arguments["maxResults"]
        .as_u64()
        .and_then(|count| usize::try_from(count).ok());
    let ask = SearchRequest {
        query,
        max_results: Some(wanted.unwrap_or(kit.options.results).clamp(1, MOST_RESULTS)),
        min_score: Some(
            arguments["minScore"]
                .as_f64()
                .unwrap_or(kit.options.min_score),
        ),
        now_ms: jiff::Timestamp::now().as_millisecond(),
        project: None,
        within,
    };
    let effort = Effort {
        cancelled,
        ..Effort::within(PATIENCE)
    };
    match made.memory.search(&ask, &effort) {
        Ok(mut found) => {
            found.notes.splice(..0, made.notes.iter().cloned());
            outcome(&answer::search_json(&found, &told, &setting.rules))
        }
        Err(error) => outcome(&answer::unavailable_json(&error.to_string())),
    }
}

fn get(kit: &AgentMemory, arguments: &Value, session: &str) -> ToolOutcome {
    let path = arguments["path"].as_str().unwrap_or_default();
    let number = |name: &str| {
        let number = arguments[name].as_u64();
        number.and_then(|number| usize::try_from(number).ok())
    };
    let window = Window {
        from: number("from"),
        lines: number("lines"),
        max_chars: None,
    };
    let memory = kit.memory();
    let rules = &memory.setting().rules;
    let hidden = kit.within(session).without;
    // Judged by where it led, not by how it was spelled.
    let read = memory.read(path, window).and_then(|window| {
        if hidden.contains(&window.path) {
            Err(MemoryReadError::NotMemory(path.to_owned()))
        } else {
            Ok(window)
        }
    });
    outcome(&answer::get_json(path, read.as_ref(), rules))
}

fn outcome(json: &Value) -> ToolOutcome {
    let outcome = ToolOutcome::text(json.to_string()).with_details(json.clone());
    ToolOutcome {
        is_error: json.get("error").is_some(),
        ..outcome
    }
}

const fn citations(setting: CitationSetting) -> Citations {
    match setting {
        CitationSetting::On => Citations::On,
        CitationSetting::Off => Citations::Off,
        CitationSetting::Auto => Citations::Auto,
    }
}
