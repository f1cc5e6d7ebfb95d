//! What a session is in the tree of sessions, and what the store says of that (R17, R31).

use super::prompt::{ChildFacts, system_prompt};
use super::tree::Leaving;
use super::{ControlScope, SessionCapabilities, SessionRole, SpawnLimits};
use crate::gateway::Inner;
use crate::jobs::{ChildMode, ChildRun, Job, JobKind, JobOutcome, JobStatus};
use chitin_agent::blocking;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::{self, KeyGrammar};
use chitin_store::{Begin, LockMode, SessionEntry, SessionStore, StoreError};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a session of the tree is, for its turns.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreePosition {
    /// How many sessions are above it.
    pub(crate) depth: u32,
    /// Text for its prompt.
    pub(crate) prompt: Option<String>,
    /// Its workspace, when that is not its agent's own.
    pub(crate) workspace: Option<String>,
    /// The directory that it works in, when that is not the workspace itself.
    pub(crate) working_directory: Option<String>,
    /// How deeply its model thinks, when its parent says so.
    pub(crate) thinking: Option<String>,
}

/// How long to wait for a session that another process has open, in milliseconds.
const LOCK_WAIT_MS: u64 = 5_000;
/// The name of the field that says whether a child stays.
const MODE: &str = "spawnMode";
/// The name of the field that says how deeply a child's model thinks.
const THINKING: &str = "thinkingLevel";
/// The name of the field that says where a child works, when that is not its agent's workspace.
const DIRECTORY: &str = "spawnedCwd";
/// The name of the field that says which workspace a child has, when that is not its agent's.
const WORKSPACE: &str = "spawnedWorkspace";

impl Inner {
    /// Says what the session of a job is in the tree; nothing when it is in none.
    pub(crate) fn standing(&self, job: &Job) -> Option<TreePosition> {
        if let Some(run) = &job.child {
            return Some(TreePosition {
                depth: run.depth,
                prompt: run.prompt.clone(),
                workspace: run.workspace_root.clone(),
                working_directory: run.workspace.clone(),
                thinking: run.thinking.clone(),
            });
        }
        let grammar = self.parts.contract.session_keys;
        if !session_key::is_subagent(&job.session_key, grammar) {
            return None;
        }
        let entry = self.entry(&job.agent_id, &job.session_key);
        let depth = self.depth_of(entry.as_ref(), &job.session_key);
        let text = |field: &str| {
            let entry = entry.as_ref()?;
            entry.extra.get(field)?.as_str().map(str::to_owned)
        };
        let limits = self.spawn_limits(&job.agent_id);
        let prompt = stored_prompt(entry.as_ref(), &job.session_key, depth, &limits);
        Some(TreePosition {
            depth,
            prompt: Some(prompt),
            workspace: text(WORKSPACE),
            working_directory: text(DIRECTORY),
            thinking: text(THINKING),
        })
    }

    /// Returns what an agent's sessions may begin.
    pub(crate) fn spawn_limits(&self, agent_id: &str) -> SpawnLimits {
        let agent = AgentId::normalize(agent_id);
        SpawnLimits::read(&self.parts.config, &agent, self.parts.contract)
    }

    /// Returns what the store says of a session.
    pub(crate) fn entry(&self, agent_id: &str, session_key: &str) -> Option<SessionEntry> {
        let store = self.parts.host.store(agent_id).ok()?;
        blocking(|| store.find(session_key)).ok().flatten()
    }

    /// Returns how many sessions are above one. What is stored wins over what the key looks like.
    pub(crate) fn depth_of(&self, entry: Option<&SessionEntry>, session_key: &str) -> u32 {
        stored_depth(entry, session_key, self.parts.contract.session_keys)
    }

    /// Tells whether a session is a child that stays.
    pub(crate) fn stays(&self, session_key: &str) -> bool {
        let grammar = self.parts.contract.session_keys;
        let Some(parsed) = session_key::SessionKey::parse(session_key, grammar) else {
            return false;
        };
        let entry = self.entry(parsed.agent().as_str(), session_key);
        entry.is_some_and(|entry| !is_run(&entry))
    }

    /// Makes the session of a child, with what is known of it (R17), unless it is there.
    pub(crate) async fn child_session(&self, job: &Job) -> Result<(), String> {
        let Some(run) = job.child.as_deref().cloned() else {
            return Ok(());
        };
        let grammar = self.parts.contract.session_keys;
        let parent = session_key::SessionKey::parse(&run.parent_key, grammar);
        let parent = parent.map_or_else(|| job.agent_id.clone(), |key| key.agent().to_string());
        let most = self.spawn_limits(&parent).max_depth;
        let agents = self.parts.host.agents().into_iter();
        let home = agents
            .filter(|agent| agent.id == job.agent_id)
            .map(|agent| agent.workspace)
            .next()
            .unwrap_or_default();
        let home = run.workspace_root.clone().unwrap_or(home);
        let (now, now_ms) = (self.parts.clock.now(), self.parts.clock.now_ms());
        let key = job.session_key.clone();
        let making = self.in_store(&job.agent_id, move |store| {
            let known = store.find(&key)?;
            if known
                .as_ref()
                .is_some_and(|entry| entry.spawned_by.is_some())
            {
                return Ok(());
            }
            let begin = Begin {
                workspace: run.workspace.as_deref().unwrap_or(&home),
                now: &now,
                now_ms,
                new_session: false,
            };
            let mut tell = |entry: &mut SessionEntry| describe(entry, &run, most, &home);
            match (known, run.forked) {
                (Some(_), _) => store.annotate(&key, &mut tell),
                (None, true) => {
                    store.fork(&run.parent_key, &key, &begin)?;
                    store.annotate(&key, &mut tell)
                }
                (None, false) => {
                    let mut open = store.open(&key, &begin, LockMode::Wait(LOCK_WAIT_MS))?;
                    open.update(&mut tell)
                }
            }
        });
        making.await
    }

    /// Writes down that a run begins.
    pub(crate) async fn note_begin(&self, job: &Job, now: i64) -> Result<(), String> {
        if job.kind == JobKind::Subagent {
            self.child_session(job).await?;
            self.annotate(job, move |entry| {
                entry.status = Some("running".to_owned());
                entry.started_at = Some(now);
                entry.ended_at = None;
            })
            .await;
        }
        Ok(())
    }

    /// Writes down that a run is over.
    pub(crate) async fn note_end(&self, job: &Job, outcome: &JobOutcome) {
        if job.kind != JobKind::Subagent {
            return;
        }
        let (now, runtime) = (self.parts.clock.now_ms(), outcome.runtime_ms);
        let status = match outcome.status {
            JobStatus::Ok => "done",
            JobStatus::TimedOut => "timeout",
            JobStatus::Stopped => "killed",
            JobStatus::Failed | JobStatus::Dropped => "failed",
        };
        self.annotate(job, move |entry| {
            entry.status = Some(status.to_owned());
            entry.ended_at = Some(now);
            entry.runtime_ms = Some(runtime);
        })
        .await;
    }

    async fn annotate(
        &self,
        job: &Job,
        mut change: impl FnMut(&mut SessionEntry) + Send + 'static,
    ) {
        let key = job.session_key.clone();
        let changed = self
            .in_store(&job.agent_id, move |store| {
                match store.annotate(&key, &mut change) {
                    // One that was stopped before it began has no session.
                    Err(StoreError::Unknown { .. }) => Ok(()),
                    other => other,
                }
            })
            .await;
        if let Err(error) = changed {
            let key = &job.session_key;
            (self.parts.note)(&format!("could not store the state of `{key}`: {error}"));
        }
    }

    /// Takes a session away, with its transcript. One that is not there is gone already.
    pub(crate) async fn remove_session(&self, leaving: &Leaving) -> Result<(), String> {
        let key = leaving.session_key.clone();
        self.in_store(&leaving.agent_id, move |store| {
            match store.remove(&key, chitin_store::TranscriptRemoval::Delete) {
                Err(StoreError::Unknown { .. }) => Ok(()),
                other => other,
            }
        })
        .await
    }

    /// Does something with an agent's sessions that waits for the disk.
    pub(crate) async fn in_store<T: Send + 'static>(
        &self,
        agent_id: &str,
        work: impl FnOnce(Arc<dyn SessionStore>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        let store = self.parts.host.store(agent_id);
        let store = store.map_err(|error| error.to_string())?;
        let done = tokio::task::spawn_blocking(move || work(store)).await;
        let done = done.map_err(|error| error.to_string())?;
        done.map_err(|error| error.to_string())
    }
}

/// Returns what the next turn of a child's session says of it in its system prompt, by what the store says of the session. No
/// gateway is needed.
pub fn child_prompt(
    entry: Option<&SessionEntry>,
    session_key: &str,
    limits: &SpawnLimits,
    grammar: KeyGrammar,
) -> String {
    let depth = stored_depth(entry, session_key, grammar);
    stored_prompt(entry, session_key, depth, limits)
}

fn stored_prompt(
    entry: Option<&SessionEntry>,
    session_key: &str,
    depth: u32,
    limits: &SpawnLimits,
) -> String {
    system_prompt(&ChildFacts {
        depth,
        max_depth: limits.max_depth,
        label: entry.and_then(|entry| entry.label.as_deref()),
        requester_session: entry.and_then(|entry| entry.spawned_by.as_deref()),
        requester_channel: entry.and_then(|entry| entry.channel.as_deref()),
        session: session_key,
        thread: None,
    })
}

fn stored_depth(entry: Option<&SessionEntry>, session_key: &str, grammar: KeyGrammar) -> u32 {
    let stored = entry.and_then(|entry| entry.spawn_depth);
    let depth = stored.unwrap_or_else(|| session_key::subagent_depth(session_key, grammar) as u64);
    u32::try_from(depth).unwrap_or(u32::MAX)
}

/// Returns the workspace of a child, when its entry names one that is not its agent's.
pub(crate) fn workspace_in(entry: &SessionEntry) -> Option<String> {
    entry.extra.get(WORKSPACE)?.as_str().map(str::to_owned)
}

/// Tells whether a child ends with its task.
pub(crate) fn is_run(entry: &SessionEntry) -> bool {
    entry.extra.get(MODE) != Some(&json!(ChildMode::Session))
}

/// Writes into a child's entry what it is (R17).
pub(crate) fn describe(entry: &mut SessionEntry, run: &ChildRun, max_depth: u32, inherited: &str) {
    let standing = SessionCapabilities::at(run.depth, max_depth);
    entry.label.clone_from(&run.label);
    entry.spawned_by = Some(run.parent_key.clone());
    entry.spawn_depth = Some(u64::from(run.depth));
    entry.subagent_role = match standing.role {
        SessionRole::Main => None,
        SessionRole::Orchestrator => Some("orchestrator".to_owned()),
        SessionRole::Leaf => Some("leaf".to_owned()),
    };
    entry.subagent_control_scope = Some(match standing.control_scope {
        ControlScope::Children => "children".to_owned(),
        ControlScope::None => "none".to_owned(),
    });
    let directory = run.workspace.as_deref().unwrap_or(inherited);
    entry.spawned_workspace_dir = Some(directory.to_owned());
    if let Some(origin) = run.bound.as_ref().or(run.origin.as_ref()) {
        entry.channel = Some(origin.channel.clone());
        entry.last_channel = Some(origin.channel.clone());
        entry.delivery_context = serde_json::to_value(origin).ok();
    }
    let mut note = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry.extra.insert(field.to_owned(), value);
        }
    };
    note(MODE, Some(json!(run.mode)));
    note(THINKING, run.thinking.clone().map(Value::from));
    note(DIRECTORY, run.workspace.clone().map(Value::from));
    note(WORKSPACE, run.workspace_root.clone().map(Value::from));
}
