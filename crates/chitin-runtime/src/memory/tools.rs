//! `memory_search` and `memory_get`: what an agent asks its memory.

use super::AgentMemory;
use chitin_agent::origins::of_injected;
use chitin_agent::source::RecalledPath;
use chitin_contract::MemoryRules;
use chitin_memory::answer::{self, SearchNotes};
use chitin_memory::cite::Citations;
use chitin_memory::compat;
use chitin_memory::keeper::Effort;
use chitin_memory::read::{MemoryReadError, Window};
use chitin_memory::search::{ChunkSource, SearchRequest};
use chitin_protocol::origin::add_origins;
use chitin_protocol::settings::CitationSetting;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::memory_slot::MemoryTools;
use chitin_tools::untrusted::Untrusted;
use chitin_tools::{CallContext, Tool, ToolConcurrency, ToolOutcome, TypedTool};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How many results a model may ask for.
const MOST_RESULTS: usize = 50;
/// How long a search may be busy with bringing notes into the index; then what is there is searched.
const PATIENCE: Duration = Duration::from_secs(20);

/// Both tools of an agent's memory.
pub struct MemoryToolset(pub Arc<AgentMemory>);

impl MemoryTools for MemoryToolset {
    fn search(&self) -> Arc<dyn Tool> {
        let [spec, _] = definitions(&self.0.setup.contract().runtime.memory);
        Arc::new(Asking {
            spec,
            kit: Arc::clone(&self.0),
            answer: search,
        })
    }

    fn get(&self) -> Arc<dyn Tool> {
        let [_, spec] = definitions(&self.0.setup.contract().runtime.memory);
        Arc::new(Asking {
            spec,
            kit: Arc::clone(&self.0),
            answer: get,
        })
    }
}

/// What a model asks of `memory_search`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Search {
    query: String,
    max_results: Option<usize>,
    min_score: Option<f64>,
    corpus: Option<String>,
}

/// What a model asks of `memory_get`.
#[derive(Deserialize)]
struct Get {
    path: String,
    from: Option<usize>,
    lines: Option<usize>,
}

/// A tool that asks the memory what its type says.
struct Asking<Asked> {
    spec: ToolSpec,
    kit: Arc<AgentMemory>,
    answer: fn(&AgentMemory, &Asked, &str, &CancellationToken) -> Answer,
}

/// What is told, and where that stands.
struct Answer {
    json: Value,
    paths: Vec<RecalledPath>,
}

impl Answer {
    const fn of(json: Value) -> Self {
        Self {
            json,
            paths: Vec::new(),
        }
    }

    /// Says which of it is not the owner's.
    fn outcome(self, workspace: &Path, untrusted: &Untrusted) -> ToolOutcome {
        let mut found = Vec::new();
        for path in &self.paths {
            match path {
                RecalledPath::Note(path) => {
                    let note = [workspace.join(path)];
                    add_origins(
                        &mut found,
                        &of_injected(&*untrusted.files, workspace, &note),
                    );
                }
                RecalledPath::Conversation { path, origins } => {
                    add_origins(&mut found, &untrusted.of_session(path, origins.clone()));
                }
            }
        }
        outcome(self.json).from(found)
    }
}

/// Returns what a model is told of both tools.
pub(crate) fn definitions(rules: &MemoryRules) -> [ToolSpec; 2] {
    let search = "Finds lines in memory: `MEMORY.md`, `memory/**.md` and past conversations. Use it before you answer \
                  about earlier work, decisions, dates, people, preferences or open tasks.";
    let get = "Shows lines of a memory file. Use it after `memory_search`, to read around what was found.";
    [
        (compat::SEARCH_TOOL, search, answer::search_schema(rules)),
        (compat::GET_TOOL, get, answer::get_schema(rules)),
    ]
    .map(|(name, description, parameters)| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    })
}

impl<Asked: DeserializeOwned + Send + 'static> TypedTool for Asking<Asked> {
    type Arguments = Asked;
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Shared;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, asked: Asked, context: &CallContext<'_>) -> Result<ToolOutcome, String> {
        let (kit, answer) = (Arc::clone(&self.kit), self.answer);
        let (session, cancel) = (context.session_key.to_owned(), context.cancel.clone());
        // SQLite waits for the disk, and vectors may come over the network.
        let untrusted = context.rights.untrusted.clone();
        let workspace = context.workspace.to_owned();
        let answering = move || {
            let answer = answer(&kit, &asked, &session, &cancel);
            answer.outcome(&workspace, &untrusted)
        };
        tokio::task::spawn_blocking(answering)
            .await
            .map_err(|error| error.to_string())
    }
}

fn search(kit: &AgentMemory, asked: &Search, session: &str, cancel: &CancellationToken) -> Answer {
    let mut within = kit.within(session);
    let only = match asked.corpus.as_deref() {
        Some("memory") => Some(ChunkSource::Memory),
        Some("sessions") => Some(ChunkSource::Sessions),
        Some(_) | None => None,
    };
    if let Some(only) = only {
        within.sources.retain(|source| *source == only);
    }
    if within.sources.is_empty() {
        return Answer::of(answer::unavailable_json(
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
    let wanted = asked.max_results.unwrap_or(kit.options.results);
    let ask = SearchRequest {
        query: &asked.query,
        max_results: Some(wanted.clamp(1, MOST_RESULTS)),
        min_score: Some(asked.min_score.unwrap_or(kit.options.min_score)),
        now_ms: jiff::Timestamp::now().as_millisecond(),
        project: None,
        within,
    };
    let effort = Effort {
        cancelled: &|| cancel.is_cancelled(),
        ..Effort::within(PATIENCE)
    };
    match made.memory.search(&ask, &effort) {
        Ok(mut found) => {
            found.notes.splice(..0, made.notes.iter().cloned());
            Answer {
                json: answer::search_json(&found, &told, &setting.rules),
                paths: kit.paths_of(&found.hits),
            }
        }
        Err(error) => Answer::of(answer::unavailable_json(&error.to_string())),
    }
}

fn get(kit: &AgentMemory, asked: &Get, session: &str, _: &CancellationToken) -> Answer {
    let path = asked.path.as_str();
    let window = Window {
        from: asked.from,
        lines: asked.lines,
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
    let paths = read
        .iter()
        .map(|window| RecalledPath::Note(window.path.clone()));
    Answer {
        paths: paths.collect(),
        json: answer::get_json(path, read.as_ref(), rules),
    }
}

fn outcome(json: Value) -> ToolOutcome {
    ToolOutcome {
        is_error: json.get("error").is_some(),
        ..ToolOutcome::json(json)
    }
}

const fn citations(setting: CitationSetting) -> Citations {
    match setting {
        CitationSetting::On => Citations::On,
        CitationSetting::Off => Citations::Off,
        CitationSetting::Auto => Citations::Auto,
    }
}
