//! The networks, and who may talk to agents there.

use super::Success;
use crate::body::{Body, json, read_json};
use crate::error::ApiError;
use crate::shared::Shared;
use chitin_gateway::AccessControl;
use chitin_gateway::access::{Paired, PendingPairing, TrustError, TurnedAway};
use chitin_gateway::route::{Inbound, MatchedBy};
use chitin_gateway::surface::{Account, Connection};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bindings of the configuration.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BindingList {
    /// The bindings, in the order of the configuration.
    bindings: Vec<ListedBinding>,
    /// The channels that this server has.
    channels: Vec<String>,
    /// The agent that gets what no binding matches; null if there is none.
    default_agent: Option<String>,
}

/// A binding in the list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedBinding {
    /// Where it is in the configuration.
    path: String,
    /// The agent that it names.
    agent_id: String,
    /// What it asks for, in short.
    asks: String,
    /// How strong it is.
    tier: MatchedBy,
}

/// The chat channels, and refused messages.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChannelList {
    /// Every account of every channel.
    channels: Vec<Account>,
    /// Who was turned away lately.
    turned_away: Vec<TurnedAway>,
}

/// Whether the server can be used.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Readiness {
    /// `ready`, `degraded` or `not_ready`. A degraded server accepts messages, and something needs attention.
    status: &'static str,
    /// Why it is not ready, or degraded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<NotReady>,
}

/// Why the server cannot be used.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NotReady {
    /// `draining`, `channel_failed`, `job_log_failing`, `disk_full` or, when degraded, `job_log_damaged`, `disk_low`.
    reason: &'static str,
    /// The channel that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    /// Its account.
    #[serde(skip_serializing_if = "Option::is_none")]
    account_id: Option<String>,
}

/// Pending pairing requests and approved senders.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PairingList {
    /// Who asks.
    pending: Vec<PendingPairing>,
    /// Who was approved.
    paired: Vec<Paired>,
}

/// The pairing request that is meant.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairingCodeRequest {
    /// The channel.
    channel: String,
    /// The pairing code.
    code: String,
    /// Whether the sender owns the agent from now on. Only for an approval.
    #[serde(default)]
    owner: bool,
}

/// The sender that is meant.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RevokeRequest {
    /// The channel.
    channel: String,
    /// The sender's id on the channel.
    sender_id: String,
}

/// Says which agent gets what, as configured.
pub(crate) fn routes(shared: &Shared) -> Response<Body> {
    let nobody = Inbound::default();
    let bindings = shared.gateway.routing().explain(&nobody).bindings;
    let bindings = bindings.into_iter().map(|one| ListedBinding {
        path: one.path,
        agent_id: one.agent_id,
        asks: one.asks,
        tier: one.tier,
    });
    let default = shared.gateway.routing().default_agent();
    let default = default.ok().map(|agent| agent.to_string());
    let surfaces = &shared.gateway.parts().surfaces;
    let listed = BindingList {
        bindings: bindings.collect(),
        channels: surfaces.iter().map(|one| one.id().to_owned()).collect(),
        default_agent: default,
    };
    json(StatusCode::OK, &listed)
}

/// Says how the networks stand, and who was turned away.
pub(crate) fn channels(shared: &Shared) -> Response<Body> {
    let listed = ChannelList {
        channels: accounts(shared),
        turned_away: shared.gateway.turned_away(),
    };
    json(StatusCode::OK, &listed)
}

/// Returns how every account of every network stands.
pub(crate) fn accounts(shared: &Shared) -> Vec<Account> {
    let networks = shared.attached.networks.iter();
    networks.flat_map(|network| network.accounts()).collect()
}

impl NotReady {
    const fn because(reason: &'static str) -> Self {
        Self {
            reason,
            channel: None,
            account_id: None,
        }
    }
}

/// Says whether the server can be used: it is open, what it accepts can be stored, there is room for it, and no network has given up.
pub(crate) fn ready(shared: &Shared) -> Response<Body> {
    let mut reasons = Vec::new();
    if !shared.is_open() || shared.gateway.is_closing() {
        reasons.push(NotReady::because("draining"));
    }
    // Paths and errors are for those who have the token: they are in the log and in `chitin doctor`.
    let job_log = shared.gateway.parts().ledger.health();
    if job_log.failing.is_some() {
        reasons.push(NotReady::because("job_log_failing"));
    }
    for account in accounts(shared) {
        // Why it failed may name people and rooms: that is for those who have the token.
        if matches!(account.connection, Connection::Failed { .. }) {
            reasons.push(NotReady {
                channel: Some(account.channel),
                account_id: Some(account.account_id),
                ..NotReady::because("channel_failed")
            });
        }
    }
    let disk = shared.gateway.space();
    if !disk.has_room_for_messages() {
        reasons.push(NotReady::because("disk_full"));
    }
    let mut degraded = Vec::new();
    if job_log.damage.is_some() {
        degraded.push(NotReady::because("job_log_damaged"));
    }
    if !disk.has_room_for_recordings() {
        degraded.push(NotReady::because("disk_low"));
    }
    let (code, status) = if !reasons.is_empty() {
        (StatusCode::SERVICE_UNAVAILABLE, "not_ready")
    } else if !degraded.is_empty() {
        reasons = degraded;
        (StatusCode::OK, "degraded")
    } else {
        (StatusCode::OK, "ready")
    };
    json(code, &Readiness { status, reasons })
}

/// Lists who asks to talk to agents, and who may.
pub(crate) async fn pairing(shared: &Shared) -> Result<Response<Body>, ApiError> {
    let listed = shared.blocking(|gateway| {
        let trust = gateway.trust();
        Ok(PairingList {
            pending: trust.pending()?,
            paired: trust.paired()?,
        })
    });
    Ok(json(StatusCode::OK, &listed.await?))
}

/// Lets a sender talk to agents.
pub(crate) async fn approve(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let asked: PairingCodeRequest = read(shared, request).await?;
    filled(&[("channel", &asked.channel), ("code", &asked.code)])?;
    change(shared, move |trust| {
        drop(trust.approve(Some(&asked.channel), &asked.code, asked.owner)?);
        Ok(())
    })
    .await
}

/// Refuses a sender's request.
pub(crate) async fn reject(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let asked: PairingCodeRequest = read(shared, request).await?;
    filled(&[("channel", &asked.channel), ("code", &asked.code)])?;
    change(shared, move |trust| {
        drop(trust.reject(Some(&asked.channel), &asked.code)?);
        Ok(())
    })
    .await
}

/// Lets a sender talk to agents no longer.
pub(crate) async fn revoke(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let asked: RevokeRequest = read(shared, request).await?;
    filled(&[("channel", &asked.channel), ("senderId", &asked.sender_id)])?;
    change(shared, move |trust| {
        trust.revoke(&asked.channel, &asked.sender_id)?;
        Ok(())
    })
    .await
}

async fn read<T: serde::de::DeserializeOwned>(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<T, ApiError> {
    let (head, body) = request.into_parts();
    read_json(&head.headers, body, shared).await
}

fn filled(fields: &[(&'static str, &String)]) -> Result<(), ApiError> {
    match fields.iter().find(|(_, value)| value.is_empty()) {
        Some((name, _)) => Err(ApiError::bad(format!("`{name}` is needed.")).param(name)),
        None => Ok(()),
    }
}

async fn change(
    shared: &Shared,
    work: impl FnOnce(&AccessControl) -> Result<(), TrustError> + Send + 'static,
) -> Result<Response<Body>, ApiError> {
    let done = shared.blocking(move |gateway| Ok(work(&gateway.trust())?));
    done.await?;
    Ok(json(StatusCode::OK, &Success::DONE))
}
