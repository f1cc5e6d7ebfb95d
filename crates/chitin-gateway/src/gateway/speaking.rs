//! What sessions say to each other, and what they know of those that they began.

use super::ending::Quietly;
use super::tree::NodeState;
use super::{Accepted, Gateway, Inner, Refusal};
use crate::compat;
use crate::incoming::MOST_TEXT;
use crate::job::{ChildMode, Job, JobKind, Sender};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A message from one session to another.
#[derive(Debug, Clone)]
pub struct Letter<'a> {
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
}

/// A child that is not settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenChild {
    /// Its session.
    pub session_key: String,
    /// Its agent.
    pub agent_id: String,
    /// The run.
    pub run_id: String,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it is to do.
    pub task: String,
    /// How far it is.
    pub state: ChildState,
    /// Whether it stays.
    pub mode: ChildMode,
    /// How deep in the tree it is.
    pub depth: u32,
    /// When it was begun, in milliseconds since 1970.
    pub since_ms: i64,
    /// How many runs of its own are not done.
    pub children: usize,
}

/// How far a child is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChildState {
    /// It waits for room.
    Queued,
    /// Its turn runs.
    Running,
    /// It is done and waits for children of its own.
    Waiting,
    /// It is done, and its parent is being told.
    Done,
}

impl Gateway {
    /// Returns the children of a session that are not settled, the oldest first.
    pub fn open_children(&self, session_key: &str) -> Vec<OpenChild> {
        let running = |key: &str| {
            let busy = self.0.busy.lock();
            let session = busy.get(key);
            session.is_some_and(|session| session.active.is_some())
        };
        let mut children: Vec<OpenChild> = {
            let nodes = self.0.tree.lock();
            let children = nodes.children(session_key).map(|(key, node)| OpenChild {
                session_key: key.to_owned(),
                agent_id: node.agent_id.clone(),
                run_id: node.run.run_id.clone(),
                label: node.run.label.clone(),
                task: node.run.task.clone(),
                state: match node.state {
                    NodeState::Runs => ChildState::Queued,
                    NodeState::Waits(_) => ChildState::Waiting,
                    NodeState::Told => ChildState::Done,
                },
                mode: node.run.mode,
                depth: node.run.depth,
                since_ms: node.since_ms,
                children: nodes.at_work(key),
            });
            children.collect()
        };
        for child in &mut children {
            if child.state == ChildState::Queued && running(&child.session_key) {
                child.state = ChildState::Running;
            }
        }
        children.sort_by(|one, other| {
            (one.since_ms, &one.session_key).cmp(&(other.since_ms, &other.session_key))
        });
        children
    }

    /// Stops a child for its parent, which is not told of its end again, and all that is below it. Returns how many runs that
    /// were.
    pub fn stop_child(&self, child_key: &str) -> usize {
        let below = self.0.tree.lock().below(child_key);
        let mut stopped = self.0.stop_run(child_key, Quietly::Yes);
        for key in &below {
            stopped += self.0.stop_run(key, Quietly::Yes);
        }
        stopped
    }

    /// Brings a message from one session to another: into the turn that runs there, or as a turn of its own. When this
    /// returns, the message is on the disk.
    pub async fn bring(&self, letter: Letter<'_>) -> Result<Accepted, Refusal> {
        self.0.bring(letter).await
    }
}

impl Inner {
    async fn bring(self: &Arc<Self>, letter: Letter<'_>) -> Result<Accepted, Refusal> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(Refusal::Closing);
        }
        if letter.words.trim().is_empty() {
            return Err(Refusal::Empty);
        }
        if letter.words.len() > MOST_TEXT {
            return Err(Refusal::TooLarge(format!(
                "its text has {} bytes, {MOST_TEXT} are taken",
                letter.words.len()
            )));
        }
        let open = self.open.load(Ordering::Relaxed);
        if open >= self.parts.most_open {
            return Err(Refusal::Full { open });
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
            light: false,
            afresh: false,
            accepted_at: self.parts.clock.now_ms(),
            child: node.map(|node| Box::new(node.run.as_ref().clone())),
            about: None,
        };
        self.take_in_whole(job, None).await
    }

    /// Returns for whom the turn of a session works.
    fn sender_in(&self, session_key: &str) -> Option<Sender> {
        let busy = self.busy.lock();
        busy.get(session_key)?.active.as_ref()?.job.sender.clone()
    }
}
