//! A process that serves, and how it comes to its end: told to end, or replaced by the next one.

use super::restart::{HandedOver, Leaving, StandIn, StandInLink, Successor, gone};
use super::{Ears, Notifier};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_gateway::Gateway;
use chitin_runtime::serve::{PublishedAddress, Telemetry};
use chitin_server::Doors;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long to wait before the job log is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// What somebody wants of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// It is to end.
    End,
    /// It is to begin anew, with the same socket: a newer program, or another configuration.
    BeginAnew,
}

/// The signals that tell a server something.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Self, CliError> {
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
    pub(crate) async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.interrupt.recv() => Told::End,
            _ = self.terminate.recv() => Told::End,
            _ = self.hang_up.recv() => Told::BeginAnew,
        }
    }
}

/// Waits for the second signal to end. A restart that is under way counts as the first; one that was refused does not.
pub(crate) async fn told_to_stop(mut signals: Signals) {
    let mut ends = 0;
    while ends < 2 {
        ends += u32::from(signals.next().await == Told::End);
    }
}

/// How a process that served comes to its end.
pub(crate) enum Served {
    /// It ends.
    Ended(Exit),
    /// Another process serves, and this one stays for whoever waits for it.
    Stays(StandIn, Signals),
}

/// A process that serves, as far as its end is concerned.
pub(crate) struct Process {
    pub(crate) gateway: Gateway,
    pub(crate) doors: Doors,
    /// Held so that whoever connects waits while the next process begins.
    pub(crate) socket: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) state: PathBuf,
    pub(crate) drain: Duration,
    pub(crate) ears: Ears,
    pub(crate) published: Option<PublishedAddress>,
    pub(crate) notifier: Notifier,
    pub(crate) stand_in: Option<StandInLink>,
    /// Ends with the process before this one, if there was one.
    pub(crate) predecessor: Option<JoinHandle<()>>,
    pub(crate) follows: Option<JoinHandle<()>>,
    pub(crate) printer: Printer,
}

/// Why a process does not serve any more.
pub(crate) enum Ending {
    /// It was told to end.
    Told(Box<Process>),
    /// Another one does.
    HandedOver(Box<Process>, Arc<HandedOver>, PassingOn),
}

impl Process {
    /// Waits until the process is told to end, or another one serves. `lost` is cancelled when that one is gone.
    pub(crate) async fn until_told(
        mut self,
        mut signals: Signals,
        lost: CancellationToken,
    ) -> Ending {
        loop {
            match signals.next().await {
                Told::End => {
                    // Networks take nothing more in before turns are let finish; they can still send.
                    self.ears.shut();
                    self.notifier.stopping();
                    return Ending::Told(Box::new(self));
                }
                Told::BeginAnew => {}
            }
            self.notifier.reloading();
            match self.hand_over().await {
                Ok(handed_over) => {
                    let handed_over = Arc::new(handed_over);
                    let passing_on = PassingOn::start(signals, &handed_over, lost);
                    return Ending::HandedOver(Box::new(self), handed_over, passing_on);
                }
                Err(why) => {
                    self.notifier.ready();
                    self.printer
                        .note(&format!("not restarted, the server goes on: {why}"));
                }
            }
        }
    }

    /// Lets another process take over. After a failure everything is as it was.
    async fn hand_over(&mut self) -> Result<HandedOver, String> {
        // One change of hands at a time: turns of a process before this one come to their end first.
        let _ = tokio::time::timeout(self.drain, self.gateway.is_alone()).await;
        let gateway = self.gateway.clone();
        let leaving = Leaving {
            gateway: &gateway,
            socket: &self.socket,
            stand_in: self.stand_in.as_ref(),
            is_managed: self.notifier.is_heard(),
        };
        let mut successor = leaving.start().await?;
        // Networks have one listener at a time, and know where the next one has to go on.
        self.ears.closed().await;
        self.doors.close();
        let hand_over = match leaving.settle().await {
            Ok(hand_over) => hand_over,
            Err(why) => {
                successor.stop().await;
                self.go_on();
                return Err(why);
            }
        };
        let given = match hand_over.release() {
            Ok(()) => successor.take(hand_over.sessions()).await,
            Err(error) => Err(error.to_string()),
        };
        let gone = match given {
            Ok(()) => self.step_back(&mut successor).await,
            Err(why) => Err(why),
        };
        if let Err(why) = gone {
            // It may have the job log.
            successor.stop().await;
            while let Err(error) = hand_over.take_back() {
                self.printer
                    .note(&format!("the job log cannot be opened again: {error}"));
                tokio::time::sleep(AGAIN).await;
            }
            drop(hand_over);
            self.come_forward();
            self.go_on();
            return Err(why);
        }
        let id = successor.id();
        let handed_over = successor.serves(&gateway, hand_over.done());
        self.printer
            .note(&format!("process {id} serves from now on"));
        Ok(handed_over)
    }

    /// Is no longer the one that others find, and lets the successor be that. From then on there is no way back.
    async fn step_back(&mut self, successor: &mut Successor) -> Result<(), String> {
        if let Some(follows) = self.follows.take() {
            follows.abort();
            let _ = follows.await;
        }
        self.published = None;
        self.notifier.is_now(successor.id());
        successor.go().await
    }

    /// Is the one that others find, as before.
    fn come_forward(&mut self) {
        if self.published.is_some() {
            return;
        }
        self.notifier.is_now(std::process::id());
        match PublishedAddress::new(&self.state, self.address) {
            Ok(published) => self.published = Some(published),
            Err(error) => self.printer.note(&error.to_string()),
        }
        let follows = self.stand_in.as_ref().map(StandInLink::follow);
        self.follows = follows.and_then(Result::ok);
    }

    fn go_on(&mut self) {
        self.doors.open();
        self.ears.open();
    }

    /// Ends before everything came to its end: somebody wanted that, or the process that took over `is_lost`.
    pub(crate) async fn cut_off(
        self,
        handed_over: Option<(Arc<HandedOver>, PassingOn)>,
        is_lost: bool,
    ) -> Result<Served, CliError> {
        let Some((handed_over, passing_on)) = handed_over else {
            if let Some(stand_in) = self.stand_in {
                stand_in.ended(Exit::Interrupted);
            }
            return Ok(Served::Ended(Exit::Interrupted));
        };
        let signals = passing_on.end().await;
        match handed_over.stays().zip(signals) {
            // How the server ended, it is about to learn.
            Some((stays, signals)) if is_lost => Ok(Served::Stays(stays, signals)),
            Some(_) | None if is_lost => Err(gone()),
            Some(_) | None => Ok(Served::Ended(Exit::Interrupted)),
        }
    }

    /// Ends, now that everything came to its end.
    pub(crate) async fn end(
        mut self,
        handed_over: Option<(Arc<HandedOver>, PassingOn)>,
        telemetry: Telemetry,
    ) -> Result<Served, CliError> {
        self.ears.closed().await;
        telemetry.end().await;
        if let Some((handed_over, passing_on)) = handed_over {
            if let Some(predecessor) = self.predecessor {
                // Whoever still waits there hears through this one what becomes of a job.
                let _ = tokio::time::timeout(self.drain, predecessor).await;
            }
            let signals = passing_on.end().await;
            return Ok(match handed_over.stays().zip(signals) {
                Some((stays, signals)) => Served::Stays(stays, signals),
                None => Served::Ended(Exit::Success),
            });
        }
        if let Some(follows) = self.follows {
            follows.abort();
        }
        if let Some(stand_in) = self.stand_in {
            stand_in.ended(Exit::Success);
        }
        Ok(Served::Ended(Exit::Success))
    }
}

/// Passes on what somebody wants of a process that was replaced, as long as it is there, and says when the one that replaced it is gone.
pub(crate) struct PassingOn {
    signals: JoinHandle<Signals>,
    end: CancellationToken,
}

impl PassingOn {
    fn start(mut signals: Signals, to: &Arc<HandedOver>, lost: CancellationToken) -> Self {
        let (to, end) = (Arc::clone(to), CancellationToken::new());
        let ends = end.clone();
        let signals = tokio::spawn(async move {
            loop {
                tokio::select! {
                    told = signals.next() => to.pass_on(told == Told::End),
                    () = to.lost.cancelled() => {
                        lost.cancel();
                        return signals;
                    }
                    () = ends.cancelled() => return signals,
                }
            }
        });
        Self { signals, end }
    }

    /// Ends it. No signal is lost meanwhile.
    async fn end(self) -> Option<Signals> {
        self.end.cancel();
        self.signals.await.ok()
    }
}
