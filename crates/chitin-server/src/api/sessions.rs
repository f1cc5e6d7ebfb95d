//! Sessions: lists, one with what was said in it, what the model would get, an end to its turn.

use crate::body::{Body, json};
use crate::problem::Problem;
use crate::route::Query;
use crate::shared::Shared;
use chitin_gateway::Gateway;
use chitin_protocol::session_key::{self, SessionKey};
use chitin_store::{SessionEntry, StoreError};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json as value};

/// How many sessions a list has, if nothing else is asked for.
const LISTED: usize = 100;
/// How many at most.
const MOST_LISTED: usize = 1_000;
/// How many records of a session are shown, if nothing else is asked for.
const SHOWN: usize = 50;
/// How many at most.
const MOST_SHOWN: usize = 1_000;
/// How many bytes of records are shown at most. The newest is always there.
const MOST_BYTES: usize = 4 << 20;

/// A session in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    key: String,
    agent_id: String,
    #[serde(flatten)]
    entry: SessionEntry,
}

/// Returns the key under which a session of the default agent, or the one that it names, is kept.
pub(crate) fn key(shared: &Shared, text: &str) -> Result<String, Problem> {
    let default = shared.gateway.routing().default_agent();
    let default = default.map(|agent| agent.to_string()).unwrap_or_default();
    session_key(&shared.gateway, text, &default)
}

/// Returns the key under which a session is kept, as the gateway would find it.
pub(crate) fn session_key(gateway: &Gateway, text: &str, agent: &str) -> Result<String, Problem> {
    let grammar = gateway.parts().contract.session_keys;
    let key = session_key::store_key(text, agent, "", grammar);
    match SessionKey::parse(&key, grammar) {
        Some(_) => Ok(key),
        None => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "bad_session",
            "This is not a valid session key.",
        )
        .hint("A key is `agent:<agent>:<rest>`, or only the rest.")),
    }
}

/// Lists sessions, the most recently used first.
pub(crate) async fn sessions(shared: &Shared, query: &Query) -> Result<Response<Body>, Problem> {
    let wanted = query.get("agent").map(str::to_owned);
    let limit = number(query, "limit", LISTED)?.min(MOST_LISTED);
    let listed = shared.blocking(move |gateway| list(gateway, wanted)).await;
    let mut listed = listed?;
    listed.sort_by(|one, other| {
        let newest = other.entry.updated_at.cmp(&one.entry.updated_at);
        newest.then_with(|| one.key.cmp(&other.key))
    });
    let total = listed.len();
    listed.truncate(limit);
    Ok(json(
        StatusCode::OK,
        &value!({"sessions": listed, "total": total}),
    ))
}

fn list(gateway: &Gateway, wanted: Option<String>) -> Result<Vec<Listed>, Problem> {
    let host = &gateway.parts().host;
    let mut agents = host.agents();
    if let Some(wanted) = wanted {
        agents.retain(|agent| agent.id == wanted);
        if agents.is_empty() {
            return Err(unknown_agent(&wanted));
        }
    }
    let mut listed = Vec::new();
    for agent in agents {
        for (key, entry) in host.store(&agent.id)?.list()? {
            listed.push(Listed {
                key,
                agent_id: agent.id.clone(),
                entry,
            });
        }
    }
    Ok(listed)
}

/// Shows a session: what is known of it, and the last records of it.
pub(crate) async fn session(
    shared: &Shared,
    text: String,
    query: &Query,
) -> Result<Response<Body>, Problem> {
    let key = key(shared, &text)?;
    let limit = number(query, "limit", SHOWN)?.min(MOST_SHOWN);
    let shown = shared.blocking(move |gateway| show(gateway, &key, limit));
    Ok(json(StatusCode::OK, &shown.await?))
}

fn show(gateway: &Gateway, key: &str, limit: usize) -> Result<Value, Problem> {
    let agent = agent_of(gateway, key)?;
    let store = gateway.parts().host.store(&agent)?;
    let busy = gateway.busy();
    let busy = busy.iter().find(|session| session.session_key == key);
    let entry = match (store.find(key)?, busy) {
        (Some(entry), _) => entry,
        // Its first turn is about to begin.
        (None, Some(_)) => {
            return Ok(value!({
                "key": key, "agentId": agent, "busy": busy, "history": [], "hasOlder": false,
            }));
        }
        (None, None) => {
            let key = key.to_owned();
            return Err(StoreError::Unknown { key }.into());
        }
    };
    let branch = store.read(key)?;
    let mut history = Vec::new();
    let mut bytes = 0;
    for entry in branch.entries.iter().rev().take(limit) {
        let record = serde_json::to_value(entry).unwrap_or_default();
        bytes += record.to_string().len();
        if bytes > MOST_BYTES && !history.is_empty() {
            break;
        }
        history.push(record);
    }
    let has_older = branch.has_older || history.len() < branch.entries.len();
    history.reverse();
    let mut shown = serde_json::to_value(Listed {
        key: key.to_owned(),
        agent_id: agent,
        entry,
    })
    .unwrap_or_default();
    shown["busy"] = value!(busy);
    shown["history"] = Value::Array(history);
    shown["hasOlder"] = value!(has_older);
    Ok(shown)
}

/// Says what the model would get in the next turn of a session.
pub(crate) async fn context(shared: &Shared, text: String) -> Result<Response<Body>, Problem> {
    let key = key(shared, &text)?;
    let report = shared.blocking(move |gateway| {
        let agent = agent_of(gateway, &key)?;
        Ok(gateway.parts().host.context_report(&agent, &key)?)
    });
    Ok(json(StatusCode::OK, &report.await?))
}

/// Stops the turn of a session and lets go what waits there.
pub(crate) fn stop(shared: &Shared, text: &str) -> Result<Response<Body>, Problem> {
    let key = key(shared, text)?;
    agent_of(&shared.gateway, &key)?;
    let stopped = shared.gateway.stop(&key);
    Ok(json(
        StatusCode::OK,
        &value!({"sessionKey": key, "stopped": stopped}),
    ))
}

/// Returns the agent whose session it is.
pub(crate) fn agent_of(gateway: &Gateway, key: &str) -> Result<String, Problem> {
    let grammar = gateway.parts().contract.session_keys;
    let agent = SessionKey::parse(key, grammar).map(|parsed| parsed.agent_id);
    let agent = agent.unwrap_or_default();
    let agents = gateway.parts().host.agents();
    if agents.iter().any(|one| one.id == agent) {
        return Ok(agent);
    }
    Err(unknown_agent(&agent))
}

pub(super) fn unknown_agent(id: &str) -> Problem {
    let message = format!("There is no agent `{}`.", crate::problem::short(id));
    Problem::new(StatusCode::NOT_FOUND, "unknown_agent", message)
        .hint("`GET /api/agents` lists them.")
}

/// Reads a number above 0 from a query.
pub(super) fn number(
    query: &Query,
    name: &'static str,
    otherwise: usize,
) -> Result<usize, Problem> {
    let Some(text) = query.get(name) else {
        return Ok(otherwise);
    };
    let number = text.parse::<usize>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Problem::bad(format!("`{name}` must be a number above 0.")).param(name))
}
