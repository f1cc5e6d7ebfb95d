//! The sessions, and which began which.

use crate::body::{Body, json};
use crate::error::ApiError;
use crate::shared::Shared;
use chitin_gateway::Gateway;
use chitin_protocol::session_key::{self, ChatType, KeyGrammar, MAIN, SessionKey};
use chitin_store::SessionEntry;
use hyper::{Response, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// How many sessions are told at most: the most recently used ones, and those that are busy.
const MOST: usize = 2_000;

/// The tree of sessions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionTree {
    /// The sessions: busy ones first, then the most recently used.
    sessions: Vec<TreeSession>,
}

/// A session of the tree.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TreeSession {
    /// Its key.
    key: String,
    /// Its agent.
    agent_id: String,
    /// The session that started it, or the room of a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// Its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// What kind of session it is.
    kind: SessionKind,
    /// The channel that it was last used on.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    /// What it is doing.
    state: SessionState,
    /// The job whose turn is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
    /// When it was last used, in milliseconds since 1970.
    updated_at: i64,
    /// Its name on the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// How its last run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// Tokens in the model's window after the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SessionState {
    /// Nothing.
    Idle,
    /// A turn.
    Running,
    /// Jobs wait, and none is running.
    Waiting,
}

/// What kind of session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SessionKind {
    /// The main session of an agent.
    Main,
    /// Direct messages.
    Direct,
    /// A group.
    Group,
    /// A channel of a chat service.
    Channel,
    /// A thread.
    Thread,
    /// A subagent.
    Subagent,
    /// A cron job.
    Cron,
    /// Heartbeats.
    Heartbeat,
    /// Anything else.
    Other,
}

/// Lists the sessions with their parents, the most recently used first.
pub(crate) async fn tree(shared: &Shared) -> Result<Response<Body>, ApiError> {
    let nodes = shared.blocking(list).await?;
    Ok(json(StatusCode::OK, &SessionTree { sessions: nodes }))
}

fn list(gateway: &Gateway) -> Result<Vec<TreeSession>, ApiError> {
    let parts = gateway.parts();
    let grammar = parts.contract.session_keys;
    let busy = gateway.busy();
    let mut busy: HashMap<&str, _> = busy
        .iter()
        .map(|session| (session.session_key.as_str(), session))
        .collect();
    let mut nodes = Vec::new();
    for agent in parts.host.agents() {
        for (key, entry) in parts.host.store(&agent.id)?.list()? {
            let active = busy.remove(key.as_str());
            let mut node = node(key, &agent.id, entry, grammar);
            if let Some(active) = active {
                node.state = state(active.job_id.is_some());
                node.job_id.clone_from(&active.job_id);
            }
            nodes.push(node);
        }
    }
    // Their first turns are about to begin: nothing of them is on the disk yet.
    for (key, active) in busy {
        let agent = SessionKey::parse(key, grammar).map(|parsed| parsed.agent_id);
        let entry = SessionEntry {
            updated_at: active.since_ms.unwrap_or_default(),
            ..SessionEntry::default()
        };
        let mut node = node(key.to_owned(), &agent.unwrap_or_default(), entry, grammar);
        node.state = state(active.job_id.is_some());
        node.job_id.clone_from(&active.job_id);
        nodes.push(node);
    }
    let idle = |node: &TreeSession| node.state == SessionState::Idle;
    nodes.sort_by(|one, other| {
        let busy_first = idle(one).cmp(&idle(other));
        let newest = busy_first.then_with(|| other.updated_at.cmp(&one.updated_at));
        newest.then_with(|| one.key.cmp(&other.key))
    });
    nodes.truncate(MOST);
    let known: HashSet<String> = nodes.iter().map(|node| node.key.clone()).collect();
    for node in &mut nodes {
        node.parent = node.parent.take().filter(|parent| known.contains(parent));
    }
    Ok(nodes)
}

const fn state(runs: bool) -> SessionState {
    if runs {
        SessionState::Running
    } else {
        SessionState::Waiting
    }
}

fn node(key: String, agent: &str, entry: SessionEntry, grammar: KeyGrammar) -> TreeSession {
    let kind = kind(&key, grammar);
    let split = session_key::split_thread(&key);
    // A thread hangs below the room that it is in, whoever spawned what.
    let room = split
        .thread_id
        .and(split.base)
        .filter(|_| kind == SessionKind::Thread);
    let named = |name: &str| entry.extra.get(name).and_then(Value::as_str);
    let title = named("displayName").or_else(|| named("subject"));
    TreeSession {
        title: title.map(str::to_owned),
        parent: entry.spawned_by.or(room),
        label: entry.label,
        kind,
        channel: entry.last_channel.or(entry.channel),
        state: SessionState::Idle,
        job_id: None,
        updated_at: entry.updated_at,
        status: entry.status,
        tokens: entry.total_tokens,
        agent_id: agent.to_owned(),
        key,
    }
}

/// Says what kind of session a key names.
fn kind(key: &str, grammar: KeyGrammar) -> SessionKind {
    let rest = SessionKey::parse(key, grammar).map(|parsed| parsed.rest);
    let rest = rest.unwrap_or_default();
    if session_key::is_subagent(key, grammar) {
        return SessionKind::Subagent;
    }
    if session_key::is_cron(key, grammar) {
        return SessionKind::Cron;
    }
    if rest == MAIN {
        return SessionKind::Main;
    }
    if rest.rsplit(':').next() == Some("heartbeat") {
        return SessionKind::Heartbeat;
    }
    if session_key::split_thread(key).thread_id.is_some() {
        return SessionKind::Thread;
    }
    match session_key::chat_type(key) {
        Some(ChatType::Direct) => SessionKind::Direct,
        Some(ChatType::Group) => SessionKind::Group,
        Some(ChatType::Channel) => SessionKind::Channel,
        None => SessionKind::Other,
    }
}
