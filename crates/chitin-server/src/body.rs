//! Bodies: read within limits, written whole or as a stream.

use crate::error::{ApiError, at_most};
use crate::shared::Shared;
use bytes::{Buf, Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING};
use hyper::{HeaderMap, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

/// How much of what went wrong in a body is said, in characters.
pub(crate) const LONGEST_QUOTE: usize = 300;
/// How many times the limit is read and thrown away of a body that is too long, so that its sender sees why.
const THROWN_AWAY: usize = 4;
/// How long that may take.
const THROWING_AWAY: Duration = Duration::from_secs(2);

/// The body of an answer.
pub(crate) enum Body {
    /// All of it, until it is taken.
    Whole(Option<Bytes>),
    /// Piece by piece.
    Stream(BoxStream<'static, Bytes>),
}

impl Body {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Stream(stream) => stream.poll_next_unpin(context),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// Answers with JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(Body::whole(bytes.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Answers with a stream of server-sent events.
pub(crate) fn events(stream: BoxStream<'static, Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::Stream(stream));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Some proxies keep a stream back until it is over; this one they know.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Reads a body of JSON.
pub(crate) async fn read_json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Incoming,
    shared: &Shared,
) -> Result<T, ApiError> {
    let read = read(headers, body, shared).await?;
    parse(&read.bytes)
}

/// Understands JSON.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let code = if error.is_data() {
            "bad_request"
        } else {
            "bad_json"
        };
        // The error may quote what was sent.
        let error = at_most(&error.to_string(), LONGEST_QUOTE);
        let message = format!("Could not parse the body: {error}.");
        ApiError::new(StatusCode::BAD_REQUEST, code, message)
    })
}

/// A body that was read, and the room that it takes.
pub(crate) struct Read {
    pub(crate) bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

/// Reads a body that says that it is JSON, within the limits.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Incoming,
    shared: &Shared,
) -> Result<Read, ApiError> {
    must_be_json(headers)?;
    read_bytes(headers, body, shared, shared.limits.body).await
}

/// Reads a body, whatever it is, within the limits and so many bytes.
pub(crate) async fn read_bytes(
    headers: &HeaderMap,
    mut body: Incoming,
    shared: &Shared,
    most: usize,
) -> Result<Read, ApiError> {
    let limits = &shared.limits;
    let most = most.min(limits.body);
    let length = headers.get(CONTENT_LENGTH);
    if length.is_none() && !headers.contains_key(TRANSFER_ENCODING) {
        return Err(ApiError::new(
            StatusCode::LENGTH_REQUIRED,
            "length_required",
            "The request has no body and no content length.",
        ));
    }
    let declared = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|declared| declared > most as u64) {
        throw_away(&mut body, most).await;
        return Err(too_large(most));
    }
    let expected = declared.and_then(|declared| usize::try_from(declared).ok());
    let room = shared.room_for_body(expected.unwrap_or(most))?;
    let deadline = Instant::now() + limits.body_time;
    let mut read = BytesMut::new();
    loop {
        let data = match timeout_at(deadline, next(&mut body)).await {
            Ok(Ok(Some(data))) => data,
            Ok(Ok(None)) => {
                return Ok(Read {
                    bytes: read.freeze(),
                    _room: room,
                });
            }
            Ok(Err(error)) => {
                return Err(ApiError::bad(format!("The body ended early: {error}.")));
            }
            Err(_) => {
                return Err(ApiError::new(
                    StatusCode::REQUEST_TIMEOUT,
                    "timeout",
                    "The body did not arrive in time.",
                ));
            }
        };
        if read.len() + data.remaining() > most {
            drop(read);
            throw_away(&mut body, most).await;
            return Err(too_large(most));
        }
        read.extend_from_slice(&data);
    }
}

/// A page of another site can send forms and plain text without asking, but no JSON.
fn must_be_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "not_json",
        "The body must be JSON.",
    )
    .hint("Set `Content-Type: application/json`."))
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
        match frame {
            None => return Ok(None),
            Some(Err(error)) => return Err(error),
            // Trailers say nothing to us.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// Reads on for a while: who is still sending would not see an answer.
async fn throw_away(body: &mut Incoming, most: usize) {
    let mut left = most.saturating_mul(THROWN_AWAY);
    let deadline = Instant::now() + THROWING_AWAY;
    while let Ok(Ok(Some(data))) = timeout_at(deadline, next(body)).await {
        left = left.saturating_sub(data.remaining());
        if left == 0 {
            return;
        }
    }
}

fn too_large(most: usize) -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        format!("The body is too large: the limit is {most} bytes."),
    )
}
