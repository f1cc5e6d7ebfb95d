//! A server that begins anew: a new process of the program takes over while this one serves, so that nobody notices.
//!
//! The successor is started first. It reads the configuration, the token, the workspaces and the state, and says that it could serve;
//! if it does not, nothing has changed. Then it gets the job log, and with it all that is to be done; from then on this process only
//! ends what it had begun. `docs/design/020-restart.md` says what happens when either of them dies at any moment.
//!
//! | file | does |
//! |---|---|
//! | `link.rs` | what the two say to each other |
//! | `predecessor.rs` | starts a successor and hands over |
//! | `successor.rs` | takes over |
//! | `stand_in.rs` | the first process stays for whoever started it, where nobody else learns the successor's id |

mod link;
mod predecessor;
mod stand_in;
mod successor;

pub(crate) use predecessor::{HandedOver, Leaving, Successor};
pub(crate) use stand_in::{StandIn, StandInLink, gone};
pub(crate) use successor::Arrival;

use crate::error::{CliError, FailureKind};
use chitin_runtime::Host;
use std::io::IsTerminal;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// The place to listen on that means: the socket that standard input is.
pub(crate) const STDIN: &str = "stdin";
/// The argument of a process that takes over.
const TAKE_OVER: &str = "--take-over";
/// What Linux says of a program whose file was replaced.
const REPLACED: &str = " (deleted)";

/// Takes the socket that standard input is: systemd hands it over so.
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
