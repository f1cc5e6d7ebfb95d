//! The sessions, and which began which.

use crate::body::{Body, json};
use crate::problem::Problem;
use crate::shared::Shared;
use chitin_gateway::Gateway;
use chitin_protocol::session_key::{self, ChatType, KeyGrammar, MAIN, SessionKey};
use chitin_store::SessionEntry;
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json as value};
use std::collections::{HashMap, HashSet};

/// How many sessions are told at most: the most recently used ones, and those that are busy.
const MOST: usize = 2_000;

/// A session of the tree.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    key: String,
    agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
    updated_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
}

/// Lists the sessions with their parents, the most recently used first.
pub(crate) async fn tree(shared: &Shared) -> Result<Response<Body>, Problem> {
    let nodes = shared.blocking(list).await?;
    Ok(json(StatusCode::OK, &value!({ "sessions": nodes })))
}

fn list(gateway: &Gateway) -> Result<Vec<Node>, Problem> {
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
    let idle = |node: &Node| node.state == "idle";
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

const fn state(runs: bool) -> &'static str {
    if runs { "running" } else { "waiting" }
}

fn node(key: String, agent: &str, entry: SessionEntry, grammar: KeyGrammar) -> Node {
    let kind = kind(&key, grammar);
    let split = session_key::split_thread(&key);
    // A thread hangs below the room that it is in, whoever spawned what.
    let room = split.thread_id.and(split.base).filter(|_| kind == "thread");
    let named = |name: &str| entry.extra.get(name).and_then(Value::as_str);
    let title = named("displayName").or_else(|| named("subject"));
    Node {
        title: title.map(str::to_owned),
        parent: entry.spawned_by.or(room),
        label: entry.label,
        kind,
        channel: entry.last_channel.or(entry.channel),
        state: "idle",
        job_id: None,
        updated_at: entry.updated_at,
        status: entry.status,
        tokens: entry.total_tokens,
        agent_id: agent.to_owned(),
        key,
    }
}

/// Says what kind of session a key names.
fn kind(key: &str, grammar: KeyGrammar) -> &'static str {
    let rest = SessionKey::parse(key, grammar).map(|parsed| parsed.rest);
    let rest = rest.unwrap_or_default();
    if session_key::is_subagent(key, grammar) {
        return "subagent";
    }
    if session_key::is_cron(key, grammar) {
        return "cron";
    }
    if rest == MAIN {
        return "main";
    }
    if rest.rsplit(':').next() == Some("heartbeat") {
        return "heartbeat";
    }
    if session_key::split_thread(key).thread_id.is_some() {
        return "thread";
    }
    match session_key::chat_type(key) {
        Some(ChatType::Direct) => "direct",
        Some(ChatType::Group) => "group",
        Some(ChatType::Channel) => "channel",
        None => "other",
    }
}
