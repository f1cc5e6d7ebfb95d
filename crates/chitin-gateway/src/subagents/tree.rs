//! Runs that sessions began and that are not settled yet: running, waiting for runs of their own, or on their way to be told.

use crate::jobs::{About, ChildRun, Job, JobOutcome};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What names of runs that wait for their own children begin with, in the ledger.
pub(crate) const WAITS: &str = "wait ";
/// What names of sessions that are to be taken away begin with, in the ledger.
pub(crate) const GOES: &str = "gone ";

/// The mark of a job that is not to be run any more.
pub(crate) const STOPPED: &str = "stopped";
/// The same, when nobody is to hear of it.
pub(crate) const STOPPED_QUIETLY: &str = "stopped quietly";

/// All runs that are not settled.
#[derive(Debug, Default)]
pub(crate) struct Tree(Mutex<Nodes>);

/// All runs that are not settled, by their sessions.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    by_child: HashMap<String, RunNode>,
    by_parent: HashMap<String, BTreeSet<String>>,
}

/// A run that is not settled.
#[derive(Debug, Clone)]
pub(crate) struct RunNode {
    /// The run's agent.
    pub(crate) agent_id: String,
    /// The job that began it.
    pub(crate) job_id: String,
    /// The run.
    pub(crate) run: Arc<ChildRun>,
    /// How far it is.
    pub(crate) state: NodeState,
    /// Whether nobody is to hear of its end.
    pub(crate) quiet: bool,
    /// When it was begun, in milliseconds since 1970.
    pub(crate) since_ms: i64,
}

/// How far a run is.
#[derive(Debug, Clone)]
pub(crate) enum NodeState {
    /// It waits for room, or runs.
    Runs,
    /// It is done, but runs that it began are not.
    Waits(Box<EndedRun>),
    /// Its parent is being told.
    Told,
}

/// A run that is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndedRun {
    pub(crate) outcome: JobOutcome,
    /// When it began, in milliseconds since 1970.
    pub(crate) since: i64,
    /// When it ended, in milliseconds since 1970.
    pub(crate) until: i64,
}

/// A run that waits for runs of its own, as the ledger keeps it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitingRun {
    pub(crate) child_key: String,
    pub(crate) agent_id: String,
    pub(crate) job_id: String,
    pub(crate) run: ChildRun,
    pub(crate) ended: EndedRun,
    pub(crate) quiet: bool,
    pub(crate) since_ms: i64,
}

/// A session that is to be taken away, as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Leaving {
    pub(crate) session_key: String,
    pub(crate) agent_id: String,
}

impl Tree {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Nodes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Nodes {
    pub(crate) fn get(&self, child_key: &str) -> Option<&RunNode> {
        self.by_child.get(child_key)
    }

    pub(crate) fn get_mut(&mut self, child_key: &str) -> Option<&mut RunNode> {
        self.by_child.get_mut(child_key)
    }

    pub(crate) fn put(&mut self, child_key: &str, node: RunNode) {
        let parent = node.run.parent_key.clone();
        self.by_parent
            .entry(parent)
            .or_default()
            .insert(child_key.to_owned());
        self.by_child.insert(child_key.to_owned(), node);
    }

    /// Puts a run that a job begins.
    pub(crate) fn put_job(&mut self, job: &Job, quiet: bool) {
        if let Some(run) = &job.child {
            let node = RunNode {
                agent_id: job.agent_id.clone(),
                job_id: job.id.clone(),
                run: Arc::new(run.as_ref().clone()),
                state: NodeState::Runs,
                quiet,
                since_ms: job.accepted_at,
            };
            self.put(&job.session_key, node);
        }
    }

    /// Puts a run that its parent is being told of.
    pub(crate) fn put_told(&mut self, about: &About) {
        let node = RunNode {
            agent_id: about.child_agent.clone(),
            job_id: about.run.run_id.clone(),
            run: Arc::new(about.run.clone()),
            state: NodeState::Told,
            quiet: false,
            since_ms: about.ended_at,
        };
        self.put(&about.child_key, node);
    }

    /// Forgets a run, which is settled.
    pub(crate) fn remove(&mut self, child_key: &str) -> Option<RunNode> {
        let node = self.by_child.remove(child_key)?;
        if let Some(children) = self.by_parent.get_mut(&node.run.parent_key) {
            children.remove(child_key);
            if children.is_empty() {
                self.by_parent.remove(&node.run.parent_key);
            }
        }
        Some(node)
    }

    /// Returns the runs of a session that are not settled, by their sessions.
    pub(crate) fn children(&self, parent_key: &str) -> impl Iterator<Item = (&str, &RunNode)> {
        let keys = self.by_parent.get(parent_key).into_iter().flatten();
        keys.filter_map(|key| Some((key.as_str(), self.by_child.get(key)?)))
    }

    /// Returns how many runs of a session are not settled.
    pub(crate) fn unsettled(&self, parent_key: &str) -> usize {
        self.by_parent.get(parent_key).map_or(0, BTreeSet::len)
    }

    /// Returns how many runs of a session are not done.
    pub(crate) fn at_work(&self, parent_key: &str) -> usize {
        let children = self.children(parent_key);
        let at_work = children.filter(|(_, node)| !matches!(node.state, NodeState::Told));
        at_work.count()
    }

    /// Returns the sessions of all runs below a session, those above first.
    pub(crate) fn below(&self, session_key: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut next = vec![session_key.to_owned()];
        while let Some(key) = next.pop() {
            for (child, _) in self.children(&key) {
                found.push(child.to_owned());
                next.push(child.to_owned());
            }
        }
        found
    }

    /// Returns the runs that wait though nothing that they began is open.
    pub(crate) fn ripe(&self) -> Vec<String> {
        let waits = self
            .by_child
            .iter()
            .filter(|(key, node)| {
                matches!(node.state, NodeState::Waits(_)) && self.unsettled(key) == 0
            })
            .map(|(key, _)| key.clone());
        waits.collect()
    }
}

impl RunNode {
    /// Returns the run as the ledger keeps it, if it waits.
    pub(crate) fn waiting(&self, child_key: &str) -> Option<WaitingRun> {
        let NodeState::Waits(ended) = &self.state else {
            return None;
        };
        Some(WaitingRun {
            child_key: child_key.to_owned(),
            agent_id: self.agent_id.clone(),
            job_id: self.job_id.clone(),
            run: self.run.as_ref().clone(),
            ended: ended.as_ref().clone(),
            quiet: self.quiet,
            since_ms: self.since_ms,
        })
    }
}

impl From<WaitingRun> for RunNode {
    fn from(waiting: WaitingRun) -> Self {
        Self {
            agent_id: waiting.agent_id,
            job_id: waiting.job_id,
            run: Arc::new(waiting.run),
            state: NodeState::Waits(Box::new(waiting.ended)),
            quiet: waiting.quiet,
            since_ms: waiting.since_ms,
        }
    }
}
