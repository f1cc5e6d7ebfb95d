//! A stage for tests: one workspace, real sessions on the disk, a scripted model, and a surface that remembers.
#![allow(dead_code, reason = "each topic uses what it needs")]

use chitin_agent::TurnLimits;
use chitin_agent::clock::Clock;
use chitin_agent::engine::EngineRegistry;
use chitin_agent::history::Compacting;
use chitin_agent::journal::{self, Journal, JournalRedactor, LookupDirectories, Switches};
use chitin_agent::source::{ContextRequest, ContextSource, PreparedContext, SourceError};
use chitin_agent::turn::{Agent, HistoryOptions, ModelCandidate, Parts, TurnEnvironment};
use chitin_context::budget::BudgetLimits;
use chitin_context::sections::{PromptFacts, PromptMode, ToolFact};
use chitin_context::{TellCuts, TurnInputs, assemble};
use chitin_contract::{CANONICAL, Contract};
use chitin_gateway::events::EventKind;
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::surface::{OutgoingFile, PastMessage, SurfaceAction, SurfaceOutcome, Threads};
use chitin_gateway::{
    AccessControl, Address, AgentAsk, AgentHost, AgentSummary, Gateway, GatewayParts, HostError,
    IncomingMessage, ListenerEvent, OutagePolicy, OutgoingMessage, Sent, Subscription, Surface,
    SurfaceCapabilities, SurfaceError, Surfaces, Topic,
};
use chitin_model::{
    EventStream, Model, ModelError, Prepared, Retention, RetryPolicy, ScriptedModel, StreamEvent,
};
use chitin_protocol::message::CostShares;
use chitin_protocol::script::ScriptReply;
use chitin_protocol::session_key::ChatType;
use chitin_protocol::settings::SubagentSettings;
use chitin_store::{FileStore, JobLog, RandomIds, SessionStore};
use chitin_test::TestEnv;
use chitin_text::TextFormat;
use chitin_tools::policy::{PolicyConfig, PolicyInput, SenderKind as PolicySender};
use chitin_tools::redact::Redactor as Secrets;
use chitin_tools::{Approval, Approver, Toolbox};
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::load::{LoadOptions, load};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A gateway on a stage.
pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    pub(crate) gateway: Gateway,
    pub(crate) surface: Arc<Chat>,
    pub(crate) host: Arc<StageHost>,
    pub(crate) clock: Arc<StageClock>,
    /// What people were told.
    pub(crate) notes: Arc<Mutex<Vec<String>>>,
}

/// What a stage is set up with.
pub(crate) struct Setting {
    pub(crate) contract: &'static Contract,
    pub(crate) config: Value,
    pub(crate) replies: Vec<Value>,
    pub(crate) env: TestEnv,
    /// Surfaces besides the chat.
    pub(crate) surfaces: Surfaces,
    /// The surface, when an earlier stage had it too.
    pub(crate) surface: Option<Arc<Chat>>,
    /// How the model's words come; none is all at once.
    pub(crate) pace: Option<Pace>,
    pub(crate) outage: OutagePolicy,
}

/// How a model's words come.
#[derive(Clone)]
pub(crate) enum Pace {
    /// So long apart.
    Every(Duration),
    /// As many as there are permits.
    Permits(Arc<tokio::sync::Semaphore>),
    /// As many as there are permits, and the first one is a panic.
    PanicOnce(
        Arc<std::sync::atomic::AtomicBool>,
        Arc<tokio::sync::Semaphore>,
    ),
}

/// A model whose words do not come all at once.
struct Paced {
    model: Arc<ScriptedModel>,
    pace: Pace,
}

impl Model for Paced {
    fn provider(&self) -> &str {
        self.model.provider()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn api(&self) -> chitin_model::Api {
        self.model.api()
    }

    fn prepare(&self, request: &chitin_model::ModelRequest<'_>) -> Result<Prepared, ModelError> {
        self.model.prepare(request)
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        async move {
            let stream = self.model.send(prepared, cancel).await?;
            let pace = self.pace.clone();
            let paced = stream.then(move |event| {
                let pace = pace.clone();
                async move {
                    if let Ok(StreamEvent::TextDelta { .. }) = &event {
                        match pace {
                            Pace::Every(pause) => tokio::time::sleep(pause).await,
                            Pace::Permits(permits) => permits.acquire().await.unwrap().forget(),
                            Pace::PanicOnce(done, permits) => {
                                permits.acquire().await.unwrap().forget();
                                assert!(
                                    done.swap(true, Ordering::Relaxed),
                                    "the model's client broke"
                                );
                            }
                        }
                    }
                    event
                }
            });
            Ok(paced.boxed() as EventStream)
        }
        .boxed()
    }
}

impl Default for Setting {
    fn default() -> Self {
        let env = TestEnv::new();
        env.file("workspace/AGENTS.md", "# Rules\n\nKeep the yard tidy.\n");
        env.file("workspace/SOUL.md", "Calm and brief.\n");
        Self {
            contract: &CANONICAL,
            config: json!({}),
            replies: Vec::new(),
            env,
            surfaces: Surfaces::default(),
            surface: None,
            pace: None,
            outage: OutagePolicy::default(),
        }
    }
}

impl Setting {
    pub(crate) fn replies(replies: &[Value]) -> Self {
        Self {
            replies: replies.to_vec(),
            ..Self::default()
        }
    }

    pub(crate) fn config(mut self, config: Value) -> Self {
        self.config = config;
        self
    }

    /// Lets the model's words come one after the other.
    pub(crate) fn pace(mut self, pace: Pace) -> Self {
        self.pace = Some(pace);
        self
    }

    /// Puts another surface beside the chat.
    pub(crate) fn surface(mut self, surface: Arc<dyn Surface>) -> Self {
        self.surfaces = self.surfaces.with(surface);
        self
    }

    /// Sets the stage and takes up what an earlier gateway left open. Must be called inside a runtime.
    pub(crate) fn stage(self) -> Stage {
        let replies: Vec<ScriptReply> = self
            .replies
            .iter()
            .map(|reply| serde_json::from_value(reply.clone()).unwrap())
            .collect();
        let clock = Arc::new(StageClock::default());
        let host = Arc::new(StageHost {
            contract: self.contract,
            config: self.config.clone(),
            workspace: self.env.workspace(),
            state: self.env.home().join(".chitin"),
            model: Arc::new(ScriptedModel::new("scripted", replies)),
            pace: self.pace,
            clock: Arc::clone(&clock),
            asked: Mutex::default(),
            broken: Mutex::default(),
        });
        let surface = self.surface.unwrap_or_else(|| Arc::new(Chat::new("chat")));
        let (ledger, open) = JobLog::open(&host.state.join("gateway")).unwrap();
        let config = Arc::new(self.config);
        let trust =
            AccessControl::beneath(&host.state, Arc::clone(&config), Arc::clone(&clock) as _);
        let notes: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&notes);
        let gateway = Gateway::new(GatewayParts {
            contract: self.contract,
            config,
            trust: Arc::new(trust),
            host: Arc::clone(&host) as Arc<dyn AgentHost>,
            surfaces: self.surfaces.with(Arc::clone(&surface) as Arc<dyn Surface>),
            ledger,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            zone: jiff::tz::TimeZone::UTC,
            most_open: 10_000,
            space: Arc::new(chitin_gateway::SpaceWatch::off()),
            outage: self.outage,
            note: Arc::new(move |note| told.lock().unwrap().push(note.to_owned())),
        });
        gateway.offer_tools(chitin_gateway::tools::offers(&gateway));
        gateway.recover(open);
        Stage {
            env: self.env,
            gateway,
            surface,
            host,
            clock,
            notes,
        }
    }
}

impl Stage {
    /// Says something in a channel, and returns the job.
    pub(crate) async fn say(&self, channel: &str, text: &str) -> String {
        let accepted = self.gateway.accept(message(channel, text)).await.unwrap();
        accepted.job_id
    }

    /// Says something in a channel and waits until its turn is over.
    pub(crate) async fn say_and_wait(&self, channel: &str, text: &str) -> String {
        let id = self.gateway.new_job_id();
        let mut events = self.gateway.subscribe(Topic::Job(id.clone()));
        let mut incoming = message(channel, text);
        incoming.job_id = Some(id.clone());
        self.gateway.accept(incoming).await.unwrap();
        finished(&mut events).await;
        id
    }

    /// Waits until nothing is to be done.
    pub(crate) async fn rest(&self) {
        for _ in 0..2_000 {
            if self.gateway.busy().is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        unreachable!("still busy: {:?}", self.gateway.busy());
    }
}

/// Waits until a job is over.
pub(crate) async fn finished(events: &mut Subscription) {
    let waiting = async {
        while let Some(heard) = events.next().await {
            if let ListenerEvent::Happening(happening) = heard
                && matches!(
                    happening.what,
                    EventKind::Finished { .. }
                        | EventKind::Dropped { .. }
                        | EventKind::Merged { .. }
                )
            {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting)
        .await
        .unwrap();
}

/// Makes a message in a channel of the chat.
pub(crate) fn message(channel: &str, text: &str) -> IncomingMessage {
    IncomingMessage {
        inbound: Inbound {
            channel: "chat".to_owned(),
            peer: Some(Peer {
                kind: ChatType::Channel,
                id: channel.to_owned(),
            }),
            sender_id: Some("ada".to_owned()),
            ..Inbound::default()
        },
        text: text.to_owned(),
        is_owner: true,
        ..IncomingMessage::default()
    }
}

/// A clock that moves on by itself, and can be pushed.
#[derive(Default)]
pub(crate) struct StageClock {
    pushed: AtomicI64,
}

/// How many names were made up. A stage that is set again after a crash makes up others.
static NAMES: AtomicU64 = AtomicU64::new(0);

impl StageClock {
    pub(crate) fn push(&self, milliseconds: i64) {
        self.pushed.fetch_add(milliseconds, Ordering::Relaxed);
    }
}

impl Clock for StageClock {
    fn now_ms(&self) -> i64 {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        i64::try_from(since.as_millis()).unwrap() + self.pushed.load(Ordering::Relaxed)
    }

    fn unique(&self) -> String {
        let name = NAMES.fetch_add(1, Ordering::Relaxed);
        format!("{:08x}-{name}", std::process::id())
    }
}

/// Makes agents of one workspace, whatever their ids are.
pub(crate) struct StageHost {
    pub(crate) contract: &'static Contract,
    pub(crate) config: Value,
    pub(crate) workspace: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) pace: Option<Pace>,
    pub(crate) clock: Arc<StageClock>,
    pub(crate) asked: Mutex<Vec<Asked>>,
    /// Sessions for which no agent can be made, as when the configuration is broken.
    pub(crate) broken: Mutex<Vec<String>>,
}

/// What an agent was wanted for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) agent_id: String,
    pub(crate) session_key: String,
    pub(crate) depth: Option<u32>,
    pub(crate) thinking: Option<String>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) working_directory: Option<PathBuf>,
    /// Whether the owner speaks; none when nobody does.
    pub(crate) owner: Option<bool>,
    /// The tools that the session has.
    pub(crate) tools: Vec<String>,
}

impl StageHost {
    /// Returns what agents were wanted for.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn file_store(&self, agent: &str) -> FileStore {
        let directory = FileStore::directory_of(&self.state, agent);
        FileStore::new(directory, &self.contract.runtime.transcript, RandomIds)
    }
}

impl AgentHost for StageHost {
    fn agents(&self) -> Vec<AgentSummary> {
        let ids: Vec<String> = match self.config["agents"]["list"].as_array() {
            Some(list) => list
                .iter()
                .filter_map(|agent| agent["id"].as_str().map(str::to_owned))
                .collect(),
            None => vec!["main".to_owned()],
        };
        let summary = |id: String| AgentSummary {
            is_default: id == "main",
            name: id.clone(),
            workspace: self.workspace.display().to_string(),
            id,
        };
        ids.into_iter().map(summary).collect()
    }

    fn store(&self, agent_id: &str) -> Result<Arc<dyn SessionStore>, HostError> {
        Ok(Arc::new(self.file_store(agent_id)))
    }

    fn agent<'a>(&'a self, ask: AgentAsk<'a>) -> BoxFuture<'a, Result<Arc<Agent>, HostError>> {
        async move {
            if self
                .broken
                .lock()
                .unwrap()
                .contains(&ask.session_key.to_owned())
            {
                return Err(HostError::new("The workspace is gone."));
            }
            Ok(Arc::new(self.make(&ask)))
        }
        .boxed()
    }

    fn subagents(&self, agent_id: &str) -> SubagentSettings {
        let said = &self.config["chitin"]["subagents"];
        serde_json::from_value(said[agent_id].clone()).unwrap_or_default()
    }

    fn context_report(&self, agent_id: &str, session_key: &str) -> Result<Value, HostError> {
        Ok(json!({"agent": agent_id, "session": session_key}))
    }
}

impl StageHost {
    fn make(&self, ask: &AgentAsk<'_>) -> Agent {
        let contract = self.contract;
        let rules = &contract.runtime;
        let config = PolicyConfig::from_value(&self.config);
        let mut input = PolicyInput::new(&config, contract.session_keys, ask.session_key);
        input.agent_id = Some(ask.agent_id);
        input.depth = ask.depth;
        if let Some(sender) = ask.sender {
            if !sender.is_owner {
                input.sender = PolicySender::Other;
            }
            let limits = sender.tools.as_deref().cloned().unwrap_or_default();
            (input.group, input.by_sender) = (limits.room, limits.sender);
        }
        let secrets = Arc::new(Secrets::new(Vec::new()));
        let tools = Toolbox::new(&rules.tools, &input, ask.offers.to_vec(), secrets);
        self.asked.lock().unwrap().push(Asked {
            agent_id: ask.agent_id.to_owned(),
            session_key: ask.session_key.to_owned(),
            depth: ask.depth,
            thinking: ask.thinking.map(str::to_owned),
            workspace: ask.workspace.clone(),
            working_directory: ask.working_directory.clone(),
            owner: ask.sender.map(|sender| sender.is_owner),
            tools: tools.specs().map(|tool| tool.name.clone()).collect(),
        });
        let engine = EngineRegistry::new().resolve("legacy").unwrap().engine;
        let clock = Arc::clone(&self.clock);
        let candidate = ModelCandidate {
            model: match &self.pace {
                None => Arc::clone(&self.model) as _,
                Some(pace) => Arc::new(Paced {
                    model: Arc::clone(&self.model),
                    pace: pace.clone(),
                }),
            },
            context_window: Some(200_000),
            max_tokens: 4_096,
            price: Arc::new(|_| Some(CostShares::default())),
            thinking: None,
            retention: Retention::default(),
            extra: serde_json::Map::new(),
        };
        Agent::new(Parts {
            contract,
            workspace: self.workspace.clone(),
            state_roots: Vec::new(),
            agent_id: ask.agent_id.to_owned(),
            store: self.store(ask.agent_id).unwrap(),
            source: Arc::new(StageSource {
                contract,
                workspace: self.workspace.clone(),
            }),
            models: vec![candidate],
            tools: Arc::new(tools),
            guests: chitin_tools::GuestRights::default(),
            untrusted: Arc::default(),
            files: Arc::new(chitin_tools::untrusted::NoFileOrigins),
            commands: Arc::default(),
            approvals: chitin_tools::approval::RememberedApprovals::default(),
            guard: Arc::new(chitin_agent::guard::NoRules),
            checkpoints: Arc::new(chitin_agent::checkpoint::NoCheckpoints),
            approver: Arc::new(Nobody),
            clock: Arc::clone(&clock) as _,
            limits: TurnLimits::new(&chitin_protocol::settings::LimitSettings::default()),
            engine,
            history: HistoryOptions {
                compacting: Compacting::default(),
                turns: None,
                tool_result_chars: None,
                pruning: None,
                preserved_turns: None,
                instructions: None,
                stamp: None,
                flush: None,
            },
            reset: Arc::new(|_| false),
            retry: RetryPolicy::default(),
            lock_wait_ms: 5_000,
            journal: {
                let (logs, trace) = (self.state.join("logs"), rules.trace);
                Arc::new(move || quiet_journal(&logs, trace))
            },
            surroundings: TurnEnvironment::default(),
        })
    }
}

/// A journal that keeps nothing.
fn quiet_journal(logs: &std::path::Path, rules: chitin_contract::TraceRules) -> Journal {
    let places = LookupDirectories {
        logs: logs.to_path_buf(),
        home: None,
        working_directory: PathBuf::from("/"),
    };
    let off = |name: &str| (name == "CHITIN_TRAJECTORY").then(|| "0".to_owned());
    let settings = chitin_protocol::settings::TraceSettings::default();
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

pub(crate) struct Nobody;

impl Approver for Nobody {
    fn ask<'a>(&'a self, _: chitin_tools::ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        async { Approval::Nobody(None) }.boxed()
    }
}

/// Reads the workspace anew for every turn.
struct StageSource {
    contract: &'static Contract,
    workspace: PathBuf,
}

impl ContextSource for StageSource {
    fn look(&self, ask: &ContextRequest<'_>) -> Result<PreparedContext, SourceError> {
        let workspace = load(&self.workspace, self.contract, &LoadOptions::default()).unwrap();
        let subagent =
            chitin_protocol::session_key::is_subagent(ask.session_key, self.contract.session_keys);
        let prompt = Arc::new(PromptFacts {
            mode: if subagent {
                PromptMode::Minimal
            } else {
                PromptMode::Full
            },
            tools: ask
                .tools
                .iter()
                .map(|tool| ToolFact {
                    name: tool.name.as_str().into(),
                    summary: "".into(),
                })
                .collect(),
            channel: ask.occasion.channel.as_deref().map(Into::into),
            extra: ask.occasion.extra.clone(),
            ..PromptFacts::default()
        });
        let facts = TurnFacts {
            session_key: Some(ask.session_key),
            run_kind: ask.occasion.run,
            context_mode: ask.occasion.context,
            marked: ask.marked,
            ..TurnFacts::default()
        };
        let context = assemble(&TurnInputs {
            workspace: &workspace,
            extras: &[],
            facts: &facts,
            limits: &BudgetLimits::of(self.contract),
            projects: &[],
            prompt: &prompt,
            memory: &[],
            cuts: TellCuts::No,
        });
        Ok(PreparedContext {
            context: Arc::new(context),
            notes: Vec::new(),
            skill_roots: Vec::new(),
            mark_when_done: false,
        })
    }

    fn release(&self, _: &str) {}
}

/// A surface that remembers what it was given, and can be told to fail.
pub(crate) struct Chat {
    id: String,
    capabilities: SurfaceCapabilities,
    sent: Mutex<Vec<(String, OutgoingMessage)>>,
    acted: Mutex<Vec<(String, SurfaceAction)>>,
    history: Mutex<Vec<PastMessage>>,
    failures: Mutex<Vec<SurfaceError>>,
    act_failures: Mutex<Vec<SurfaceError>>,
    /// The file that hangs on every message.
    hanging: Mutex<Option<OutgoingFile>>,
    /// What is given back for what only this network knows.
    gives: Mutex<Option<Value>>,
    /// What may be done; none is anything at once.
    allowed: Option<Arc<tokio::sync::Semaphore>>,
    /// Says that something was done.
    pub(crate) done: tokio::sync::Notify,
}

impl Chat {
    pub(crate) fn new(id: &str) -> Self {
        let actions = [
            "send",
            "edit",
            "react",
            "read",
            "thread-create",
            "thread-reply",
        ];
        Self {
            id: id.to_owned(),
            capabilities: SurfaceCapabilities {
                format: TextFormat::Markdown,
                max_chars: 2_000,
                max_lines: None,
                actions: actions.map(str::to_owned).to_vec(),
                typing: false,
                threads: Threads::Inside,
                edit_every_ms: None,
                files: None,
            },
            sent: Mutex::default(),
            acted: Mutex::default(),
            history: Mutex::default(),
            failures: Mutex::default(),
            act_failures: Mutex::default(),
            hanging: Mutex::default(),
            gives: Mutex::default(),
            allowed: None,
            done: tokio::sync::Notify::new(),
        }
    }

    /// Makes one whose messages can be changed.
    pub(crate) fn changing(id: &str, every_ms: u64) -> Self {
        let mut chat = Self::new(id);
        chat.capabilities.edit_every_ms = Some(every_ms);
        chat.capabilities.actions.push("delete".to_owned());
        chat
    }

    /// Hangs a file on every message.
    pub(crate) fn hang(&self, file: OutgoingFile) {
        *self.hanging.lock().unwrap() = Some(file);
    }

    /// Sets what is given back for what only this network knows.
    pub(crate) fn give(&self, value: Value) {
        *self.gives.lock().unwrap() = Some(value);
    }

    /// Changes what it can do.
    pub(crate) fn able(mut self, change: impl FnOnce(&mut SurfaceCapabilities)) -> Self {
        change(&mut self.capabilities);
        self
    }

    /// Lets it do only as much as there are permits.
    pub(crate) fn slow(mut self, permits: Arc<tokio::sync::Semaphore>) -> Self {
        self.allowed = Some(permits);
        self
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            loop {
                let done = self.done.notified();
                if is_so(self) {
                    return;
                }
                done.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting)
            .await
            .unwrap();
    }

    /// Returns what people see: every message that is there, as it is now.
    pub(crate) fn seen(&self) -> Vec<String> {
        let mut seen: Vec<Option<String>> = self
            .outgoing()
            .into_iter()
            .map(|message| Some(message.text))
            .collect();
        let at = |id: &str| id[1..].parse::<usize>().unwrap() - 1;
        for (_, action) in self.acted() {
            match action {
                SurfaceAction::Edit { message_id, text } => seen[at(&message_id)] = Some(text),
                SurfaceAction::Other { name, fields } if name == "delete" => {
                    seen[at(fields["messageId"].as_str().unwrap())] = None;
                }
                _ => {}
            }
        }
        seen.into_iter().flatten().collect()
    }

    async fn wait(&self) {
        if let Some(allowed) = &self.allowed {
            allowed.acquire().await.unwrap().forget();
        }
    }

    /// Returns what was sent, as `place: text`.
    pub(crate) fn sent(&self) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        sent.iter()
            .map(|(place, message)| format!("{place}: {}", message.text))
            .collect()
    }

    pub(crate) fn outgoing(&self) -> Vec<OutgoingMessage> {
        let sent = self.sent.lock().unwrap();
        sent.iter().map(|(_, message)| message.clone()).collect()
    }

    pub(crate) fn acted(&self) -> Vec<(String, SurfaceAction)> {
        self.acted.lock().unwrap().clone()
    }

    /// Sets what was said before.
    pub(crate) fn remember(&self, past: Vec<PastMessage>) {
        *self.history.lock().unwrap() = past;
    }

    pub(crate) fn with_threads(mut self, threads: Threads) -> Self {
        self.capabilities.threads = threads;
        self
    }

    /// Fails the next deeds that are no messages, in this order.
    pub(crate) fn fail_acts(&self, failures: Vec<SurfaceError>) {
        *self.act_failures.lock().unwrap() = failures;
    }

    /// Tells whether a deed is still to fail.
    pub(crate) fn fails_acts(&self) -> bool {
        !self.act_failures.lock().unwrap().is_empty()
    }

    /// Fails the next sends, in this order.
    pub(crate) fn fail(&self, failures: Vec<SurfaceError>) {
        *self.failures.lock().unwrap() = failures;
    }
}

impl Surface for Chat {
    fn id(&self) -> &str {
        &self.id
    }

    fn capabilities(&self) -> &SurfaceCapabilities {
        &self.capabilities
    }

    fn send<'a>(
        &'a self,
        to: &'a Address,
        message: &'a OutgoingMessage,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>> {
        async move {
            self.wait().await;
            let mut failures = self.failures.lock().unwrap();
            if !failures.is_empty() {
                return Err(failures.remove(0));
            }
            let mut sent = self.sent.lock().unwrap();
            sent.push((to.to_string(), message.clone()));
            self.done.notify_waiters();
            Ok(Sent {
                message_id: format!("m{}", sent.len()),
            })
        }
        .boxed()
    }

    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a SurfaceAction,
    ) -> BoxFuture<'a, Result<SurfaceOutcome, SurfaceError>> {
        async move {
            self.wait().await;
            let mut failures = self.act_failures.lock().unwrap();
            if !failures.is_empty() {
                self.done.notify_waiters();
                return Err(failures.remove(0));
            }
            let mut acted = self.acted.lock().unwrap();
            acted.push((to.to_string(), action.clone()));
            self.done.notify_waiters();
            Ok(match action {
                SurfaceAction::Read { limit, .. } => {
                    let history = self.history.lock().unwrap();
                    let from = history.len().saturating_sub(*limit as usize);
                    SurfaceOutcome::Said {
                        messages: history[from..].to_vec(),
                    }
                }
                SurfaceAction::ThreadCreate { .. } => SurfaceOutcome::Thread {
                    address: Address {
                        thread_id: Some(format!("t{}", acted.len())),
                        ..to.clone()
                    },
                },
                SurfaceAction::Download { .. } => match self.hanging.lock().unwrap().clone() {
                    Some(file) => SurfaceOutcome::File { file },
                    None => return Err(SurfaceError::never("There is no file.")),
                },
                SurfaceAction::Other { .. } => match self.gives.lock().unwrap().clone() {
                    Some(value) => SurfaceOutcome::Other { value },
                    None => SurfaceOutcome::Done,
                },
                SurfaceAction::Edit { .. }
                | SurfaceAction::React { .. }
                | SurfaceAction::Typing => SurfaceOutcome::Done,
            })
        }
        .boxed()
    }
}
