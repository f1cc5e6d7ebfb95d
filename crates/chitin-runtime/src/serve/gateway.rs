//! The gateway of a server, put together from configuration: agents, channels and other surfaces, open jobs, schedules.

use crate::channels::{ChannelSet, shut_out};
use crate::error::{ErrorKind, RuntimeError};
use crate::recordings::RecordingKeeper;
use crate::{AgentTarget, Configuration, Host, Notes, ServeHost, SystemClock};
use chitin_config::IssueSeverity;
use chitin_gateway::approvals::ApprovalOptions;
use chitin_gateway::cron::CronFile;
use chitin_gateway::handover::Predecessor;
use chitin_gateway::heartbeat::BeatingAgent;
use chitin_gateway::route::Routing;
use chitin_gateway::surface::directory::DirectorySurface;
use chitin_gateway::{
    AccessControl, AgentHost, Gateway, GatewayParts, OutagePolicy, Surfaces, WeakGateway, tools,
};
use chitin_guard::Root;
use chitin_protocol::settings::ServeSettings;
use chitin_store::{JobLog, LockMode, OpenItem, OutcomeLimits, StoreError, job_log};
use chitin_workspace::extensions::lookalike;
use chitin_workspace::load::{LoadOptions, read_policy};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How many jobs may be open at once, when nobody says.
const OPEN_JOBS: usize = 10_000;

/// How often somebody looks how much room is left.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long a question for permission waits, in seconds, when nobody says.
const APPROVAL_SECONDS: u64 = 600;
/// The directory of the job log, in Chitin's home.
pub(crate) const JOB_LOG: &str = "gateway";

/// What a caller wants served.
#[derive(Default)]
pub struct ServeRequest {
    /// The directory or the agent; left out, all configured agents.
    pub target: AgentTarget,
    /// The model of all agents, as `provider/name`.
    pub model: Option<String>,
    /// A directory that is a surface; left out, the configured one, if there is one.
    pub files: Option<PathBuf>,
    /// Surfaces of the caller's own, such as the web page's.
    pub surfaces: Surfaces,
}

/// A gateway that takes messages in. Channels are open and not connected yet.
pub struct ServedGateway {
    /// The gateway.
    pub gateway: Gateway,
    /// Who makes its agents.
    pub agents: Arc<ServeHost>,
    /// The chat channels that are to be connected.
    pub channels: ChannelSet,
    /// The directory that is a surface. Nothing watches it yet.
    pub files: Option<DirectorySurface>,
    /// How many jobs an earlier process left open; they go on.
    pub resumed: usize,
    /// Whose hearts beat: a turn that nobody asks for, which a model may charge for.
    pub heartbeats: Vec<BeatingAgent>,
}

impl ServedGateway {
    /// Does all of [`Self::open`] that can fail and that nobody else notices: neither the job log is opened nor anything begun, so another
    /// server may be running. Returns the agents.
    pub fn check(
        host: &Arc<Host>,
        configuration: &Configuration,
        state: &Path,
        request: ServeRequest,
        notes: &Notes,
    ) -> Result<Vec<String>, RuntimeError> {
        let writable = Root::create_private(state)
            .and_then(|root| root.begin_file(Path::new(""), 0o600).map(drop));
        writable.map_err(|error| {
            let what = format!("Could not write to `{}`.", state.display());
            RuntimeError::new(ErrorKind::User, what).caused_by(error)
        })?;
        judged(state)?;
        job_log::inspect(&state.join(JOB_LOG)).map_err(|error| not_ours(error, state))?;
        let model = request.model.as_deref();
        let agents = ServeHost::new(host, &request.target, model, configuration, notes)?;
        files(host, configuration, request.files)?;
        ChannelSet::open(host, configuration, state, notes)?;
        Ok(agents.agents().into_iter().map(|agent| agent.id).collect())
    }

    /// Does the part of [`Self::open`] that takes time and that a server which runs does not notice.
    pub fn prepare(
        host: &Arc<Host>,
        configuration: &Configuration,
        state: &Path,
        request: ServeRequest,
        notes: &Notes,
    ) -> Result<PreparedGateway, RuntimeError> {
        let model = request.model.as_deref();
        let agents = ServeHost::new(host, &request.target, model, configuration, notes)?;
        let recordings = Arc::new(RecordingKeeper::new(state, configuration, notes));
        let agents = agents
            .with_names_of_plugins(configuration)
            .with_recordings(&recordings);
        Ok(PreparedGateway {
            host: Arc::clone(host),
            configuration: configuration.clone(),
            state: state.to_path_buf(),
            notes: notes.clone(),
            agents: Arc::new(agents),
            recordings,
            files: request.files,
            surfaces: request.surfaces,
        })
    }

    /// Puts a gateway together and takes up the jobs that an earlier process left open. A runtime must be running. One process at a time
    /// may serve a state directory.
    pub fn open(
        host: &Arc<Host>,
        configuration: &Configuration,
        state: &Path,
        request: ServeRequest,
        notes: &Notes,
    ) -> Result<Self, RuntimeError> {
        // First, so that a second server is refused before it does anything.
        let taken = TakenJobLog::open(state, configuration, LockMode::Refuse)?;
        Self::prepare(host, configuration, state, request, notes)?
            .open(taken, Vec::new())
            .map(|(served, _)| served)
    }
}

/// A gateway that only lacks its job log.
pub struct PreparedGateway {
    host: Arc<Host>,
    configuration: Configuration,
    state: PathBuf,
    notes: Notes,
    agents: Arc<ServeHost>,
    recordings: Arc<RecordingKeeper>,
    files: Option<PathBuf>,
    surfaces: Surfaces,
}

/// A job log that this process has, and what is open in it.
pub struct TakenJobLog {
    log: JobLog,
    open: Vec<OpenItem>,
}

impl TakenJobLog {
    /// Takes the job log of a state directory.
    pub fn open(
        state: &Path,
        configuration: &Configuration,
        wait: LockMode,
    ) -> Result<Self, RuntimeError> {
        let limits = kept(&configuration.server);
        let opened = JobLog::open_within(&state.join(JOB_LOG), limits, wait);
        let (log, open) = opened.map_err(|error| not_ours(error, state))?;
        Ok(Self { log, open })
    }
}

impl PreparedGateway {
    /// Returns its agents.
    pub fn agents(&self) -> Vec<String> {
        let agents = self.agents.agents();
        agents.into_iter().map(|agent| agent.id).collect()
    }

    /// Takes up what is open in the job log, but for sessions in which turns of the process before this one run. A runtime must be running.
    pub fn open(
        self,
        taken: TakenJobLog,
        elsewhere: Vec<String>,
    ) -> Result<(ServedGateway, Predecessor), RuntimeError> {
        let Self {
            host,
            configuration,
            state,
            notes,
            agents,
            recordings,
            files: asked,
            surfaces,
        } = self;
        let (host, configuration, notes) = (&host, &configuration, &notes);
        let home = state.clone();
        tokio::task::spawn_blocking(move || crate::doctor::clear(&home));
        agents.let_go_in_time();
        let files = files(host, configuration, asked)?;
        let channels = ChannelSet::open(host, configuration, &state, notes)?;
        let mut surfaces = channels.add_to(surfaces);
        if let Some(files) = &files {
            surfaces = surfaces.with(Arc::new(files.clone()));
        }
        note_guardrails(&agents, configuration, &surfaces, notes);
        let config = Arc::new(configuration.value().clone());
        let trust = AccessControl::beneath(&state, Arc::clone(&config), Arc::new(SystemClock));
        let most_open = configuration.server.max_open_jobs;
        let gateway = Gateway::new(GatewayParts {
            contract: configuration.contract,
            config,
            trust: Arc::new(trust),
            host: Arc::clone(&agents) as Arc<dyn AgentHost>,
            surfaces,
            ledger: taken.log,
            clock: Arc::new(SystemClock),
            zone: host.zone(),
            most_open: most_open.map_or(OPEN_JOBS, |most| most as usize),
            space: Arc::clone(&recordings.space),
            outage: outage(&configuration.server),
            note: notes.sink(),
        });
        tokio::spawn(look_in_time(gateway.downgrade(), recordings));
        let seconds = configuration.server.approval_seconds;
        let secrets = host.secrets.clone();
        gateway.ask_for_approvals(ApprovalOptions {
            timeout: Duration::from_secs(seconds.map_or(APPROVAL_SECONDS, u64::from)),
            redact: Arc::new(move |text| secrets.redact(text)),
        });
        gateway.keep_schedules(CronFile::new(&state));
        gateway.offer_tools(tools::offers(&gateway));
        let (resumed, predecessor) = gateway.recover_beside(taken.open, elsewhere);
        let heartbeats = gateway.start_heartbeats();
        gateway.start_schedules();
        gateway.start_greetings();
        let served = ServedGateway {
            gateway,
            agents,
            channels,
            files,
            resumed,
            heartbeats,
        };
        Ok((served, predecessor))
    }
}

/// Looks at the disk and at recordings, so that what stopped is told, and begins again, without anybody's message.
async fn look_in_time(gateway: WeakGateway, recordings: Arc<RecordingKeeper>) {
    while let Some(gateway) = gateway.get() {
        gateway.space();
        drop(gateway);
        recordings.sweep_in_time();
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn outage(settings: &ServeSettings) -> OutagePolicy {
    let usual = OutagePolicy::default();
    let asked = settings
        .retry_seconds
        .map(|seconds| u64::from(seconds) * 1000);
    OutagePolicy {
        retry_ms: asked.unwrap_or(usual.retry_ms),
        ..usual
    }
}

fn kept(settings: &ServeSettings) -> OutcomeLimits {
    let usual = OutcomeLimits::default();
    let asked = settings
        .keep_outcomes_seconds
        .map(|seconds| i64::from(seconds) * 1000);
    OutcomeLimits {
        keep_ms: asked.unwrap_or(usual.keep_ms),
        ..usual
    }
}

/// Says which surfaces the agents' `CHANNELS.md` shuts out, and which lines look like rules and are none.
fn note_guardrails(
    agents: &ServeHost,
    configuration: &Configuration,
    surfaces: &Surfaces,
    notes: &Notes,
) {
    if let Some(note) = Routing::guest_note(configuration.value(), configuration.contract) {
        notes.note(&note);
    }
    for agent in agents.agents() {
        let channels = surfaces.iter().map(|surface| surface.id());
        let workspace = Path::new(&agent.workspace);
        for note in shut_out(&agent.id, workspace, configuration.contract, channels) {
            notes.note(&note);
        }
        let policy = read_policy(configuration.contract, &LoadOptions::default());
        for note in lookalike::notes(workspace, &policy) {
            notes.note(&format!("agent `{}`: {note}", agent.id));
        }
    }
}

/// Opens the directory that is a surface, if there is one.
fn files(
    host: &Host,
    configuration: &Configuration,
    asked: Option<PathBuf>,
) -> Result<Option<DirectorySurface>, RuntimeError> {
    let configured = configuration.server.files.as_ref().map(PathBuf::from);
    let Some(path) = asked.or(configured) else {
        return Ok(None);
    };
    let path = host.env.resolve(path);
    let opened = DirectorySurface::open(&path).map_err(|error| {
        let what = format!(
            "Could not use `{}` as a directory for messages.",
            path.display()
        );
        RuntimeError::new(ErrorKind::User, what).caused_by(error)
    });
    opened.map(Some)
}

/// Writes the job log as earlier versions read it; returns how many jobs are open, or nothing if there is no log. No server may
/// be running.
pub fn downgrade_job_log(state: &Path) -> Result<Option<usize>, RuntimeError> {
    let written = job_log::downgrade(&state.join(JOB_LOG));
    written.map_err(|error| not_ours(error, state))
}

/// Says whose ledger it is, when it cannot be had.
fn not_ours(error: StoreError, state: &Path) -> RuntimeError {
    match error {
        StoreError::Busy { .. } => {
            let what = format!("Another `chitin serve` uses `{}`.", state.display());
            RuntimeError::new(ErrorKind::User, what)
                .hint("stop it, or set another `CHITIN_HOME` for this one")
        }
        error => {
            let what = "Could not open the job log.";
            RuntimeError::new(ErrorKind::User, what).caused_by(error)
        }
    }
}

/// Fails when `chitin.json5` holds something that cannot be meant. A start goes on without it and says so; a server that runs well is not
/// replaced by that.
fn judged(state: &Path) -> Result<(), RuntimeError> {
    let own =
        chitin_config::load_chitin_config(state).map_err(|error| crate::setup::unusable(&error))?;
    let issues = own.iter().flat_map(|own| &own.issues);
    match issues
        .into_iter()
        .find(|issue| issue.severity == IssueSeverity::Error)
    {
        Some(issue) => Err(RuntimeError::new(ErrorKind::Config, issue.to_string())
            .hint("`chitin config validate` lists all problems")),
        None => Ok(()),
    }
}
