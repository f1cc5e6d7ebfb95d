//! `chitin serve`: the gateway over HTTP and WebSocket.

use crate::error::{CliError, Kind};
use crate::exit_code::Exit;
use crate::host::Host;
use crate::kit::HostClock;
use crate::memory::give_back;
use crate::printer::{Paint, Printer, Render};
use crate::serve::{ServeHost, Token, token};
use crate::setup::{Configuration, Target, chitin_home};
use chitin_gateway::cron::CronFile;
use chitin_gateway::gateway::BeatingAgent;
use chitin_gateway::surface::directory::DirectorySurface;
use chitin_gateway::{AgentHost, Gateway, GatewayParts, Surfaces, Trust, tools};
use chitin_server::{Limits, Reach, Server, ServerSettings, WebSurface};
use chitin_store::{Ledger, StoreError};
use chitin_workspace::guard::Root;
use serde::Serialize;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The port, when nobody says.
const PORT: u16 = 7717;
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
/// one ends at once, and what was not done is taken up on the next start.
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
    target: Target,

    /// Where to listen, as `ADDRESS:PORT`, `ADDRESS` or `:PORT`.
    #[arg(long, value_name = "PLACE")]
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
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let configuration = Configuration::read(host, self.target.contract.as_deref(), printer)?;
        let state = chitin_home(host).ok_or_else(|| {
            CliError::new(Kind::User, "There is no place to keep sessions.")
                .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        if let Some(directory) = &self.target.directory {
            let path = host.env.working_directory().join(directory);
            Root::open(&path).map_err(|error| {
                CliError::new(Kind::User, "The workspace cannot be used.")
                    .caused_by(error)
                    .hint(format!("`chitin init {}` makes one", directory.display()))
            })?;
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
        let bound = Server::bind(settings).map_err(|error| {
            let hint = error.hint();
            CliError::new(Kind::User, "The address cannot be used.")
                .caused_by(error)
                .hint(hint)
        })?;
        let (ledger, open) =
            Ledger::open(&state.join("gateway")).map_err(|e| not_ours(e, state))?;
        let model = self.model.as_deref();
        let agents = ServeHost::new(host, &self.target, model, &configuration, printer);
        let names = agents.agents().into_iter().map(|agent| agent.id).collect();
        let most_open = configuration.server.max_open_jobs;
        let say = printer.clone();
        let files = self.files(host, &configuration)?;
        let mut surfaces = Surfaces::default().with(Arc::new(WebSurface::default()));
        if let Some(files) = &files {
            surfaces = surfaces.with(Arc::new(files.clone()));
        }
        let config = Arc::new(configuration.value().clone());
        let trust = Trust::beneath(state, Arc::clone(&config), Arc::new(HostClock));
        let gateway = Gateway::new(GatewayParts {
            contract: configuration.contract,
            config,
            trust: Arc::new(trust),
            host: Arc::new(agents),
            surfaces,
            ledger,
            clock: Arc::new(HostClock),
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
        printer.result(&Listening {
            address: format!("http://{}", bound.address()),
            token: token.place.clone(),
            agents: names,
            heartbeats,
            resumed,
        })?;
        if let Some(files) = files {
            let gateway = gateway.clone();
            tokio::spawn(async move { files.watch(&gateway, &CancellationToken::new()).await });
        }
        tokio::spawn(give_back_at_rest(gateway.clone()));
        let (first, second) = (told_to_end()?, told_to_end()?);
        let serving = bound.serve(gateway, first);
        tokio::select! {
            ended = serving => {
                if !ended.drained {
                    printer.note("some turns were not done; they go on with the next start");
                }
                Ok(Exit::Success)
            }
            () = async { second.await; told_again().await } => Ok(Exit::Interrupted),
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
        let path = host.env.working_directory().join(path);
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
        let usual = SocketAddr::new(
            match &said.address {
                Some(address) => address.parse().map_err(|_| {
                    let what = format!("`server.address` is no address: `{address}`.");
                    CliError::new(Kind::Config, what)
                })?,
                None => IpAddr::V4(Ipv4Addr::LOCALHOST),
            },
            said.port.unwrap_or(PORT),
        );
        let address = match &self.listen {
            Some(place) => listen(place, usual)?,
            None => usual,
        };
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

/// Reads a place to listen on; what is left out is usual.
fn listen(place: &str, usual: SocketAddr) -> Result<SocketAddr, CliError> {
    let port = |text: &str| text.parse::<u16>().ok();
    let parsed = place.parse::<SocketAddr>().ok().or_else(|| {
        match (place.strip_prefix(':').and_then(port), place.parse()) {
            (Some(port), _) => Some(SocketAddr::new(usual.ip(), port)),
            (None, Ok(address)) => Some(SocketAddr::new(address, usual.port())),
            (None, Err(_)) => None,
        }
    });
    parsed.ok_or_else(|| {
        CliError::new(Kind::Usage, format!("`{place}` is no place to listen on."))
            .hint("`--listen 127.0.0.1:7717`, `--listen :7717`, `--listen [::1]:7717`")
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

/// Waits until somebody wants the process to end.
fn told_to_end() -> Result<impl Future<Output = ()>, CliError> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            CliError::new(Kind::Internal, "Signals cannot be heard.").caused_by(error)
        })
    };
    let mut pressed = listen(SignalKind::interrupt())?;
    let mut asked = listen(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = pressed.recv() => {}
            _ = asked.recv() => {}
        }
    })
}

/// Waits until somebody wants it once more.
async fn told_again() {
    match told_to_end() {
        Ok(told) => told.await,
        Err(_) => std::future::pending().await,
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
