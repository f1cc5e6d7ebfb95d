//! A model that can be asked, whoever runs it.

use crate::error::ModelError;
use crate::request::{Api, ModelRequest};
use crate::stream::StreamEvent;
use bytes::Bytes;
use chitin_contract::ProviderRules;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The steps of an answer. Before the first step an error means that nothing was answered; afterwards a broken answer ends
/// in [`StreamEvent::Failed`], with what had come. The stream ends after `Done` or `Failed`.
pub type EventStream = BoxStream<'static, Result<StreamEvent, ModelError>>;

/// A model that can be asked. Implemented by the HTTP clients, the offline, the scripted and the replaying model, and by
/// the list of models that are tried in turn. An implementor sends exactly the bytes of the [`Prepared`] request.
pub trait Model: Send + Sync {
    /// Returns the provider's name.
    fn provider(&self) -> &str;

    /// Returns the model's name at its provider.
    fn name(&self) -> &str;

    /// Returns the wire format.
    fn api(&self) -> Api;

    /// Builds the request to bytes. Nothing is sent.
    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, ModelError>;

    /// Sends a prepared request. Dropping the future or the stream closes the connection; so does the token.
    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>>;
}

/// A request, built to bytes once. Secrets are not in it: they are added to the headers when it is sent.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The wire format.
    pub api: Api,
    /// Such as `POST`.
    pub method: &'static str,
    /// Where it goes; for models without a network, a name.
    pub url: String,
    /// The headers in order, without those that carry a secret.
    pub headers: Vec<(String, String)>,
    /// The names of the headers that carry a secret and are added when it is sent.
    pub secret_headers: Vec<String>,
    /// The body.
    pub body: Bytes,
    /// The SHA-256 of the body, in hexadecimal.
    pub digest: String,
    /// What the contract says, for whoever reads the answer.
    pub rules: ProviderRules,
    /// Gets every byte of the answer before it is parsed, for the raw stream log.
    pub tee: Option<Tee>,
    /// Is cancelled when the body has gone out. A model without a network leaves it alone.
    pub gone_out: Option<CancellationToken>,
}

/// Gets every byte of an answer before it is parsed.
#[derive(Clone)]
pub struct Tee(pub Arc<TakeBytes>);

/// Takes some bytes.
pub type TakeBytes = dyn Fn(&[u8]) + Send + Sync;

impl std::fmt::Debug for Tee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tee")
    }
}
