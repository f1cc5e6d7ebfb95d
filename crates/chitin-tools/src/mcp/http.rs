//! Requests to a server at an address. `rmcp` makes a new session when a server says with status 404 that it does not know ours, as
//! the protocol asks for. Many servers say it in other ways after a restart, and their answer names no request, so that nothing would
//! ever come back to the call. What they say is put into the form of the protocol here.

use super::oversized::Oversized;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The codes that JSON-RPC leaves to servers, and that SDKs use for errors of the connection.
const CONNECTION_ERRORS: RangeInclusive<i32> = -32099..=-32000;

/// What the transport says of an event that is too long; its own type is not public.
const TOO_LONG: &str = "exceeded the maximum size";

type Events = BoxStream<'static, Result<Sse, SseError>>;
type HttpError = StreamableHttpError<reqwest::Error>;

/// A client that knows the ways in which servers forget a session.
#[derive(Debug, Clone)]
pub(super) struct SessionClient {
    pub(super) client: reqwest::Client,
    pub(super) oversized: Oversized,
}

impl StreamableHttpClient for SessionClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let has_session = session.is_some();
        let posting = self
            .client
            .post_message(uri, message, session, token, headers);
        judged(posting.await?, has_session)
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        largest: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let has_session = session.is_some();
        let posting = self
            .client
            .post_message_with_max_sse_event_size(uri, message, session, token, headers, largest);
        judged(posting.await?, has_session).map(|response| self.watched(response))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        self.client
            .delete_session(uri, session, token, headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, HttpError> {
        let getting = self
            .client
            .get_stream(uri, session, last_event, token, headers);
        getting.await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        largest: usize,
    ) -> Result<Events, HttpError> {
        let getting = self
            .client
            .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, largest);
        getting.await
    }
}

impl SessionClient {
    /// Watches the events of an answer.
    fn watched(&self, response: StreamableHttpPostResponse) -> StreamableHttpPostResponse {
        let StreamableHttpPostResponse::Sse(events, session) = response else {
            return response;
        };
        let oversized = self.oversized.clone();
        let events = events.inspect(move |event| {
            let is_oversized = |error: &SseError| error.to_string().contains(TOO_LONG);
            if event.as_ref().is_err_and(is_oversized) {
                oversized.tell();
            }
        });
        StreamableHttpPostResponse::Sse(events.boxed(), session)
    }
}

/// Turns an answer about the whole request into the error that it is.
fn judged(
    response: StreamableHttpPostResponse,
    has_session: bool,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let StreamableHttpPostResponse::Json(JsonRpcMessage::Error(said), _) = &response else {
        return Ok(response);
    };
    let (code, message) = (said.error.code.0, &said.error.message);
    let about_session =
        CONNECTION_ERRORS.contains(&code) && message.to_lowercase().contains("session");
    if has_session && about_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    if said.id.is_none() {
        let said = format!("HTTP 4xx: {message}");
        return Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(
            said,
        )));
    }
    Ok(response)
}
