//! What sessions say to each other, and what they know of those that they began.

use super::tree::NodeState;
use crate::gateway::Gateway;
use crate::jobs::ChildMode;
use crate::turns::stop::Quietly;
use serde::Serialize;

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
}
