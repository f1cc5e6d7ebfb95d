//! Is it there, what does it do, who is there, who would get a message.

use crate::body::{Body, json};
use crate::error::ApiError;
use crate::route::Query;
use crate::shared::Shared;
use chitin_gateway::AgentSummary;
use chitin_gateway::queue::BusySession;
use chitin_gateway::route::{Inbound, Peer};
use chitin_protocol::session_key::ChatType;
use hyper::{Response, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::Ordering;

/// Whether the server is running.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok` or `draining`.
    status: &'static str,
    /// The server's version.
    version: &'static str,
}

/// What the gateway does.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerStatus {
    /// The server's version.
    version: &'static str,
    /// How long it has been running, in milliseconds.
    uptime_ms: u64,
    /// The contract.
    contract: &'static str,
    /// The agents.
    agents: Vec<AgentSummary>,
    /// The channels.
    surfaces: Vec<String>,
    /// How many jobs there are.
    queue: QueueFigures,
    /// How much room is left on the disk of Chitin's home.
    disk: DiskFigures,
    /// The sessions with open jobs.
    busy: Vec<BusySession>,
    /// How many connections are open.
    connections: usize,
    /// How many streams are open.
    streams: usize,
}

/// How many jobs there are.
#[derive(Serialize, JsonSchema)]
struct QueueFigures {
    /// Jobs whose turns are running.
    running: usize,
    /// Jobs that wait.
    waiting: usize,
    /// Jobs that are tried again when an outage of the machine or the model is over.
    delayed: usize,
}

/// How much room is left on the disk of Chitin's home.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DiskFigures {
    /// Bytes that are free; nothing if the disk cannot be looked at.
    free_bytes: Option<u64>,
    /// Whether turns are recorded. They are again when there is room.
    records: bool,
    /// Whether messages are accepted. They are again when there is room.
    accepts: bool,
    /// Below so many free bytes turns are not recorded.
    records_above: u64,
    /// Below so many free bytes messages are refused.
    accepts_above: u64,
}

impl DiskFigures {
    fn of(shared: &Shared) -> Self {
        let found = shared.gateway.space();
        Self {
            free_bytes: found.disk.map(|disk| disk.free),
            records: found.has_room_for_recordings(),
            accepts: found.has_room_for_messages(),
            records_above: found.recordings,
            accepts_above: found.intake,
        }
    }
}

/// The agents.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AgentList {
    /// The agents.
    agents: Vec<AgentSummary>,
}

/// Says whether the server is there. Nothing that is not for everybody.
pub(crate) fn health(shared: &Shared) -> Response<Body> {
    let (code, status) = if shared.is_open() && !shared.gateway.is_closing() {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    };
    let version = env!("CARGO_PKG_VERSION");
    json(code, &Health { status, version })
}

/// Says what the gateway does.
pub(crate) fn status(shared: &Shared) -> Response<Body> {
    let busy = shared.gateway.busy();
    let running = busy.iter().filter(|session| session.job_id.is_some());
    let waiting: usize = busy.iter().map(|session| session.waiting).sum();
    let surfaces = &shared.gateway.parts().surfaces;
    let queue = QueueFigures {
        running: running.count(),
        waiting,
        delayed: shared.gateway.figures().delayed,
    };
    let status = ServerStatus {
        version: env!("CARGO_PKG_VERSION"),
        uptime_ms: u64::try_from(shared.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        contract: shared.gateway.parts().contract.name,
        agents: shared.gateway.parts().host.agents(),
        surfaces: surfaces.iter().map(|one| one.id().to_owned()).collect(),
        queue,
        disk: DiskFigures::of(shared),
        busy,
        connections: shared.connections.load(Ordering::Relaxed),
        streams: shared.open_streams(),
    };
    json(StatusCode::OK, &status)
}

/// Lists the agents.
pub(crate) fn agents(shared: &Shared) -> Response<Body> {
    let agents = shared.gateway.parts().host.agents();
    json(StatusCode::OK, &AgentList { agents })
}

/// Says who would get a message from a place, step by step.
pub(crate) fn explain(shared: &Shared, query: &Query) -> Result<Response<Body>, ApiError> {
    let text = |name: &str| query.get(name).map(str::to_owned);
    let inbound = Inbound {
        channel: text("channel").unwrap_or_else(|| crate::WebSurface::ID.to_owned()),
        account_id: text("account"),
        peer: peer(query, "peer")?,
        parent_peer: peer(query, "parent")?,
        guild_id: text("guild"),
        team_id: text("team"),
        member_role_ids: query.all("role").map(str::to_owned).collect(),
        thread_id: text("thread"),
        sender_id: text("sender"),
    };
    let explanation = shared.gateway.routing().explain(&inbound);
    Ok(json(StatusCode::OK, &explanation))
}

/// Reads a peer, as `channel:123`.
fn peer(query: &Query, name: &'static str) -> Result<Option<Peer>, ApiError> {
    let Some(text) = query.get(name) else {
        return Ok(None);
    };
    let peer = text.split_once(':').and_then(|(kind, id)| {
        let kind = ChatType::parse(kind)?;
        (!id.is_empty()).then(|| Peer {
            kind,
            id: id.to_owned(),
        })
    });
    match peer {
        Some(peer) => Ok(Some(peer)),
        None => Err(ApiError::bad(format!(
            "`{name}` must be a kind and an id, such as `channel:123`."
        ))
        .hint("The kinds are `direct`, `group` and `channel`.")
        .param(name)),
    }
}
