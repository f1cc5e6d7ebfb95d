//! A turn to look at: what the user says about it, what the disk and the configuration say, and the context it gives.

mod budget;
mod composition;
mod model;
mod prompt;
mod session;

pub(crate) use model::{ModelFigures, Reckoning};

use crate::error::{CliError, Kind};
use crate::host::Host;
use crate::printer::{Printer, plain};
use crate::revision::{Revision, respell};
use crate::setup::{Setup, Target, shown};
use chitin_context::catalogue;
use chitin_context::degrade::{Degraded, assemble_within};
use chitin_context::refresh::Refresh;
use chitin_context::sections::PromptMode;
use chitin_context::{Context, TellCuts, Turn, assemble};
use chitin_protocol::session_key;
use chitin_workspace::Workspace;
use chitin_workspace::config::ChitinSettings;
use chitin_workspace::contract::{BootstrapModeRule, Contract, Layout};
use chitin_workspace::extras;
use chitin_workspace::filter::{ContextMode, RunKind, TurnFacts};
use chitin_workspace::guard::{ReadPolicy, Root};
use chitin_workspace::heartbeat;
use chitin_workspace::load::{self, read_policy};
use chitin_workspace::persona_swap::{self, Moment};
use chitin_workspace::seed::{
    self, BootstrapMode, BootstrapRun, OnVanished, SeedFiles, SeedRequest, SetupStatus,
};
use chitin_workspace::settings::{Settings, TruncationWarning, settings};
use chitin_workspace::skills::{AllowList, DiscoverOptions, Eligibility, discover};
use chitin_workspace::snapshot::Record;
use clap::ValueEnum;
use std::path::Path;
use std::sync::Arc;

/// How many extra files that were not taken are named.
const MAX_NAMED: usize = 5;

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
    pub(crate) context: Context,
    /// The session's key.
    pub(crate) session: String,
    /// What a plan for small windows did, when there is one.
    pub(crate) degraded: Option<Degraded>,
    pub(crate) model: ModelFigures,
    /// When an edit of the workspace shows.
    pub(crate) refresh: Refresh,
    /// What the user should know beside the context itself.
    pub(crate) notes: Vec<String>,
}

/// Where the files are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// In the workspace.
    Here,
    /// In a copy of it as of a revision.
    Revision(&'a Revision),
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

    /// Looks at the turn.
    pub(crate) fn look(
        &self,
        host: &Host,
        setup: &Setup,
        place: Place<'_>,
    ) -> Result<Seen, CliError> {
        let contract = setup.contract();
        let config = setup.configuration.value();
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let session = session::key(self, setup)?;
        let found = Found::look(host, setup, place, &session)?;
        let settings = settings(config, Some(setup.agent.as_str()), contract);
        let limits = budget::limits(contract, &settings, &own, self.budget.as_deref())?;
        let model = ModelFigures::find(self.model.as_deref(), &own, setup)?;
        let is_minimal = session_key::is_subagent(&session, contract.session_keys)
            || (contract.filters.cron_files.is_some()
                && session_key::is_cron(&session, contract.session_keys));
        let mode = match self.mode {
            Some(Mode::None) => PromptMode::None,
            Some(Mode::Minimal) => PromptMode::Minimal,
            None if is_minimal => PromptMode::Minimal,
            Some(Mode::Full) | None => PromptMode::Full,
        };
        let heartbeat_off = heartbeat::is_off(config, setup.agent.as_str(), contract);
        let mut notes = found.notes.clone();
        let listed = skills(host, setup, place, model.window(), &mut notes);
        let mut prompt = prompt::facts(self, host, setup, &own, &model)?;
        prompt.mode = mode;
        prompt.skills = listed;
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
            memory: &[],
            cuts: tell_cuts(&settings),
        };
        let (context, degraded) = match budget::plan(&own, &model)? {
            Some((plan, allowed)) => {
                let (context, degraded) = assemble_within(&turn, &plan, allowed);
                (context, Some(degraded))
            }
            None => (assemble(&turn), None),
        };
        notes.extend(budget::unmatched(self.budget.as_deref(), &context));
        Ok(Seen {
            context,
            session,
            degraded,
            model,
            refresh: Refresh::chosen(contract, own.refresh),
            notes,
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

/// What the disk says.
#[derive(Debug)]
struct Found {
    workspace: Arc<Workspace>,
    extras: Vec<Record>,
    status: Option<SetupStatus>,
    notes: Vec<String>,
}

impl Found {
    fn look(host: &Host, setup: &Setup, place: Place<'_>, session: &str) -> Result<Self, CliError> {
        let contract = setup.contract();
        let directory = match place {
            Place::Here => &setup.directory,
            Place::Revision(revision) => &revision.root,
        };
        let unusable = |source: Box<dyn std::error::Error + Send + Sync>| {
            let message = format!(
                "`{}` cannot be used as a workspace.",
                shown(&setup.directory, host)
            );
            CliError::new(Kind::User, message).caused_by_boxed(source)
        };
        let root = Root::open(directory).map_err(|error| {
            let missing = error.is_missing();
            let error = unusable(Box::new(error));
            if missing {
                error.hint("`chitin init DIR` makes a new workspace")
            } else {
                error
            }
        })?;
        let mut workspace = load::load(directory, contract, &setup.options)
            .map_err(|error| unusable(Box::new(error)))?;
        let policy = read_policy(contract, &setup.options);
        let mut notes = Vec::new();
        if let Some(swapped) = persona(setup, &root, &policy, &workspace, session, &mut notes) {
            workspace = swapped;
        }
        let mut extras = match contract.rendering.layout {
            Layout::ProjectContext => added(setup, place, &root, &policy, &workspace, &mut notes),
            Layout::Composition => composition::added(&root, &policy, directory),
        };
        let status = status(setup, &root, directory);
        if let Place::Revision(revision) = place {
            for record in &mut extras {
                if let Ok(below) = record.path.strip_prefix(&revision.root) {
                    record.path = setup.directory.join(below);
                }
            }
            workspace = Arc::new(respell(&workspace, &setup.directory));
            notes.extend(revision.notes.iter().cloned());
        }
        Ok(Self {
            workspace,
            extras,
            status,
            notes,
        })
    }

    fn text(&self, name: &str) -> Option<&str> {
        let content = self.workspace.record(name)?.content()?;
        Some(&content.text)
    }

    fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }
}

/// Puts another persona in place of `SOUL.md`, where a hook of one release does so. A look shows only what is certain.
fn persona(
    setup: &Setup,
    root: &Root,
    policy: &ReadPolicy,
    workspace: &Arc<Workspace>,
    session: &str,
    notes: &mut Vec<String>,
) -> Option<Arc<Workspace>> {
    let (config, contract) = (setup.configuration.value(), setup.contract());
    if !persona_swap::is_configured(config, contract) {
        return None;
    }
    let moment = Moment {
        dice: 1.0 - f64::EPSILON,
        minutes: Host::minutes_of_day(),
    };
    let records = workspace.records();
    let swapped = persona_swap::swapped(
        config,
        contract,
        Some(session),
        root,
        policy,
        records,
        moment,
    );
    let Some(persona) = swapped else {
        notes.push("a hook may put another persona in place of `SOUL.md` on some turns".to_owned());
        return None;
    };
    notes.push("a hook puts another persona in place of `SOUL.md`".to_owned());
    let records = records.iter().map(|record| {
        if record.path == persona.path {
            persona.clone()
        } else {
            record.clone()
        }
    });
    let swapped = Workspace::from_records(workspace.path(), contract, records.collect());
    Some(Arc::new(swapped))
}

/// Files that configuration adds from below the root.
fn added(
    setup: &Setup,
    place: Place<'_>,
    root: &Root,
    policy: &ReadPolicy,
    workspace: &Workspace,
    notes: &mut Vec<String>,
) -> Vec<Record> {
    let Some(mut patterns) = extras::patterns(setup.configuration.value()) else {
        return Vec::new();
    };
    if let Place::Revision(revision) = place {
        for pattern in &mut patterns {
            let copy = revision.copy_of(Path::new(pattern), &setup.directory);
            *pattern = copy.to_string_lossy().into_owned();
        }
    }
    let found = extras::find(
        root,
        &patterns,
        setup.contract(),
        policy,
        workspace.records(),
    );
    for diagnostic in found.diagnostics.iter().take(MAX_NAMED) {
        let reason = serde_json::to_value(diagnostic.reason).unwrap_or_default();
        let reason = reason.as_str().unwrap_or_default();
        let path = plain(&diagnostic.path.to_string_lossy(), '\u{fffd}');
        notes.push(format!(
            "`{path}` is named as an extra file and not taken ({reason})"
        ));
    }
    if found.diagnostics.len() > MAX_NAMED {
        let more = found.diagnostics.len() - MAX_NAMED;
        notes.push(format!("{more} more extra files are named and not taken"));
    }
    found.records
}

/// Whether set-up is complete; only contracts that care are asked, since the answer costs a look at the disk.
fn status(setup: &Setup, root: &Root, directory: &Path) -> Option<SetupStatus> {
    let contract = setup.contract();
    let cares = contract.filters.setup_hides_bootstrap
        || contract.seeding.bootstrap_mode != BootstrapModeRule::Unknown;
    cares.then(|| {
        let request = SeedRequest {
            directory,
            contract,
            files: SeedFiles::DirectoryOnly,
            now: "",
            state_directory: None,
            vanished: OnVanished::AsContract,
            git: None,
        };
        seed::status(root, &seed::read_state(root, &request))
    })
}

/// The catalogue of skills, ready to be shown.
fn skills(
    host: &Host,
    setup: &Setup,
    place: Place<'_>,
    window: Option<usize>,
    notes: &mut Vec<String>,
) -> Option<Arc<str>> {
    let (contract, config) = (setup.contract(), setup.configuration.value());
    if contract.rendering.layout == Layout::Composition {
        return None;
    }
    let mut places = setup.skill_places(host);
    if let Place::Revision(revision) = place {
        places.workspace.clone_from(&revision.root);
    }
    let mut set = discover(
        &places,
        config,
        &contract.skills,
        &DiscoverOptions::default(),
    );
    if let Place::Revision(revision) = place {
        set = revision.respell_skills(set, &setup.directory);
    }
    if set.skills.is_empty() {
        return None;
    }
    let allowed = AllowList::for_agent(config, setup.agent.as_str(), contract);
    let eligibility = Eligibility::new(&host.env, config, &contract.skills);
    let ready: Vec<_> = set
        .skills
        .iter()
        .filter(|skill| allowed.allows(skill) && eligibility.judge(skill).is_empty())
        .map(Into::into)
        .collect();
    let limits = catalogue::limits(config, Some(setup.agent.as_str()), contract);
    let home = host.env.get("HOME").map(Path::new);
    let homes: Vec<&Path> = home.into_iter().collect();
    let list = catalogue::catalogue(&ready, limits, &homes, None, &contract.skills, window)?;
    if !list.left_out.is_empty() {
        let hidden = list.left_out.len();
        notes.push(format!(
            "{} of {} skills are listed; {hidden} are not, `chitin skills` lists all",
            list.included, list.total
        ));
    }
    let text = list.text();
    (!text.trim().is_empty()).then(|| text.into())
}

/// The settings of Chitin's own file that hold here.
type Own = ChitinSettings;
