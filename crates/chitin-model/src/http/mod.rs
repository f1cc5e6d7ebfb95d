//! Models behind HTTP: the bytes of a prepared request go out, events come in.

mod answer;
mod client;
mod endpoint;
mod outgoing;
pub(crate) mod secrets;

pub use client::make as make_client;
pub use endpoint::{ModelEndpoint, ModelTimeouts, without_secrets};

use crate::error::ModelError;
use crate::model::{EventStream, Model, Prepared, Tee};
use crate::request::{Api, ModelRequest};
use crate::retry::retry_after;
use crate::wire::{self, Wire};
use answer::ResponseStream;
use bytes::{Bytes, BytesMut};
use chitin_net::certificate_problem;
use chitin_protocol::settings::KeyHeaderSetting;
use futures_util::future::BoxFuture;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode};
use secrecy::ExposeSecret;
use secrets::Secrets;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What of an error's body is read.
pub(crate) const LONGEST_ERROR: usize = 64 * 1024;

/// What of a body that nobody understands is shown.
const LONGEST_EXCERPT: usize = 200;

/// What we call ourselves.
pub(crate) const USER_AGENT: &str = concat!("chitin/", env!("CARGO_PKG_VERSION"));

/// A model behind HTTP. The client is made when it is first used, and loads certificates only for `https`.
pub struct HttpModel {
    wire: &'static dyn Wire,
    provider: String,
    name: String,
    endpoint: ModelEndpoint,
    secrets: Secrets,
    client: OnceLock<Client>,
}

impl HttpModel {
    /// Makes a model. Nothing is opened yet.
    pub fn new(
        api: Api,
        provider: impl Into<String>,
        name: impl Into<String>,
        endpoint: ModelEndpoint,
    ) -> Result<Self, ModelError> {
        endpoint.check()?;
        Ok(Self {
            wire: wire::of(api),
            provider: provider.into(),
            name: name.into(),
            secrets: Secrets::of(&endpoint),
            endpoint,
            client: OnceLock::new(),
        })
    }

    /// Returns the names of the headers that carry a key, with what stands before it.
    fn key_headers(&self) -> &'static [(&'static str, &'static str)] {
        match (&self.endpoint.key, self.endpoint.key_header) {
            (None, _) | (_, KeyHeaderSetting::None) => &[],
            (Some(_), KeyHeaderSetting::Bearer) => &[("authorization", "Bearer ")],
            (Some(_), KeyHeaderSetting::Native) => self.wire.key_headers(),
        }
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client::make(&self.endpoint).map_err(ModelError::Unbuildable)?;
        Ok(self.client.get_or_init(|| made))
    }

    /// Returns all headers, secrets included and marked as such.
    fn headers(&self, prepared: &Prepared) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &prepared.headers {
            headers.append(header_name(name)?, header_value(name, value)?);
        }
        for (name, value) in &self.endpoint.headers {
            let mut shown = header_value(name, value.expose_secret())?;
            shown.set_sensitive(true);
            headers.insert(header_name(name)?, shown);
        }
        if let Some(key) = &self.endpoint.key {
            for (name, before) in self.key_headers() {
                let mut value = header_value(name, &format!("{before}{}", key.expose_secret()))?;
                value.set_sensitive(true);
                headers.insert(header_name(name)?, value);
            }
        }
        Ok(headers)
    }

    async fn exchange(&self, prepared: Prepared) -> Result<ResponseStream, ModelError> {
        let ModelTimeouts {
            connect,
            first_byte,
            ..
        } = self.endpoint.timeouts;
        let headers = self.headers(&prepared)?;
        let sending = self
            .client()?
            .request(Method::POST, &prepared.url)
            .headers(headers)
            .body(outgoing::body(&prepared))
            .send();
        let response = match tokio::time::timeout(first_byte, sending).await {
            Err(_) => return Err(self.timed_out(first_byte)),
            Ok(Err(error)) if error.is_timeout() => return Err(self.timed_out(connect)),
            Ok(Err(error)) => return Err(self.unreachable(error)),
            Ok(Ok(response)) => response,
        };
        if response.status() != StatusCode::OK {
            return Err(self.refused(response, prepared.tee.as_ref()).await);
        }
        if let Some(kind) = unusable_type(self.api(), &response) {
            let body = self.read(response, prepared.tee.as_ref()).await;
            return Err(ModelError::Malformed {
                provider: self.provider.clone(),
                message: format!("the answer is `{kind}`: {}", excerpt(&body)),
            });
        }
        Ok(ResponseStream::new(
            response,
            self.wire
                .decoder_by(&self.provider, &self.name, &prepared.rules),
            &self.provider,
            self.endpoint.timeouts,
            prepared.tee,
            self.secrets.clone(),
        ))
    }

    /// Makes an error of an answer that is none.
    async fn refused(&self, response: Response, tee: Option<&Tee>) -> ModelError {
        let status = response.status();
        if status.is_redirection() {
            // A key goes where the user sends it, and nowhere else.
            return ModelError::Rejected {
                provider: self.provider.clone(),
                status: status.as_u16(),
                message: format!(
                    "`{}` sends us to another address, which is not followed because the key would go there too; \
                     set `baseUrl` to where the provider is",
                    self.endpoint.origin()
                ),
            };
        }
        let wait = retry_after(|name| response.headers().get(name)?.to_str().ok());
        let body = self.read(response, tee).await;
        wire::classify(status.as_u16(), wait, &body, &self.provider)
    }

    /// Reads a short body, as much of it as comes.
    async fn read(&self, mut response: Response, tee: Option<&Tee>) -> Bytes {
        let mut body = BytesMut::new();
        let idle = self.endpoint.timeouts.idle;
        while let Ok(Ok(Some(bytes))) = tokio::time::timeout(idle, response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > LONGEST_ERROR {
                body.truncate(LONGEST_ERROR);
                break;
            }
        }
        let body = self.secrets.hide_bytes(body.freeze());
        if let Some(tee) = tee {
            (tee.0)(&body);
        }
        body
    }

    fn timed_out(&self, time: Duration) -> ModelError {
        timed_out(&self.provider, time)
    }

    fn unreachable(&self, error: reqwest::Error) -> ModelError {
        ModelError::Unreachable {
            provider: self.provider.clone(),
            message: format!("`{}`: {}", self.endpoint.origin(), reason(error)),
        }
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("api", &self.api())
            .field("provider", &self.provider)
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl Model for HttpModel {
    fn provider(&self) -> &str {
        &self.provider
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn api(&self) -> Api {
        self.wire.api()
    }

    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, ModelError> {
        let request = ModelRequest {
            model: &self.name,
            ..*request
        };
        let body = self.wire.body(&request)?;
        let mut headers = self.wire.headers(&request);
        if !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("user-agent"))
        {
            headers.push(("user-agent".to_owned(), USER_AGENT.to_owned()));
        }
        let own = self.endpoint.headers.iter().map(|(name, _)| name.clone());
        let keys = self
            .key_headers()
            .iter()
            .map(|(name, _)| (*name).to_owned());
        Ok(Prepared {
            api: self.api(),
            method: "POST",
            url: self.endpoint.url(self.wire),
            headers,
            secret_headers: own.chain(keys).collect(),
            digest: digest(&body),
            body: body.into(),
            rules: *request.rules,
            tee: None,
            gone_out: None,
        })
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let exchanged = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::Cancelled),
                exchanged = self.exchange(prepared) => exchanged,
            };
            match exchanged {
                Ok(answer) => Ok(answer.into_stream(cancel)),
                Err(error) => Err(self.secrets.hide_in(error)),
            }
        })
    }
}

/// Returns the SHA-256 of some bytes, in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

pub(crate) fn timed_out(provider: &str, time: Duration) -> ModelError {
    ModelError::TimedOut {
        provider: provider.to_owned(),
        seconds: time.as_secs() + u64::from(time.subsec_nanos() > 0),
    }
}

/// Returns the content type, when it shows that the answer is for people and not for us.
fn unusable_type(api: Api, response: &Response) -> Option<String> {
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)?
        .to_str()
        .ok()?;
    let kind = kind.split(';').next()?.trim().to_ascii_lowercase();
    let unusable = match api {
        Api::Ollama => kind == "text/html",
        Api::AnthropicMessages
        | Api::OpenaiCompletions
        | Api::OpenaiResponses
        | Api::Offline
        | Api::Scripted => kind == "text/html" || kind == "application/json",
    };
    unusable.then_some(kind)
}

/// Returns the beginning of a body, on one line.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(LONGEST_EXCERPT).collect()
}

/// Returns the innermost reason of an error. The outer ones only say that a request failed, and name the address.
pub(crate) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    if let Some(problem) = certificate_problem(&error) {
        return problem;
    }
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

pub(crate) fn header_name(name: &str) -> Result<HeaderName, ModelError> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| ModelError::Unbuildable(format!("`{name}` is not the name of a header")))
}

/// The value is not shown: it may be a key.
pub(crate) fn header_value(name: &str, value: &str) -> Result<HeaderValue, ModelError> {
    let carried = value.is_ascii().then(|| HeaderValue::from_str(value).ok());
    carried.flatten().ok_or_else(|| {
        ModelError::Unbuildable(format!(
            "what the header `{name}` shall carry has characters that a header cannot have; look at the key"
        ))
    })
}
