//! `chitin serve`: the gateway over HTTP and WebSocket.

use crate::args::TargetArgs;
use crate::error::{CliError, Kind};
use crate::exit_code::Exit;
use crate::memory::{give_back, resident};
use crate::printer::{Paint, Printer, Render};
use crate::serve::{Notifier, restart};
use chitin_gateway::cron::CronFile;
use chitin_gateway::gateway::BeatingAgent;
use chitin_gateway::surface::directory::DirectorySurface;
use chitin_gateway::{AgentHost, Gateway, GatewayParts, Surfaces, Trust, tools};
use chitin_runtime::channels::{ChannelSet, shut_out};
use chitin_runtime::serve::{LoginFile, Telemetry, Token, WorkspaceApi, listen_address, token};
use chitin_runtime::{Configuration, Host, Notes, ServeHost, Setup, SystemClock, chitin_home};
use chitin_server::{
    Attached, DeskError, Limits, Reach, Server, ServerSettings, Trouble, WebSurface,
};
use chitin_store::{Ledger, StoreError};
use chitin_workspace::check::Report;
use chitin_workspace::extensions::lookalike;
use chitin_workspace::load::{LoadOptions, read_policy};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How many jobs may be open at once, when nobody says.
const OPEN_JOBS: usize = 10_000;
/// How many threads wait for the disk at most. Those who wait for the index wait together: more of them, fewer writes.
const DISK_THREADS: usize = 128;
/// How long the server rests before it gives memory back.
const REST: Duration = Duration::from_secs(20);
/// The same after the start.
const FIRST_REST: Duration = Duration::from_millis(500);

/// Run the gateway: agents over HTTP and WebSocket, and to clients of OpenAI.
///
/// It listens on this machine only and wants a token, which it makes on the first start and keeps in Chitin's home. What it
/// took in is done once, whatever happens: after a crash it goes on where it stopped. Ctrl-C lets turns finish; a second
/// one ends at once, and what was not done is taken up on the next start. SIGHUP begins anew with the same socket: a newer program
/// or another configuration takes over, and nobody is turned away meanwhile.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin serve                             all configured agents, on http://127.0.0.1:7717
  chitin serve ./my-agent                  the agent in a directory
  chitin serve --listen 127.0.0.1:0        a free port; the address is printed
  chitin serve --files ./mailbox           take messages from files, too, and answer with files

Talk to it:
  TOKEN=$(cat ~/.chitin/server-token)
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7717/api/messages --json '{\"text\":\"hi\",\"wait\":true}'

docs/reference/http.md lists every endpoint. Settings stand under `server` in `chitin.json5`.
Exit codes: 0 ended and all done; 3 the address, the token or the state cannot be used; 130 ended at once.")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// Where to listen, as `ADDRESS:PORT`, `ADDRESS` or `:PORT`; `stdin` takes the socket that systemd hands over.
    #[arg(long, value_name = "PLACE", overrides_with = "listen")]
    listen: Option<String>,

    /// Listen on an address that other machines reach. There is no TLS: put a proxy before it.
    #[arg(long)]
    allow_remote: bool,

    /// A file that holds the token; left out, `$CHITIN_TOKEN` or one that is made once.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The model of all agents, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// A directory that is a surface: messages are files in it, and so are answers.
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
}

/// Where a server is, told once when it listens.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listening {
    address: String,
    token: String,
    agents: Vec<String>,
    /// Whose hearts beat: a turn that nobody asks for, which a model may charge for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    heartbeats: Vec<BeatingAgent>,
    /// How many jobs an earlier process left open.
    #[serde(skip_serializing_if = "is_zero")]
    resumed: usize,
    /// The chat networks that are being connected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    channels: Vec<String>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let configuration =
            Configuration::read(host, self.target.contract.as_deref(), &printer.notes())?;
        let state = chitin_home(host).ok_or_else(|| {
            CliError::new(Kind::User, "There is no place to keep sessions.")
                .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        if self.target.directory.is_some() {
            let target = self.target.target();
            Setup::find(host, &target, &Notes::none())?.check_directory(host)?;
        }
        let token = token(host, self.token_file.as_deref(), &state)?;
        let settings = self.settings(&configuration, &token)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads())
            .max_blocking_threads(DISK_THREADS)
            .enable_all()
            .build()
            .map_err(|error| {
                CliError::new(Kind::Internal, "The machine gives no threads.").caused_by(error)
            })?;
        let host = Arc::new(host.clone());
        let served =
            runtime.block_on(self.serve(&host, configuration, &state, settings, &token, printer));
        // What does not end must not keep the process; all that matters is in the ledger.
        runtime.shutdown_background();
        served
    }

    async fn serve(
        &self,
        host: &Arc<Host>,
        configuration: Configuration,
        state: &Path,
        settings: ServerSettings,
        token: &Token,
        printer: &Printer,
    ) -> Result<Exit, CliError> {
        let handed_over = self.listen.as_deref() == Some(restart::STDIN);
        let bound = if handed_over {
            Server::on(restart::handed_over()?, settings)
        } else {
            Server::bind(settings)
        };
        let bound = bound.map_err(|error| {
            let hint = error.hint();
            CliError::new(Kind::User, "The address cannot be used.")
                .caused_by(error)
                .hint(hint)
        })?;
        let (ledger, open) =
            Ledger::open(&state.join("gateway")).map_err(|e| not_ours(e, state))?;
        let model = self.model.as_deref();
        let agents = ServeHost::new(
            host,
            &self.target.target(),
            model,
            &configuration,
            &printer.notes(),
        )?;
        let agents = Arc::new(agents);
        let desk = WorkspaceApi::new(&agents, host, check_workspace);
        let served = agents.agents();
        let names = served.iter().map(|agent| agent.id.clone()).collect();
        let most_open = configuration.server.max_open_jobs;
        let say = printer.clone();
        let files = self.files(host, &configuration)?;
        let networks = ChannelSet::open(host, &configuration, state, &printer.notes())?;
        let mut surfaces = Surfaces::default().with(Arc::new(WebSurface::default()));
        surfaces = networks.add_to(surfaces);
        if let Some(files) = &files {
            surfaces = surfaces.with(Arc::new(files.clone()));
        }
        let channels: Vec<String> = surfaces.iter().map(|one| one.id().to_owned()).collect();
        for agent in &served {
            let channels = channels.iter().map(String::as_str);
            let workspace = Path::new(&agent.workspace);
            for note in shut_out(&agent.id, workspace, configuration.contract, channels) {
                printer.note(&note);
            }
            let policy = read_policy(configuration.contract, &LoadOptions::default());
            for note in lookalike::notes(workspace, &policy) {
                printer.note(&format!("agent `{}`: {note}", agent.id));
            }
        }
        let config = Arc::new(configuration.value().clone());
        let trust = Trust::beneath(state, Arc::clone(&config), Arc::new(SystemClock));
        let gateway = Gateway::new(GatewayParts {
            contract: configuration.contract,
            config,
            trust: Arc::new(trust),
            host: agents,
            surfaces,
            ledger,
            clock: Arc::new(SystemClock),
            zone: host.zone(),
            most_open: most_open.map_or(OPEN_JOBS, |most| most as usize),
            note: Arc::new(move |text| say.note(text)),
        });
        gateway.keep_schedules(CronFile::new(state));
        gateway.offer_tools(tools::offers(&gateway));
        let resumed = gateway.recover(open);
        let heartbeats = gateway.start_heartbeats();
        gateway.start_schedules();
        gateway.start_greetings();
        let said = printer.result(&Listening {
            address: format!("http://{}", bound.address()),
            token: token.place.clone(),
            agents: names,
            heartbeats,
            resumed,
            channels: networks.names(),
        });
        // Whoever read what a server said may be gone when it begins anew.
        if !handed_over {
            said?;
        }
        if let Some(files) = files {
            let gateway = gateway.clone();
            tokio::spawn(async move { files.watch(&gateway, &CancellationToken::new()).await });
        }
        tokio::spawn(give_back_at_rest(gateway.clone()));
        let telemetry = Telemetry::start(host, &gateway, &printer.notes())?;
        let connected = networks.connect(&gateway);
        let notifier = Notifier::new(host);
        notifier.ready();
        let spare = bound.spare().ok();
        let (first, second) = (told()?, told()?);
        let wish = Arc::new(OnceLock::new());
        let (quiet, wished) = (connected.end(), Arc::clone(&wish));
        let shutdown = async move {
            let told = first.await;
            // Networks take nothing more in before turns are let finish; they can still send.
            quiet.cancel();
            if told == Told::End {
                notifier.stopping();
            }
            let _ = wished.set(told);
        };
        let attached = Attached {
            desk: Some(Arc::new(desk)),
            logins: Some(Arc::new(LoginFile::new(state, &printer.notes()))),
            memory: Some(resident),
            networks: networks.all(),
            webhooks: networks.webhooks(),
        };
        let serving = bound.attach(attached).serve(gateway, shutdown);
        tokio::select! {
            ended = serving => {
                if !ended.drained {
                    printer.note("some turns were not done; they go on with the next start");
                }
            }
            () = async { second.await; told_again().await } => return Ok(Exit::Interrupted),
        }
        connected.ended().await;
        telemetry.end().await;
        match (wish.get(), spare) {
            (Some(Told::BeginAnew), Some(spare)) => Err(restart::become_new(spare)),
            _ => Ok(Exit::Success),
        }
    }

    /// Opens the directory that is a surface, if there is one.
    fn files(
        &self,
        host: &Host,
        configuration: &Configuration,
    ) -> Result<Option<DirectorySurface>, CliError> {
        let said = configuration.server.files.as_ref().map(PathBuf::from);
        let Some(path) = self.files.clone().or(said) else {
            return Ok(None);
        };
        let path = host.env.resolve(path);
        let opened = DirectorySurface::open(&path).map_err(|error| {
            let what = format!("`{}` cannot be a surface.", path.display());
            CliError::new(Kind::User, what).caused_by(error)
        });
        opened.map(Some)
    }

    /// Puts together what was typed and what is configured.
    fn settings(
        &self,
        configuration: &Configuration,
        token: &Token,
    ) -> Result<ServerSettings, CliError> {
        let said = &configuration.server;
        let typed = self.listen.as_deref();
        let address = listen_address(said, typed.filter(|place| *place != restart::STDIN))?;
        let mut settings = ServerSettings::new(address, token.secret.clone());
        if self.allow_remote || said.allow_remote == Some(true) {
            settings.reach = Reach::Everybody;
        }
        settings.hosts = said.hosts.clone().unwrap_or_default();
        settings.origins = said.origins.clone().unwrap_or_default();
        let limits: &mut Limits = &mut settings.limits;
        if let Some(bytes) = said.max_body_bytes {
            limits.body = bytes as usize;
        }
        if let Some(connections) = said.max_connections {
            limits.connections = connections as usize;
            limits.streams = connections as usize;
        }
        if let Some(requests) = said.requests_per_minute {
            limits.requests_per_second = requests.div_ceil(60);
            limits.request_burst = requests;
        }
        if let Some(seconds) = said.drain_seconds {
            limits.drain_time = Duration::from_secs(u64::from(seconds));
        }
        Ok(settings)
    }
}

/// Checks a workspace for the page.
fn check_workspace(host: &Host, setup: &Setup) -> Result<Report, DeskError> {
    super::check::report(host, setup).map_err(|error| DeskError {
        hint: error.hints().first().cloned(),
        ..DeskError::new(Trouble::Failed, error.with_causes())
    })
}

/// Says whose ledger it is, when it cannot be had.
fn not_ours(error: StoreError, state: &Path) -> CliError {
    match error {
        StoreError::Busy { .. } => CliError::new(
            Kind::User,
            format!("Another `chitin serve` uses `{}`.", state.display()),
        )
        .hint("end it, or give this one a home of its own with `CHITIN_HOME`"),
        error => CliError::new(Kind::User, "What is to be done cannot be kept.").caused_by(error),
    }
}

/// As many threads as the machine has, but not many: turns wait for models, not for processors.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |many| many.get().clamp(1, 4))
}

/// What somebody wants of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// It is to end.
    End,
    /// It is to begin anew, with the same socket: a newer program, or another configuration.
    BeginAnew,
}

/// Waits until somebody wants something of the process.
fn told() -> Result<impl Future<Output = Told>, CliError> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            CliError::new(Kind::Internal, "Signals cannot be heard.").caused_by(error)
        })
    };
    let mut pressed = listen(SignalKind::interrupt())?;
    let mut asked = listen(SignalKind::terminate())?;
    let mut hung_up = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = pressed.recv() => Told::End,
            _ = asked.recv() => Told::End,
            _ = hung_up.recv() => Told::BeginAnew,
        }
    })
}

/// Waits until somebody wants it to end, whatever they wanted before.
async fn told_again() {
    loop {
        match told() {
            Ok(told) => {
                if told.await == Told::End {
                    return;
                }
            }
            Err(_) => std::future::pending().await,
        }
    }
}

/// Gives memory back whenever the gateway has rested for a while.
async fn give_back_at_rest(gateway: Gateway) {
    let mut rest = FIRST_REST;
    loop {
        tokio::time::sleep(rest).await;
        if gateway.busy().is_empty() {
            give_back();
            gateway.activity().await;
        }
        rest = REST;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Render for Listening {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(out, "Listening on {}", paint.bold(&self.address))?;
        writeln!(out, "  token   {}", self.token)?;
        writeln!(out, "  agents  {}", self.agents.join(", "))?;
        if !self.channels.is_empty() {
            writeln!(out, "  channels  {}", self.channels.join(", "))?;
        }
        for heart in &self.heartbeats {
            let minutes = heart.every_ms.div_ceil(60_000);
            let agent = &heart.agent;
            writeln!(out, "  heartbeat of {agent} every {minutes} min")?;
        }
        if self.resumed > 0 {
            let jobs = if self.resumed == 1 { "job" } else { "jobs" };
            writeln!(out, "  {} {jobs} of the last time go on", self.resumed)?;
        }
        Ok(())
    }
}
