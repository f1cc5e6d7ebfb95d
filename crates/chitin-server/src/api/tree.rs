//! The sessions, and which began which.

use super::sessions::{number, page, place};
use crate::body::{Body, json};
use crate::error::ApiError;
use crate::route::Query;
use crate::shared::Shared;
use chitin_gateway::Gateway;
use chitin_gateway::queue::BusySession;
use chitin_protocol::session_key::{self, ChatType, KeyGrammar, MAIN, SessionKey};
use chitin_store::{SessionCursor, SessionEntry};
use hyper::{Response, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// How many sessions are told besides the busy ones, if nothing else is asked for.
const TOLD: usize = 100;
/// How many at most.
const MOST: usize = 2_000;

/// The tree of sessions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionTree {
    /// The sessions: busy ones first, then the most recently used.
    sessions: Vec<TreeSession>,
    /// How many sessions there are, told or not.
    total: usize,
    /// Where the list goes on: `after` of the next request. Absent when these are the last ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
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
pub(crate) async fn tree(shared: &Shared, query: &Query) -> Result<Response<Body>, ApiError> {
    let limit = number(query, "limit", TOLD)?.min(MOST);
    let after = place(query)?;
    let told = shared.blocking(move |gateway| list(gateway, after.as_ref(), limit));
    Ok(json(StatusCode::OK, &told.await?))
}

fn list(
    gateway: &Gateway,
    after: Option<&SessionCursor>,
    limit: usize,
) -> Result<SessionTree, ApiError> {
    let parts = gateway.parts();
    let grammar = parts.contract.session_keys;
    let busy = gateway.busy();
    let mut busy: HashMap<&str, _> = busy
        .iter()
        .map(|session| (session.session_key.as_str(), session))
        .collect();
    let agents = parts.host.agents().into_iter().map(|agent| agent.id);
    let page = page(gateway, agents, after, limit)?;
    let (total, next) = (page.total, page.next());
    let mut nodes = Vec::with_capacity(page.sessions.len() + busy.len());
    for listed in page.sessions {
        let active = busy.remove(listed.key.as_str());
        // The busy ones stood on the first page.
        if active.is_some() && after.is_some() {
            continue;
        }
        let mut node = node(listed.key, &listed.agent_id, listed.entry, grammar);
        if let Some(active) = active {
            node.be(active);
        }
        nodes.push(node);
    }
    if after.is_none() {
        for (key, active) in busy {
            let agent = SessionKey::parse(key, grammar).map(|parsed| parsed.agent_id);
            let agent = agent.unwrap_or_default();
            let known = parts.host.store(&agent).ok().map(|store| store.find(key));
            // Of one whose first turn is about to begin nothing is on the disk yet.
            let entry = known
                .transpose()?
                .flatten()
                .unwrap_or_else(|| SessionEntry {
                    updated_at: active.since_ms.unwrap_or_default(),
                    ..SessionEntry::default()
                });
            let mut node = node(key.to_owned(), &agent, entry, grammar);
            node.be(active);
            nodes.push(node);
        }
    }
    let idle = |node: &TreeSession| node.state == SessionState::Idle;
    nodes.sort_by(|one, other| {
        let busy_first = idle(one).cmp(&idle(other));
        let newest = busy_first.then_with(|| other.updated_at.cmp(&one.updated_at));
        newest.then_with(|| one.key.cmp(&other.key))
    });
    let known: HashSet<String> = nodes.iter().map(|node| node.key.clone()).collect();
    for node in &mut nodes {
        let parent = node.parent.take();
        node.parent = parent.filter(|parent| known.contains(parent) || is_there(gateway, parent));
    }
    Ok(SessionTree {
        sessions: nodes,
        total,
        next,
    })
}

/// Tells whether there is a session, on whatever page.
fn is_there(gateway: &Gateway, key: &str) -> bool {
    let parts = gateway.parts();
    let agent = SessionKey::parse(key, parts.contract.session_keys).map(|parsed| parsed.agent_id);
    let store = agent.and_then(|agent| parts.host.store(&agent).ok());
    store.is_some_and(|store| store.find(key).is_ok_and(|found| found.is_some()))
}

impl TreeSession {
    /// Says what it is doing.
    fn be(&mut self, active: &BusySession) {
        self.state = state(active.job_id.is_some());
        self.job_id.clone_from(&active.job_id);
    }
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
