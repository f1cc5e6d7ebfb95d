//! A command that runs, seen from this process.
//!
//! Two threads belong to it: one takes its output, one listens to its supervisor. Neither needs a runtime, so a command in the
//! background goes on while this process waits for its user.

use super::helper::SUPERVISE;
use super::wire::{Cause, CommandExit, ErrorOutput, Facts, Launch, Status, write_frame};
use super::{HELPER_ARGUMENT, fs};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long the supervisor has to end everything before it is ended itself.
const GRACE: Duration = Duration::from_secs(7);
/// How long output may still come when the supervisor is gone.
const LAST_OUTPUT: Duration = Duration::from_secs(2);
/// The stack of a thread that only copies.
const STACK: usize = 256 << 10;

/// Takes the output of a command, as it comes.
pub type OutputSink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// A command to run.
#[derive(Clone)]
pub struct CommandRequest {
    /// The program and its arguments.
    pub program: Vec<String>,
    /// What is added to its environment.
    pub environment: BTreeMap<String, String>,
    /// Where it starts; left out, the workspace.
    pub workdir: Option<PathBuf>,
    /// Directories that it may read besides those of the sandbox.
    pub readable: Vec<PathBuf>,
    /// Whether the files that the agent is made of are closed to it for writing; see [`Sandbox::can_keep_own`](super::Sandbox::can_keep_own).
    pub keeps_own: bool,
    /// Whether it may follow untrusted text: its private directories are not those of other commands.
    pub is_untrusted: bool,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Where its error output goes.
    pub errors: ErrorOutput,
    /// Whether the limits of commands hold for it. A server lives for as long as it is used.
    pub limited: bool,
    /// Who takes its output.
    pub sink: OutputSink,
}

impl fmt::Debug for CommandRequest {
    /// Leaves the environment out: it may have keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("program", &self.program)
            .field("workdir", &self.workdir)
            .finish_non_exhaustive()
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Why.
    pub cause: Cause,
    /// What it exited with.
    pub code: Option<i32>,
    /// What killed it.
    pub signal: Option<i32>,
    /// What went wrong before it could start.
    pub message: String,
    pub(super) facts: Option<Facts>,
}

/// A command that runs. Dropping it ends the command and everything that it started.
pub struct Running {
    control: Arc<Mutex<Option<ChildStdin>>>,
    supervisor: Arc<Mutex<Option<Pid>>>,
    ending: watch::Receiver<Option<Ending>>,
    started: Instant,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("ending", &*self.ending.borrow())
            .finish_non_exhaustive()
    }
}

impl Running {
    pub(super) fn start(launch: &Launch, sink: &OutputSink) -> io::Result<Self> {
        let mut child = supervisor(launch).spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let control = Arc::new(Mutex::new(child.stdin.take()));
        let supervisor = Arc::new(Mutex::new(pid));
        let (output, status) = (child.stdout.take(), child.stderr.take());
        let (sender, ending) = watch::channel(None);
        // From here on dropping this ends the child, whatever goes wrong below.
        let running = Self {
            control,
            supervisor,
            ending,
            started: Instant::now(),
        };
        let (done, output_done) = channel();
        let sink = Arc::clone(sink);
        let most = launch.limits.output_bytes;
        let exceeded = Arc::new(AtomicBool::new(false));
        let (lifeline, flag) = (Arc::clone(&running.control), Arc::clone(&exceeded));
        named("exec-output").spawn(move || {
            if let Some(output) = output {
                copy(output, &sink, most, || {
                    flag.store(true, Ordering::Release);
                    lock(&lifeline).take();
                });
            }
            let _ = done.send(());
        })?;
        let (control, slot) = (
            Arc::clone(&running.control),
            Arc::clone(&running.supervisor),
        );
        named("exec-status").spawn(move || {
            let mut ending = follow(child, status, &slot);
            if let Some(most) = most
                && exceeded.load(Ordering::Acquire)
            {
                ending.cause = Cause::Limited;
                ending.message = format!("its output had more than {} MB", most / (1 << 20));
            }
            let _ = output_done.recv_timeout(LAST_OUTPUT);
            lock(&control).take();
            let _ = sender.send(Some(ending));
        })?;
        running.tell(&launch_frame(launch)?)?;
        Ok(running)
    }

    /// Returns how it ended, if it did.
    pub fn ending(&self) -> Option<Ending> {
        self.ending.borrow().clone()
    }

    /// Returns how long ago it began.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for its end.
    pub async fn wait(&self) -> Ending {
        let mut ending = self.ending.clone();
        match ending.wait_for(Option::is_some).await {
            Ok(found) => found.clone().unwrap_or_else(lost),
            Err(_) => lost(),
        }
    }

    /// Waits for its end without a runtime.
    pub(super) fn wait_blocking(&self) -> Ending {
        loop {
            if let Some(ending) = self.ending() {
                return ending;
            }
            if self.ending.has_changed().is_err() {
                return self.ending().unwrap_or_else(lost);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Writes to its input. It may block for a moment.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.tell(bytes)
    }

    /// Closes its input.
    pub fn close_input(&self) -> io::Result<()> {
        self.tell(&[])
    }

    /// Ends it and everything that it started. Returns at once; [`Running::wait`] tells when it is done.
    pub fn stop(&self) {
        lock(&self.control).take();
    }

    /// Ends it and waits until it is gone.
    pub async fn stop_and_wait(&self) -> Ending {
        self.stop();
        if let Ok(ending) = tokio::time::timeout(GRACE, self.wait()).await {
            return ending;
        }
        self.end_supervisor();
        tokio::time::timeout(GRACE, self.wait())
            .await
            .unwrap_or_else(|_| lost())
    }

    /// The same without a runtime, for at most a little while.
    pub(crate) fn stop_blocking(&self, patience: Duration) {
        self.stop();
        let until = Instant::now() + patience;
        while self.ending().is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn tell(&self, bytes: &[u8]) -> io::Result<()> {
        match lock(&self.control).as_mut() {
            Some(control) => write_frame(control, bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn end_supervisor(&self) {
        // The number is taken away before the process is collected, so it can't be somebody else's.
        if let Some(pid) = *lock(&self.supervisor) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A command whose streams are used by somebody else.
pub(crate) struct AsyncParts {
    pub(crate) child: tokio::process::Child,
    pub(crate) first_frame: Vec<u8>,
}

impl AsyncParts {
    /// Starts the supervisor inside a runtime. The first frame must be written to its input before anything else.
    pub(crate) fn start(launch: &Launch) -> io::Result<Self> {
        let child = tokio::process::Command::from(supervisor(launch)).spawn()?;
        let mut first_frame = Vec::new();
        write_frame(&mut first_frame, &launch_frame(launch)?)?;
        Ok(Self { child, first_frame })
    }

    /// Reads how the command ended out of what the supervisor said.
    pub(crate) fn ended(said: &[u8]) -> Option<CommandExit> {
        said.split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Status>(line).ok())
            .find_map(|status| match status {
                Status::Ended(ended) => Some(ended),
                Status::Started { .. } | Status::Ready { .. } => None,
            })
    }
}

fn supervisor(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.helper);
    command
        .args([HELPER_ARGUMENT, SUPERVISE])
        .env_clear()
        .current_dir("/")
        // A group of its own: Ctrl-C in the terminal is for Chitin, which decides what becomes of commands.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn launch_frame(launch: &Launch) -> io::Result<Vec<u8>> {
    if fs::kind(&launch.helper).is_none() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("`{}` does not exist", launch.helper.display()),
        ));
    }
    serde_json::to_vec(launch).map_err(io::Error::other)
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK)
}

/// Hands output on. What comes after too much of it is read and dropped until the command is gone.
fn copy(mut output: ChildStdout, sink: &OutputSink, most: Option<u64>, exceeded: impl Fn()) {
    let mut chunk = vec![0; 64 << 10];
    let mut total: u64 = 0;
    loop {
        match output.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                let before = total;
                total = total.saturating_add(count as u64);
                match most {
                    Some(most) if before > most => {}
                    Some(most) if total > most => {
                        sink(&chunk[..count]);
                        exceeded();
                    }
                    Some(_) | None => sink(&chunk[..count]),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Listens to the supervisor until it is gone.
fn follow(mut child: Child, status: Option<ChildStderr>, slot: &Mutex<Option<Pid>>) -> Ending {
    let mut facts = None;
    let mut ended = None;
    let mut inner = None;
    for line in status
        .map(BufReader::new)
        .into_iter()
        .flat_map(|lines| lines.lines().map_while(Result::ok))
    {
        match serde_json::from_str(&line) {
            Ok(Status::Started { pid }) => inner = i32::try_from(pid).ok().and_then(Pid::from_raw),
            Ok(Status::Ready { facts: found }) => facts = Some(found),
            Ok(Status::Ended(found)) => ended = Some(found),
            Err(_) => {}
        }
    }
    lock(slot).take();
    let _ = child.wait();
    if ended.is_none()
        && let Some(group) = inner
    {
        // The supervisor was killed by somebody. The command dies with it; its group may need help.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let CommandExit {
        cause,
        code,
        signal,
        message,
    } = ended.unwrap_or_else(|| CommandExit {
        cause: Cause::Lost,
        code: None,
        signal: None,
        message: "the sandbox helper exited before the command".to_owned(),
    });
    Ending {
        cause,
        code,
        signal,
        message,
        facts,
    }
}

fn lost() -> Ending {
    Ending {
        cause: Cause::Lost,
        code: None,
        signal: None,
        message: "the sandbox helper lost the command".to_owned(),
        facts: None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
