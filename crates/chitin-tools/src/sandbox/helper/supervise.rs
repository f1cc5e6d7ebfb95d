//! The part that watches: starts the command, feeds it, ends it in time, and leaves nothing of it behind.

use super::super::bwrap;
use super::super::level::SandboxLevel;
use super::super::wire::{
    Apply, Cause, CommandExit, Facts, Launch, Status, read_frame, write_frame,
};
use super::super::{HELPER_ARGUMENT, fs};
use super::control_group::ControlGroup;
use super::limits::{TICK, Watch};
use super::shield::Shield;
use super::{APPLY, tree};
use rustix::process::{Pid, WaitOptions, WaitStatus};
use std::io::{BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How many frames of input wait for a command that does not read. What comes after them is dropped: the lifeline must
/// always be read.
const WAITING_FRAMES: usize = 64;
/// How much is kept of what the inner helper or the command's error output says.
const KEPT_MESSAGE: usize = 4096;
/// How long the last words of a command that is gone are waited for.
const LAST_WORDS: Duration = Duration::from_millis(300);

enum Event {
    Ready(Facts),
    Said(String),
    Exited(WaitStatus),
    LifelineCut,
}

pub(super) fn run() -> ExitCode {
    let mut control = BufReader::new(std::io::stdin());
    let launch = read_frame(&mut control)
        .ok()
        .flatten()
        .and_then(|frame| serde_json::from_slice::<Launch>(&frame).ok());
    let Some(mut launch) = launch else {
        return ExitCode::from(2);
    };
    tree::adopt_orphans();
    // From here on the limits are those that somebody holds.
    let group = ControlGroup::create(&mut launch.limits);
    let shield = shield(&launch);
    let ended = match shield
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|shield| start(&launch, shield, group.as_ref()))
    {
        Ok(started) => {
            // The output is the command's. A second holder would keep it open after the command closed it.
            let _ = rustix::stdio::dup2_stdout(rustix::stdio::stderr());
            watch(started, control, &launch, group.as_ref())
        }
        Err(message) => not_started(message),
    };
    // Nothing of the command is left, so what kept it from names can go.
    drop((shield, group));
    say(&Status::Ended(ended));
    ExitCode::SUCCESS
}

fn not_started(message: String) -> CommandExit {
    CommandExit {
        cause: Cause::NotStarted,
        code: None,
        signal: None,
        message,
    }
}

/// The inner process.
struct Started {
    child: Child,
    /// The descriptor that is the command's output, where it is not the usual one.
    output: Option<i32>,
}

/// Keeps what a command must not see, change or make.
fn shield(launch: &Launch) -> Result<Shield, String> {
    match launch.level {
        SandboxLevel::Bwrap => Shield::new(&launch.policy),
        SandboxLevel::Landlock | SandboxLevel::None => Ok(Shield::default()),
    }
}

fn start(
    launch: &Launch,
    shield: &Shield,
    group: Option<&ControlGroup>,
) -> Result<Started, String> {
    let mut command = match (launch.level, &launch.bwrap) {
        (SandboxLevel::Bwrap, Some(program)) => {
            let mut command = Command::new(program);
            command.args(bwrap::arguments(
                &launch.policy,
                &shield.mounts,
                &launch.helper,
                &launch.workdir,
            ));
            command
        }
        (SandboxLevel::Bwrap, None) => return Err("`bwrap` was not found".to_owned()),
        (SandboxLevel::Landlock | SandboxLevel::None, _) => Command::new(&launch.helper),
    };
    if fs::kind(&launch.workdir) != Some(fs::FsEntryKind::Directory) {
        return Err(format!("`{}` is not a directory", launch.workdir.display()));
    }
    // `bwrap` stays beside the command, twice, and keeps its own output open; it lets go of every further descriptor. So the
    // command's output is one of those.
    let output = match launch.level {
        SandboxLevel::Bwrap => {
            let output = rustix::io::dup(rustix::stdio::stdout());
            Some(output.map_err(|error| format!("could not set up the output: {error}"))?)
        }
        SandboxLevel::Landlock | SandboxLevel::None => None,
    };
    command
        .args([HELPER_ARGUMENT, APPLY])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(match output {
            Some(_) => Stdio::null(),
            None => Stdio::inherit(),
        })
        .stderr(Stdio::piped());
    let spawned = match group {
        Some(group) => group
            .start(|| command.spawn())
            .map_err(|error| format!("could not use the command's control group: {error}"))?,
        None => command.spawn(),
    };
    let child = spawned
        .map_err(|error| format!("`{}`: {error}", command.get_program().to_string_lossy()))?;
    Ok(Started {
        child,
        output: output.map(|output| output.as_raw_fd()),
    })
}

fn watch(
    started: Started,
    control: impl Read + Send + 'static,
    launch: &Launch,
    group: Option<&ControlGroup>,
) -> CommandExit {
    let Started { mut child, output } = started;
    let deadline = launch
        .timeout_ms
        .map(|timeout| Instant::now() + Duration::from_millis(timeout));
    say(&Status::Started { pid: child.id() });
    let (events, inbox) = channel();
    let (feed, fodder) = sync_channel(WAITING_FRAMES);
    let first = serde_json::to_vec(&apply(launch, output)).unwrap_or_default();
    if let Some(stdin) = child.stdin.take() {
        thread::spawn(move || write_input(stdin, &first, &fodder));
    }
    if let Some(stderr) = child.stderr.take() {
        let events = events.clone();
        thread::spawn(move || listen(stderr, &events));
    }
    let lifeline = events.clone();
    thread::spawn(move || read_control(control, &feed, &lifeline));
    let main = child.id();
    thread::spawn(move || reap(main, &events));

    let mut said = String::new();
    let mut ready = false;
    let mut limits = Watch::new(&launch.limits, &launch.policy, group);
    let mut limit = None;
    let longest = if limits.is_needed() {
        TICK
    } else {
        Duration::from_hours(1)
    };
    let (cause, status) = loop {
        let wait = deadline.map_or(longest, |deadline| {
            deadline
                .saturating_duration_since(Instant::now())
                .min(longest)
        });
        match inbox.recv_timeout(wait) {
            Ok(Event::Ready(facts)) => {
                ready = true;
                say(&Status::Ready { facts });
            }
            Ok(Event::Said(text)) => said = text,
            Ok(Event::Exited(status)) => break (Cause::Exited, Some(status)),
            Ok(Event::LifelineCut) | Err(RecvTimeoutError::Disconnected) => {
                break (Cause::Stopped, None);
            }
            Err(RecvTimeoutError::Timeout) => {
                if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                    break (Cause::TimedOut, None);
                }
                limit = limits.exceeded();
                if limit.is_some() {
                    break (Cause::Limited, None);
                }
            }
        }
    };
    let (cause, limit) = match status {
        // What the kernel ended, or refused a process, did not end by itself.
        Some(status) if status.exit_status() != Some(0) => {
            match group.and_then(ControlGroup::exceeded) {
                Some(limit) => (Cause::Limited, Some(limit)),
                None => (cause, limit),
            }
        }
        _ => (cause, limit),
    };
    tree::kill_everything(main);
    // Whatever was said last is still on its way.
    while let Ok(event) = inbox.recv_timeout(LAST_WORDS) {
        match event {
            Event::Ready(facts) => {
                ready = true;
                say(&Status::Ready { facts });
            }
            Event::Said(text) => {
                said = text;
                break;
            }
            Event::Exited(_) | Event::LifelineCut => {}
        }
    }
    let failed = said.lines().find_map(|line| line.strip_prefix(FAILED));
    match (cause, failed) {
        (Cause::Exited, Some(reason)) => not_started(reason.trim().to_owned()),
        (Cause::Exited, None) if !ready => not_started(said.trim().to_owned()),
        _ => CommandExit {
            cause,
            code: status.and_then(WaitStatus::exit_status),
            signal: status.and_then(WaitStatus::terminating_signal),
            message: limit.unwrap_or(said),
        },
    }
}

/// What a line of the inner helper begins with when it gives up.
pub(super) const FAILED: &str = "chitin-sandbox failed: ";
/// What a line of the inner helper begins with when it is ready.
pub(super) const READY: &str = "chitin-sandbox ready: ";

fn apply(launch: &Launch, output: Option<i32>) -> Apply {
    let inner = launch.level == SandboxLevel::Bwrap;
    Apply {
        level: launch.level,
        parent: (!inner).then(|| rustix::process::getpid().as_raw_pid()),
        policy: launch.policy.clone(),
        limits: launch.limits,
        // In namespaces of its own a command is counted alone.
        other_tasks: match (launch.level, launch.limits.processes) {
            (SandboxLevel::Landlock | SandboxLevel::None, Some(_)) => fs::tasks_of_user(),
            (SandboxLevel::Bwrap, _) | (_, None) => 0,
        },
        program: launch.program.clone(),
        environment: launch.environment.clone(),
        workdir: launch.workdir.clone(),
        errors: launch.errors,
        output,
    }
}

fn write_input(mut stdin: ChildStdin, first: &[u8], fodder: &Receiver<Vec<u8>>) {
    if write_frame(&mut stdin, first).is_err() {
        return;
    }
    while let Ok(bytes) = fodder.recv() {
        // An empty frame closes the input: dropping it does.
        if bytes.is_empty() || stdin.write_all(&bytes).is_err() {
            return;
        }
    }
}

fn read_control(mut control: impl Read, feed: &SyncSender<Vec<u8>>, events: &Sender<Event>) {
    while let Ok(Some(frame)) = read_frame(&mut control) {
        let _ = feed.try_send(frame);
    }
    let _ = events.send(Event::LifelineCut);
}

/// Waits for every process that ends here, orphans too, until the command itself does.
fn reap(main: u32, events: &Sender<Event>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if is(pid, main) => {
                let _ = events.send(Event::Exited(status));
                return;
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn is(pid: Pid, id: u32) -> bool {
    i64::from(pid.as_raw_pid()) == i64::from(id)
}

/// Reads what the inner helper says. Its first line says that it is ready; what comes after it is the command's.
fn listen(mut from: ChildStderr, events: &Sender<Event>) {
    let mut kept: Vec<u8> = Vec::new();
    let mut ready = false;
    let mut chunk = [0; 4096];
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        kept.extend_from_slice(&chunk[..count]);
        if !ready && let Some((line, rest)) = ready_line(&kept) {
            ready = true;
            kept = rest;
            let _ = events.send(Event::Ready(line));
        }
        if kept.len() > 2 * KEPT_MESSAGE {
            kept.drain(..kept.len() - KEPT_MESSAGE);
        }
    }
    let from = kept.len().saturating_sub(KEPT_MESSAGE);
    let text = String::from_utf8_lossy(&kept[from..]).into_owned();
    let _ = events.send(Event::Said(text));
}

fn ready_line(bytes: &[u8]) -> Option<(Facts, Vec<u8>)> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let facts = bytes[..end].strip_prefix(READY.as_bytes())?;
    Some((
        serde_json::from_slice(facts).ok()?,
        bytes[end + 1..].to_vec(),
    ))
}

fn say(status: &Status) {
    if let Ok(mut line) = serde_json::to_vec(status) {
        line.push(b'\n');
        let _ = std::io::stderr().write_all(&line);
    }
}
