//! How far a transfer is, on one line of a terminal.

use crate::printer::{Stream, Weight};
use chitin_pack::Digest;
use chitin_registry::{ProgressListener, TransferEvent};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the line is drawn again.
const EVERY: Duration = Duration::from_millis(100);
/// How wide the bar is.
const WIDTH: u64 = 24;

/// Draws progress, where there is a terminal to draw on.
pub(crate) struct Bar {
    stream: Stream,
    verb: &'static str,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    blobs: HashMap<Digest, (u64, u64)>,
    there: usize,
    resumed: u64,
    retries: u32,
    drawn: Option<Instant>,
}

/// What moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Moved {
    /// Blobs that were moved.
    pub(crate) blobs: usize,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Blobs that the other end had already.
    pub(crate) already_there: usize,
    /// Bytes that an earlier try had moved.
    pub(crate) resumed_bytes: u64,
    /// How often something was tried again.
    pub(crate) retries: u32,
}

impl Bar {
    pub(crate) fn new(stream: Stream, verb: &'static str) -> Self {
        Self {
            stream,
            verb,
            state: Mutex::default(),
        }
    }

    /// Takes the line away and says what moved.
    pub(crate) fn finish(&self) -> Moved {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.drawn.is_some() {
            self.stream.aside("\r\x1b[K", Weight::Note);
        }
        Moved {
            blobs: state.blobs.len(),
            bytes: state.blobs.values().map(|(done, _)| done).sum(),
            already_there: state.there,
            resumed_bytes: state.resumed,
            retries: state.retries,
        }
    }

    fn draw(&self, state: &mut State, now: Instant) {
        let due = state
            .drawn
            .is_none_or(|drawn| now.duration_since(drawn) >= EVERY);
        if !due || !self.stream.may_draw() {
            return;
        }
        state.drawn = Some(now);
        let total: u64 = state.blobs.values().map(|(_, total)| total).sum();
        let done: u64 = state.blobs.values().map(|(done, _)| done).sum();
        let whole = state
            .blobs
            .values()
            .filter(|(done, total)| done == total)
            .count();
        let line = format!(
            "\r\x1b[K{} {} {} of {}, {whole} of {} blobs",
            self.verb,
            bar(done, total),
            super::size(done),
            super::size(total),
            state.blobs.len()
        );
        self.stream.aside(&line, Weight::Note);
    }
}

impl ProgressListener for Bar {
    fn event(&self, event: TransferEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            TransferEvent::AlreadyThere { .. } => state.there += 1,
            TransferEvent::Started {
                digest,
                resumed,
                total,
            } => {
                state.resumed += resumed;
                state.blobs.insert(digest, (resumed, total));
            }
            TransferEvent::Advanced {
                digest,
                done,
                total,
            } => {
                state.blobs.insert(digest, (done, total));
            }
            TransferEvent::Retrying { .. } => state.retries += 1,
            TransferEvent::Finished { digest, total } => {
                state.blobs.insert(digest, (total, total));
            }
        }
        self.draw(&mut state, Instant::now());
    }
}

fn bar(done: u64, total: u64) -> String {
    let full = (done * WIDTH)
        .checked_div(total)
        .unwrap_or(WIDTH)
        .min(WIDTH);
    (0..WIDTH)
        .map(|at| if at < full { '█' } else { '·' })
        .collect()
}
