//! From a request, the disk and the configuration to the context of a turn.

use super::cache::ContextCache;
use super::engine::EngineLook;
use super::figures::ModelFigures;
use super::inputs::WorkspaceInputs;
use super::request::{PromptExtent, Trigger, TurnRequest, WhichTurn};
use super::sent::{ChosenMessages, StoredTurn, session_id, store};
use super::{budget, prompt, session, skills};
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use crate::factory;
use crate::host::Host;
use crate::memory::{AgentMemory, PastSessions, RecallMessage};
use crate::models::api_of_model;
use crate::notes::Notes;
use crate::setup::{AgentTarget, Setup, chitin_home, shown};
use crate::workspace_copy::WorkspaceCopy;
use chitin_agent::source::{Recalled, RecalledPath};
use chitin_config::settings::{ContextSettings, TruncationWarning, injection, settings};
use chitin_config::{ChitinSettings, heartbeat};
use chitin_context::degrade::{Degraded, assemble_within};
use chitin_context::memory_results::MemoryResult;
use chitin_context::refresh::RefreshRule;
use chitin_context::sections::{Delegation, PromptMode, ToolFact};
use chitin_context::{Context, TellCuts, TurnInputs};
use chitin_contract::{Contract, DelegationRule, MainKeyRule, RuntimeLine};
use chitin_gateway::subagents::{SpawnLimits, child_prompt};
use chitin_model::Api;
use chitin_protocol::session_key as keys;
use chitin_protocol::tool::ToolSpec;
use chitin_store::SessionStore;
use chitin_workspace::extensions;
use chitin_workspace::filter::{ContextMode, TurnFacts, judges_memory};
use chitin_workspace::seed::{self, BootstrapMode, BootstrapRun, SetupStatus};
use chitin_workspace::turn_marker::{self, FinishedTurn, Reduced, TurnOutcome};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a turn comes to.
#[derive(Debug)]
pub struct TurnContext {
    /// The parts in their order, each with its origin.
    pub context: Arc<Context>,
    /// The session's key.
    pub session: String,
    /// Which turn of the session it is: [`WhichTurn::First`] or [`WhichTurn::Next`].
    pub turn: WhichTurn,
    /// What a plan for small windows did, when there is one.
    pub degraded: Option<Degraded>,
    /// The model that figures are for.
    pub model: ModelFigures,
    /// The names of the tools that are offered.
    pub tools: Vec<String>,
    /// The tools that the caller adds.
    pub added_tools: Vec<ToolSpec>,
    /// When an edit of the workspace shows.
    pub refresh: RefreshRule,
    /// What the user should know beside the context itself.
    pub notes: Vec<String>,
    /// Where results of memory stand that were recalled for the message.
    pub recalled: Vec<RecalledPath>,
    /// What a context engine lets the model see of the conversation; none if there is no such engine, or it failed.
    pub chosen: Option<ChosenMessages>,
    /// The directories of its skills that lie outside of the workspace.
    pub skill_roots: Vec<PathBuf>,
    /// Whether such a turn, when it ends well, is marked in the transcript as a full first one.
    pub mark_when_done: bool,
}

impl TurnContext {
    /// Returns the system prompt, to the byte.
    pub fn system_prompt(&self) -> String {
        self.context.system()
    }
}

/// What a turn that is about to run knows better than the command line.
pub struct RunningTurn<'a> {
    /// The model that will be asked, as `provider/name`.
    pub model: String,
    /// Whether the user named it: only then does the prompt speak of it.
    pub named: bool,
    /// The tools that are offered.
    pub tools: Vec<ToolFact>,
    /// The session's id.
    pub session_id: &'a str,
    /// The channel of the conversation.
    pub channel: Option<Arc<str>>,
    /// Text for the prompt that is about this session alone.
    pub extra: Option<Arc<str>>,
    /// What was found in memory.
    pub memory: &'a [MemoryResult],
    /// Whether the session holds a notice already.
    pub is_told: &'a dyn Fn(&str) -> bool,
}

/// Where the files are.
#[derive(Debug, Clone, Copy)]
pub enum FileSource<'a> {
    /// In the workspace.
    Disk,
    /// In a copy of it: as of a revision, or out of an artifact.
    Copy(&'a WorkspaceCopy),
    /// In the workspace, but one file says something else.
    Edited(Edit<'a>),
}

/// A file that says something else than the disk does.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// The file.
    pub path: &'a Path,
    /// What it says.
    pub text: &'a str,
}

impl std::fmt::Debug for RunningTurn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("RunningTurn");
        shown.field("model", &self.model).finish_non_exhaustive()
    }
}

impl TurnRequest {
    /// Finds the workspace that a turn is about: a session's key names its agent.
    pub fn find(
        &self,
        host: &Host,
        target: &AgentTarget,
        notes: &Notes,
    ) -> Result<Setup, RuntimeError> {
        let mut target = target.clone();
        let setup = Setup::find(host, &target, notes)?;
        let Some(key) = &self.session else {
            return Ok(setup);
        };
        let agent = session::agent_of(key, &setup)?;
        match agent {
            // A directory is its own agent: the sessions of another one are not continued there by mistake.
            Some(agent)
                if target.agent.is_none() && target.directory.is_some() && agent != setup.agent =>
            {
                let message = format!(
                    "`{}` is a session of the agent `{agent}`, and `{}` is the agent `{}`.",
                    plain(key, '\u{fffd}'),
                    shown(&setup.directory, host),
                    setup.agent
                );
                Err(RuntimeError::new(ErrorKind::Usage, message)
                    .hint("`--session main` is the main session of the agent in a directory")
                    .hint(format!(
                        "`--agent {agent}` talks to that agent in this directory"
                    )))
            }
            Some(agent) if target.agent.is_none() && agent != setup.agent => {
                target.agent = Some(agent.to_string());
                Setup::find(host, &target, &Notes::none())
            }
            Some(_) | None => Ok(setup),
        }
    }

    /// Returns the context of the turn as it would be sent: the configured context engine is asked too.
    pub fn context(
        &self,
        host: &Host,
        setup: &Setup,
        files: FileSource<'_>,
    ) -> Result<TurnContext, RuntimeError> {
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let engine = factory::selected_engine(setup, &[], own.context_engine.as_deref())?;
        let mut context = self.workspace_context(host, setup, files)?;
        context.notes.extend(engine.note);
        EngineLook {
            request: self,
            host,
            setup,
            engine: &*engine.engine,
            store: None,
        }
        .choose(&mut context);
        Ok(context)
    }

    /// Returns what the workspace and the configuration make of the turn. No context engine is asked.
    pub(crate) fn workspace_context(
        &self,
        host: &Host,
        setup: &Setup,
        files: FileSource<'_>,
    ) -> Result<TurnContext, RuntimeError> {
        self.build(&mut ContextCache::fresh(), host, setup, files, None)
    }

    /// Returns the context of the turn, built with an cache that remembers what it saw before.
    pub fn build(
        &self,
        cache: &mut ContextCache,
        host: &Host,
        setup: &Setup,
        files: FileSource<'_>,
        running: Option<RunningTurn<'_>>,
    ) -> Result<TurnContext, RuntimeError> {
        let contract = setup.contract();
        let config = setup.configuration.value();
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let session = session::key(self, setup)?;
        let refresh = RefreshRule::chosen(contract, own.refresh);
        let found = cache.found(&session, refresh, |loader| {
            WorkspaceInputs::look(host, setup, files, &session, self.seeded, loader)
        })?;
        let settings = settings(config, Some(setup.agent.as_str()), contract);
        let stored = match self.turn {
            WhichTurn::AsStored => StoredTurn::find(host, setup, &session, &settings),
            WhichTurn::First => StoredTurn::default(),
            WhichTurn::Next => StoredTurn::LATER,
        };
        let limits = budget::limits(contract, &settings, &own, self.budget.as_deref())?;
        let model = match &running {
            Some(running) => ModelFigures::running(&running.model, running.named, setup),
            None => ModelFigures::find(self.model.as_deref(), &own, setup),
        };
        let recalled = self.recalled(host, setup, &session);
        let id = match &running {
            Some(running) => running.session_id.to_owned(),
            None if contract.prompt.runtime_line_session => session_id(host, setup, &session),
            None => String::new(),
        };
        let is_told = running.as_ref().map(|running| running.is_told);
        let (tools, channel, extra, memory) = match running {
            Some(running) => (
                Some(running.tools),
                running.channel,
                running.extra,
                running.memory,
            ),
            None => (None, None, None, recalled.results.as_slice()),
        };
        let is_minimal = keys::is_subagent(&session, contract.session_keys)
            || (contract.filters.cron_files.is_some()
                && keys::is_cron(&session, contract.session_keys));
        let mode = match self.mode {
            Some(PromptExtent::None) => PromptMode::None,
            Some(PromptExtent::Minimal) => PromptMode::Minimal,
            None if is_minimal => PromptMode::Minimal,
            Some(PromptExtent::Full) | None => PromptMode::Full,
        };
        let heartbeat_off = heartbeat::is_off(config, setup.agent.as_str(), contract);
        let mut notes = found.notes.clone();
        if is_told.is_some() {
            notes.extend(refused(&found));
        }
        notes.extend(recalled.notes.iter().cloned());
        let named = found.named_skills.as_deref();
        let listed = skills::listed(host, setup, files, named, model.window(), &mut notes);
        let mut prompt = prompt::facts(self, host, setup, &own, &model, tools)?;
        prompt.mode = mode;
        prompt.host.name = Some(Arc::clone(&found.name)).filter(|_| contract.loading.adapters);
        prompt.skills = listed.text;
        prompt.runtime_line_moves = Self::moves_runtime_line(host, setup, &model);
        prompt.channel = channel;
        prompt.delegation = delegation(setup, &session);
        let (key, run) = keys::without_cron_run(&session, contract.session_keys);
        prompt.session_key = Some(key.into());
        prompt.session_id =
            Some(id.into()).filter(|id: &Arc<str>| !id.is_empty() && run != Some(&**id));
        let extra = extra.or_else(|| self.child_prompt(host, setup, &session));
        prompt.extra = prompt::with_project(extra, found.project.as_deref());
        prompt.recall_place = own
            .memory
            .recall
            .as_ref()
            .and_then(|recall| recall.place)
            .unwrap_or_default();
        prompt.heartbeats = !heartbeat_off;
        prompt.bootstrap_file = found.has("BOOTSTRAP.md");
        prompt.bootstrap = self.bootstrap(&found, contract, is_minimal, prompt.has_tool("read"));
        let linked_memory = if judges_memory(config) {
            found.linked_memory.clone()
        } else {
            Vec::new()
        };
        let facts = TurnFacts {
            session_key: Some(&session),
            session_id: None,
            context_mode: if self.light {
                ContextMode::Lightweight
            } else {
                ContextMode::Full
            },
            run_kind: self.run.run_kind(),
            chat_type: None,
            context_injection: Some(&settings.context_injection),
            marked: stored.marked,
            setup_complete: found.status == Some(SetupStatus::Complete),
            bootstrap_full: prompt.bootstrap == BootstrapMode::Full,
            heartbeat_off: !config.is_null() && heartbeat_off,
            subagent_files: own.subagent_files.as_deref(),
            linked_memory: &linked_memory,
            without_memory: self.guest && !is_memory_open(&own),
        };
        let prompt = Arc::new(prompt);
        let turn = TurnInputs {
            workspace: &found.workspace,
            extras: &found.extras,
            facts: &facts,
            limits: &limits,
            projects: found.project.as_slice(),
            prompt: &prompt,
            memory,
            cuts: tell_cuts(&settings),
        };
        let (context, degraded) = match budget::plan(&own, &model)? {
            Some((plan, allowed)) => {
                let (context, degraded) = assemble_within(&turn, &plan, allowed);
                (Arc::new(context), Some(degraded))
            }
            None => (cache.assemble(&turn, &session, &settings, is_told), None),
        };
        let reduced = self.light
            || (stored.marked && settings.context_injection == injection::CONTINUATION_SKIP);
        let mark_when_done = turn_marker::is_due(
            contract,
            &FinishedTurn {
                outcome: TurnOutcome::Completed,
                reduced: if reduced { Reduced::Yes } else { Reduced::No },
                context_injection: &settings.context_injection,
                marked: stored.marked,
                bootstrap_full: facts.bootstrap_full,
            },
        );
        notes.extend(budget::unmatched(self.budget.as_deref(), &own, &context));
        notes.extend(context.continuation_note());
        Ok(TurnContext {
            context,
            session,
            turn: stored.which,
            degraded,
            model,
            tools: prompt
                .tools
                .iter()
                .map(|tool| tool.name.to_string())
                .collect(),
            added_tools: self.added_tools.clone(),
            refresh,
            notes,
            recalled: recalled.paths,
            chosen: None,
            skill_roots: listed.roots,
            mark_when_done,
        })
    }

    /// Finds in memory what fits the words that were given, if any were.
    fn recalled(&self, host: &Host, setup: &Setup, session: &str) -> Recalled {
        let (Some(words), Some(state)) = (&self.message, chitin_home(host)) else {
            return Recalled::default();
        };
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let is_closed = self.guest && !is_memory_open(&own);
        if self.run != Trigger::User || self.light || is_closed {
            return Recalled::default();
        }
        AgentMemory::for_one_look(host, setup, &state).recall_now(RecallMessage {
            session,
            session_id: &session_id(host, setup, session),
            words,
            past: PastSessions::Open,
        })
    }

    /// Returns what a session is told that another one began, where nobody who runs it says so: the store knows of it, or the
    /// caller asks for a look at such a session.
    fn child_prompt(&self, host: &Host, setup: &Setup, session: &str) -> Option<Arc<str>> {
        let contract = setup.contract();
        if !keys::is_subagent(session, contract.session_keys) {
            return None;
        }
        let entry = store(host, setup).and_then(|store| store.find(session).ok().flatten());
        let is_child = entry.as_ref().is_some_and(|one| one.spawned_by.is_some());
        let limits = SpawnLimits::read(setup.configuration.value(), &setup.agent, contract);
        (is_child || self.run == Trigger::Subagent)
            .then(|| child_prompt(entry.as_ref(), session, &limits, contract.session_keys).into())
    }

    /// Tells whether the model's wire format has the line about program, machine and model in the first message.
    fn moves_runtime_line(host: &Host, setup: &Setup, model: &ModelFigures) -> bool {
        match setup.contract().runtime.provider.runtime_line {
            RuntimeLine::InPlace => false,
            RuntimeLine::FirstMessage => {
                api_of_model(model.id(), host, setup) == Api::OpenaiCompletions
            }
        }
    }

    fn bootstrap(
        &self,
        found: &WorkspaceInputs,
        contract: &Contract,
        is_child: bool,
        can_read: bool,
    ) -> BootstrapMode {
        let is_complete = found.status == Some(SetupStatus::Complete);
        let is_hidden = is_complete && contract.filters.setup_hides_bootstrap;
        let text = found.text("BOOTSTRAP.md").filter(|_| !is_hidden);
        seed::bootstrap_mode(
            contract,
            &BootstrapRun {
                pending: found.status == Some(SetupStatus::Pending),
                kind: self.run.run_kind(),
                primary: !is_child,
                user_facing: self.run == Trigger::User,
                can_read,
                own_workspace: true,
                loaded: text.is_some_and(|text| !text.trim().is_empty()),
            },
        )
    }
}

/// Tells whether the owner opened memory to guests.
fn is_memory_open(own: &ChitinSettings) -> bool {
    let guests = own.access.guests.as_ref();
    guests.is_some_and(|guests| guests.memory == Some(true))
}

/// Says which files of the workspace the agent works without though they are there.
fn refused(found: &WorkspaceInputs) -> impl Iterator<Item = String> {
    // Of other files that are added, whoever configured them is told elsewhere.
    let skills = found
        .extras
        .iter()
        .filter(|extra| &*extra.name == extensions::skills::FILE);
    found
        .workspace
        .records()
        .iter()
        .chain(skills)
        .filter_map(|record| {
            let reason = record.refused()?;
            let (name, meaning) = (&record.name, reason.meaning());
            Some(format!(
                "`{name}` is not used: {meaning}; `chitin check` says what to do"
            ))
        })
}

/// Returns how readily work is handed on: as configured, else by the contract.
fn delegation(setup: &Setup, session: &str) -> Delegation {
    let config = setup.configuration.value();
    let agents = &config["agents"];
    let own = &agents["entries"][setup.agent.as_str()]["subagents"]["delegationMode"];
    let all = &agents["defaults"]["subagents"]["delegationMode"];
    match own.as_str().or_else(|| all.as_str()) {
        Some("prefer") => return Delegation::Preferred,
        Some(_) => return Delegation::Suggested,
        None => {}
    }
    let main = match setup.contract().runtime.dispatch.route.main_key {
        MainKeyRule::Fixed => None,
        MainKeyRule::Configured => config["session"]["mainKey"].as_str(),
    };
    let main = main.unwrap_or(keys::MAIN);
    match setup.contract().prompt.delegation {
        DelegationRule::PreferredInMain
            if session == keys::main_key(setup.agent.as_str(), main) =>
        {
            Delegation::Preferred
        }
        DelegationRule::PreferredInMain | DelegationRule::Suggested => Delegation::Suggested,
    }
}

/// A first look tells of cuts unless the user never wants to hear of them.
fn tell_cuts(settings: &ContextSettings) -> TellCuts {
    match settings.truncation_warning {
        Some(TruncationWarning::Off) => TellCuts::No,
        Some(TruncationWarning::Once | TruncationWarning::Always) | None => TellCuts::Yes,
    }
}
