//! The thread that owns a plugin's process.

use super::connection::Connection;
use super::{Job, PluginState, PluginStatus, lock, told};
use crate::fault::PluginFault;
use crate::host::PluginHost;
use crate::protocol::{Handshake, VERSION, handshake, method};
use crate::spec::PluginSpec;
use chitin_guard::Root;
use chitin_protocol::settings::SandboxSetting;
use chitin_tools::sandbox::{Sandbox, SandboxConfig, WorkspaceAccess};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a process that nobody asks anything is kept.
const IDLE: Duration = Duration::from_mins(10);
/// How long a plugin is left alone after its first failure; the time doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// The directory in Chitin's home that holds the plugins' own data.
pub const DATA: &str = "plugin-data";

/// What a process is started from.
#[derive(Debug, Clone)]
pub(crate) struct ProcessSpec {
    pub(crate) spec: Arc<PluginSpec>,
    pub(crate) host: Arc<PluginHost>,
    /// The workspace that the process is for. Without one it sees nothing but its own data.
    pub(crate) workspace: Option<PathBuf>,
}

impl ProcessSpec {
    pub(super) fn name(&self) -> &str {
        &self.spec.name
    }

    /// Makes the directory for the plugin's own data. Without a writable home there is none.
    fn data(&self) -> Option<PathBuf> {
        let path = self.host.home.join(DATA).join(&self.spec.name);
        let root = Root::create_private(&path).ok()?;
        Some(root.real_path().to_path_buf())
    }

    fn sandbox(&self, data: Option<&Path>) -> Result<Sandbox, PluginFault> {
        let (workspace, access) = match (&self.workspace, data) {
            (Some(workspace), _) => (workspace.as_path(), WorkspaceAccess::ReadOnly),
            (None, Some(data)) => (data, WorkspaceAccess::ReadWrite),
            (None, None) => {
                return Err(PluginFault::NotStarted(format!(
                    "no directory can be made in `{}`",
                    self.host.home.join(DATA).display()
                )));
            }
        };
        let scratch = self.host.home.join("cache");
        let mut config = SandboxConfig::new(&self.host.helper, workspace, scratch);
        config.choice = if self.spec.sandboxed {
            SandboxSetting::Auto
        } else {
            SandboxSetting::None
        };
        config.workspace_access = access;
        config.hidden.clone_from(&self.host.hidden);
        config.hidden.push(self.host.home.clone());
        config.hidden.extend(self.host.user_home.clone());
        config.environment = self.host.environment.clone();
        config.pass_env.clone_from(&self.spec.env);
        config.programs.clone_from(&self.spec.readable);
        config.data = data.map(Path::to_path_buf);
        config.memory_bytes = Some(self.spec.memory_bytes);
        Sandbox::new(config).map_err(|error| PluginFault::Misconfigured(error.to_string()))
    }
}

pub(super) struct Worker {
    spec: ProcessSpec,
    status: Arc<Mutex<PluginStatus>>,
    sandbox: Option<(Sandbox, Option<PathBuf>)>,
    connection: Option<(Connection, Handshake)>,
    failures: u32,
    /// When it may be started again, and why not before.
    pause: Option<(Instant, PluginFault)>,
}

impl Worker {
    pub(super) fn new(spec: ProcessSpec, status: Arc<Mutex<PluginStatus>>) -> Self {
        Self {
            spec,
            status,
            sandbox: None,
            connection: None,
            failures: 0,
            pause: None,
        }
    }

    /// Makes calls until nobody can ask any more.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            match jobs.recv_timeout(IDLE) {
                Ok(job) => self.serve(job),
                Err(RecvTimeoutError::Timeout) => self.rest(),
                Err(RecvTimeoutError::Disconnected) => return self.rest(),
            }
        }
    }

    fn serve(&mut self, job: Job) {
        let outcome = self.answer(&job);
        let (verdict, deliver) = (job.judge)(outcome);
        match verdict {
            Ok(()) => self.failures = 0,
            Err(fault) if fault.ends_process() => self.fail(fault),
            Err(_) => {}
        }
        // Whoever asked finds the process as the answer left it.
        deliver();
    }

    fn answer(&mut self, job: &Job) -> Result<Value, PluginFault> {
        let limit = self.spec.spec.timeout;
        let mut deadline = job.submitted + limit;
        if self.connection.is_none() {
            let before = Instant::now();
            self.start()?;
            deadline += before.elapsed();
        }
        let Some((connection, greeting)) = &mut self.connection else {
            return Err(PluginFault::Removed);
        };
        if let Some(needs) = &job.needs
            && !greeting.offers(needs)
        {
            return Err(PluginFault::NotOffered(needs.name().to_owned()));
        }
        match &job.params {
            Some(params) => connection.ask(job.method, params, deadline, limit),
            None => serde_json::to_value(greeting).map_err(|error| PluginFault::BadAnswer {
                method: job.method,
                reason: error.to_string(),
            }),
        }
    }

    /// Starts the process and shakes hands, unless it failed a moment ago.
    fn start(&mut self) -> Result<(), PluginFault> {
        if let Some((until, cause)) = &self.pause {
            let wait = until.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                return Err(PluginFault::BackingOff {
                    wait,
                    cause: Box::new(cause.clone()),
                });
            }
        }
        let (sandbox, data) = if let Some(kept) = self.sandbox.take() {
            kept
        } else {
            let data = self.spec.data();
            (self.spec.sandbox(data.as_deref())?, data)
        };
        let (sandbox, data) = self.sandbox.insert((sandbox, data));
        let report = sandbox
            .reach()
            .map_err(|refusal| PluginFault::NoSandbox(refusal.to_string()))?
            .clone();
        lock(&self.status).sandbox = Some(report);
        let workdir = self.spec.workspace.clone();
        let mut connection = Connection::start(sandbox, &self.spec.spec.command, workdir)?;
        let workspace = self.spec.workspace.as_deref().map(told).transpose()?;
        let params = json!({
            "protocolVersion": VERSION,
            "host": {"name": "chitin", "version": self.spec.host.version},
            "workspace": workspace,
            "dataDirectory": data.as_deref().map(told).transpose()?,
        });
        let limit = self.spec.spec.timeout;
        let answer = connection
            .ask(method::INITIALIZE, &params, Instant::now() + limit, limit)
            .map_err(|fault| {
                // A plugin that does not shake hands is of no use, whatever it says.
                if let PluginFault::Rejected { method, .. } = &fault {
                    let (method, reason) = (*method, fault.to_string());
                    return PluginFault::BadAnswer { method, reason };
                }
                fault
            })?;
        let greeting = handshake(answer)?;
        let mut status = lock(&self.status);
        status.state = PluginState::Running;
        status.handshake = Some(greeting.clone());
        status.fault = None;
        drop(status);
        self.pause = None;
        self.connection = Some((connection, greeting));
        Ok(())
    }

    /// Ends the process and leaves it alone for a while, longer each time.
    fn fail(&mut self, fault: PluginFault) {
        self.connection = None;
        let pause = FIRST_PAUSE
            .saturating_mul(1 << self.failures.min(10))
            .min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        let mut status = lock(&self.status);
        status.state = PluginState::Failed;
        status.fault = Some(fault.clone());
        drop(status);
        self.pause = Some((Instant::now() + pause, fault));
    }

    /// Lets the process go until it is needed again.
    fn rest(&mut self) {
        if let Some((connection, _)) = self.connection.take() {
            connection.close();
            lock(&self.status).state = PluginState::Idle;
        }
    }
}
