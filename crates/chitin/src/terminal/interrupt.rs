//! Ctrl-C while an agent works: the first ends the turn, a second one soon after ends the program.

use crate::error::{CliError, FailureKind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// A second Ctrl-C within this time means it.
const SOON: Duration = Duration::from_secs(2);
/// How a shell says that a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Listens for Ctrl-C as long as it lives.
#[derive(Debug)]
pub(crate) struct Interrupts {
    presses: Presses,
    _listener: AbortOnDropHandle<()>,
}

/// What is known of Ctrl-C, shared with whoever waits for something else.
#[derive(Debug, Clone)]
pub(crate) struct Presses(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    turn: Mutex<CancellationToken>,
    count: watch::Sender<u64>,
}

/// What a press of Ctrl-C means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    EndTurn,
    Leave,
}

impl Interrupts {
    /// Begins to listen; a runtime must be running. A press while the runtime is kept busy counts once it is free again.
    pub(crate) fn listen() -> Result<Self, CliError> {
        let signals = signal(SignalKind::interrupt()).map_err(|error| {
            CliError::new(FailureKind::Internal, "Could not listen for Ctrl-C.").caused_by(error)
        })?;
        Ok(Self::with(signals, leave))
    }

    fn with(signals: Signal, leave: fn()) -> Self {
        let presses = Presses(Arc::new(Shared {
            turn: Mutex::new(CancellationToken::new()),
            count: watch::Sender::new(0),
        }));
        let listener = tokio::spawn(presses.clone().heed(signals, leave));
        Self {
            presses,
            _listener: AbortOnDropHandle::new(listener),
        }
    }

    /// Returns the token of a new turn: the next Ctrl-C cancels it.
    pub(crate) fn begin_turn(&self) -> CancellationToken {
        let token = CancellationToken::new();
        let turn = &self.presses.0.turn;
        *turn.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    /// Returns what others may wait for.
    pub(crate) fn presses(&self) -> Presses {
        self.presses.clone()
    }
}

impl Presses {
    /// Waits for the next Ctrl-C. Cancellation-safe.
    pub(super) async fn next(&self) {
        let mut count = self.0.count.subscribe();
        if count.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    async fn heed(self, mut signals: Signal, leave: fn()) {
        let mut last = None;
        while signals.recv().await.is_some() {
            match meaning(last, Instant::now()) {
                Meaning::EndTurn => {
                    last = Some(Instant::now());
                    let turn = self
                        .0
                        .turn
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .clone();
                    turn.cancel();
                    self.0.count.send_modify(|count| *count += 1);
                }
                Meaning::Leave => leave(),
            }
        }
    }
}

fn meaning(last: Option<Instant>, now: Instant) -> Meaning {
    match last {
        Some(last) if now.duration_since(last) < SOON => Meaning::Leave,
        Some(_) | None => Meaning::EndTurn,
    }
}

#[expect(
    clippy::exit,
    reason = "the user does not want to wait for anything; what was acknowledged is on the disk"
)]
fn leave() {
    std::process::exit(INTERRUPTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LEFT: AtomicUsize = AtomicUsize::new(0);

    fn press() {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT)
            .unwrap();
    }

    #[test]
    fn the_first_press_ends_the_turn_and_a_second_one_soon_after_the_program() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let signals = signal(SignalKind::interrupt()).unwrap();
            let interrupts = Interrupts::with(signals, || {
                LEFT.fetch_add(1, Ordering::SeqCst);
            });
            let earlier = interrupts.begin_turn();
            let turn = interrupts.begin_turn();
            let presses = interrupts.presses();
            let (next, ()) = tokio::join!(
                tokio::time::timeout(Duration::from_secs(5), presses.next()),
                async { press() }
            );
            next.unwrap();
            assert!(turn.is_cancelled() && !earlier.is_cancelled());
            assert_eq!(LEFT.load(Ordering::SeqCst), 0);
            press();
            for _ in 0..500 {
                if LEFT.load(Ordering::SeqCst) > 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(LEFT.load(Ordering::SeqCst), 1);
        });
    }

    #[test]
    fn a_press_that_comes_late_is_a_first_one_again() {
        let first = Instant::now();
        assert_eq!(meaning(None, first), Meaning::EndTurn);
        assert_eq!(meaning(Some(first), first + SOON / 2), Meaning::Leave);
        assert_eq!(meaning(Some(first), first + SOON), Meaning::EndTurn);
    }
}
