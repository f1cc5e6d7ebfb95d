//! The process that somebody started stays, where nobody else learns the id of the one that serves: a shell, a container, a program
//! that waits for it. It passes signals on and ends as the server does. When it is killed, the server ends with it.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::rss::give_back;
use crate::serve::process::{Signals, Told};
use rustix::net::{RecvFlags, recv};
use rustix::process::{Signal, WaitOptions, getpid, kill_process, wait};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Pair;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

/// Asks the server to end.
const END: u8 = b'E';
/// Asks the server to begin anew.
const BEGIN_ANEW: u8 = b'B';

/// The process that stays.
pub(crate) struct StandIn(Pair);

/// What the one that serves has of the process that stays. Dropped without a word, the server died.
#[derive(Debug)]
pub(crate) struct StandInLink(Pair);

impl StandIn {
    /// Makes both ends.
    pub(super) fn new() -> std::io::Result<(Self, StandInLink)> {
        let (ours, theirs) = Pair::pair()?;
        Ok((Self(ours), StandInLink(theirs)))
    }

    /// Passes on that somebody wants the server to end, or to begin anew.
    pub(crate) fn pass_on(&self, ends: bool) {
        let word = if ends { END } else { BEGIN_ANEW };
        let _ = (&self.0).write_all(&[word]);
    }

    /// Returns what waits until the server is at its end, and leaves it to [`Self::stay`] to find out how.
    pub(super) fn watch(&self) -> std::io::Result<impl Future<Output = ()> + use<>> {
        let link = self.0.try_clone()?;
        link.set_nonblocking(true)?;
        let link = UnixStream::from_std(link)?;
        Ok(async move {
            let peek = || {
                let mut byte = [0];
                let read = recv(&link, &mut byte, RecvFlags::PEEK);
                read.map(drop).map_err(std::io::Error::from)
            };
            while link.readable().await.is_ok() {
                match link.try_io(Interest::READABLE, peek) {
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Ok(()) | Err(_) => return,
                }
            }
        })
    }

    /// Waits until the server ends, and says how it did. Nothing else is done here any more.
    pub(crate) fn stay(self, signals: Signals) -> Result<Exit, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        // Processes that took over and were replaced are orphans of this one, and end some time.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(getpid()));
        give_back();
        match runtime.block_on(self.wait(signals))? {
            Some(0) => Ok(Exit::Success),
            Some(130) => Ok(Exit::Interrupted),
            // It said why.
            Some(_) => Ok(Exit::Internal),
            None => Err(gone()),
        }
    }

    async fn wait(self, mut signals: Signals) -> std::io::Result<Option<u8>> {
        self.0.set_nonblocking(true)?;
        let mut link = UnixStream::from_std(self.0)?;
        let mut child = signal(SignalKind::child())?;
        let mut code = None;
        reap();
        loop {
            let mut byte = [0];
            let word = tokio::select! {
                read = link.read(&mut byte) => if read? == 0 { return Ok(code) } else {
                    code = Some(byte[0]);
                    continue;
                },
                told = signals.next() => match told {
                    Told::End => END,
                    Told::BeginAnew => BEGIN_ANEW,
                },
                _ = child.recv() => {
                    reap();
                    continue;
                }
            };
            let _ = link.write_all(&[word]).await;
        }
    }
}

/// Takes note of children that ended.
fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// The server is gone, and did not say how it ended.
pub(crate) fn gone() -> CliError {
    let what = "The process that took over is gone.";
    CliError::new(FailureKind::Internal, what).hint("open jobs continue on the next start")
}

impl StandInLink {
    pub(super) fn from_descriptor(descriptor: OwnedFd) -> Self {
        Self(descriptor.into())
    }

    /// Does what the process that stays is asked for, by the signals that whoever asks would send: those are understood anyway. When it was
    /// killed, whoever did that meant the server.
    pub(crate) fn follow(&self) -> std::io::Result<JoinHandle<()>> {
        let link = self.0.try_clone()?;
        link.set_nonblocking(true)?;
        let mut link = UnixStream::from_std(link)?;
        Ok(tokio::spawn(async move {
            let mut byte = [0];
            loop {
                let signal = match link.read(&mut byte).await {
                    Ok(0) | Err(_) => Signal::KILL,
                    Ok(_) if byte[0] == BEGIN_ANEW => Signal::HUP,
                    Ok(_) => Signal::TERM,
                };
                let _ = kill_process(getpid(), signal);
            }
        }))
    }

    /// Says how the server ended.
    pub(crate) fn ended(self, exit: Exit) {
        let code = exit.code();
        let _ = (&self.0).write_all(&[code]);
    }
}

impl AsFd for StandInLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
