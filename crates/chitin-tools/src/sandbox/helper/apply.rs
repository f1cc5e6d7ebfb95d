//! The part that becomes the command: gives its rights away for good, then runs it in its place.

use super::super::level::SandboxLevel;
use super::super::wire::{Apply, ErrorOutput, Facts, read_frame};
use super::supervise::{FAILED, READY};
use rustix::process::{Resource, Rlimit, Signal};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// What the process ends with when it never became the command.
const NOT_STARTED: u8 = 125;

pub(super) fn run() -> ExitCode {
    let problem = match read_frame(&mut Unbuffered) {
        Ok(Some(frame)) => match serde_json::from_slice(&frame) {
            Ok(apply) => become_command(&apply).err(),
            Err(error) => Some(error.to_string()),
        },
        Ok(None) => Some("there is nothing to run".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        let _ = writeln!(io::stderr(), "{FAILED}{problem}");
    }
    ExitCode::from(NOT_STARTED)
}

/// Standard input, of which not a byte too much is taken: the rest is the command's.
struct Unbuffered;

impl Read for Unbuffered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(rustix::stdio::stdin(), buffer)?)
    }
}

/// Returns only when it failed, with the reason unless that was told already.
fn become_command(apply: &Apply) -> Result<(), String> {
    let said = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    // A session of its own: no terminal to type into. `bwrap` has made one already.
    if apply.level != SandboxLevel::Bwrap {
        rustix::process::setsid()
            .map_err(|error| said("could not create a session")(error.into()))?;
    }
    die_with(apply.parent)?;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, none)
        .map_err(|error| said("could not disable core dumps")(error.into()))?;
    if let Some(bytes) = apply.policy.memory_bytes {
        let limit = Rlimit {
            current: Some(bytes),
            maximum: Some(bytes),
        };
        rustix::process::setrlimit(Resource::Data, limit)
            .map_err(|error| said("could not limit memory")(error.into()))?;
    }
    let limits = super::limits::apply(&apply.limits, apply.other_tasks)?;
    if let Some(output) = apply.output {
        let output =
            super::super::fs::opened_again(output).map_err(said("could not set up the output"))?;
        rustix::stdio::dup2_stdout(&output)
            .map_err(|error| said("could not set up the output")(error.into()))?;
    }
    close_the_rest();
    std::env::set_current_dir(&apply.workdir).map_err(said("could not change to the directory"))?;
    let facts = Facts {
        limits,
        ..restrict(apply)?
    };

    let mut command = Command::new(
        apply
            .program
            .first()
            .ok_or_else(|| "there is nothing to run".to_owned())?,
    );
    command
        .args(&apply.program[1..])
        .env_clear()
        .envs(&apply.environment);
    // The way back closes by itself when the command takes over, so nothing can be said in its name.
    let back = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3)
        .map_err(|error| said("could not set up the status pipe")(error.into()))?;
    let facts = serde_json::to_string(&facts).map_err(|error| error.to_string())?;
    write_back(&back, &format!("{READY}{facts}\n"))
        .map_err(said("could not set up the status pipe"))?;
    match apply.errors {
        ErrorOutput::Output => rustix::stdio::dup2_stderr(rustix::stdio::stdout())
            .map_err(|error| said("could not set up the error output")(error.into()))?,
        ErrorOutput::Tail => {}
    }
    let error = command.exec();
    let program = command.get_program().to_string_lossy();
    let problem = match error.kind() {
        io::ErrorKind::NotFound => format!("the program `{program}` was not found"),
        io::ErrorKind::PermissionDenied => format!("no permission to run the program `{program}`"),
        _ => format!("could not run the program `{program}`: {error}"),
    };
    let _ = write_back(&back, &format!("{FAILED}{problem}\n"));
    Ok(())
}

fn write_back(back: &rustix::fd::OwnedFd, text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let count = rustix::io::write(back, rest)?;
        rest = &rest[count..];
    }
    Ok(())
}

/// Ends with the supervisor, whatever ends it.
#[cfg(target_os = "linux")]
fn die_with(parent: Option<i32>) -> Result<(), String> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("could not request a signal for the parent's death: {error}"))?;
    let now = rustix::process::getppid().map(rustix::process::Pid::as_raw_pid);
    if parent.is_some() && now != parent {
        return Err("the supervisor has exited".to_owned());
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn die_with(_parent: Option<i32>) -> Result<(), String> {
    let _ = Signal::KILL;
    Ok(())
}

/// Closes what this process was handed without being asked.
#[cfg(target_os = "linux")]
fn close_the_rest() {
    for descriptor in super::super::fs::open_descriptors() {
        let _ = nix::unistd::close(descriptor);
    }
}

#[cfg(not(target_os = "linux"))]
fn close_the_rest() {}

#[cfg(target_os = "linux")]
fn restrict(apply: &Apply) -> Result<Facts, String> {
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| format!("could not set `no_new_privs`: {error}"))?;
    let mut facts = Facts::default();
    match apply.level {
        SandboxLevel::None => {}
        SandboxLevel::Bwrap => {
            super::filter::apply(&apply.policy)?;
            facts.filter = true;
        }
        SandboxLevel::Landlock => {
            facts.landlock = Some(super::landlock::apply(&apply.policy)?);
            super::filter::apply(&apply.policy)?;
            facts.filter = true;
        }
    }
    Ok(facts)
}

#[cfg(not(target_os = "linux"))]
fn restrict(apply: &Apply) -> Result<Facts, String> {
    match apply.level {
        SandboxLevel::None => Ok(Facts::default()),
        SandboxLevel::Bwrap | SandboxLevel::Landlock => {
            Err("this system does not support it".to_owned())
        }
    }
}
