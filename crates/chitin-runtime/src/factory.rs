//! The parts that an agent is made of on this machine: models, tools, store, journal. `chitin run` makes one agent of them,
//! `chitin serve` many.

use crate::approvals::ApprovalFiles;
use crate::checkpoints;
use crate::checkpoints::WorkspaceCheckpoints;
use crate::context::{EngineLook, FileSource, TurnContext, TurnRequest, WorkspaceSource};
use crate::directories;
use crate::error::{ErrorKind, RuntimeError};
use crate::file_origins::WorkspaceFileOrigins;
use crate::host::Host;
use crate::mcp_servers::AgentMcpServers;
use crate::memory::{AgentMemory, PastSessions};
use crate::models::{self, SelectedModels};
use crate::notes::Notes;
use crate::recordings::RecordingKeeper;
use crate::reset;
use crate::setup::{Setup, chitin_home, shown, state_roots};
use crate::tools::{self, Tools, User};
use chitin_agent::TurnLimits;
use chitin_agent::clock::{Clock, SystemClock};
use chitin_agent::engine::{ContextEngine, EngineRegistry, Resolved, slot};
use chitin_agent::guard::{AllGuards, PermissionGuard};
use chitin_agent::history::{Compacting, FlushOptions, MessageStamp, Pruning};
use chitin_agent::journal::{
    self, Journal, JournalRedactor, LookupDirectories, RecordedContents, Switches,
};
use chitin_agent::turn::{Agent, HistoryOptions, Parts, TurnEnvironment};
use chitin_config::ChitinSettings;
use chitin_contract::CompactionRules;
use chitin_guard::Root;
use chitin_model::RetryPolicy;
use chitin_plugin::PluginSet;
use chitin_protocol::tool::ToolSpec;
use chitin_store::{FileStore, RandomIds, SessionStore};
use chitin_tools::approval::RememberedApprovals;
use chitin_tools::process::BackgroundCommands;
use chitin_tools::untrusted::UntrustedRules;
use chitin_tools::{Approver, Tool};
use chitin_undo::{ContentId, History};
use chitin_workspace::extensions::channels::ChannelFilter;
use chitin_workspace::extensions::lookalike;
use chitin_workspace::load::read_policy;
use jiff::tz::TimeZone;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::{Arc, Weak};

/// How long to wait for a session that another process has open, in seconds, when nobody says.
const LOCK_WAIT: u32 = 30;
/// How often a model is asked again, when nobody says.
const ATTEMPTS: u32 = 3;

/// The provider that plays a tape.
const REPLAY: &str = "replay";

/// What is wanted of the models.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelSelection<'a> {
    /// The model, as `provider/name`.
    pub model: Option<&'a str>,
    /// How deeply to think.
    pub thinking: Option<&'a str>,
    /// A file that requests and answers are written to.
    pub record: Option<&'a Path>,
}

/// What all turns of an agent share.
#[derive(Clone)]
pub struct AgentFactory {
    /// The machine.
    pub host: Arc<Host>,
    /// The agent and its directory.
    pub setup: Arc<Setup>,
    /// Its sessions.
    pub store: Arc<FileStore>,
    /// Chitin's home.
    pub state: PathBuf,
    /// Its memory.
    pub memory: Arc<AgentMemory>,
    /// The user's plugins.
    pub plugins: Arc<PluginSet>,
    /// Its MCP servers.
    mcp: Arc<AgentMcpServers>,
    /// Where notes go.
    pub notes: Notes,
    /// The context engine that `chitin.json5` names.
    pub(crate) context_engine: Option<String>,
    /// Context engines that the caller adds.
    pub engines: Vec<Arc<dyn ContextEngine>>,
    /// Tools that the caller adds.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The rules of `PERMISSIONS.md`. One for all turns of the agent, so that limits count across sessions.
    pub guard: Arc<AllGuards>,
    /// What was allowed for a session or for good. One for all turns of the agent.
    approvals: RememberedApprovals,
    /// The commands in the background. One for all turns of the agent.
    commands: Arc<BackgroundCommands>,
    /// The channels that `CHANNELS.md` of each workspace names.
    pub channels: Arc<[ChannelFilter]>,
    /// What becomes of recordings. One for all agents of a process.
    pub(crate) recordings: Arc<RecordingKeeper>,
}

/// What an agent has in memory alone and does not forget while it is let go: how often rules were used, and what was allowed for a
/// session. Two stores of one agent would not know of each other's sessions, so one that somebody holds is used again.
pub(crate) struct AgentRemains {
    store: Weak<FileStore>,
    guard: Arc<AllGuards>,
    approvals: RememberedApprovals,
    commands: Arc<BackgroundCommands>,
}

/// What turns of an agent with the same models share.
pub struct AgentTemplate {
    /// The models.
    pub chosen: SelectedModels,
    /// The tools.
    pub tools: Tools,
    redactor: Arc<chitin_tools::redact::Redactor>,
    source: Arc<WorkspaceSource>,
}

impl AgentFactory {
    /// Forgets what was allowed for a session, which is deleted.
    pub(crate) fn forget_session(&self, session_key: &str) {
        self.approvals.forget_session(session_key);
    }

    /// Finds out where an agent's sessions are.
    pub fn new(host: &Arc<Host>, setup: Arc<Setup>, notes: &Notes) -> Result<Self, RuntimeError> {
        named_in_utf8(host, &setup)?;
        let state = chitin_home(host).ok_or_else(|| {
            RuntimeError::new(
                ErrorKind::User,
                "Could not determine where to store sessions.",
            )
            .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        let directory = FileStore::directory_of(&state, setup.agent.as_str());
        let rules = &setup.contract().runtime.transcript;
        let policy = read_policy(setup.contract(), &setup.options);
        // What is composed brings its rules along: they add up.
        let workspaces = || std::iter::once(&setup.directory).chain(&setup.with);
        let id = setup.agent.as_str();
        let layers = &setup.configuration.layers;
        let context_engine = layers.settings(Some(&setup.agent)).context_engine;
        let own = PermissionGuard::new(&setup.directory, id, policy.clone());
        let with = setup.with.iter();
        let others = with.map(|one| PermissionGuard::of_other(one, id, policy.clone()));
        let guards = std::iter::once(own).chain(others);
        let channels = workspaces().map(|one| ChannelFilter::new(one, policy.clone()));
        Ok(Self {
            guard: Arc::new(AllGuards::new(guards.collect())),
            approvals: RememberedApprovals::new(Arc::new(ApprovalFiles::of(&state, id))),
            commands: Arc::default(),
            channels: channels.collect(),
            recordings: Arc::new(RecordingKeeper::new(&state, &setup.configuration, notes)),
            host: Arc::clone(host),
            store: Arc::new(FileStore::new(directory, rules, RandomIds)),
            memory: Arc::new(AgentMemory::new(host, &setup, &state)),
            plugins: Arc::clone(&setup.plugins),
            mcp: Arc::default(),
            setup,
            state,
            notes: notes.clone(),
            context_engine,
            engines: Vec::new(),
            tools: Vec::new(),
        })
    }

    /// Returns what outlasts the factory.
    pub(crate) fn remains(&self) -> AgentRemains {
        AgentRemains {
            store: Arc::downgrade(&self.store),
            guard: Arc::clone(&self.guard),
            approvals: self.approvals.clone(),
            commands: Arc::clone(&self.commands),
        }
    }

    /// Goes on where an earlier factory of the same agent was let go.
    pub(crate) fn take_up(&mut self, remains: &AgentRemains) {
        if let Some(store) = remains.store.upgrade() {
            self.store = store;
        }
        self.guard = Arc::clone(&remains.guard);
        self.approvals = remains.approvals.clone();
        self.commands = Arc::clone(&remains.commands);
    }

    /// Works for an agent whose own workspace is another one: sessions are the same, and the rules of both hold.
    pub(crate) fn for_agent_of(&mut self, usual: &Self) {
        self.store = Arc::clone(&usual.store);
        self.commands = Arc::clone(&usual.commands);
        let policy = read_policy(self.setup.contract(), &self.setup.options);
        let id = self.setup.agent.as_str();
        let here = PermissionGuard::of_other(&self.setup.directory, id, policy);
        self.guard = Arc::new(usual.guard.and(here));
    }

    /// Returns the definitions of the tools that the caller adds.
    pub(crate) fn added_tools(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// Says which lines of the workspace's guardrails look like rules and are none.
    pub(crate) fn guardrail_notes(&self) -> Vec<String> {
        let policy = read_policy(self.setup.contract(), &self.setup.options);
        let workspaces = std::iter::once(&self.setup.directory).chain(&self.setup.with);
        workspaces
            .flat_map(|workspace| lookalike::notes(workspace, &policy))
            .collect()
    }

    /// Finds the models and makes the tools. A runtime must be running.
    pub async fn template(
        &self,
        selection: &ModelSelection<'_>,
    ) -> Result<AgentTemplate, RuntimeError> {
        let own = self
            .setup
            .configuration
            .layers
            .settings(Some(&self.setup.agent));
        directories::visit(&self.host, &self.setup, &self.state, &self.notes);
        let mut chosen = models::choose(selection, &self.host, &self.setup)?;
        for note in &chosen.notes {
            self.notes.note(note);
        }
        let secrets = std::mem::take(&mut chosen.secrets);
        self.host.secrets.learn(secrets);
        let redactor = Arc::new(self.host.secrets.clone());
        let candidate = chosen.candidates.first().ok_or_else(|| {
            RuntimeError::new(ErrorKind::Config, "No model is configured.")
                .hint("name one with `--model`")
        })?;
        let tools = tools::ToolBuilder {
            host: &self.host,
            setup: &self.setup,
            own: &own,
            state: &self.state,
            store: &self.store,
            memory: &self.memory,
            mcp: &self.mcp,
            candidate,
            redactor: &redactor,
            notes: &self.notes,
        }
        .tools()
        .await?
        .with_added(&self.tools);
        let is_on_tape = selection.record.is_some() || candidate.model.provider() == REPLAY;
        let past = if is_on_tape {
            PastSessions::Shut
        } else {
            PastSessions::Open
        };
        let source = WorkspaceSource::new(
            Arc::clone(&self.host),
            Arc::clone(&self.setup),
            TurnRequest::default(),
            chosen.named,
        )
        .remembering(&self.memory, past);
        Ok(AgentTemplate {
            chosen,
            tools,
            redactor,
            source: Arc::new(source),
        })
    }

    /// Puts an agent together.
    pub fn agent(
        &self,
        template: &AgentTemplate,
        user: &User<'_>,
        approver: Arc<dyn Approver>,
        workspace: Option<&Path>,
        verb: &str,
    ) -> Result<Agent, RuntimeError> {
        let setup = &self.setup;
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let notes = &self.notes;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (tools, guests) = template
            .tools
            .for_user(setup, &own, &template.redactor, user, notes);
        let workspace = workspace.unwrap_or(&setup.directory);
        let checkpoints = WorkspaceCheckpoints::new(
            &self.host,
            setup,
            &self.state,
            workspace,
            &template.redactor,
        );
        Ok(Agent::new(Parts {
            contract: setup.contract(),
            workspace: workspace.to_path_buf(),
            checkpoints: Arc::new(checkpoints),
            state_roots: state_roots(&self.host, setup.contract()),
            agent_id: setup.agent.to_string(),
            store: Arc::clone(&self.store) as Arc<dyn SessionStore>,
            source: Arc::clone(&template.source) as _,
            models: template.chosen.thinking(user.thinking),
            tools,
            guests,
            untrusted: Arc::new(untrusted_rules(&own)),
            files: Arc::new(WorkspaceFileOrigins::new(
                &self.host,
                setup,
                &self.state,
                workspace,
            )),
            commands: Arc::clone(&self.commands),
            guard: Arc::clone(&self.guard) as _,
            approver,
            approvals: self.approvals.clone(),
            clock: Arc::clone(&clock),
            engine: self.engine()?,
            limits: TurnLimits::new(&own.limits),
            history: history(&self.host, setup, &own.history),
            reset: reset::policy(&self.host, setup, &own.sessions),
            retry: RetryPolicy {
                attempts: own
                    .retries
                    .map_or(ATTEMPTS, |retries| retries.saturating_add(1)),
                ..RetryPolicy::default()
            },
            lock_wait_ms: u64::from(own.sessions.wait_seconds.unwrap_or(LOCK_WAIT)) * 1000,
            journal: self.journal(&own.trace, &template.redactor, &clock),
            surroundings: TurnEnvironment {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                invocation: vec!["chitin".to_owned(), verb.to_owned()],
            },
        }))
    }
}

/// Returns what the owner says about untrusted text.
pub(crate) fn untrusted_rules(own: &ChitinSettings) -> UntrustedRules {
    let settings = own.access.untrusted.clone().unwrap_or_default();
    UntrustedRules::new(&settings)
}

/// Fails when the directory cannot be used, or has a path that is not text: transcripts, the model and the sandbox know the
/// workspace by its path as text, and it would be another directory to each of them.
fn named_in_utf8(host: &Host, setup: &Setup) -> Result<(), RuntimeError> {
    let root = Root::open(&setup.directory).map_err(|error| setup.unusable(host, error))?;
    if setup.directory.to_str().is_some() && root.real_path().to_str().is_some() {
        return Ok(());
    }
    let message = format!(
        "No agent can run in `{}`: its path is not UTF-8.",
        shown(&setup.directory, host)
    );
    Err(RuntimeError::new(ErrorKind::User, message)
        .hint("rename the directory; `chitin check`, `context` and `pack` work with any name"))
}

impl AgentFactory {
    fn engine(&self) -> Result<Arc<dyn ContextEngine>, RuntimeError> {
        let resolved = self.resolved_engine()?;
        if let Some(note) = &resolved.note {
            self.notes.note(note);
        }
        Ok(resolved.engine)
    }

    fn resolved_engine(&self) -> Result<Resolved, RuntimeError> {
        selected_engine(&self.setup, &self.engines, self.context_engine.as_deref())
    }

    /// Returns the context of a turn as it would be sent: the agent's context engine is asked too.
    pub fn context(&self, request: &TurnRequest) -> Result<TurnContext, RuntimeError> {
        let (host, setup) = (&self.host, &self.setup);
        let mut context = request.workspace_context(host, setup, FileSource::Disk)?;
        self.ask_engine(request, &mut context)?;
        Ok(context)
    }

    /// Lets the agent's context engine decide about a context that is only looked at.
    pub(crate) fn ask_engine(
        &self,
        request: &TurnRequest,
        context: &mut TurnContext,
    ) -> Result<(), RuntimeError> {
        let resolved = self.resolved_engine()?;
        context.notes.extend(resolved.note);
        EngineLook {
            request,
            host: &self.host,
            setup: &self.setup,
            engine: &*resolved.engine,
            store: Some(&*self.store),
        }
        .choose(context);
        Ok(())
    }
}

/// Picks the context engine: the one that is named (in `chitin.json5`), else the one that `openclaw.json` names, of those that
/// are built in, that an embedder adds or that plugins offer. None is started.
pub(crate) fn selected_engine(
    setup: &Setup,
    engines: &[Arc<dyn ContextEngine>],
    named: Option<&str>,
) -> Result<Resolved, RuntimeError> {
    let mut registry = EngineRegistry::new();
    for engine in engines {
        let engine = Arc::clone(engine);
        let id = engine.info().id.clone();
        registry.register(&id, "embedder", Box::new(move || Ok(Arc::clone(&engine))));
    }
    setup
        .plugins
        .register_engines(&mut registry, &setup.directory);
    registry
        .resolve(named.unwrap_or_else(|| slot(setup.configuration.value())))
        .map_err(|error| RuntimeError::new(ErrorKind::Config, error.to_string()))
}

/// How the conversation is kept short: what `openclaw.json` says, and over it what `chitin.json5` says.
pub(crate) fn history(
    host: &Host,
    setup: &Setup,
    own: &chitin_protocol::settings::HistorySettings,
) -> HistoryOptions {
    let rules = &setup.contract().runtime.history;
    let defaults = &setup.configuration.value()["agents"]["defaults"];
    let number = |name: &str| defaults["compaction"][name].as_u64();
    let mut compacting = Compacting::default();
    if let Some(reserve) = number("reserveTokens") {
        let floor = number("reserveTokensFloor").unwrap_or(CompactionRules::RESERVE_FLOOR);
        compacting.reserve_tokens = reserve.max(floor);
    }
    if let Some(keep) = number("keepRecentTokens") {
        compacting.keep_recent_tokens = keep;
    }
    let said = &own.compaction;
    compacting.enabled = said.enabled.unwrap_or(compacting.enabled);
    if let Some(reserve) = said.reserve_tokens {
        compacting.reserve_tokens = u64::from(reserve);
    }
    if let Some(keep) = said.keep_recent_tokens {
        compacting.keep_recent_tokens = u64::from(keep);
    }
    let mut pruning = defaults["contextPruning"].clone();
    if let Some(mode) = &own.pruning.mode {
        pruning = serde_json::json!({"mode": mode});
    }
    if let Some(ttl) = &own.pruning.ttl {
        pruning["ttl"] = serde_json::json!(ttl);
    }
    HistoryOptions {
        compacting,
        turns: own.turns.and_then(|turns| usize::try_from(turns).ok()),
        tool_result_chars: own
            .tool_result_chars
            .and_then(|chars| usize::try_from(chars).ok()),
        pruning: Pruning::from_config(&pruning, &rules.pruning),
        preserved_turns: own
            .compaction
            .preserved_turns
            .and_then(|turns| usize::try_from(turns).ok()),
        instructions: own.compaction.instructions.clone(),
        flush: FlushOptions::from_config(
            setup.configuration.value(),
            &own.compaction.memory_flush,
            host.time_zone(),
        ),
        stamp: MessageStamp::of(&setup.contract().runtime.transcript, || {
            user_zone(host, setup)
        }),
    }
}

/// Returns the time zone in which the model is told the time: the user's, as configured or as this machine has it.
pub(crate) fn user_zone(host: &Host, setup: &Setup) -> TimeZone {
    let configured = setup.configuration.value()["agents"]["defaults"]["userTimezone"].as_str();
    let found = |name: &str| TimeZone::get(name.trim()).ok();
    configured
        .and_then(found)
        .or_else(|| host.time_zone().and_then(|name| found(&name)))
        .unwrap_or(TimeZone::UTC)
}

/// Returns what is recorded of turns, and where.
pub(crate) fn switches(host: &Host, setup: &Setup, state: &std::path::Path) -> Switches {
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    switches_of(host, setup, &own.trace, state)
}

fn switches_of(
    host: &Host,
    setup: &Setup,
    own: &chitin_protocol::settings::TraceSettings,
    state: &std::path::Path,
) -> Switches {
    let rules = setup.contract().runtime.trace;
    let places = LookupDirectories {
        logs: state.join("logs"),
        home: host.env.get("HOME").map(PathBuf::from),
        working_directory: host.env.working_directory().to_owned(),
    };
    let lookup = |name: &str| host.env.get(name).map(str::to_owned);
    Switches::from_lookup(lookup, own, setup.configuration.value(), &places, &rules)
}

impl AgentFactory {
    /// Makes what makes the journal of a turn.
    fn journal(
        &self,
        own: &chitin_protocol::settings::TraceSettings,
        redactor: &Arc<chitin_tools::redact::Redactor>,
        clock: &Arc<dyn Clock>,
    ) -> Arc<dyn Fn() -> Journal + Send + Sync> {
        let (host, setup) = (&self.host, &self.setup);
        let rules = setup.contract().runtime.trace;
        let logs = self.state.join("logs");
        let switches = switches_of(host, setup, own, &self.state);
        for note in &switches.notes {
            self.notes.note(note);
        }
        if switches.is_off() {
            return Arc::new(Journal::off);
        }
        let (redactor, clock) = (Arc::clone(redactor), Arc::clone(clock));
        let say = self.notes.clone();
        let around = journal::JournalEnvironment {
            rules,
            redactor: JournalRedactor::new(move |text: &str| -> Cow<'_, str> {
                Cow::Owned(redactor.redact(text))
            }),
            clock: Arc::new(move || clock.now_ms()),
            note: Arc::new({
                let say = say.clone();
                move |text| say.note(text)
            }),
            summary: Arc::new(move |text| say.note(text)),
        };
        let contents = RecordedContents::new(&logs, self.kept_for_undo());
        let recordings = Arc::clone(&self.recordings);
        let after: Arc<dyn Fn() + Send + Sync> = {
            let recordings = Arc::clone(&recordings);
            Arc::new(move || recordings.sweep_in_time())
        };
        Arc::new(move || {
            if !recordings.has_room() {
                return Journal::off();
            }
            Journal::new(&switches, around.clone())
                .with_contents(contents.clone())
                .after_turns(Arc::clone(&after))
        })
    }

    /// Tells by its digest whether a content is kept for undo: then it is not kept for recordings too.
    fn kept_for_undo(&self) -> impl Fn(&str) -> bool + Send + Sync + 'static {
        let (state, setup) = (self.state.clone(), Arc::clone(&self.setup));
        let history: OnceLock<History> = OnceLock::new();
        move |digest| {
            let history = history
                .get_or_init(|| checkpoints::to_read(&state, &setup.agent, &setup.directory));
            ContentId::parse(digest).is_some_and(|id| history.holds(id))
        }
    }
}
