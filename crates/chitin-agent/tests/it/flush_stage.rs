//! A stage for turns whose window fills up: a workspace, sessions on the disk, a model that remembers what it was asked.

use chitin_agent::TurnLimits;
use chitin_agent::clock::Clock;
use chitin_agent::engine::EngineRegistry;
use chitin_agent::history::{Compacting, FlushOptions};
use chitin_agent::journal::{self, Journal, JournalRedactor, LookupDirectories, Switches};
use chitin_agent::source::{ContextRequest, ContextSource, PreparedContext, SourceError};
use chitin_agent::turn::{
    Agent, HistoryOptions, ModelCandidate, Parts, TurnEnvironment, TurnError, TurnInput, TurnReport,
};
use chitin_context::budget::BudgetLimits;
use chitin_context::sections::PromptFacts;
use chitin_context::{TellCuts, TurnInputs, assemble};
use chitin_contract::{Contract, OPENCLAW_2026_4};
use chitin_model::{
    Api, EventStream, Model, ModelError, ModelRequest, Prepared, Retention, RetryPolicy,
    ScriptedModel, StreamEvent,
};
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::CostShares;
use chitin_protocol::script::ScriptReply;
use chitin_protocol::settings::{LimitSettings, TraceSettings};
use chitin_store::{FileStore, RandomIds, SessionEntry, SessionStore};
use chitin_test::TestEnv;
use chitin_tools::files::{FileOptions, ReadTool, WriteTool};
use chitin_tools::policy::{PolicyConfig, PolicyInput};
use chitin_tools::{Approval, Approver, ToolOffer, Toolbox};
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::load::{LoadOptions, load};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The session that is used when nothing else is said.
pub(crate) const SESSION: &str = "agent:main:main";
/// The note of the stage's day.
pub(crate) const NOTE: &str = "workspace/memory/2026-04-30.md";
/// Words of the request to write things down.
pub(crate) const ASKED: &str = "between you and your notes";

/// What a stage is set up with.
pub(crate) struct Setting {
    pub(crate) contract: &'static Contract,
    pub(crate) config: Value,
    pub(crate) limits: LimitSettings,
    pub(crate) flush: Option<FlushOptions>,
    /// What AGENTS.md says.
    pub(crate) rules: &'static str,
    /// The value of `contextInjection`.
    pub(crate) injection: Option<&'static str>,
    /// How many of the user's turns are sent again.
    pub(crate) turns: Option<usize>,
    /// Whether the model goes on after it was stopped: a word each time.
    pub(crate) heedless: Option<Duration>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            contract: &OPENCLAW_2026_4,
            config: json!({}),
            limits: LimitSettings::default(),
            flush: Some(FlushOptions::default()),
            rules: "# Harbor\n",
            injection: None,
            turns: None,
            heedless: None,
        }
    }
}

/// An agent on a stage.
pub(crate) struct Stage {
    pub(crate) agent: Agent,
    pub(crate) model: Arc<Watched>,
    pub(crate) store: Arc<FileStore>,
}

/// What a turn came to, and what was told of it.
pub(crate) struct Played {
    pub(crate) report: Result<TurnReport, TurnError>,
    pub(crate) events: Vec<TurnEvent>,
}

impl Played {
    pub(crate) fn notes(&self) -> Vec<&str> {
        let notes = self.events.iter().filter_map(|event| match event {
            TurnEvent::Note { text } => Some(text.as_str()),
            _ => None,
        });
        notes.collect()
    }

    /// Tells how often the conversation was put into a summary.
    pub(crate) fn summaries(&self) -> usize {
        let is_summary = |event: &&TurnEvent| matches!(event, TurnEvent::Compacted { .. });
        self.events.iter().filter(is_summary).count()
    }
}

impl Stage {
    /// Sets a stage in a workspace that may have been used before.
    pub(crate) fn set(env: &TestEnv, setting: &Setting, replies: &[Value]) -> Self {
        env.file("workspace/AGENTS.md", setting.rules);
        let contract = setting.contract;
        let rules = &contract.runtime;
        let replies: Vec<ScriptReply> = replies
            .iter()
            .map(|reply| serde_json::from_value(reply.clone()).unwrap())
            .collect();
        let model = Arc::new(Watched {
            inner: ScriptedModel::new("script", replies),
            asked: Mutex::default(),
            heedless: setting.heedless,
        });
        let directory = FileStore::directory_of(&env.path().join("state"), "main");
        let store = Arc::new(FileStore::new(directory, &rules.transcript, RandomIds));
        let files = Arc::new(FileOptions::default());
        let config = PolicyConfig::from_value(&setting.config);
        let input = PolicyInput::new(&config, contract.session_keys, SESSION);
        let offers = vec![
            ToolOffer::Own(Arc::new(ReadTool::new(Arc::clone(&files)))),
            ToolOffer::Own(Arc::new(WriteTool::new(files))),
        ];
        let secrets = Arc::new(chitin_tools::redact::Redactor::default());
        let tools = Toolbox::new(&rules.tools, &input, offers, secrets);
        let workspace = env.workspace();
        let (logs, trace) = (env.path().join("logs"), rules.trace);
        let agent = Agent::new(Parts {
            contract,
            workspace: workspace.clone(),
            state_roots: Vec::new(),
            agent_id: "main".to_owned(),
            store: Arc::clone(&store) as _,
            source: Arc::new(Source {
                contract,
                workspace,
                injection: setting.injection,
            }),
            models: vec![ModelCandidate {
                model: Arc::clone(&model) as _,
                context_window: Some(40_000),
                max_tokens: 1_000,
                price: Arc::new(|_| Some(CostShares::default())),
                thinking: None,
                retention: Retention::default(),
                extra: serde_json::Map::new(),
            }],
            tools: Arc::new(tools),
            guests: chitin_tools::GuestRights::default(),
            untrusted: Arc::default(),
            files: Arc::new(chitin_tools::untrusted::NoFileOrigins),
            commands: Arc::default(),
            approvals: chitin_tools::approval::RememberedApprovals::default(),
            guard: Arc::new(chitin_agent::guard::NoRules),
            checkpoints: Arc::new(chitin_agent::checkpoint::NoCheckpoints),
            approver: Arc::new(Nobody),
            clock: Arc::new(Noon::default()),
            limits: TurnLimits::new(&setting.limits),
            engine: EngineRegistry::new().resolve("legacy").unwrap().engine,
            history: HistoryOptions {
                compacting: Compacting {
                    keep_recent_tokens: 20,
                    ..Compacting::default()
                },
                turns: setting.turns,
                tool_result_chars: None,
                pruning: None,
                preserved_turns: None,
                instructions: None,
                stamp: None,
                flush: setting.flush.clone(),
            },
            reset: Arc::new(|_| false),
            retry: RetryPolicy::never(),
            lock_wait_ms: 5_000,
            journal: Arc::new(move || quiet_journal(&logs, trace)),
            surroundings: TurnEnvironment::default(),
        });
        Self {
            agent,
            model,
            store,
        }
    }

    /// Says something and waits for the end of the turn.
    pub(crate) async fn say(&self, words: &str) -> Played {
        let input = TurnInput {
            session_key: SESSION.to_owned(),
            words: words.to_owned(),
            ..TurnInput::default()
        };
        self.play(input, CancellationToken::new()).await
    }

    pub(crate) async fn play(&self, input: TurnInput, cancel: CancellationToken) -> Played {
        let (sender, mut receiver) = mpsc::channel(1024);
        let report = self.agent.turn(input, sender, cancel).await;
        let mut events = Vec::new();
        while let Ok(event) = receiver.try_recv() {
            events.push(event);
        }
        Played { report, events }
    }

    pub(crate) fn entry(&self) -> SessionEntry {
        self.store.find(SESSION).unwrap().unwrap()
    }

    /// Returns the transcript's text.
    pub(crate) fn transcript(&self) -> String {
        let branch = self.store.read(SESSION).unwrap();
        serde_json::to_string(&branch.entries).unwrap()
    }
}

/// A scripted model that remembers what it was asked.
pub(crate) struct Watched {
    inner: ScriptedModel,
    asked: Mutex<Vec<String>>,
    heedless: Option<Duration>,
}

impl Watched {
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the requests to write things down.
    pub(crate) fn flushes(&self) -> Vec<String> {
        let asked = self.asked().into_iter();
        asked.filter(|body| body.contains(ASKED)).collect()
    }
}

impl Model for Watched {
    fn provider(&self) -> &'static str {
        "scripted"
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn api(&self) -> Api {
        self.inner.api()
    }

    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, ModelError> {
        self.inner.prepare(request)
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        let body = String::from_utf8_lossy(&prepared.body).into_owned();
        self.asked.lock().unwrap().push(body);
        let Some(pause) = self.heedless else {
            return self.inner.send(prepared, cancel);
        };
        let endless = futures_util::stream::unfold((), move |()| async move {
            tokio::time::sleep(pause).await;
            let delta = StreamEvent::TextDelta {
                index: 0,
                delta: "on ".to_owned(),
            };
            Some((Ok(delta), ()))
        });
        async { Ok(endless.boxed() as EventStream) }.boxed()
    }
}

/// It is always half past eleven at night on 30 April 2026, in UTC.
#[derive(Default)]
struct Noon(AtomicU64);

impl Clock for Noon {
    fn now_ms(&self) -> i64 {
        1_777_591_800_000
    }

    fn unique(&self) -> String {
        format!("run-{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

struct Nobody;

impl Approver for Nobody {
    fn ask<'a>(&'a self, _: chitin_tools::ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        async { Approval::Nobody(None) }.boxed()
    }
}

struct Source {
    contract: &'static Contract,
    workspace: PathBuf,
    injection: Option<&'static str>,
}

impl ContextSource for Source {
    fn look(&self, ask: &ContextRequest<'_>) -> Result<PreparedContext, SourceError> {
        let workspace = load(&self.workspace, self.contract, &LoadOptions::default()).unwrap();
        let facts = TurnFacts {
            session_key: Some(ask.session_key),
            run_kind: ask.occasion.run,
            context_injection: self.injection,
            marked: ask.marked,
            ..TurnFacts::default()
        };
        let context = assemble(&TurnInputs {
            workspace: &workspace,
            extras: &[],
            facts: &facts,
            limits: &BudgetLimits::of(self.contract),
            projects: &[],
            prompt: &Arc::new(PromptFacts::default()),
            memory: &[],
            cuts: TellCuts::No,
        });
        Ok(PreparedContext {
            context: Arc::new(context),
            notes: Vec::new(),
            skill_roots: Vec::new(),
            mark_when_done: self.injection.is_some(),
        })
    }

    fn release(&self, _: &str) {}
}

/// A journal that keeps nothing.
fn quiet_journal(logs: &std::path::Path, rules: chitin_contract::TraceRules) -> Journal {
    let places = LookupDirectories {
        logs: logs.to_path_buf(),
        home: None,
        working_directory: PathBuf::from("/"),
    };
    let off = |name: &str| (name == "CHITIN_TRAJECTORY").then(|| "0".to_owned());
    let settings = TraceSettings::default();
    let switches = Switches::from_lookup(off, &settings, &Value::Null, &places, &rules);
    Journal::new(
        &switches,
        journal::JournalEnvironment {
            rules,
            redactor: JournalRedactor::new(|text: &str| -> Cow<'_, str> {
                Cow::Owned(text.to_owned())
            }),
            clock: Arc::new(|| 0),
            note: Arc::new(|_| {}),
            summary: Arc::new(|_| {}),
        },
    )
}
