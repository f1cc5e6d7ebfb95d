//! Slack's Web API: one call out, one answer in.

mod client;
mod error;
mod error_text;
mod transfer;

pub(crate) use client::{Client, make};
pub(crate) use error::CallError;

use crate::settings::AccountSettings;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;

/// How long a call may take.
const LONGEST: Duration = Duration::from_secs(20);
/// The largest answer.
const LARGEST: usize = 8 << 20;
/// How long to wait when Slack does not say how long.
const WAIT_SECONDS: u64 = 30;
/// The longest wait that is believed.
const MOST_WAIT_SECONDS: u64 = 3_600;

/// The Web API as one token sees it.
pub(crate) struct Web {
    client: Client,
    settings: AccountSettings,
    token: SecretString,
}

/// What Slack answered.
#[derive(Debug)]
pub(crate) struct SlackResponse {
    pub(crate) body: Value,
    /// What the token may do.
    pub(crate) scopes: Option<String>,
}

impl Web {
    pub(crate) fn new(client: Client, settings: AccountSettings, token: SecretString) -> Self {
        Self {
            client,
            settings,
            token,
        }
    }

    /// Calls a method. Arguments go as a form, which every method takes.
    pub(crate) async fn call(
        &self,
        method: &'static str,
        arguments: &[(&str, &str)],
    ) -> Result<SlackResponse, CallError> {
        let calling = self.exchange(method, arguments);
        tokio::time::timeout(LONGEST, calling)
            .await
            .unwrap_or_else(|_| Err(CallError::unreachable(method, "it did not answer in time")))
    }

    async fn exchange(
        &self,
        method: &'static str,
        arguments: &[(&str, &str)],
    ) -> Result<SlackResponse, CallError> {
        let url = self
            .settings
            .api
            .join(method)
            .map_err(|_| CallError::odd(method, "its address cannot be made"))?;
        let response = self
            .client
            .http
            .post(url)
            .header(AUTHORIZATION, self.authorization(method)?)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form(arguments))
            .send()
            .await
            .map_err(|error| CallError::unreachable(method, &client::reason(error)))?;
        let status = response.status();
        if status == StatusCode::TOO_MANY_REQUESTS {
            let seconds = retry_after(response.headers());
            return Err(CallError::Limited { method, seconds });
        }
        let scopes = response
            .headers()
            .get("x-oauth-scopes")
            .and_then(|scopes| scopes.to_str().ok())
            .map(str::to_owned);
        let seconds = retry_after(response.headers());
        let body = whole(response, LARGEST)
            .await
            .map_err(|reason| CallError::unreachable(method, &reason))?;
        if !status.is_success() {
            let reason = format!("it answered {}", status.as_u16());
            return Err(if status.is_server_error() {
                CallError::unreachable(method, &reason)
            } else {
                CallError::odd(method, &reason)
            });
        }
        let body: Value = serde_json::from_slice(&body)
            .map_err(|_| CallError::unreachable(method, "its answer is no JSON"))?;
        if body["ok"] == true {
            return Ok(SlackResponse { body, scopes });
        }
        let code = body["error"].as_str().unwrap_or("unknown_error");
        if matches!(code, "ratelimited" | "rate_limited") {
            return Err(CallError::Limited { method, seconds });
        }
        Err(CallError::Refused {
            method,
            code: error::code(code),
            needed: body["needed"].as_str().map(error::code),
        })
    }

    fn authorization(&self, method: &'static str) -> Result<HeaderValue, CallError> {
        let text = format!("Bearer {}", self.token.expose_secret().trim());
        let mut value = HeaderValue::try_from(text)
            .map_err(|_| CallError::odd(method, "the token has signs that no token has"))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// Writes arguments as a form.
fn form(arguments: &[(&str, &str)]) -> String {
    let mut form = String::new();
    for (name, value) in arguments {
        if !form.is_empty() {
            form.push('&');
        }
        form.extend(utf8_percent_encode(name, NON_ALPHANUMERIC));
        form.push('=');
        form.extend(utf8_percent_encode(value, NON_ALPHANUMERIC));
    }
    form
}

fn retry_after(headers: &HeaderMap) -> u64 {
    let said = headers.get(RETRY_AFTER).and_then(|said| said.to_str().ok());
    said.and_then(|said| said.trim().parse().ok())
        .unwrap_or(WAIT_SECONDS)
        .min(MOST_WAIT_SECONDS)
}

/// Reads an answer whole, unless it is too large.
async fn whole(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        match chunk.map_err(client::reason)? {
            None => return Ok(body),
            Some(chunk) if body.len() + chunk.len() > most => {
                return Err(format!("it answered with more than {most} bytes"));
            }
            Some(chunk) => body.extend_from_slice(&chunk),
        }
    }
}
