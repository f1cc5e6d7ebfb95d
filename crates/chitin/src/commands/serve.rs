//! `chitin serve`: the gateway over HTTP and WebSocket.

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::rss::{give_back, resident};
use crate::serve::{Notifier, descriptors, restart};
use chitin_gateway::heartbeat::BeatingAgent;
use chitin_gateway::{AgentHost, Gateway, Surfaces};
use chitin_runtime::serve::{
    LoginFile, PublishedAddress, ServeRequest, ServedGateway, ServedWorkspaces, Telemetry, Token,
    server_settings, token,
};
use chitin_runtime::{Configuration, Host, Notes, Setup, chitin_home};
use chitin_server::{Attached, Server, ServerSettings, WebSurface};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How many threads wait for the disk at most. Those who wait for the index wait together: more of them, fewer writes.
const DISK_THREADS: usize = 128;
/// How long the server rests before it gives memory back.
const REST: Duration = Duration::from_secs(20);
/// The same after the start.
const FIRST_REST: Duration = Duration::from_millis(500);

/// Run the gateway: web page, HTTP, WebSocket, chat channels, OpenAI-compatible API.
///
/// It listens on this machine only and requires a token, which it creates on the first start and stores in Chitin's home. An accepted message is processed once: after a crash the server continues where it stopped. Ctrl-C lets running turns finish; a second one stops at once, and open jobs continue on the next start. SIGHUP restarts the server with a new binary or configuration, without dropping connections.
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

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
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
        if self.check {
            // Channels are made inside a runtime.
            let _inside = runtime.enter();
            let notes = printer.notes();
            let agents =
                ServedGateway::check(&host, &configuration, &state, self.request(), &notes)?;
            return printer.result(&Checked { agents });
        }
        let served =
            runtime.block_on(self.serve(&host, &configuration, &state, settings, &token, printer));
        // What does not end must not keep the process; all that matters is in the ledger.
        runtime.shutdown_background();
        served
    }

    fn request(&self) -> ServeRequest {
        ServeRequest {
            target: self.target.target(),
            model: self.model.clone(),
            files: self.files.clone(),
            surfaces: Surfaces::default().with(Arc::new(WebSurface::default())),
        }
    }

    async fn serve(
        &self,
        host: &Arc<Host>,
        configuration: &Configuration,
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
            CliError::new(FailureKind::User, "Could not listen on the address.")
                .caused_by(error)
                .hint(hint)
        })?;
        let notes = printer.notes();
        let ServedGateway {
            gateway,
            agents,
            channels,
            files,
            resumed,
            heartbeats,
        } = ServedGateway::open(host, configuration, state, self.request(), &notes)?;
        let _published = PublishedAddress::new(state, bound.address())?;
        // Before anybody knows that it is there: a signal that nobody listens for ends the process.
        let (mut first, second) = (Signals::new()?, Signals::new()?);
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
        // Whoever read what a server said may be gone when it begins anew.
        if !handed_over {
            said?;
        }
        if let Some(files) = files {
            let gateway = gateway.clone();
            tokio::spawn(async move { files.watch(&gateway, &CancellationToken::new()).await });
        }
        tokio::spawn(give_back_at_rest(gateway.clone()));
        let telemetry = Telemetry::start(host, &gateway, &notes)?;
        let connected = channels.connect(&gateway);
        let notifier = Notifier::new(host);
        notifier.ready();
        let spare = bound.spare().ok();
        let wish = Arc::new(OnceLock::new());
        let (quiet, wished) = (connected.end(), Arc::clone(&wish));
        let terminal = printer.clone();
        let shutdown = async move {
            let told = loop {
                match first.next().await {
                    Told::End => break Told::End,
                    Told::BeginAnew => match restart::check().await {
                        Ok(()) => break Told::BeginAnew,
                        Err(why) => {
                            terminal.note(&format!("not restarted, the server goes on: {why}"));
                        }
                    },
                }
            };
            // Networks take nothing more in before turns are let finish; they can still send.
            quiet.cancel();
            if told == Told::End {
                notifier.stopping();
            }
            let _ = wished.set(told);
        };
        let secrets = host.secrets.clone();
        let attached = Attached {
            redact: Some(Arc::new(move |value| secrets.redact_value(value))),
            workspaces: Some(Arc::new(workspaces)),
            logins: Some(Arc::new(LoginFile::new(state, &notes))),
            memory: Some(resident),
            networks: channels.all(),
            webhooks: channels.webhooks(),
        };
        let serving = bound.attach(attached).serve(gateway, shutdown);
        tokio::select! {
            ended = serving => {
                if !ended.drained {
                    printer.note("some turns did not finish; they continue on the next start");
                }
            }
            () = told_to_stop(second) => return Ok(Exit::Interrupted),
        }
        connected.ended().await;
        telemetry.end().await;
        tokio::task::block_in_place(|| agents.close());
        match (wish.get(), spare) {
            (Some(Told::BeginAnew), Some(spare)) => Err(restart::become_new(spare)),
            _ => Ok(Exit::Success),
        }
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

/// The signals that tell a server something.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                CliError::new(FailureKind::Internal, "Could not listen for signals.")
                    .caused_by(error)
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.interrupt.recv() => Told::End,
            _ = self.terminate.recv() => Told::End,
            _ = self.hang_up.recv() => Told::BeginAnew,
        }
    }
}

/// Waits for the second signal to end. A restart that is under way counts as the first; one that was refused does not.
async fn told_to_stop(mut signals: Signals) {
    let mut ends = 0;
    while ends < 2 {
        ends += u32::from(signals.next().await == Told::End);
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
