//! One request: its turn, its answer, its second try.

use super::fault::{Fault, Why};
use super::form::{self, Upload};
use super::limits::{Limits, Route};
use crate::compat::{API_PATH, API_URL, USER_AGENT};
use chitin_net::{certificate_problem, client_builder};
use futures_util::StreamExt;
use reqwest::{Client, Method};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// The largest answer.
const MOST_ANSWER: usize = 8 * 1024 * 1024;
/// How long one try of a request may take.
const LONGEST_TRY: Duration = Duration::from_secs(15);
/// How long one try may take that carries files.
const LONGEST_UPLOAD: Duration = Duration::from_secs(50);
/// How long a request may wait for its turn, all in all. Whoever asked may want to wait longer, and is told how long.
const LONGEST_WAIT: Duration = Duration::from_secs(12);
/// How often something that changes nothing is asked for.
const TRIES: u32 = 3;
/// How long to wait before the second try.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// What goes with a request.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    None,
    Json(Value),
    Form(Value, Vec<Upload>),
}

/// Requests of one account.
pub(crate) struct Rest {
    client: Client,
    base: String,
    token: SecretString,
    limits: Limits,
}

impl Rest {
    pub(crate) fn new(client: Client, api_url: Option<String>, token: SecretString) -> Self {
        let host = api_url.unwrap_or_else(|| API_URL.to_owned());
        Self {
            client,
            base: format!("{host}{API_PATH}"),
            token,
            limits: Limits::default(),
        }
    }

    pub(crate) fn token(&self) -> &SecretString {
        &self.token
    }

    /// Asks for something.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Fault> {
        self.call(Method::GET, path, Body::None).await
    }

    /// Makes a request. Waits for its turn; what changes nothing is tried again when the network fails.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Body,
    ) -> Result<Value, Fault> {
        let route = Route::of(method.as_str(), path);
        let begun = Instant::now();
        let mut wait = FIRST_WAIT;
        let mut tries = 1;
        loop {
            let fault = match self.limits.take(&route) {
                Ok(()) => match self.once(&route, method.clone(), path, &body).await {
                    Ok(value) => return Ok(value),
                    Err(fault) => fault,
                },
                Err(wait) => Fault::too_many(milliseconds(wait)),
            };
            let pause = match fault.why {
                Why::TooMany(wait) => Duration::from_millis(wait),
                Why::Network | Why::Unreadable | Why::Status(500..)
                    if method == Method::GET && tries < TRIES =>
                {
                    tries += 1;
                    wait *= 2;
                    wait / 2
                }
                Why::Network | Why::Unreadable | Why::Status(_) => return Err(fault),
            };
            if begun.elapsed() + pause > LONGEST_WAIT {
                return Err(fault);
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn once(
        &self,
        route: &Route,
        method: Method,
        path: &str,
        body: &Body,
    ) -> Result<Value, Fault> {
        let token = format!("Bot {}", self.token.expose_secret());
        let mut header = reqwest::header::HeaderValue::from_str(&token)
            .map_err(|_| Fault::of(401, &Value::Null))?;
        header.set_sensitive(true);
        let request = self
            .client
            .request(method, format!("{}/{path}", self.base))
            .header(reqwest::header::AUTHORIZATION, header);
        let request = match body {
            Body::None => request.timeout(LONGEST_TRY),
            Body::Json(value) => request
                .header(reqwest::header::CONTENT_TYPE, "application/json")
                .body(value.to_string())
                .timeout(LONGEST_TRY),
            Body::Form(message, files) => {
                let (mime, form) = form::write(message, files);
                request
                    .header(reqwest::header::CONTENT_TYPE, mime)
                    .body(form)
                    .timeout(LONGEST_UPLOAD)
            }
        };
        let response = request.send().await.map_err(|error| of_network(&error))?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let bytes = limited(response, MOST_ANSWER).await?;
        let value = match bytes.len() {
            0 => Some(Value::Null),
            _ => serde_json::from_slice(&bytes).ok(),
        };
        if status == 429 {
            let said = value
                .as_ref()
                .and_then(|value| value["retry_after"].as_f64());
            let wait = self.limits.refused(route, &headers, said);
            return Err(Fault::too_many(milliseconds(wait)));
        }
        self.limits.learn(route, &headers);
        match (status, value) {
            (200..=299, Some(value)) => Ok(value),
            (200..=299, None) => Err(Fault::unreadable()),
            // Something between us and Discord may answer in words of its own.
            (_, value) => Err(Fault::of(status, &value.unwrap_or_default())),
        }
    }
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rest")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// Makes the client that all accounts share.
pub(crate) fn client(tls: rustls::ClientConfig) -> Result<Client, String> {
    client_builder(tls)
        .user_agent(USER_AGENT)
        .build()
        .map_err(|error| format!("the HTTP client cannot be made: {error}"))
}

/// Reads a body, and no more of it than is wanted.
pub(crate) async fn limited(response: reqwest::Response, most: usize) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| of_network(&error))?;
        if bytes.len() + piece.len() > most {
            return Err(Fault::unreadable());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Says what went wrong on the way, without the address: it may hold what nobody should see.
pub(crate) fn of_network(error: &reqwest::Error) -> Fault {
    if let Some(problem) = certificate_problem(error) {
        return Fault::network(&problem);
    }
    Fault::network(if error.is_timeout() {
        "it did not answer in time"
    } else if error.is_connect() {
        "there is no connection"
    } else {
        "the connection broke"
    })
}

fn milliseconds(wait: Duration) -> u64 {
    // Rounded up: a moment too early is one request more that is refused.
    u64::try_from(wait.as_millis())
        .unwrap_or(u64::MAX)
        .saturating_add(1)
}
