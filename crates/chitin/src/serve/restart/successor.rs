//! The process that takes over.

use super::link::{Ear, Link, Mouth, ToPredecessor, ToSuccessor, line, receive_descriptors};
use super::stand_in::StandInLink;
use crate::error::{CliError, FailureKind};
use chitin_gateway::Gateway;
use chitin_gateway::handover::Predecessor;
use rustix::process::{Signal, getpid, kill_process};
use std::error::Error;
use std::io::Write;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as Pair;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

/// How long the descriptors may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process that is about to take over.
pub(crate) struct Arrival {
    socket: Pair,
    listener: Option<TcpListener>,
    stand_in: Option<StandInLink>,
    has_begun: Arc<AtomicBool>,
}

/// Tells the predecessor why its successor ends before it serves.
pub(crate) struct LastWords {
    socket: Pair,
    has_begun: Arc<AtomicBool>,
}

/// A successor that could serve.
pub(crate) struct Prepared {
    ear: Ear,
    mouth: Mouth,
    has_begun: Arc<AtomicBool>,
}

impl Arrival {
    /// Takes what the predecessor hands over on standard input.
    pub(crate) fn new() -> Result<Self, CliError> {
        let failed = |error: std::io::Error| {
            CliError::new(FailureKind::User, "No server hands over to this process.")
                .caused_by(error)
        };
        let socket = std::io::stdin().as_fd().try_clone_to_owned();
        let socket = Pair::from(socket.map_err(failed)?);
        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut descriptors = receive_descriptors(&socket).map_err(failed)?.into_iter();
        let missing = || failed(std::io::ErrorKind::NotFound.into());
        let listener = TcpListener::from(descriptors.next().ok_or_else(missing)?);
        listener.local_addr().map_err(failed)?;
        Ok(Self {
            socket,
            listener: Some(listener),
            stand_in: descriptors.next().map(StandInLink::from_descriptor),
            has_begun: Arc::default(),
        })
    }

    /// Returns what tells the predecessor why this process ends, should it end.
    pub(crate) fn last_words(&self) -> std::io::Result<LastWords> {
        Ok(LastWords {
            socket: self.socket.try_clone()?,
            has_begun: Arc::clone(&self.has_begun),
        })
    }

    /// Returns the socket that it is to listen on.
    pub(crate) fn listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// Returns what it has of the process that stays.
    pub(crate) fn stand_in(&mut self) -> Option<StandInLink> {
        self.stand_in.take()
    }

    /// Says that it could serve, and waits until it is its turn. Returns the sessions in which turns of the predecessor run; nothing when
    /// the predecessor does not need it any more. Inside a runtime.
    pub(crate) async fn ready(self) -> Option<(Prepared, Vec<String>)> {
        let Link { mut ear, mut mouth } = Link::new(self.socket).ok()?;
        mouth.say(&ToPredecessor::Ready).await.ok()?;
        match ear.hear().await? {
            ToSuccessor::Take(sessions) => {
                let has_begun = self.has_begun;
                let prepared = Prepared {
                    ear,
                    mouth,
                    has_begun,
                };
                Some((prepared, sessions))
            }
            ToSuccessor::Go | ToSuccessor::Said(_) | ToSuccessor::End => None,
        }
    }
}

impl Prepared {
    /// Says that it has the job log, and waits until it may begin; nothing comes back when it may not.
    pub(crate) async fn taken(mut self) -> Option<Self> {
        self.mouth.say(&ToPredecessor::Taken).await.ok()?;
        match self.ear.hear().await? {
            ToSuccessor::Go => {
                self.has_begun.store(true, Ordering::Relaxed);
                Some(self)
            }
            ToSuccessor::Take(_) | ToSuccessor::Said(_) | ToSuccessor::End => None,
        }
    }

    /// Hears of the turns of the predecessor until it is gone, and tells it how jobs end that somebody there waits for. What is returned
    /// ends then.
    pub(crate) fn attend(self, gateway: &Gateway, predecessor: Predecessor) -> JoinHandle<()> {
        let Self {
            mut ear, mut mouth, ..
        } = self;
        let mut ends = gateway.job_ends();
        let telling = AbortOnDropHandle::new(tokio::spawn(async move {
            while let Some(end) = ends.next().await {
                if mouth.say(&ToPredecessor::Ended(end)).await.is_err() {
                    return;
                }
            }
        }));
        tokio::spawn(async move {
            while let Some(said) = ear.hear().await {
                match said {
                    ToSuccessor::Said(said) => predecessor.said(said).await,
                    ToSuccessor::End => {
                        let _ = kill_process(getpid(), Signal::TERM);
                    }
                    ToSuccessor::Take(_) | ToSuccessor::Go => {}
                }
            }
            drop(telling);
        })
    }
}

impl LastWords {
    /// Says why this process ends. Tells whether the predecessor goes on, and says it to people.
    pub(crate) fn say(&self, error: &CliError) -> bool {
        if self.has_begun.load(Ordering::Relaxed) {
            return false;
        }
        let mut said = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(error) = cause {
            said.push(error.to_string());
            cause = error.source();
        }
        said.extend(error.hints().iter().cloned());
        said.dedup();
        let Ok(line) = line(&ToPredecessor::Failed(said.join("; "))) else {
            return false;
        };
        (&self.socket).write_all(&line).is_ok()
    }
}
