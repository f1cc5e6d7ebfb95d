//! Is it there, what does it do, who is there, who would get a message.

use crate::body::{Body, json};
use crate::problem::Problem;
use crate::route::Query;
use crate::shared::Shared;
use chitin_gateway::route::{Inbound, Peer};
use chitin_protocol::session_key::ChatType;
use hyper::{Response, StatusCode};
use serde_json::json as value;
use std::sync::atomic::Ordering;

/// Says whether the server is there. Nothing that is not for everybody.
pub(crate) fn health(shared: &Shared) -> Response<Body> {
    let (status, word) = if shared.is_open() && !shared.gateway.is_closing() {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    };
    let version = env!("CARGO_PKG_VERSION");
    json(status, &value!({"status": word, "version": version}))
}

/// Says what the gateway does.
pub(crate) fn status(shared: &Shared) -> Response<Body> {
    let busy = shared.gateway.busy();
    let running = busy.iter().filter(|session| session.job_id.is_some());
    let waiting: usize = busy.iter().map(|session| session.waiting).sum();
    let surfaces = &shared.gateway.parts().surfaces;
    let surfaces: Vec<&str> = surfaces.iter().map(|surface| surface.id()).collect();
    let status = value!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptimeMs": u64::try_from(shared.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "contract": shared.gateway.parts().contract.name,
        "agents": shared.gateway.parts().host.agents(),
        "surfaces": surfaces,
        "queue": {"running": running.count(), "waiting": waiting},
        "busy": busy,
        "connections": shared.connections.load(Ordering::Relaxed),
        "streams": shared.open_streams(),
    });
    json(StatusCode::OK, &status)
}

/// Lists the agents.
pub(crate) fn agents(shared: &Shared) -> Response<Body> {
    let agents = shared.gateway.parts().host.agents();
    json(StatusCode::OK, &value!({ "agents": agents }))
}

/// Says who would get a message from a place, step by step.
pub(crate) fn explain(shared: &Shared, query: &Query) -> Result<Response<Body>, Problem> {
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
fn peer(query: &Query, name: &'static str) -> Result<Option<Peer>, Problem> {
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
        None => Err(Problem::bad(format!(
            "`{name}` must be a kind and an id, such as `channel:123`."
        ))
        .hint("The kinds are `direct`, `group` and `channel`.")
        .param(name)),
    }
}
