//! Sessions: lists, one with what was said in it, what the model would get, an end to its turn.

use crate::body::{Body, json, read_json};
use crate::error::ApiError;
use crate::route::Query;
use crate::shared::Shared;
use chitin_gateway::Gateway;
use chitin_gateway::forget::{ForgetError, ForgetRequest, RunningTurns};
use chitin_gateway::queue::BusySession;
use chitin_protocol::session_key::{self, SessionKey};
use chitin_protocol::transcript::TranscriptEntry;
use chitin_store::{SessionCursor, SessionEntry, StoreError};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedSession {
    /// Its key.
    pub(super) key: String,
    /// Its agent.
    pub(super) agent_id: String,
    /// What the session index says of it.
    #[serde(flatten)]
    pub(super) entry: SessionEntry,
}

/// The sessions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionList {
    /// The sessions, the most recently used first.
    sessions: Vec<ListedSession>,
    /// How many there are, listed or not.
    total: usize,
    /// Where the list goes on: `after` of the next request. Absent when these are the last ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A session with its last records.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionDetails {
    /// Its key.
    key: String,
    /// Its agent.
    agent_id: String,
    /// What the session index says of it; absent while its first turn begins.
    #[serde(flatten)]
    entry: Option<SessionEntry>,
    /// What it is doing; null if it does nothing.
    busy: Option<BusySession>,
    /// Its last records, as in the transcript.
    history: Vec<TranscriptEntry>,
    /// Whether there are older records.
    has_older: bool,
}

/// A stopped session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StopReply {
    /// The session's key.
    session_key: String,
    /// How many jobs were stopped or dropped.
    stopped: usize,
}

/// How a session is deleted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct DeleteSession {
    /// Whether its turn is stopped and what waits is dropped; otherwise either is a conflict.
    stop: bool,
    /// Whether it is only said what would be deleted.
    dry_run: bool,
}

/// What the model would get in the next turn: what `chitin context --json` prints.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct ContextReport(serde_json::Map<String, Value>);

/// Returns the key under which a session of the default agent, or the one that it names, is kept.
pub(crate) fn key(shared: &Shared, text: &str) -> Result<String, ApiError> {
    let default = shared.gateway.routing().default_agent();
    let default = default.map(|agent| agent.to_string()).unwrap_or_default();
    session_key(&shared.gateway, text, &default)
}

/// Returns the key under which a session is kept, as the gateway would find it.
pub(crate) fn session_key(gateway: &Gateway, text: &str, agent: &str) -> Result<String, ApiError> {
    let grammar = gateway.parts().contract.session_keys;
    let key = session_key::store_key(text, agent, "", grammar);
    match SessionKey::parse(&key, grammar) {
        Some(_) => Ok(key),
        None => Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "bad_session",
            "This is not a valid session key.",
        )
        .hint("A key is `agent:<agent>:<rest>`, or only the rest.")),
    }
}

/// Lists sessions, the most recently used first.
pub(crate) async fn sessions(shared: &Shared, query: &Query) -> Result<Response<Body>, ApiError> {
    let wanted = query.get("agent").map(str::to_owned);
    let limit = number(query, "limit", LISTED)?.min(MOST_LISTED);
    let after = place(query)?;
    let listed = shared.blocking(move |gateway| {
        let mut agents = gateway.parts().host.agents();
        if let Some(wanted) = wanted {
            agents.retain(|agent| agent.id == wanted);
            if agents.is_empty() {
                return Err(unknown_agent(&wanted));
            }
        }
        let agents = agents.into_iter().map(|agent| agent.id);
        page(gateway, agents, after.as_ref(), limit)
    });
    let page = listed.await?;
    let reply = SessionList {
        next: page.next(),
        total: page.total,
        sessions: page.sessions,
    };
    Ok(json(StatusCode::OK, &reply))
}

/// Some of the sessions of some agents, the most recently used first.
pub(super) struct AgentsPage {
    pub(super) sessions: Vec<ListedSession>,
    pub(super) total: usize,
    has_more: bool,
}

impl AgentsPage {
    /// Returns where the list goes on, if it does.
    pub(super) fn next(&self) -> Option<String> {
        let last = self.sessions.last().filter(|_| self.has_more)?;
        Some(SessionCursor::behind(&last.key, &last.entry).to_string())
    }
}

/// Reads the place that a query names: `next` of an earlier reply.
pub(super) fn place(query: &Query) -> Result<Option<SessionCursor>, ApiError> {
    let Some(text) = query.get("after") else {
        return Ok(None);
    };
    let place = SessionCursor::parse(text);
    place.map(Some).ok_or_else(|| {
        ApiError::bad("`after` must be `next` of an earlier reply.".to_owned()).param("after")
    })
}

/// Lists some of the sessions of agents, without looking at the others.
pub(super) fn page(
    gateway: &Gateway,
    agents: impl Iterator<Item = String>,
    after: Option<&SessionCursor>,
    limit: usize,
) -> Result<AgentsPage, ApiError> {
    let mut page = AgentsPage {
        sessions: Vec::new(),
        total: 0,
        has_more: false,
    };
    for agent_id in agents {
        let of_agent = gateway.parts().host.store(&agent_id)?.page(after, limit)?;
        page.total += of_agent.total;
        page.has_more |= of_agent.has_more;
        let listed = of_agent.sessions.into_iter();
        page.sessions
            .extend(listed.map(|(key, entry)| ListedSession {
                key,
                agent_id: agent_id.clone(),
                entry,
            }));
        // No more are needed than one page, however many agents there are.
        page.sessions.sort_by(|one, other| {
            let newest = other.entry.updated_at.cmp(&one.entry.updated_at);
            newest.then_with(|| one.key.cmp(&other.key))
        });
        page.has_more |= page.sessions.len() > limit;
        page.sessions.truncate(limit);
    }
    Ok(page)
}

/// Shows a session: what is known of it, and the last records of it.
pub(crate) async fn session(
    shared: &Shared,
    text: String,
    query: &Query,
) -> Result<Response<Body>, ApiError> {
    let key = key(shared, &text)?;
    let limit = number(query, "limit", SHOWN)?.min(MOST_SHOWN);
    let shown = shared.blocking(move |gateway| show(gateway, &key, limit));
    Ok(json(StatusCode::OK, &shown.await?))
}

fn show(gateway: &Gateway, key: &str, limit: usize) -> Result<SessionDetails, ApiError> {
    let agent = agent_of(gateway, key)?;
    let store = gateway.parts().host.store(&agent)?;
    let mut busy = gateway.busy().into_iter();
    let mut details = SessionDetails {
        key: key.to_owned(),
        agent_id: agent,
        entry: store.find(key)?,
        busy: busy.find(|session| session.session_key == key),
        history: Vec::new(),
        has_older: false,
    };
    if details.entry.is_none() {
        // Its first turn may be about to begin.
        return match details.busy {
            Some(_) => Ok(details),
            None => Err(StoreError::Unknown {
                key: key.to_owned(),
            }
            .into()),
        };
    }
    // Each record is shown as it is written, more or less.
    let branch = store.read_last(key, limit, 2 * MOST_BYTES as u64)?;
    let mut entries = branch.entries;
    let (mut shown, mut bytes) = (0, 0);
    for entry in entries.iter().rev().take(limit) {
        bytes += serde_json::to_string(entry).unwrap_or_default().len();
        if bytes > MOST_BYTES && shown > 0 {
            break;
        }
        shown += 1;
    }
    let older = entries.len() - shown;
    details.has_older = branch.has_older || older > 0;
    details.history = entries.split_off(older);
    Ok(details)
}

/// Says what the model would get in the next turn of a session.
pub(crate) async fn context(shared: &Shared, text: String) -> Result<Response<Body>, ApiError> {
    let key = key(shared, &text)?;
    let report = shared.blocking(move |gateway| {
        let agent = agent_of(gateway, &key)?;
        Ok(gateway.parts().host.context_report(&agent, &key)?)
    });
    match report.await? {
        Value::Object(report) => Ok(json(StatusCode::OK, &ContextReport(report))),
        _ => Err(ApiError::internal("The context is not an object.")),
    }
}

/// Stops the turn of a session and lets go what waits there.
pub(crate) fn stop(shared: &Shared, text: &str) -> Result<Response<Body>, ApiError> {
    let key = key(shared, text)?;
    agent_of(&shared.gateway, &key)?;
    let stopped = shared.gateway.stop(&key);
    let reply = StopReply {
        session_key: key,
        stopped,
    };
    Ok(json(StatusCode::OK, &reply))
}

/// Deletes a session and the sessions that it began, in everything that is kept of them.
pub(crate) async fn delete_session(
    shared: &Shared,
    text: &str,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let key = key(shared, text)?;
    agent_of(&shared.gateway, &key)?;
    let (head, body) = request.into_parts();
    let asked: DeleteSession = read_json(&head.headers, body, shared).await?;
    let report = shared.blocking(move |gateway| {
        let request = ForgetRequest {
            keys: vec![key],
            dry_run: asked.dry_run,
        };
        let running = if asked.stop {
            RunningTurns::Stop
        } else {
            RunningTurns::Refuse
        };
        gateway.forget(&request, running).map_err(refused)
    });
    Ok(json(StatusCode::OK, &report.await?))
}

fn refused(error: ForgetError) -> ApiError {
    match error {
        ForgetError::Busy { key } => {
            let message = format!(
                "The session `{}` has a turn that runs, or a message that waits.",
                crate::error::short(&key)
            );
            ApiError::new(StatusCode::CONFLICT, "busy", message)
                .hint("Send `stop` to stop it, or try again when it is over.")
        }
        ForgetError::Unknown { key } => StoreError::Unknown { key }.into(),
        ForgetError::Failed(error) => error.into(),
    }
}

/// Returns the agent whose session it is.
pub(crate) fn agent_of(gateway: &Gateway, key: &str) -> Result<String, ApiError> {
    let grammar = gateway.parts().contract.session_keys;
    let agent = SessionKey::parse(key, grammar).map(|parsed| parsed.agent_id);
    let agent = agent.unwrap_or_default();
    let agents = gateway.parts().host.agents();
    if agents.iter().any(|one| one.id == agent) {
        return Ok(agent);
    }
    Err(unknown_agent(&agent))
}

pub(super) fn unknown_agent(id: &str) -> ApiError {
    let message = format!("There is no agent `{}`.", crate::error::short(id));
    ApiError::new(StatusCode::NOT_FOUND, "unknown_agent", message)
        .hint("`GET /api/agents` lists them.")
}

/// Reads a number above 0 from a query.
pub(super) fn number(
    query: &Query,
    name: &'static str,
    otherwise: usize,
) -> Result<usize, ApiError> {
    let Some(text) = query.get(name) else {
        return Ok(otherwise);
    };
    let number = text.parse::<usize>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| ApiError::bad(format!("`{name}` must be a number above 0.")).param(name))
}
