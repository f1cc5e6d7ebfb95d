//! A turn to look at: what the user says about it, what the disk and the configuration say, and the context it gives.

mod budget;
mod composition;
mod eye;
mod found;
mod model;
mod prompt;
mod session;
mod skills;
mod source;

pub(crate) use eye::Eye;
pub(crate) use session::session_key;
pub(crate) use source::{WorkspaceSource, first_sentence};

pub(crate) use model::{ModelFigures, Reckoning};

use crate::error::CliError;
use crate::host::Host;
use crate::kit::{MemoryKit, Message, Past};
use crate::printer::Printer;
use crate::setup::{Setup, Target, chitin_home};
use crate::unfolded::Unfolded;
use chitin_agent::source::Recalled;
use chitin_context::degrade::{Degraded, assemble_within};
use chitin_context::memory_results::MemoryResult;
use chitin_context::refresh::Refresh;
use chitin_context::sections::PromptMode;
use chitin_context::sections::ToolFact;
use chitin_context::{Context, TellCuts, Turn};
use chitin_protocol::session_key as keys;
use chitin_workspace::config::ChitinSettings;
use chitin_workspace::contract::Contract;
use chitin_workspace::filter::{ContextMode, RunKind, TurnFacts};
use chitin_workspace::heartbeat;
use chitin_workspace::seed::{self, BootstrapMode, BootstrapRun, SetupStatus};
use chitin_workspace::settings::{Settings, TruncationWarning, injection, settings};
use chitin_workspace::turn_marker::{self, FinishedTurn, Reduced, TurnOutcome};
use clap::ValueEnum;
use found::Found;
use std::path::Path;
use std::sync::Arc;

/// What the user says about the turn.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TurnArgs {
    /// The session's key, such as `agent:main:discord:channel:42`; left out, the agent's main session.
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,

    /// Whether the session has had a full first turn already.
    #[arg(long, value_enum, default_value_t = WhichTurn::First)]
    pub(crate) turn: WhichTurn,

    /// What starts the run.
    #[arg(long, value_enum, default_value_t = Run::User)]
    pub(crate) run: Run,

    /// Look at a run that asks for a lightweight context.
    #[arg(long)]
    pub(crate) light: bool,

    /// How much of a prompt; left out, minimal for subagents and scheduled jobs, full otherwise.
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,

    /// The tools to offer, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,

    /// Limits to try: `file=8000,total=40000`, a file by name, `unit=tokens`.
    #[arg(long, value_name = "LIMITS")]
    pub(crate) budget: Option<String>,

    /// The model to reckon with, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// What somebody says: memory is searched for it, as it would be in a run.
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

/// Whether the session has had a full first turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhichTurn {
    /// It has not.
    First,
    /// It has.
    Next,
}

/// What starts a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Run {
    /// Somebody's message.
    User,
    /// A heartbeat.
    Heartbeat,
    /// A scheduled job.
    Cron,
    /// A hook.
    Hook,
    /// Another run.
    Subagent,
}

/// How much of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// All sections.
    Full,
    /// Fewer, for runs that another run or a schedule started.
    Minimal,
    /// One line.
    None,
}

/// What a turn comes to.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) context: Arc<Context>,
    /// The session's key.
    pub(crate) session: String,
    /// What a plan for small windows did, when there is one.
    pub(crate) degraded: Option<Degraded>,
    pub(crate) model: ModelFigures,
    /// The names of the tools that are offered.
    pub(crate) tools: Vec<String>,
    /// When an edit of the workspace shows.
    pub(crate) refresh: Refresh,
    /// What the user should know beside the context itself.
    pub(crate) notes: Vec<String>,
    /// Whether such a turn, when it ends well, is marked in the transcript as a full first one.
    pub(crate) mark_when_done: bool,
}

/// What a turn that is about to run knows better than the command line.
#[derive(Debug)]
pub(crate) struct RunningTurn<'a> {
    /// The model that will be asked, as `provider/name`.
    pub(crate) model: String,
    /// Whether the user named it: only then does the prompt speak of it.
    pub(crate) named: bool,
    /// The tools that are offered.
    pub(crate) tools: Vec<ToolFact>,
    /// The channel of the conversation.
    pub(crate) channel: Option<Arc<str>>,
    /// Text for the prompt that is about this session alone.
    pub(crate) extra: Option<Arc<str>>,
    /// What was found in memory.
    pub(crate) memory: &'a [MemoryResult],
}

/// Where the files are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// In the workspace.
    Here,
    /// In a copy of it: as of a revision, or out of an artifact.
    Copy(&'a Unfolded),
    /// In the workspace, but one file says something else.
    Edited(Edit<'a>),
}

/// A file that says something else than the disk does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// What it says.
    pub(crate) text: &'a str,
}

impl TurnArgs {
    /// A first turn that somebody's message starts.
    pub(crate) const fn plain() -> Self {
        Self {
            session: None,
            turn: WhichTurn::First,
            run: Run::User,
            light: false,
            mode: None,
            tools: None,
            budget: None,
            model: None,
            message: None,
        }
    }

    /// Finds the workspace that a turn is about: a session's key names its agent.
    pub(crate) fn find(
        &self,
        host: &Host,
        target: &Target,
        printer: &Printer,
    ) -> Result<Setup, CliError> {
        let mut target = target.clone();
        let setup = Setup::find(host, &target, printer)?;
        let Some(key) = &self.session else {
            return Ok(setup);
        };
        let agent = session::agent_of(key, &setup)?;
        match agent {
            Some(agent) if target.agent.is_none() && agent != setup.agent => {
                target.agent = Some(agent.to_string());
                Setup::find(host, &target, &printer.without_notes())
            }
            Some(_) | None => Ok(setup),
        }
    }

    /// Looks at the turn, once.
    pub(crate) fn look(
        &self,
        host: &Host,
        setup: &Setup,
        place: Place<'_>,
    ) -> Result<Seen, CliError> {
        self.look_with(&mut Eye::fresh(), host, setup, place, None)
    }

    /// Looks at the turn with an eye that remembers what it saw before.
    pub(crate) fn look_with(
        &self,
        eye: &mut Eye,
        host: &Host,
        setup: &Setup,
        place: Place<'_>,
        running: Option<RunningTurn<'_>>,
    ) -> Result<Seen, CliError> {
        let contract = setup.contract();
        let config = setup.configuration.value();
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let session = session::key(self, setup)?;
        let refresh = Refresh::chosen(contract, own.refresh);
        let found = eye.found(&session, refresh, |loader| {
            Found::look(host, setup, place, &session, loader)
        })?;
        let settings = settings(config, Some(setup.agent.as_str()), contract);
        let limits = budget::limits(contract, &settings, &own, self.budget.as_deref())?;
        let model = match &running {
            Some(running) => ModelFigures::running(&running.model, running.named, setup),
            None => ModelFigures::find(self.model.as_deref(), &own, setup)?,
        };
        let recalled = self.recalled(host, setup, &session);
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
            Some(Mode::None) => PromptMode::None,
            Some(Mode::Minimal) => PromptMode::Minimal,
            None if is_minimal => PromptMode::Minimal,
            Some(Mode::Full) | None => PromptMode::Full,
        };
        let heartbeat_off = heartbeat::is_off(config, setup.agent.as_str(), contract);
        let mut notes = found.notes.clone();
        notes.extend(recalled.notes.iter().cloned());
        let listed = skills::listed(host, setup, place, model.window(), &mut notes);
        let mut prompt = prompt::facts(self, host, setup, &own, &model, tools)?;
        prompt.mode = mode;
        prompt.skills = listed;
        prompt.channel = channel;
        prompt.extra = extra;
        prompt.heartbeats = !heartbeat_off;
        prompt.bootstrap_file = found.has("BOOTSTRAP.md");
        prompt.bootstrap = self.bootstrap(&found, contract, is_minimal, prompt.has_tool("read"));
        let facts = TurnFacts {
            session_key: Some(&session),
            session_id: None,
            context_mode: if self.light {
                ContextMode::Lightweight
            } else {
                ContextMode::Full
            },
            run_kind: self.run.kind(),
            chat_type: None,
            context_injection: Some(&settings.context_injection),
            marked: self.turn == WhichTurn::Next,
            setup_complete: found.status == Some(SetupStatus::Complete),
            bootstrap_full: prompt.bootstrap == BootstrapMode::Full,
            heartbeat_off: !config.is_null() && heartbeat_off,
            subagent_files: own.subagent_files.as_deref(),
        };
        let prompt = Arc::new(prompt);
        let turn = Turn {
            workspace: &found.workspace,
            extras: &found.extras,
            facts: &facts,
            limits: &limits,
            projects: &[],
            prompt: &prompt,
            memory,
            cuts: tell_cuts(&settings),
        };
        let (context, degraded) = match budget::plan(&own, &model)? {
            Some((plan, allowed)) => {
                let (context, degraded) = assemble_within(&turn, &plan, allowed);
                (Arc::new(context), Some(degraded))
            }
            None => (eye.assemble(&turn, &session, &settings), None),
        };
        let reduced = self.light
            || (self.turn == WhichTurn::Next
                && settings.context_injection == injection::CONTINUATION_SKIP);
        let mark_when_done = turn_marker::is_due(
            contract,
            &FinishedTurn {
                outcome: TurnOutcome::Completed,
                reduced: if reduced { Reduced::Yes } else { Reduced::No },
                context_injection: &settings.context_injection,
                marked: self.turn == WhichTurn::Next,
                bootstrap_full: facts.bootstrap_full,
            },
        );
        notes.extend(budget::unmatched(self.budget.as_deref(), &own, &context));
        notes.extend(context.continuation_note());
        Ok(Seen {
            context,
            session,
            degraded,
            model,
            tools: prompt
                .tools
                .iter()
                .map(|tool| tool.name.to_string())
                .collect(),
            refresh,
            notes,
            mark_when_done,
        })
    }

    /// Finds in memory what fits the words that were given, if any were.
    fn recalled(&self, host: &Host, setup: &Setup, session: &str) -> Recalled {
        let (Some(words), Some(state)) = (&self.message, chitin_home(host)) else {
            return Recalled::default();
        };
        if self.run != Run::User || self.light {
            return Recalled::default();
        }
        MemoryKit::for_one_look(host, setup, &state).recall_now(Message {
            session,
            session_id: "",
            words,
            past: Past::Open,
        })
    }

    fn bootstrap(
        &self,
        found: &Found,
        contract: &Contract,
        is_child: bool,
        can_read: bool,
    ) -> BootstrapMode {
        let text = found.text("BOOTSTRAP.md");
        seed::bootstrap_mode(
            contract,
            &BootstrapRun {
                pending: found.status == Some(SetupStatus::Pending),
                kind: self.run.kind(),
                primary: !is_child,
                user_facing: self.run == Run::User,
                can_read,
                own_workspace: true,
                loaded: text.is_some_and(|text| !text.trim().is_empty()),
            },
        )
    }
}

impl Run {
    const fn kind(self) -> RunKind {
        match self {
            Self::Heartbeat => RunKind::Heartbeat,
            Self::Cron => RunKind::Cron,
            Self::User | Self::Hook | Self::Subagent => RunKind::Default,
        }
    }
}

/// A first look tells of cuts unless the user never wants to hear of them.
fn tell_cuts(settings: &Settings) -> TellCuts {
    match settings.truncation_warning {
        Some(TruncationWarning::Off) => TellCuts::No,
        Some(TruncationWarning::Once | TruncationWarning::Always) | None => TellCuts::Yes,
    }
}

/// The settings of Chitin's own file that hold here.
type Own = ChitinSettings;
