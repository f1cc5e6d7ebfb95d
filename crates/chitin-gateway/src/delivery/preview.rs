//! Answers that are seen while they are written: a message that is changed until it holds what was said (E8).

use super::deliver::Delivery;
use super::live::{Live, LiveStep, Pace};
use super::render::place_of;
use super::send;
use crate::gateway::Inner;
use crate::surface::{Address, OutgoingMessage, Surface, SurfaceError};
use chitin_store::JobChange;
use chitin_text::TextChunk;
use chitin_text::previews::{self, ReplyStreaming};
use std::sync::Arc;
use std::time::Duration;

/// What the mark of a message begins with that holds an answer which is not whole.
const DRAFTED: &str = "draft ";

/// How the answers of a delivery go out.
pub(crate) fn showing(inner: &Inner, surface: &dyn Surface, to: &Address) -> ReplyStreaming {
    let rules = &inner.parts.contract.runtime.outbound;
    let can_change = surface.capabilities().edit_every_ms.is_some();
    previews::reply_streaming(&inner.parts.config, place_of(to), can_change, rules)
}

impl Delivery {
    /// Begins to show an answer, in the messages that showed it before a crash if there are any.
    pub(crate) fn draft(&mut self, part: &str, surface: &dyn Surface, step: usize) -> Live {
        let pace = Pace {
            every: Duration::from_millis(surface.capabilities().edit_every_ms.unwrap_or(0)),
            step,
            most: if send::takes_back(surface) {
                usize::MAX
            } else {
                1
            },
        };
        let rules = self.inner.parts.contract.runtime.outbound;
        let before = self.drafted_before(part);
        if !before.is_empty() {
            // The first of them points at the message that it answers, if any does.
            let _ = self.reply_to();
        }
        Live::new(pace, rules).taken_up(before)
    }

    /// Returns the messages that showed an answer before a crash, in their order.
    fn drafted_before(&self, part: &str) -> Vec<String> {
        let begins = format!("{DRAFTED}{part}:");
        let mut found: Vec<(usize, &str)> = self
            .marks
            .iter()
            .filter_map(|mark| {
                let (piece, id) = mark.strip_prefix(&begins)?.split_once(' ')?;
                Some((piece.parse().ok()?, id))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id.to_owned()).collect()
    }

    /// Shows what is new of an answer. What does not work is left for the end.
    pub(crate) async fn show(&mut self, part: &str, live: &mut Live) {
        let Some((surface, address)) = self.place().await else {
            return;
        };
        let inner = Arc::clone(&self.inner);
        let steps = live.steps(self.now(), |text| inner.cut(&*surface, &address, text));
        for step in steps {
            let (piece, done) = match &step {
                LiveStep::Send { piece, text, .. } => {
                    let message = self.outgoing(part, *piece, text);
                    let sent = send::send_once(&*surface, &address, &message).await;
                    let noted = sent.map(|sent| {
                        self.note(format!("{DRAFTED}{part}:{piece} {}", sent.message_id));
                        live.sent(sent.message_id, text);
                    });
                    (*piece, noted)
                }
                LiveStep::Edit { piece, id, text } => {
                    let edited = send::edit_once(&*surface, &address, id, &text.body).await;
                    (*piece, edited.map(|()| live.edited(*piece, text)))
                }
                LiveStep::Keep { .. } | LiveStep::Delete { .. } => continue,
            };
            if let Err(error) = done {
                live.failed(piece, error.again, self.now());
                return;
            }
        }
    }

    /// Takes back what was shown of an answer that nobody is to see.
    pub(crate) async fn take_back(&mut self, live: Live) {
        let Some((surface, address)) = self.to.clone() else {
            return;
        };
        for step in live.finish(Vec::new()) {
            if let LiveStep::Delete { id } = step {
                let _ = send::take_back(&*surface, &address, &id).await;
            }
        }
    }

    /// Does what is left to be done for an answer that is whole. Pieces that are out already are not sent again.
    pub(crate) async fn finish(&mut self, part: &str, live: Live, pieces: Vec<TextChunk>) {
        let Some((surface, address)) = self.to.clone() else {
            return;
        };
        for step in live.finish(pieces) {
            let (piece, text, done) = match step {
                LiveStep::Keep { piece, id, text } => (piece, text, Ok(id)),
                LiveStep::Edit { piece, id, text } => {
                    if self.is_out(part, piece) {
                        continue;
                    }
                    let done = self.set(&surface, &address, part, piece, &id, &text);
                    let done = done.await;
                    (piece, text, done)
                }
                LiveStep::Send { piece, text, again } => {
                    let message = self.outgoing(part, piece, &text);
                    if self.is_out(part, piece) {
                        continue;
                    }
                    let sent = send::send(&*surface, &address, &message).await;
                    if let (Ok(sent), true) = (&sent, again) {
                        let id = &sent.message_id;
                        let _ = send::edit_once(&*surface, &address, id, &text.body).await;
                    }
                    (piece, text, sent.map(|sent| sent.message_id))
                }
                LiveStep::Delete { id } => {
                    let _ = send::take_back(&*surface, &address, &id).await;
                    continue;
                }
            };
            self.told(part, piece, &address, text, done);
        }
    }

    /// Makes a message say what it should. Where that cannot be, another one takes its place.
    async fn set(
        &mut self,
        surface: &Arc<dyn Surface>,
        address: &Address,
        part: &str,
        piece: usize,
        id: &str,
        text: &TextChunk,
    ) -> Result<String, SurfaceError> {
        let Err(error) = send::edit(&**surface, address, id, &text.body).await else {
            return Ok(id.to_owned());
        };
        let why = format!("could not edit a message at `{address}`: {error}");
        (self.inner.parts.note)(&why);
        let _ = send::take_back(&**surface, address, id).await;
        let message = OutgoingMessage {
            // Under its first name the surface may take it for the message that could not be changed.
            key: format!("{}:{part}:{piece}:again", self.job.id),
            ..self.outgoing(part, piece, text)
        };
        let sent = send::send(&**surface, address, &message).await;
        sent.map(|sent| sent.message_id)
    }

    /// Remembers past a crash that something is done.
    pub(crate) fn note(&mut self, mark: String) {
        self.marks.insert(mark.clone());
        let id = self.job.id.clone();
        let change = JobChange::Mark { id, mark };
        self.inner.parts.ledger.note(vec![change]);
    }
}
