//! The process that hands over.

use super::link::{Ear, Link, Mouth, ToPredecessor, ToSuccessor, send_descriptors};
use super::stand_in::{StandIn, StandInLink};
use super::{TAKE_OVER, program};
use chitin_gateway::Gateway;
use chitin_gateway::handover::{FromPredecessor, HandOver};
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Pair;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long a successor may take to say whether it could serve.
const PREPARING: Duration = Duration::from_secs(30);
/// How long it may take to open the job log. Messages wait meanwhile.
const TAKING: Duration = Duration::from_secs(5);
/// How long messages that are being taken in are waited for, before others are let in and it is tried again.
const SETTLING: Duration = Duration::from_millis(400);
/// How long those others have.
const BREATH: Duration = Duration::from_millis(200);
/// How often that is tried.
const TRIES: usize = 40;

/// A server that is about to be replaced.
pub(crate) struct Leaving<'s> {
    /// What does its work.
    pub(crate) gateway: &'s Gateway,
    /// The socket that it listens on.
    pub(crate) socket: &'s TcpListener,
    /// What it has of a process that stays, if it was a successor itself.
    pub(crate) stand_in: Option<&'s StandInLink>,
    /// Whether whoever started it learns the id of the next process.
    pub(crate) is_managed: bool,
}

/// A successor that runs and could serve.
pub(crate) struct Successor {
    child: Child,
    ear: Ear,
    mouth: Mouth,
    stays: Option<StandIn>,
    id: u32,
}

/// A server that was replaced.
pub(crate) struct HandedOver {
    /// What stays, if this process does.
    stays: Mutex<Option<StandIn>>,
    /// Cancelled when the successor is gone.
    pub(crate) lost: CancellationToken,
    words: mpsc::UnboundedSender<ToSuccessor>,
}

impl Leaving<'_> {
    /// Starts a successor and waits until it says that it could serve.
    pub(crate) async fn start(&self) -> Result<Successor, String> {
        let failed = |error: std::io::Error| format!("the new program does not start: {error}");
        let (ours, theirs) = Pair::pair().map_err(failed)?;
        let (stays, fresh) = match self.stand_in {
            None if !self.is_managed => {
                let (stays, link) = StandIn::new().map_err(failed)?;
                (Some(stays), Some(link))
            }
            Some(_) | None => (None, None),
        };
        let mut command = Command::new(program());
        command
            .args(std::env::args_os().skip(1).filter(|one| one != TAKE_OVER))
            .arg(TAKE_OVER)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null());
        if !self.is_managed {
            // What a terminal sends to all, it gets from the process that stays.
            command.process_group(0);
        }
        let mut child = command.spawn().map_err(failed)?;
        // It has the other end by now, and nobody else: its end is seen.
        drop(command);
        let mut descriptors = vec![self.socket.as_fd()];
        descriptors.extend(self.stand_in.or(fresh.as_ref()).map(AsFd::as_fd));
        let sent = send_descriptors(&ours, &descriptors).and_then(|()| Link::new(ours));
        drop(fresh);
        let heard = match sent {
            Ok(link) => prepared(link, &mut child).await,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                Err(format!("the new program {}", ended(&mut child).await))
            }
            Err(error) => Err(failed(error)),
        };
        match heard {
            Ok(Link { ear, mouth }) => Ok(Successor {
                id: child.id().unwrap_or_default(),
                child,
                ear,
                mouth,
                stays,
            }),
            Err(why) => {
                let _ = child.kill().await;
                Err(why)
            }
        }
    }

    /// Waits for a moment in which nothing is being taken in; nothing is from then on.
    pub(crate) async fn settle(&self) -> Result<HandOver, String> {
        for _ in 0..TRIES {
            if let Some(hand_over) = self.gateway.hand_over(SETTLING).await {
                return Ok(hand_over);
            }
            tokio::time::sleep(BREATH).await;
        }
        Err("messages that were being accepted did not get to an end".to_owned())
    }
}

/// Waits until a new process says that it could serve.
async fn prepared(mut link: Link, child: &mut Child) -> Result<Link, String> {
    let heard = tokio::time::timeout(PREPARING, link.ear.hear()).await;
    let heard = heard.map_err(|_| {
        let seconds = PREPARING.as_secs();
        format!("the new program gave no answer for {seconds} s")
    })?;
    match heard {
        Some(ToPredecessor::Ready) => Ok(link),
        Some(ToPredecessor::Failed(why)) => Err(why),
        Some(ToPredecessor::Taken | ToPredecessor::Ended(_)) | None => {
            Err(format!("the new program {}", ended(child).await))
        }
    }
}

impl Successor {
    /// Returns the id of its process.
    pub(crate) const fn id(&self) -> u32 {
        self.id
    }

    /// Gives it the job log, which must be free, and waits until it has it.
    pub(crate) async fn take(&mut self, sessions: Vec<String>) -> Result<(), String> {
        let taking = async {
            let said = self.mouth.say(&ToSuccessor::Take(sessions)).await;
            said.ok()?;
            self.ear.hear().await
        };
        match tokio::time::timeout(TAKING, taking).await {
            Ok(Some(ToPredecessor::Taken)) => Ok(()),
            Ok(Some(ToPredecessor::Failed(why))) => Err(why),
            Ok(Some(ToPredecessor::Ready | ToPredecessor::Ended(_)) | None) => {
                Err(format!("the new program {}", ended(&mut self.child).await))
            }
            Err(_) => {
                let seconds = TAKING.as_secs();
                Err(format!(
                    "the new program did not open the job log within {seconds} s"
                ))
            }
        }
    }

    /// Lets it serve. If it cannot be told, it does not.
    pub(crate) async fn go(&mut self) -> Result<(), String> {
        let said = self.mouth.say(&ToSuccessor::Go).await;
        said.map_err(|error| format!("the new program ended: {error}"))
    }

    /// Ends it, and returns when it is gone and has nothing any more.
    pub(crate) async fn stop(mut self) {
        let _ = self.child.kill().await;
    }

    /// It serves. Tells it what becomes of the turns that still run here, and hears how jobs end that somebody here waits for.
    pub(crate) fn serves(
        self,
        gateway: &Gateway,
        mut left: mpsc::UnboundedReceiver<FromPredecessor>,
    ) -> HandedOver {
        let Self {
            mut child,
            mut ear,
            mut mouth,
            stays,
            ..
        } = self;
        let lost = CancellationToken::new();
        let (words, mut saying) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                let word = tokio::select! {
                    Some(left) = left.recv() => ToSuccessor::Said(left),
                    Some(word) = saying.recv() => word,
                    else => return,
                };
                if mouth.say(&word).await.is_err() {
                    return;
                }
            }
        });
        let gateway = gateway.clone();
        tokio::spawn(async move {
            while let Some(said) = ear.hear().await {
                match said {
                    ToPredecessor::Ended(end) => gateway.ended_elsewhere(end),
                    ToPredecessor::Ready | ToPredecessor::Failed(_) | ToPredecessor::Taken => {}
                }
            }
        });
        // Whoever stays is told by the last of those that come after it.
        let watch = stays.as_ref().map(StandIn::watch).and_then(Result::ok);
        let gone = lost.clone();
        tokio::spawn(async move {
            let is_lost = match watch {
                Some(watch) => {
                    watch.await;
                    true
                }
                // Where it ended well, another one came after it, or it was told to.
                None => !child.wait().await.is_ok_and(|status| status.success()),
            };
            if is_lost {
                gone.cancel();
            }
        });
        HandedOver {
            stays: Mutex::new(stays),
            lost,
            words,
        }
    }
}

impl HandedOver {
    /// Passes on that somebody wants the server to end, or to begin anew.
    pub(crate) fn pass_on(&self, ends: bool) {
        match &*self.lock() {
            Some(stays) => stays.pass_on(ends),
            None if ends => {
                let _ = self.words.send(ToSuccessor::End);
            }
            None => {}
        }
    }
}

impl HandedOver {
    /// Returns what stays, if this process does. Once.
    pub(crate) fn stays(&self) -> Option<StandIn> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<StandIn>> {
        self.stays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says how a process ended that was to go on.
async fn ended(child: &mut Child) -> String {
    const MOMENT: Duration = Duration::from_secs(5);
    let status: Option<ExitStatus> = match tokio::time::timeout(MOMENT, child.wait()).await {
        Ok(status) => status.ok(),
        Err(_) => None,
    };
    match status {
        Some(status) => format!("ended with {status}"),
        None => "closed its connection".to_owned(),
    }
}
