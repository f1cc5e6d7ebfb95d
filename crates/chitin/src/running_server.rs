//! What a running server of the same home is asked over its HTTP API: questions for permission, and sessions to be deleted.

use crate::error::{CliError, FailureKind};
use chitin_net::client_builder;
use chitin_runtime::Host;
use chitin_runtime::serve::{PublishedAddress, token};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::fmt::{Display, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a server may take to delete a session and to search everything for it.
const DELETING: Duration = Duration::from_mins(10);
/// The longest event that is read.
const LONGEST_EVENT: usize = 1 << 20;

/// A server that is running.
pub(crate) struct RunningServer<'a> {
    host: &'a Host,
    address: SocketAddr,
    token: chitin_runtime::serve::Token,
    runtime: Runtime,
}

impl<'a> RunningServer<'a> {
    /// Finds the server of this home; nothing if none is running.
    pub(crate) fn find(
        host: &'a Host,
        state: &Path,
        token_file: Option<&PathBuf>,
    ) -> Result<Option<Self>, CliError> {
        let Some(address) = PublishedAddress::of_running(state) else {
            return Ok(None);
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(FailureKind::Internal, &error))?;
        Ok(Some(Self {
            host,
            address,
            token: token(host, token_file.map(PathBuf::as_path), state)?,
            runtime,
        }))
    }

    /// Returns the questions that wait.
    pub(crate) fn pending(&self) -> Result<Vec<Value>, CliError> {
        let listed = self.ask("GET", "/api/approvals", None)?;
        let pending = listed["pending"].as_array();
        Ok(pending.cloned().unwrap_or_default())
    }

    /// Answers a question, and returns what became of it.
    pub(crate) fn answer(&self, id: &str, answer: &Value) -> Result<Value, CliError> {
        // An id is a name in a path: whatever else was typed finds nothing.
        let id: String = id
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect();
        self.ask("POST", &format!("/api/approvals/{id}"), Some(answer))
    }

    /// Hears of questions until the server ends. As long as this listens, questions are asked.
    pub(crate) fn watch(&self, mut heard: impl FnMut(&Value)) -> Result<(), CliError> {
        self.runtime.block_on(async {
            let path = "/api/events?answers=approvals";
            let mut response = self.sent("GET", path, None, None).await?;
            if !response.status().is_success() {
                return Err(refused(&response.text().await.unwrap_or_default()));
            }
            for waiting in self
                .sent_and_read("GET", "/api/approvals", None, PATIENCE)
                .await?["pending"]
                .as_array()
                .into_iter()
                .flatten()
            {
                heard(waiting);
            }
            let mut text = Vec::new();
            while let Some(bytes) = response
                .chunk()
                .await
                .map_err(|error| failed(FailureKind::User, &error))?
            {
                text.extend_from_slice(&bytes);
                while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = text.drain(..=end).collect();
                    let data = line.strip_prefix(b"data: ".as_slice());
                    let event = data.and_then(|data| serde_json::from_slice::<Value>(data).ok());
                    if let Some(event) = event
                        && event["kind"] == "approval-requested"
                    {
                        heard(&event["approval"]);
                    }
                }
                if text.len() > LONGEST_EVENT {
                    text.clear();
                }
            }
            Ok(())
        })
    }

    /// Deletes a session, or says what that would be, and returns the report.
    pub(crate) fn delete_session(&self, key: &str, how: &Value) -> Result<Value, CliError> {
        let key = percent_encoded(key);
        let path = format!("/api/sessions/{key}/delete");
        self.runtime
            .block_on(self.sent_and_read("POST", &path, Some(how), DELETING))
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, CliError> {
        self.runtime
            .block_on(self.sent_and_read(method, path, body, PATIENCE))
    }

    async fn sent_and_read(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        patience: Duration,
    ) -> Result<Value, CliError> {
        let response = self.sent(method, path, body, Some(patience)).await?;
        let is_done = response.status().is_success();
        let text = response
            .text()
            .await
            .map_err(|error| failed(FailureKind::User, &error))?;
        if !is_done {
            return Err(refused(&text));
        }
        serde_json::from_str(&text).map_err(|error| failed(FailureKind::Internal, &error))
    }

    async fn sent(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        patience: Option<Duration>,
    ) -> Result<chitin_net::Response, CliError> {
        let tls = self.host.trust().tls();
        let tls = tls.map_err(|error| failed(FailureKind::Internal, &error))?;
        let client = client_builder(tls).build();
        let client = client.map_err(|error| failed(FailureKind::Internal, &error))?;
        let url = format!("http://{}{path}", self.address);
        let mut request = match method {
            "POST" => client.post(url),
            _ => client.get(url),
        };
        if let Some(patience) = patience {
            request = request.timeout(patience);
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let request = request.bearer_auth(self.token.secret.expose_secret());
        let sent = request.send().await;
        sent.map_err(|error| failed(FailureKind::User, &error))
    }
}

fn failed(kind: FailureKind, error: &dyn Display) -> CliError {
    CliError::new(kind, format!("Could not ask the server: {error}."))
}

/// Says what the server said.
fn refused(body: &str) -> CliError {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let said = body["error"]["message"].as_str();
    let said = said.unwrap_or("The server refused the request.");
    let code = body["error"]["code"].as_str();
    let kind = match code {
        Some("busy") => FailureKind::Refused,
        Some(_) | None => FailureKind::User,
    };
    let error = CliError::new(kind, said.to_owned());
    match code {
        Some("busy") => error.hint("`--stop` stops it, or wait until it is over"),
        Some("unauthorized") => error.hint("`--token-file` names the file with the server's token"),
        _ => error,
    }
}

/// Writes a text as a segment of a path.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
