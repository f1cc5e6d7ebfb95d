//! Messages from one session to another.

use crate::compat;
use crate::gateway::{Gateway, Inner};
use crate::intake::{Accepted, IntakeRefusal, MOST_TEXT};
use crate::jobs::{Job, JobKind, Sender};
use chitin_protocol::origin::Origin;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A message from one session to another.
#[derive(Debug, Clone)]
pub struct SessionMessage<'a> {
    /// The session that it comes from.
    pub from: &'a str,
    /// The session that it is for.
    pub to: &'a str,
    /// The agent of that one.
    pub agent_id: &'a str,
    /// What it says.
    pub words: &'a str,
    /// The tool that sends it.
    pub tool: &'a str,
    /// The name of its job.
    pub job_id: String,
    /// Where texts come from that the session holds it is from, and that are not the owner's.
    pub origins: Vec<Origin>,
}

impl Gateway {
    /// Brings a message from one session to another: into the turn that runs there, or as a turn of its own. When this
    /// returns, the message is on the disk.
    pub async fn bring(&self, letter: SessionMessage<'_>) -> Result<Accepted, IntakeRefusal> {
        self.0.bring(letter).await
    }
}

impl Inner {
    async fn bring(
        self: &Arc<Self>,
        letter: SessionMessage<'_>,
    ) -> Result<Accepted, IntakeRefusal> {
        let here = self
            .turnstile
            .pass()
            .await
            .ok_or(IntakeRefusal::Restarting)?;
        self.must_be_open()?;
        if letter.words.trim().is_empty() {
            return Err(IntakeRefusal::Empty);
        }
        if letter.words.len() > MOST_TEXT {
            return Err(IntakeRefusal::TooLarge(format!(
                "its text has {} bytes, the limit is {MOST_TEXT}",
                letter.words.len()
            )));
        }
        self.must_have_space()?;
        let open = self.open.load(Ordering::Relaxed);
        if open >= self.parts.most_open {
            return Err(IntakeRefusal::Full { open });
        }
        let node = self.tree.lock().get(letter.to).cloned();
        let job = Job {
            id: letter.job_id,
            session_key: letter.to.to_owned(),
            agent_id: letter.agent_id.to_owned(),
            kind: JobKind::SessionSend,
            words: format!(
                "{} sourceSession={} sourceChannel={} sourceTool={} isUser=false\n{}",
                compat::INTER_SESSION,
                letter.from,
                compat::INTERNAL_CHANNEL,
                letter.tool,
                letter.words
            ),
            written: Vec::new(),
            origins: letter.origins,
            is_answerable: false,
            images: Vec::new(),
            from: None,
            message_id: None,
            // Nobody gets more rights by asking through another session.
            sender: self.sender_in(letter.from),
            deliver: None,
            answer_thread: None,
            provenance: Some(json!({
                "kind": compat::INTER_SESSION_KIND,
                "sourceSessionKey": letter.from,
                "sourceChannel": compat::INTERNAL_CHANNEL,
                "sourceTool": letter.tool,
            })),
            model: None,
            timeout_ms: None,
            retry_ms: None,
            light: false,
            new_session: false,
            accepted_at: self.parts.clock.now_ms(),
            child: node.map(|node| Box::new(node.run.as_ref().clone())),
            about: None,
        };
        self.take_in_whole(job, None, None, here).await
    }

    /// Returns for whom the turn of a session works.
    fn sender_in(&self, session_key: &str) -> Option<Sender> {
        let busy = self.busy.lock();
        busy.get(session_key)?.active.as_ref()?.job.sender.clone()
    }
}
