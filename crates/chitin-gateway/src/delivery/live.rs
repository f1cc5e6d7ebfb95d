//! An answer that is seen while it is written: what is shown of it, when, and in which messages.
//!
//! Plain data that knows no network and no clock. Whoever has these hands in words and the time, does the [`LiveStep`]s that are due, and
//! says what came of them. When all are done that [`Live::finish`] asks for, people see the pieces of the whole answer and nothing else.

use crate::surface::Again;
use chitin_contract::OutboundRules;
use chitin_text::silent::SilentGate;
use chitin_text::{TextChunk, previews};
use std::time::Duration;

/// How much there must be for a first message.
pub const FIRST_CHARS: usize = 30;
/// After this time less is enough.
pub const FIRST_WAIT: Duration = Duration::from_secs(1);
/// A surface that is asked to go slow is not given more time than this between two changes.
const SLOWEST: Duration = Duration::from_secs(30);

/// How often and how much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The least time between two changes.
    pub every: Duration,
    /// How much is added at once, at least.
    pub step: usize,
    /// How many messages there may be before the answer is whole: one where none can be taken back.
    pub most: usize,
}

/// An answer that is seen while it is written.
#[derive(Debug)]
pub struct Live {
    rules: OutboundRules,
    pace: Pace,
    gate: SilentGate,
    /// What came and may be seen.
    text: String,
    /// When the first of it came.
    since: Option<Duration>,
    /// Before this nothing is changed.
    next: Duration,
    /// How much of it was there when it was shown last, in bytes.
    seen: usize,
    shown: Vec<Shown>,
    /// Whether it is not known if the next message is out.
    doubtful: bool,
    /// Whether nothing more is shown before it is whole.
    over: bool,
}

/// A message that is out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    id: String,
    /// What it says; none when that is not known.
    body: Option<String>,
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveStep {
    /// A message is to be sent.
    Send {
        /// Which of the answer's messages it is.
        piece: usize,
        /// What it says.
        text: TextChunk,
        /// Whether it was tried before and nobody knows what came of it: a surface that takes it for that message may show older words.
        again: bool,
    },
    /// A message is to say something else.
    Edit {
        /// Which of the answer's messages it is.
        piece: usize,
        /// The surface's name for it.
        id: String,
        /// What it says from now on.
        text: TextChunk,
    },
    /// A message says what it should.
    Keep {
        /// Which of the answer's messages it is.
        piece: usize,
        /// The surface's name for it.
        id: String,
        /// What it says.
        text: TextChunk,
    },
    /// A message is one too many.
    Delete {
        /// The surface's name for it.
        id: String,
    },
}

impl Live {
    /// Begins with an answer.
    pub fn new(pace: Pace, rules: OutboundRules) -> Self {
        Self {
            rules,
            pace,
            gate: SilentGate::new(rules),
            text: String::new(),
            since: None,
            next: Duration::ZERO,
            seen: 0,
            shown: Vec::new(),
            doubtful: false,
            over: false,
        }
    }

    /// Takes up messages that were sent before a crash, in their order. What they say is not known.
    #[must_use]
    pub fn taken_up(mut self, ids: Vec<String>) -> Self {
        let shown = ids.into_iter().map(|id| Shown { id, body: None });
        self.shown = shown.collect();
        self
    }

    /// Hears some of the answer.
    pub fn hear(&mut self, delta: &str, now: Duration) {
        let words = self.gate.push(delta);
        if !words.is_empty() {
            self.since.get_or_insert(now);
            self.text.push_str(&words);
        }
    }

    /// Shows something else than the answer until that is whole.
    pub fn show_instead(&mut self, text: String, now: Duration) {
        self.since.get_or_insert(now);
        self.text = text;
        self.seen = 0;
    }

    /// Tells whether any of it is out.
    pub fn is_out(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Says when something is to be shown; nothing while there is nothing new.
    pub fn due(&self) -> Option<Duration> {
        let since = self.since?;
        let grown = self.text.len() - self.seen;
        if self.over || grown == 0 {
            return None;
        }
        if self.is_out() {
            return (grown >= self.pace.step).then_some(self.next);
        }
        let enough = self.text.chars().nth(FIRST_CHARS - 1).is_some();
        let first = if enough { since } else { since + FIRST_WAIT };
        Some(first.max(self.next))
    }

    /// Returns what is to be done now, with what cuts a text into pieces for the surface.
    pub fn steps(&mut self, now: Duration, cut: impl Fn(&str) -> Vec<TextChunk>) -> Vec<LiveStep> {
        self.seen = self.text.len();
        self.next = now + self.pace.every;
        let text = previews::closed(&self.text, &self.rules);
        let pieces = cut(&text).into_iter().take(self.pace.most);
        let steps = pieces
            .enumerate()
            .map(|(piece, text)| self.step(piece, text));
        steps
            .filter(|step| !matches!(step, LiveStep::Keep { .. }))
            .collect()
    }

    fn step(&self, piece: usize, text: TextChunk) -> LiveStep {
        match self.shown.get(piece) {
            None => LiveStep::Send {
                piece,
                text,
                again: self.doubtful && piece == self.shown.len(),
            },
            Some(Shown { id, body }) => {
                let id = id.clone();
                if body.as_deref() == Some(text.body.as_str()) {
                    LiveStep::Keep { piece, id, text }
                } else {
                    LiveStep::Edit { piece, id, text }
                }
            }
        }
    }

    /// A message was sent.
    pub fn sent(&mut self, id: String, text: &TextChunk) {
        self.shown.push(Shown {
            id,
            body: Some(text.body.clone()),
        });
    }

    /// A message was changed.
    pub fn edited(&mut self, piece: usize, text: &TextChunk) {
        if let Some(shown) = self.shown.get_mut(piece) {
            shown.body = Some(text.body.clone());
        }
    }

    /// Something could not be done. A surface that wants time gets it, and more of it from now on; otherwise nothing more is shown
    /// before the answer is whole.
    pub fn failed(&mut self, piece: usize, again: Again, now: Duration) {
        match (self.shown.get_mut(piece), again) {
            // What was refused for the time being did not happen.
            (Some(_), Again::After(_)) => {}
            (Some(shown), Again::Soon | Again::Never) => shown.body = None,
            (None, again) => self.doubtful = again == Again::Soon,
        }
        match again {
            Again::After(milliseconds) => {
                self.pace.every = (self.pace.every * 2).min(SLOWEST);
                let wait = Duration::from_millis(milliseconds);
                self.next = now + wait.max(self.pace.every);
                // What was to be shown is still new.
                self.seen = 0;
            }
            Again::Soon | Again::Never => self.over = true,
        }
    }

    /// Returns what may be seen of all that was heard.
    pub fn so_far(&self) -> &str {
        &self.text
    }

    /// The answer is whole: returns what is left to be done so that its pieces are seen and nothing else. Without any pieces, nothing
    /// is to be seen of it.
    pub fn finish(self, pieces: Vec<TextChunk>) -> Vec<LiveStep> {
        let surplus = self.shown.iter().skip(pieces.len());
        let surplus: Vec<LiveStep> = surplus
            .map(|shown| LiveStep::Delete {
                id: shown.id.clone(),
            })
            .collect();
        let pieces = pieces.into_iter().enumerate();
        let steps = pieces.map(|(piece, text)| self.step(piece, text));
        steps.chain(surplus).collect()
    }
}
