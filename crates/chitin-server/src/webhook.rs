//! What networks call: handed on byte by byte, since their signatures are over these.

use crate::body::{Body, read_bytes};
use crate::error::ApiError;
use crate::shared::Shared;
use bytes::Bytes;
use chitin_gateway::surface::WebhookCall;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use std::time::Duration;

/// The longest body, in bytes.
const LONGEST: usize = 1 << 20;
/// How long a call may take. Networks give up sooner.
const PATIENCE: Duration = Duration::from_secs(30);

/// Hands a call on. Whether the network sent it is for the webhook to find out.
pub(crate) async fn call(
    shared: &Shared,
    at: usize,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let Some(webhook) = shared.attached.webhooks.get(at) else {
        return Err(ApiError::missing("There is no such endpoint."));
    };
    let (head, body) = request.into_parts();
    let read = read_bytes(&head.headers, body, shared, LONGEST).await?;
    let headers = head.headers.iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let call = WebhookCall {
        headers: headers.collect(),
        body: read.bytes.to_vec(),
    };
    drop(read);
    let answering = webhook.call(shared.gateway.clone(), call);
    let Ok(answer) = tokio::time::timeout(PATIENCE, answering).await else {
        let message = "The call took too long.";
        return Err(ApiError::new(
            StatusCode::GATEWAY_TIMEOUT,
            "timeout",
            message,
        ));
    };
    let mut response = Response::new(Body::whole(Bytes::from(answer.body)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.mime));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
