//! `chitin serve`: the gateway over HTTP and WebSocket.

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::rss::{give_back, resident};
use crate::serve::restart::{self, Arrival, StandInLink};
use crate::serve::{Ears, Ending, Notifier, Process, Served, Signals, descriptors, told_to_stop};
use chitin_gateway::heartbeat::BeatingAgent;
use chitin_gateway::{AgentHost, Gateway, Surfaces};
use chitin_runtime::serve::{
    LoginFile, PublishedAddress, ServeRequest, ServedGateway, ServedWorkspaces, TakenJobLog,
    Telemetry, Token, server_settings, token,
};
use chitin_runtime::{Configuration, Host, Notes, Setup, chitin_home};
use chitin_server::{Attached, BindError, Bound, Server, ServerSettings, WebSurface};
use chitin_store::LockMode;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How many threads wait for the disk at most. Those who wait for the index wait together: more of them, fewer writes.
const DISK_THREADS: usize = 128;
/// How long the server rests before it gives memory back.
const REST: Duration = Duration::from_secs(20);
/// The same after the start.
const FIRST_REST: Duration = Duration::from_millis(500);
/// How long the job log is waited for that another process of the server has just let go of, in milliseconds.
const HANDED_OVER: u64 = 3_000;
/// How long what still touches the disk may take when another process has taken over.
const LAST_WRITES: Duration = Duration::from_secs(10);

/// Run the gateway: web page, HTTP, WebSocket, chat channels, OpenAI-compatible API.
///
/// It listens on this machine only and requires a token, which it creates on the first start and stores in Chitin's home. An accepted message is processed once: after a crash the server continues where it stopped. Ctrl-C lets running turns finish; a second one stops at once, and open jobs continue on the next start. SIGHUP restarts the server with a new binary or configuration: a new process takes over, and no request is refused or lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin serve                             all configured agents, on http://127.0.0.1:7717
  chitin serve ./my-agent                  the agent in a directory
  chitin serve --listen 127.0.0.1:0        a free port; the address is printed
  chitin serve --files ./mailbox           also read messages from files and write replies to files
  chitin serve --check                     could it start? A restart (SIGHUP) checks this first

Talk to it:
  TOKEN=$(cat ~/.chitin/server-token)
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7717/api/messages --json '{\"text\":\"hi\",\"wait\":true}'

docs/reference/http.md lists every endpoint. The settings are under `server` in `chitin.json5`.
Exit codes: 0 stopped, all jobs done; 3 the address, the token or the state cannot be used; 130 stopped at once.")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// Where to listen, as `ADDRESS:PORT`, `ADDRESS` or `:PORT`; `stdin` uses the socket that systemd passes.
    #[arg(long, value_name = "PLACE", overrides_with = "listen")]
    listen: Option<String>,

    /// Listen on an address that other machines can reach. There is no TLS: put a TLS proxy in front.
    #[arg(long)]
    allow_remote: bool,

    /// A file with the token; by default `$CHITIN_TOKEN`, or one that is created on the first start.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The model of all agents, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// A directory for messages and replies as files.
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,

    /// Only check whether a server could start: configuration, token, workspace, state. Nothing listens, and a running server is not disturbed.
    #[arg(long)]
    check: bool,

    /// Take over from the server whose socket standard input is: how it restarts.
    #[arg(long, hide = true)]
    take_over: bool,
}

/// A server could start.
#[derive(Debug, Serialize)]
struct Checked {
    agents: Vec<String>,
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

/// What a process begins with.
struct Beginning {
    bound: Bound,
    served: ServedGateway,
    stand_in: Option<StandInLink>,
    /// Ends with the process before this one, if there was one.
    predecessor: Option<JoinHandle<()>>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        if !self.take_over {
            return self.start(host, printer, None);
        }
        let arrival = Arrival::new()?;
        let last_words = arrival.last_words()?;
        self.start(host, printer, Some(arrival)).or_else(|error| {
            if last_words.say(&error) {
                Ok(error.exit())
            } else {
                Err(error)
            }
        })
    }

    fn start(
        &self,
        host: &Host,
        printer: &Printer,
        arrival: Option<Arrival>,
    ) -> Result<Exit, CliError> {
        let configuration =
            Configuration::read(host, self.target.contract.as_deref(), &printer.notes())?;
        let state = chitin_home(host).ok_or_else(|| {
            CliError::new(
                FailureKind::User,
                "Could not determine where to store sessions.",
            )
            .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        if self.target.directory.is_some() {
            let target = self.target.target();
            let setup = Setup::find(host, &target, &Notes::none())?;
            setup.check_directory(host)?;
            setup.check_composed(host)?;
            setup.say_where_conversations_are(host, &state, &printer.notes());
        }
        let token = token(host, self.token_file.as_deref(), &state)?;
        host.secrets.learn([token.secret.clone()]);
        let typed = self.listen.as_deref();
        let listen = typed.filter(|place| *place != restart::STDIN);
        let mut settings = server_settings(&configuration, &token, listen, self.allow_remote)?;
        descriptors::prepare(&mut settings);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads())
            .max_blocking_threads(DISK_THREADS)
            .enable_all()
            .build()
            .map_err(|error| {
                CliError::new(FailureKind::Internal, "Could not start threads.").caused_by(error)
            })?;
        let host = Arc::new(host.clone());
        if self.check || arrival.is_some() {
            // Channels are made inside a runtime.
            let _inside = runtime.enter();
            let notes = printer.notes();
            let agents =
                ServedGateway::check(&host, &configuration, &state, self.request(), &notes)?;
            if self.check {
                return printer.result(&Checked { agents });
            }
        }
        let serving = async {
            let beginning = self.begin(&host, &configuration, &state, settings, printer, arrival);
            match beginning.await? {
                Some(beginning) => self.serve(&host, &state, beginning, &token, printer).await,
                None => Ok(Served::Ended(Exit::Success)),
            }
        };
        match runtime.block_on(serving) {
            Ok(Served::Stays(stays, signals)) => {
                // Turns that were cut off go on in the other process once nothing of them is written here any more.
                runtime.shutdown_timeout(LAST_WRITES);
                stays.stay(signals)
            }
            served => {
                // What does not end must not keep the process; all that matters is in the ledger.
                runtime.shutdown_background();
                served.map(|served| match served {
                    Served::Ended(exit) => exit,
                    Served::Stays(..) => Exit::Success,
                })
            }
        }
    }

    fn request(&self) -> ServeRequest {
        ServeRequest {
            target: self.target.target(),
            model: self.model.clone(),
            files: self.files.clone(),
            surfaces: Surfaces::default().with(Arc::new(WebSurface::default())),
        }
    }

    /// Takes the address and the job log: as the first process of a server, or from the one before. Nothing comes back when that one goes
    /// on itself.
    async fn begin(
        &self,
        host: &Arc<Host>,
        configuration: &Configuration,
        state: &Path,
        settings: ServerSettings,
        printer: &Printer,
        arrival: Option<Arrival>,
    ) -> Result<Option<Beginning>, CliError> {
        let notes = printer.notes();
        let Some(mut arrival) = arrival else {
            let bound = if self.listen.as_deref() == Some(restart::STDIN) {
                Server::on(restart::handed_over()?, settings)
            } else {
                Server::bind(settings)
            };
            let bound = bound.map_err(not_bound)?;
            let served = ServedGateway::open(host, configuration, state, self.request(), &notes)?;
            return Ok(Some(Beginning {
                bound,
                served,
                stand_in: None,
                predecessor: None,
            }));
        };
        let listener = arrival.listener().ok_or_else(|| {
            CliError::new(
                FailureKind::Internal,
                "The server before handed no socket over.",
            )
        })?;
        let bound = Server::on(listener, settings).map_err(not_bound)?;
        let stand_in = arrival.stand_in();
        let prepared = ServedGateway::prepare(host, configuration, state, self.request(), &notes)?;
        let Some((arrival, elsewhere)) = arrival.ready().await else {
            return Ok(None);
        };
        let log = TakenJobLog::open(state, configuration, LockMode::Wait(HANDED_OVER))?;
        let Some(arrival) = arrival.taken().await else {
            return Ok(None);
        };
        let (served, predecessor) = prepared.open(log, elsewhere)?;
        let predecessor = arrival.attend(&served.gateway, predecessor);
        Ok(Some(Beginning {
            bound,
            served,
            stand_in,
            predecessor: Some(predecessor),
        }))
    }

    async fn serve(
        &self,
        host: &Arc<Host>,
        state: &Path,
        beginning: Beginning,
        token: &Token,
        printer: &Printer,
    ) -> Result<Served, CliError> {
        let notes = printer.notes();
        let Beginning {
            bound,
            served,
            stand_in,
            predecessor,
        } = beginning;
        let ServedGateway {
            gateway,
            agents,
            channels,
            files,
            resumed,
            heartbeats,
        } = served;
        let published = PublishedAddress::new(state, bound.address())?;
        // Before anybody knows that it is there: a signal that nobody listens for ends the process.
        let (first, second) = (Signals::new()?, Signals::new()?);
        let workspaces = ServedWorkspaces::new(&agents, host);
        let names = agents.agents().into_iter().map(|agent| agent.id).collect();
        let said = printer.result(&Listening {
            address: format!("http://{}", bound.address()),
            token: token.place.clone(),
            agents: names,
            heartbeats,
            resumed,
            channels: channels.names(),
        });
        // A successor speaks to nobody.
        if predecessor.is_none() {
            said?;
        }
        tokio::spawn(give_back_at_rest(gateway.clone()));
        let telemetry = Telemetry::start(host, &gateway, &notes)?;
        let secrets = host.secrets.clone();
        let attached = Attached {
            redact: Some(Arc::new(move |value| secrets.redact_value(value))),
            workspaces: Some(Arc::new(workspaces)),
            logins: Some(Arc::new(LoginFile::new(state, &notes))),
            memory: Some(resident),
            networks: channels.all(),
            webhooks: channels.webhooks(),
        };
        let mut ears = Ears::new(gateway.clone(), channels, files);
        ears.open();
        let notifier = Notifier::new(host);
        notifier.ready();
        let follows = stand_in.as_ref().map(StandInLink::follow).transpose()?;
        let process = Process {
            gateway: gateway.clone(),
            doors: bound.doors(),
            socket: bound.spare()?,
            address: bound.address(),
            state: state.to_path_buf(),
            drain: bound.drain_time(),
            ears,
            published: Some(published),
            notifier,
            stand_in,
            predecessor,
            follows,
            printer: printer.clone(),
        };
        let left = Arc::new(Mutex::new(None));
        let leaves = Arc::clone(&left);
        let lost = CancellationToken::new();
        let is_lost = lost.clone();
        let shutdown = async move {
            let ending = process.until_told(first, is_lost).await;
            *leaves.lock().unwrap_or_else(PoisonError::into_inner) = Some(ending);
        };
        let serving = bound.attach(attached).serve(gateway, shutdown);
        let ended = tokio::select! {
            ended = serving => Some(ended),
            () = told_to_stop(second) => None,
            () = lost.cancelled() => None,
        };
        let left = left.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (process, handed_over) = match left {
            Some(Ending::Told(process)) => (process, None),
            Some(Ending::HandedOver(process, handed_over, passing_on)) => {
                (process, Some((handed_over, passing_on)))
            }
            None => return Ok(Served::Ended(Exit::Interrupted)),
        };
        let Some(ended) = ended else {
            return process.cut_off(handed_over, lost.is_cancelled()).await;
        };
        if !ended.drained && handed_over.is_none() {
            printer.note("some turns did not finish; they continue on the next start");
        }
        let ended = process.end(handed_over, telemetry).await;
        tokio::task::block_in_place(|| agents.close());
        ended
    }
}

fn not_bound(error: BindError) -> CliError {
    let hint = error.hint();
    CliError::new(FailureKind::User, "Could not listen on the address.")
        .caused_by(error)
        .hint(hint)
}

/// As many threads as the machine has, but not many: turns wait for models, not for processors.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |many| many.get().clamp(1, 4))
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

const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Render for Checked {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        writeln!(out, "A server could start for: {}", self.agents.join(", "))
    }
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
            writeln!(out, "  resuming {} open {jobs}", self.resumed)?;
        }
        Ok(())
    }
}
