//! What is said to a model and shown to people, as far as the gateway has a say in it.

use super::Inner;
use crate::address::Address;
use crate::job::{Job, JobKind};
use crate::surface::Surface;

/// A piece of text, as it is sent and without format.
pub(super) struct Cut {
    pub(super) text: String,
    pub(super) plain: String,
}

impl Inner {
    /// Returns what the model hears: with the time before it, as in a run of OpenClaw's gateway (R25).
    pub(super) fn words(&self, job: &Job) -> String {
        match job.kind {
            JobKind::Message | JobKind::Subagent | JobKind::Announce | JobKind::SessionSend => {
                format!("{}{}", self.stamp(), job.words)
            }
            JobKind::Heartbeat | JobKind::Cron => job.words.clone(),
        }
    }

    fn stamp(&self) -> String {
        let now = jiff::Timestamp::from_millisecond(self.parts.clock.now_ms()).unwrap_or_default();
        let now = now.to_zoned(self.parts.zone.clone());
        format!("[{}] ", now.strftime("%a %Y-%m-%d %H:%M %Z"))
    }

    /// Returns what people see of an answer; nothing when it is meant for nobody.
    pub(super) fn shown(&self, job: &Job, text: &str) -> Option<String> {
        let _ = (self, job);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Cuts text into pieces that a surface takes.
    pub(super) fn cut(&self, surface: &dyn Surface, to: &Address, text: &str) -> Vec<Cut> {
        let _ = (self, surface, to);
        vec![Cut {
            text: text.to_owned(),
            plain: text.to_owned(),
        }]
    }

    /// Returns the message that a piece replies to.
    pub(super) fn reply_to(&self, job: &Job, first: bool) -> Option<String> {
        let _ = self;
        job.message_id.clone().filter(|_| first)
    }
}
