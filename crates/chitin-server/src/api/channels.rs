//! The networks, and who may talk to agents there.

use crate::body::{Body, json, read_json};
use crate::problem::Problem;
use crate::route::Pair;
use crate::shared::Shared;
use chitin_gateway::route::Inbound;
use chitin_gateway::surface::{Account, Connection};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json as value};

/// Says which agent gets what, as configured.
pub(crate) fn routes(shared: &Shared) -> Response<Body> {
    let nobody = Inbound::default();
    let bindings = shared.gateway.routing().explain(&nobody).bindings;
    let bindings: Vec<Value> = bindings
        .into_iter()
        .map(|one| {
            value!({"path": one.path, "agentId": one.agent_id, "asks": one.asks, "tier": one.tier})
        })
        .collect();
    let default = shared.gateway.routing().default_agent();
    let default = default.ok().map(|agent| agent.to_string());
    let surfaces = &shared.gateway.parts().surfaces;
    let channels: Vec<&str> = surfaces.iter().map(|surface| surface.id()).collect();
    json(
        StatusCode::OK,
        &value!({"bindings": bindings, "channels": channels, "defaultAgent": default}),
    )
}

/// Says how the networks stand, and who was turned away.
pub(crate) fn channels(shared: &Shared) -> Response<Body> {
    let channels = accounts(shared);
    let turned_away = shared.gateway.turned_away();
    json(
        StatusCode::OK,
        &value!({"channels": channels, "turnedAway": turned_away}),
    )
}

/// Returns how every account of every network stands.
pub(crate) fn accounts(shared: &Shared) -> Vec<Account> {
    let networks = shared.attached.networks.iter();
    networks.flat_map(|network| network.accounts()).collect()
}

/// Says whether the server can be used: it is open, and no network has given up.
pub(crate) fn ready(shared: &Shared) -> Response<Body> {
    let mut reasons: Vec<Value> = Vec::new();
    if !shared.is_open() || shared.gateway.is_closing() {
        reasons.push(value!({"reason": "draining"}));
    }
    for account in accounts(shared) {
        // Why it failed may name people and rooms: that is for those who have the token.
        if matches!(account.connection, Connection::Failed { .. }) {
            let reason = value!({
                "reason": "channel_failed", "channel": account.channel, "accountId": account.account_id,
            });
            reasons.push(reason);
        }
    }
    if reasons.is_empty() {
        return json(StatusCode::OK, &value!({"status": "ready"}));
    }
    json(
        StatusCode::SERVICE_UNAVAILABLE,
        &value!({"status": "not_ready", "reasons": reasons}),
    )
}

/// Lists who asks to talk to agents, and who may.
pub(crate) async fn pairing(shared: &Shared) -> Result<Response<Body>, Problem> {
    let listed = shared.blocking(|gateway| {
        let trust = gateway.trust();
        Ok(value!({"pending": trust.pending()?, "paired": trust.paired()?}))
    });
    Ok(json(StatusCode::OK, &listed.await?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wish {
    channel: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    sender_id: String,
    #[serde(default)]
    owner: bool,
}

/// Does as the owner says with somebody who wants to talk to agents.
pub(crate) async fn pair(
    shared: &Shared,
    pair: Pair,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let (head, body) = request.into_parts();
    let wish: Wish = read_json(&head.headers, body, shared).await?;
    let needed = match pair {
        Pair::Approve | Pair::Reject => ("code", &wish.code),
        Pair::Revoke => ("senderId", &wish.sender_id),
    };
    for (name, value) in [("channel", &wish.channel), needed] {
        if value.is_empty() {
            return Err(Problem::bad(format!("`{name}` is needed.")).param(name));
        }
    }
    let done = shared.blocking(move |gateway| {
        let (trust, channel) = (gateway.trust(), wish.channel.as_str());
        match pair {
            Pair::Approve => drop(trust.approve(Some(channel), &wish.code, wish.owner)?),
            Pair::Reject => drop(trust.reject(Some(channel), &wish.code)?),
            Pair::Revoke => drop(trust.revoke(channel, &wish.sender_id)?),
        }
        Ok(())
    });
    done.await?;
    Ok(json(StatusCode::OK, &value!({"ok": true})))
}
