//! Sends a turn's events to its listener, if there is one.

use chitin_protocol::event::TurnEvent;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::StoreNote;
use tokio::sync::mpsc;

/// Where events go. A slow listener slows the turn down rather than filling memory.
pub type Events = mpsc::Sender<TurnEvent>;

/// Sends events.
#[derive(Debug, Clone)]
pub(crate) struct EventSink(Events);

impl EventSink {
    pub(crate) const fn new(events: Events) -> Self {
        Self(events)
    }

    /// A sink without a listener.
    pub(crate) fn mute() -> Self {
        Self(mpsc::channel(1).0)
    }

    /// Sends one event. If the listener is gone, the turn goes on.
    pub(crate) async fn tell(&self, event: TurnEvent) {
        let _ = self.0.send(event).await;
    }

    pub(crate) async fn note(&self, text: &str) {
        self.tell(TurnEvent::Note {
            text: text.to_owned(),
        })
        .await;
    }

    /// Sends a tool's progress, unless the listener is behind: progress is not worth waiting for.
    pub(crate) fn progress(&self, call_id: &str, text: &str) {
        let _ = self.0.try_send(TurnEvent::ToolProgress {
            call_id: call_id.to_owned(),
            text: text.to_owned(),
        });
    }
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
