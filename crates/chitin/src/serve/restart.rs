//! Taking over from oneself: the new process gets the socket that the old one listened on, so that nobody who connects meanwhile is turned away.

use crate::error::{CliError, FailureKind};
use chitin_runtime::Host;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The place to listen on that means: the socket that standard input is.
pub(crate) const STDIN: &str = "stdin";
/// How long a new process may take to say whether it could serve.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of what it says is passed on.
const MAX_LINES: usize = 8;
/// What Linux says of a program whose file was replaced.
const REPLACED: &str = " (deleted)";

/// Takes the socket that standard input is: systemd and a server before this one hand it over so.
pub(crate) fn handed_over() -> Result<TcpListener, CliError> {
    let wrong = || {
        CliError::new(
            FailureKind::User,
            "Standard input is not a listening socket.",
        )
        .hint("`--listen stdin` is for a systemd socket unit, with `StandardInput=socket`")
    };
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(wrong());
    }
    let socket = stdin.as_fd().try_clone_to_owned().map_err(|_| wrong())?;
    let listener = TcpListener::from(socket);
    listener.local_addr().map_err(|_| wrong())?;
    Ok(listener)
}

/// Says why a new process of the program could not serve, if it could not. The program may be a newer one, so that one is asked.
pub(crate) async fn check() -> Result<(), String> {
    // Standard input is this server's socket where it was handed over.
    let asking = tokio::process::Command::new(program())
        .args(std::env::args_os().skip(1))
        .arg("--check")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let asked = tokio::time::timeout(PATIENCE, asking).await.map_err(|_| {
        let seconds = PATIENCE.as_secs();
        format!("the new program gave no answer for {seconds} s")
    })?;
    let asked = asked.map_err(|error| format!("the new program does not start: {error}"))?;
    if asked.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&asked.stderr);
    let said = said.lines().filter(|line| !line.trim().is_empty());
    let said: Vec<&str> = said.take(MAX_LINES).collect();
    if said.is_empty() {
        return Err(format!("the new program ended with {}", asked.status));
    }
    Err(said.join("; "))
}

/// Becomes a new process of the same program, with the same arguments and the same socket. Returns only when that does not work.
pub(crate) fn become_new(listener: TcpListener) -> CliError {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.iter().rev().take(2).all(|last| last != STDIN) {
        arguments.extend(["--listen".into(), STDIN.into()]);
    }
    let failed = Command::new(program())
        .args(arguments)
        .stdin(Stdio::from(OwnedFd::from(listener)))
        .exec();
    CliError::new(FailureKind::Internal, "The server could not restart.").caused_by(failed)
}

/// Returns this program's file, also after a newer one took its place.
fn program() -> PathBuf {
    let program = Host::program();
    match program
        .to_str()
        .and_then(|text| text.strip_suffix(REPLACED))
    {
        Some(path) => path.into(),
        None => program,
    }
}
