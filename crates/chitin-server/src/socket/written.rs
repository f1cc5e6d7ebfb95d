//! Happenings as they are sent: made once for all who listen.

use super::command::{SocketBody, SocketMessage};
use crate::attached::Attached;
use chitin_gateway::events::GatewayEvent;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// How many are kept. Who is further behind makes its own.
const MOST: usize = 64;
/// How many bytes of them.
const MOST_BYTES: usize = 1 << 20;

/// The last happenings as they are sent.
#[derive(Default)]
pub(crate) struct Written(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    texts: VecDeque<(u64, Utf8Bytes)>,
    bytes: usize,
}

impl Written {
    /// Returns a happening as it is sent. All who listen share one text.
    pub(super) fn of(&self, happening: &GatewayEvent, attached: &Attached) -> Utf8Bytes {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut newest = kept.texts.iter().rev();
        if let Some((_, text)) = newest.find(|(seq, _)| *seq == happening.seq) {
            return text.clone();
        }
        let told = SocketMessage::from(SocketBody::Happening(happening));
        // Made while the others wait: they want the same.
        let text = Utf8Bytes::from(attached.json(&told));
        kept.bytes += text.len();
        kept.texts.push_back((happening.seq, text.clone()));
        while kept.texts.len() > MOST || kept.bytes > MOST_BYTES {
            let Some((_, oldest)) = kept.texts.pop_front() else {
                break;
            };
            kept.bytes -= oldest.len();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chitin_gateway::events::EventKind;

    fn happening(seq: u64, bytes: usize) -> GatewayEvent {
        GatewayEvent {
            seq,
            at: 0,
            session_key: "agent:main:main".to_owned(),
            job_id: "job".to_owned(),
            what: EventKind::Dropped {
                reason: "x".repeat(bytes),
            },
        }
    }

    #[test]
    fn a_happening_is_written_once_however_many_listen() {
        let written = Written::default();
        let attached = Attached::default();
        let first = written.of(&happening(1, 10), &attached);
        let again = written.of(&happening(1, 10), &attached);
        assert_eq!(first.as_str().as_ptr(), again.as_str().as_ptr());
        let told: serde_json::Value = serde_json::from_str(&first).unwrap();
        assert_eq!(
            (&told["type"], &told["seq"]),
            (&"happening".into(), &1.into())
        );
    }

    #[test]
    fn what_is_kept_has_bounds() {
        let written = Written::default();
        for seq in 0..200 {
            written.of(&happening(seq, 100), &Attached::default());
        }
        assert_eq!(written.0.lock().unwrap().texts.len(), MOST);
        written.of(&happening(200, 2 * MOST_BYTES), &Attached::default());
        let kept = written.0.lock().unwrap();
        assert_eq!((kept.texts.len(), kept.bytes), (0, 0));
    }
}
