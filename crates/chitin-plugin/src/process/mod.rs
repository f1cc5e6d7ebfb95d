//! One running plugin: a worker thread that owns the process, starts it when it is needed and ends it when it fails.
//!
//! Calls wait in a queue; the worker makes them one after another with blocking pipes and deadlines. So the same process
//! serves callers that block and callers that wait in a runtime, and no caller waits longer than a start and a call take.

mod connection;
mod worker;

pub use worker::DATA as DATA_DIRECTORY;
pub(crate) use worker::ProcessSpec;

use crate::fault::PluginFault;
use crate::protocol::{Handshake, PluginOffer};
use chitin_tools::sandbox::SandboxReport;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use worker::Worker;

/// How long the end of a process is waited for.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// The stack of a worker.
const STACK: usize = 512 << 10;

/// How a plugin is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PluginState {
    /// It was not needed yet, or was ended because it was not needed for a while.
    #[default]
    Idle,
    /// It runs.
    Running,
    /// It failed and is started again later.
    Failed,
    /// It is switched off in the configuration.
    Disabled,
}

/// What is known of a plugin's process.
#[derive(Debug, Clone, Default)]
pub struct PluginStatus {
    /// How it is.
    pub state: PluginState,
    /// What it said of itself, once it did.
    pub handshake: Option<Handshake>,
    /// What the sandbox enforces, once it was started.
    pub sandbox: Option<SandboxReport>,
    /// What happened last, if it failed.
    pub fault: Option<PluginFault>,
}

/// Judges an answer: says whether it is good, and hands it to whoever asked when it is called.
type Judge =
    Box<dyn FnOnce(Result<Value, PluginFault>) -> (Result<(), PluginFault>, Deliver) + Send>;
type Deliver = Box<dyn FnOnce() + Send>;

/// A call that waits for the worker.
struct Job {
    method: &'static str,
    /// What the plugin must offer for this.
    needs: Option<PluginOffer>,
    /// The parameters, as JSON; nothing asks only for the handshake.
    params: Option<Value>,
    submitted: Instant,
    judge: Judge,
}

/// One plugin process, which may or may not be running.
#[derive(Debug)]
pub(crate) struct PluginProcess {
    jobs: Mutex<Option<Sender<Job>>>,
    ended: Mutex<Receiver<()>>,
    status: Arc<Mutex<PluginStatus>>,
}

/// What a plugin is asked.
pub(crate) struct Call {
    method: &'static str,
    needs: Option<PluginOffer>,
    params: Option<Value>,
}

impl Call {
    /// Asks a plugin who it is; it is started for that if need be.
    const fn greeting() -> Self {
        Self {
            method: crate::protocol::method::INITIALIZE,
            needs: None,
            params: None,
        }
    }

    /// Makes a call of something that is offered.
    pub(crate) fn new(
        method: &'static str,
        needs: PluginOffer,
        params: &impl Serialize,
    ) -> Result<Self, PluginFault> {
        let params = serde_json::to_value(params).map_err(|error| PluginFault::BadAnswer {
            method,
            reason: format!("the request cannot be written: {error}"),
        })?;
        Ok(Self {
            method,
            needs: Some(needs),
            params: Some(params),
        })
    }
}

impl PluginProcess {
    /// Makes the worker. Nothing is started yet.
    pub(crate) fn new(spec: ProcessSpec) -> Result<Self, PluginFault> {
        let (jobs, inbox) = channel();
        let (done, ended) = channel();
        let status = Arc::new(Mutex::new(PluginStatus::default()));
        let name = format!("plugin-{}", spec.name());
        let worker = Worker::new(spec, Arc::clone(&status));
        thread::Builder::new()
            .name(name)
            .stack_size(STACK)
            .spawn(move || {
                worker.run(&inbox);
                let _ = done.send(());
            })
            .map_err(|error| PluginFault::NotStarted(error.to_string()))?;
        Ok(Self {
            jobs: Mutex::new(Some(jobs)),
            ended: Mutex::new(ended),
            status,
        })
    }

    /// Returns what is known of the process.
    pub(crate) fn status(&self) -> PluginStatus {
        lock(&self.status).clone()
    }

    /// Starts the process if it does not run, and returns what it said of itself. It blocks for as long as that takes.
    pub(crate) fn greet_blocking(&self) -> Result<Handshake, PluginFault> {
        self.call_blocking(Call::greeting(), |value| {
            serde_json::from_value(value).map_err(|error| error.to_string())
        })
    }

    /// The same, without blocking.
    pub(crate) async fn greet(&self) -> Result<Handshake, PluginFault> {
        self.call(Call::greeting(), |value| {
            serde_json::from_value(value).map_err(|error| error.to_string())
        })
        .await
    }

    /// Asks, and blocks until there is an answer.
    pub(crate) fn call_blocking<T: Send + 'static>(
        &self,
        call: Call,
        parse: impl FnOnce(Value) -> Result<T, String> + Send + 'static,
    ) -> Result<T, PluginFault> {
        let (answer, answered) = channel();
        self.submit(call, parse, move |outcome| {
            let _ = answer.send(outcome);
        });
        answered.recv().unwrap_or(Err(PluginFault::Removed))
    }

    /// Asks, and waits. The future may be dropped: the call is then made all the same, and its answer is not used.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        call: Call,
        parse: impl FnOnce(Value) -> Result<T, String> + Send + 'static,
    ) -> Result<T, PluginFault> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.submit(call, parse, move |outcome| {
            let _ = answer.send(outcome);
        });
        answered.await.unwrap_or(Err(PluginFault::Removed))
    }

    fn submit<T: Send + 'static>(
        &self,
        call: Call,
        parse: impl FnOnce(Value) -> Result<T, String> + Send + 'static,
        answer: impl FnOnce(Result<T, PluginFault>) + Send + 'static,
    ) {
        let method = call.method;
        let job = Job {
            method,
            needs: call.needs,
            params: call.params,
            submitted: Instant::now(),
            judge: Box::new(move |outcome| {
                let parsed = outcome.and_then(|value| {
                    parse(value).map_err(|reason| PluginFault::BadAnswer { method, reason })
                });
                let verdict = parsed.as_ref().map(drop).map_err(Clone::clone);
                (verdict, Box::new(move || answer(parsed)))
            }),
        };
        if let Some(jobs) = lock(&self.jobs).as_ref() {
            // Where the worker is gone, so is the job, and whoever waits for its answer hears of it.
            let _ = jobs.send(job);
        }
    }

    /// Closes the plugin's input and waits a moment for its end. Calls that wait are still made.
    pub(crate) fn close(&self) {
        if lock(&self.jobs).take().is_some() {
            let _ = lock(&self.ended).recv_timeout(LAST_WAIT);
        }
    }
}

impl Drop for PluginProcess {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns a path as plugins are told it.
pub(crate) fn told(path: &Path) -> Result<&str, PluginFault> {
    path.to_str()
        .ok_or_else(|| PluginFault::Misconfigured(format!("`{}` is not UTF-8", path.display())))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
