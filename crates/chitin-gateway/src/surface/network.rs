//! Surfaces that are on a network: they connect, and hand in what is said there.

use super::{Surface, SurfaceError};
use crate::gateway::Gateway;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A surface on a network. It hands in what is said with [`Gateway::notice`] and decides nothing itself: who is heard is the
/// gateway's business.
pub trait Network: Surface {
    /// Is connected and hands in what comes, until it is told to end. Breaks of the connection are its own business. Ends by itself
    /// only when nothing can help, such as a token that was taken back.
    fn run(self: Arc<Self>, gateway: Gateway, cancel: CancellationToken) -> BoxFuture<'static, ()>;

    /// Says how it stands, account by account.
    fn accounts(&self) -> Vec<Account>;

    /// Asks the network who we are there and what we may do, account by account. Sends nothing that people see.
    fn probe(&self) -> BoxFuture<'_, Vec<Probed>>;
}

/// How an account stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The surface.
    pub channel: String,
    /// The account.
    pub account_id: String,
    /// Who we are there, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it stands.
    #[serde(flatten)]
    pub connection: Connection,
}

/// Whether an account is connected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(
    tag = "connection",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Connection {
    /// Nobody tried yet.
    #[default]
    Idle,
    /// It is being connected, or will be again.
    Connecting {
        /// What went wrong last.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It is.
    Connected,
    /// It will not be until somebody changes something.
    Failed {
        /// Why.
        reason: String,
        /// What to do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

/// What the network says of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Probed {
    /// The account.
    pub account_id: String,
    /// Who we are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What works, a sentence each.
    pub works: Vec<String>,
    /// What does not, a sentence each with what to do about it.
    pub lacks: Vec<Lack>,
}

/// Something that does not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lack {
    /// What.
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Lack {
    /// Makes one of an error.
    pub fn of(error: &SurfaceError, hint: &str) -> Self {
        Self {
            what: error.message.clone(),
            hint: Some(hint.to_owned()),
        }
    }
}

/// Something that a network calls over HTTP. Whoever serves HTTP hands in requests to [`Webhook::path`] as they are, within limits; whether
/// the network sent them is for the webhook to find out.
pub trait Webhook: Send + Sync {
    /// Returns the path, such as `/slack/events`.
    fn path(&self) -> &str;

    /// Takes a call. Answers at once: networks wait for seconds only.
    fn call(&self, gateway: Gateway, call: WebhookCall) -> BoxFuture<'_, WebhookAnswer>;
}

/// A call over HTTP.
#[derive(Debug, Clone, Default)]
pub struct WebhookCall {
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, byte by byte as it came: signatures are over these.
    pub body: Vec<u8>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookAnswer {
    /// The status.
    pub status: u16,
    /// The MIME type of the body.
    pub mime: &'static str,
    /// The body.
    pub body: String,
}
