//! Sends a turn's events to its listener, if there is one.

use chitin_protocol::event::TurnEvent;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::StoreNote;
use chitin_tools::redact::{KnownStream, Redactor};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Where events go. A slow listener slows the turn down rather than filling memory.
pub type Events = mpsc::Sender<TurnEvent>;

/// Sends events, without the secrets that this process knows. Everybody who sees or hears of a turn gets it from here: the
/// terminal, the page, the API, channels.
#[derive(Debug, Clone)]
pub(crate) struct EventSink {
    events: Events,
    secrets: Redactor,
    /// Text that comes in pieces.
    streams: Arc<Mutex<Streams>>,
}

/// The text and the thoughts of the answer that is being received.
#[derive(Debug, Default)]
struct Streams {
    text: Option<KnownStream>,
    thoughts: Option<KnownStream>,
}

impl EventSink {
    pub(crate) fn new(events: Events, secrets: &Redactor) -> Self {
        Self {
            events,
            secrets: secrets.clone(),
            streams: Arc::default(),
        }
    }

    /// A sink without a listener.
    pub(crate) fn mute() -> Self {
        Self::new(mpsc::channel(1).0, &Redactor::default())
    }

    /// Sends one event. If the listener is gone, the turn goes on.
    pub(crate) async fn tell(&self, event: TurnEvent) {
        for event in self.redacted(event) {
            let _ = self.events.send(event).await;
        }
    }

    /// Takes the secrets out of an event. What was held back of a text comes before whatever follows it.
    fn redacted(&self, event: TurnEvent) -> Vec<TurnEvent> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let Streams { text, thoughts } = &mut *streams;
        let mut events = Vec::new();
        match event {
            TurnEvent::TextDelta { delta } => {
                events.extend(ended(thoughts).map(|delta| TurnEvent::ThinkingDelta { delta }));
                let stream = text.get_or_insert_with(|| self.secrets.known_stream());
                let delta = stream.push(&delta);
                if !delta.is_empty() {
                    events.push(TurnEvent::TextDelta { delta });
                }
            }
            TurnEvent::ThinkingDelta { delta } => {
                events.extend(ended(text).map(|delta| TurnEvent::TextDelta { delta }));
                let stream = thoughts.get_or_insert_with(|| self.secrets.known_stream());
                let delta = stream.push(&delta);
                if !delta.is_empty() {
                    events.push(TurnEvent::ThinkingDelta { delta });
                }
            }
            mut event => {
                if ends_text(&event) {
                    events.extend(ended(thoughts).map(|delta| TurnEvent::ThinkingDelta { delta }));
                    events.extend(ended(text).map(|delta| TurnEvent::TextDelta { delta }));
                }
                self.redact_whole(&mut event);
                events.push(event);
            }
        }
        events
    }

    /// Takes the secrets out of an event that is all there. What the model says keeps what only has the shape of a key, in pieces
    /// and whole alike.
    fn redact_whole(&self, event: &mut TurnEvent) {
        match event {
            TurnEvent::Said { text, .. } | TurnEvent::Refused { text, .. } => {
                *text = self.secrets.redact_known(text);
            }
            TurnEvent::Note { text }
            | TurnEvent::Retrying { reason: text, .. }
            | TurnEvent::ToolProgress { text, .. }
            | TurnEvent::ApprovalNeeded { what: text, .. }
            | TurnEvent::ToolFinished { summary: text, .. } => *text = self.secrets.redact(text),
            TurnEvent::ToolStarted { arguments, .. } => self.secrets.redact_value(arguments),
            TurnEvent::TurnFinished { text, error, .. } => {
                *text = self.secrets.redact_known(text);
                *error = error.as_deref().map(|error| self.secrets.redact(error));
            }
            TurnEvent::TextDelta { .. }
            | TurnEvent::ThinkingDelta { .. }
            | TurnEvent::TurnStarted { .. }
            | TurnEvent::RequestSent { .. }
            | TurnEvent::Steered { .. }
            | TurnEvent::Stored { .. }
            | TurnEvent::Compacted { .. } => {}
        }
    }

    pub(crate) async fn note(&self, text: &str) {
        self.tell(TurnEvent::Note {
            text: text.to_owned(),
        })
        .await;
    }

    /// Sends a tool's progress, unless the listener is behind: progress is not worth waiting for.
    pub(crate) fn progress(&self, call_id: &str, text: &str) {
        let _ = self.events.try_send(TurnEvent::ToolProgress {
            call_id: call_id.to_owned(),
            text: self.secrets.redact(text),
        });
    }
}

/// Tells whether an event comes after the pieces of an answer. Others come between them, and what they part belongs together.
const fn ends_text(event: &TurnEvent) -> bool {
    match event {
        TurnEvent::Note { .. }
        | TurnEvent::ToolProgress { .. }
        | TurnEvent::Stored { .. }
        | TurnEvent::Steered { .. }
        | TurnEvent::TextDelta { .. }
        | TurnEvent::ThinkingDelta { .. } => false,
        TurnEvent::TurnStarted { .. }
        | TurnEvent::RequestSent { .. }
        | TurnEvent::Retrying { .. }
        | TurnEvent::Said { .. }
        | TurnEvent::ToolStarted { .. }
        | TurnEvent::ApprovalNeeded { .. }
        | TurnEvent::ToolFinished { .. }
        | TurnEvent::Refused { .. }
        | TurnEvent::Compacted { .. }
        | TurnEvent::TurnFinished { .. } => true,
    }
}

/// Ends a text that came in pieces and returns what was held back of it.
fn ended(stream: &mut Option<KnownStream>) -> Option<String> {
    let rest = stream.take()?.finish();
    (!rest.is_empty()).then_some(rest)
}

/// Returns a record's kind for people.
pub(crate) fn kind_of(entry: &TranscriptEntry) -> String {
    match &entry.body {
        EntryBody::Message(message) => format!("message:{}", message.role()),
        EntryBody::Custom { custom_type, .. } => format!("custom:{custom_type}"),
        EntryBody::ModelChange { .. }
        | EntryBody::ThinkingLevelChange { .. }
        | EntryBody::Compaction(_)
        | EntryBody::Other(_) => entry.body.kind().to_owned(),
    }
}

/// Describes what was found in a session's file.
pub(crate) fn words_of(note: &StoreNote) -> String {
    match note {
        StoreNote::SetAside { path, bytes } => format!(
            "the end of the session's file was torn: {bytes} bytes are set aside in `{}`",
            path.display()
        ),
        StoreNote::TornEnd { bytes } => {
            format!("the end of the session's file is torn: {bytes} bytes are no record")
        }
        StoreNote::DamagedLine {
            offset,
            bytes,
            reason,
        } => format!(
            "the session's file is damaged: the {bytes} bytes at {offset} are no record ({reason}) and are passed over"
        ),
        StoreNote::LostParent { id } => {
            format!("the session's file is damaged: the record `{id}` is not there")
        }
        StoreNote::LostTranscript { path } => format!(
            "the session's file `{}` is not there, so the session begins anew",
            path.display()
        ),
        StoreNote::IndexRebuilt { set_aside } => {
            let before = match set_aside {
                Some(path) => format!("was damaged (it is set aside in `{}`)", path.display()),
                None => "was missing".to_owned(),
            };
            format!(
                "the session index {before} and was made again from the transcripts; what earlier turns took is unknown"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cuts a text into pieces of these lengths, again and again.
    fn pieces(text: &str, lengths: &[usize]) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        let (mut pieces, mut at) = (Vec::new(), 0);
        for length in lengths.iter().cycle() {
            if at >= letters.len() {
                break;
            }
            let end = (at + length.max(&1)).min(letters.len());
            pieces.push(letters[at..end].iter().collect());
            at = end;
        }
        pieces
    }

    proptest! {
        #[test]
        fn no_event_shows_a_secret_however_the_answer_is_cut(
            secrets in prop::collection::vec("[ab\"\\\\ü]{2}[abc]{4,9}", 1..4),
            filler in prop::collection::vec("[abc\n ü\"]{0,12}", 1..8),
            lengths in prop::collection::vec(0_usize..7, 1..4),
            note_every in 1_usize..5,
        ) {
            let mut text = String::new();
            for (n, piece) in filler.iter().enumerate() {
                text.push_str(piece);
                text.push_str(&secrets[n % secrets.len()]);
            }
            let secrets_known = Redactor::new(secrets.iter().map(|secret| secret.as_str().into()));
            let sink = EventSink::new(mpsc::channel(1).0, &secrets_known);
            let note = || TurnEvent::Note { text: text.clone() };
            let (mut thoughts, mut said, mut whole) = (String::new(), String::new(), Vec::new());
            let mut hear = |event: TurnEvent| {
                for event in sink.redacted(event) {
                    match event {
                        TurnEvent::TextDelta { delta } => said.push_str(&delta),
                        TurnEvent::ThinkingDelta { delta } => thoughts.push_str(&delta),
                        other => whole.push(serde_json::to_value(other).unwrap()),
                    }
                }
            };
            for (n, delta) in pieces(&text, &lengths).into_iter().enumerate() {
                hear(TurnEvent::ThinkingDelta { delta });
                if n % note_every == 0 {
                    hear(note());
                }
            }
            for (n, delta) in pieces(&text, &lengths).into_iter().enumerate() {
                hear(TurnEvent::TextDelta { delta });
                if n % note_every == 0 {
                    hear(note());
                }
            }
            hear(TurnEvent::ToolStarted {
                call_id: "call".to_owned(),
                name: "read".to_owned(),
                arguments: serde_json::json!({"path": text, "deep": [text]}),
            });
            hear(TurnEvent::Said { index: 0, text: text.clone() });
            let shown = |value: &serde_json::Value| {
                let mut texts = Vec::new();
                let mut open = vec![value];
                while let Some(value) = open.pop() {
                    match value {
                        serde_json::Value::String(text) => texts.push(text.clone()),
                        serde_json::Value::Array(items) => open.extend(items),
                        serde_json::Value::Object(fields) => open.extend(fields.values()),
                        _ => {}
                    }
                }
                texts
            };
            let mut all: Vec<String> = whole.iter().flat_map(shown).collect();
            prop_assert_eq!(&said, &secrets_known.redact_known(&text), "nothing is lost either");
            all.extend([thoughts, said]);
            for secret in &secrets {
                for shown in &all {
                    prop_assert!(!shown.contains(secret.trim()), "{shown:?} shows {secret:?}");
                }
            }
        }
    }
}
