//! What went wrong with a request, and whether trying again may help.

use super::endpoint::Endpoint;
use super::transport::read_limited;
use chitin_net::tls_error;
use chitin_pack::{ErrorClass, ExitKind, PackError};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use std::time::Duration;

/// Longer error documents are not read.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Longer sentences of a registry are cut.
const MAX_SAID: usize = 200;

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: PackError,
    pub(crate) retry: Retry,
}

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// It will fail again.
    Never,
    /// It may pass.
    Soon,
    /// It may pass, and the registry says when.
    After(Duration),
}

impl Failure {
    pub(crate) const fn soon(error: PackError) -> Self {
        Self {
            error,
            retry: Retry::Soon,
        }
    }

    /// A connection that could not be made or was cut.
    pub(crate) fn of_connection(endpoint: &Endpoint, error: reqwest::Error) -> Self {
        let host = &endpoint.host;
        // The address may carry a signature of a storage service.
        let error = error.without_url();
        // Neither will change by trying again.
        let tls = tls_error(&error).map(|tls| match tls {
            rustls::Error::InvalidCertificate(_) => (
                format!("the certificate of `{host}` is not trusted"),
                "name the authority that signed it, if it is one of yours",
            ),
            _ => (
                format!("`{host}` does not speak TLS as we do"),
                "a registry on this machine may speak plain HTTP only; say so if it does",
            ),
        });
        if let Some((message, hint)) = tls {
            return PackError::new(ErrorClass::Registry, message)
                .hint(hint)
                .caused_by(error)
                .into();
        }
        let (message, hint) = if error.is_connect() {
            (
                format!("`{host}` cannot be reached"),
                "check the name and the port; a registry on this machine may speak plain HTTP only",
            )
        } else {
            (
                format!("the connection to `{host}` broke"),
                "run the command again; it resumes where it stopped",
            )
        };
        Self::soon(
            PackError::new(ErrorClass::Registry, message)
                .hint(hint)
                .caused_by(error),
        )
    }

    /// A registry that does not answer in time.
    pub(crate) fn of_silence(endpoint: &Endpoint, waited: Duration) -> Self {
        let message = format!(
            "`{}` did not answer within {} seconds",
            endpoint.host,
            waited.as_secs()
        );
        Self::soon(PackError::new(ErrorClass::Registry, message).hint("try again later"))
    }
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        Self {
            error,
            retry: Retry::Never,
        }
    }
}

/// An answer that says no.
pub(crate) async fn refused(endpoint: &Endpoint, what: &str, response: Response) -> Failure {
    refused_with_code(endpoint, what, response).await.0
}

/// The same, with the code that the registry gives, such as `DIGEST_INVALID`.
pub(crate) async fn refused_with_code(
    endpoint: &Endpoint,
    what: &str,
    response: Response,
) -> (Failure, Option<String>) {
    let status = response.status();
    let headers = response.headers().clone();
    let body = read_limited(endpoint, response, MAX_ERROR_BYTES, Duration::from_secs(5)).await;
    let body = body.unwrap_or_default();
    let said = said(&body);
    let failure = of_status(&endpoint.host, what, status, &headers, said.as_deref());
    (failure, code(&body))
}

fn of_status(
    host: &str,
    what: &str,
    status: StatusCode,
    headers: &HeaderMap,
    said: Option<&str>,
) -> Failure {
    let (class, message, hint) = match status {
        StatusCode::UNAUTHORIZED => (
            ErrorClass::Unauthorized,
            format!("`{host}` does not accept the credentials"),
            "log in again, or check the name and the password",
        ),
        StatusCode::FORBIDDEN => (
            ErrorClass::Unauthorized,
            format!("`{host}` does not allow it: {what}"),
            "log in as a user with permission",
        ),
        StatusCode::NOT_FOUND => (
            ErrorClass::NotFound,
            format!("`{host}` does not have it: {what}"),
            "check the repository and the tag",
        ),
        StatusCode::TOO_MANY_REQUESTS => (
            ErrorClass::Registry,
            format!("`{host}` has had too many requests"),
            "try again later",
        ),
        status if status.is_server_error() => (
            ErrorClass::Registry,
            format!("`{host}` failed with status {}: {what}", status.as_u16()),
            "try again later",
        ),
        status => (
            ErrorClass::Registry,
            format!("`{host}` refused with status {}: {what}", status.as_u16()),
            "the registry may not take such artifacts",
        ),
    };
    let mut error = PackError::new(class, message).hint(hint);
    if let Some(said) = said {
        error = error.caused_by(format!("the registry says: {said}"));
    }
    let passing = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let retry = match (passing, retry_after(headers)) {
        (false, _) => Retry::Never,
        (true, None) => Retry::Soon,
        (true, Some(delay)) => Retry::After(delay),
    };
    Failure { error, retry }
}

/// Only seconds are read; a date would need a clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

/// Returns the first sentence of an error document, in characters that are safe to show.
fn code(body: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let code = document.get("errors")?.get(0)?.get("code")?;
    code.as_str().map(str::to_owned)
}

fn said(body: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let first = document.get("errors")?.get(0)?;
    let text = first
        .get("message")
        .or_else(|| first.get("code"))?
        .as_str()?;
    let shown: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_SAID)
        .collect();
    (!shown.is_empty()).then_some(shown)
}

/// An answer that is not what the protocol says.
pub(crate) fn wrong_answer(endpoint: &Endpoint, what: &str) -> PackError {
    PackError::new(
        ErrorClass::Registry,
        format!("`{}` answered nonsense: {what}", endpoint.host),
    )
    .exiting(ExitKind::Registry)
    .hint("this may not be a registry")
}
