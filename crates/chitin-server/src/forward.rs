//! Passes a request on to the next process of the server, which has the listening socket by now.
//!
//! A client that has a connection to this one does not know that it was replaced. It gets the answer of the next one, and is told that
//! the connection ends, so that it connects anew before it asks again.

use crate::answer::Caller;
use crate::body::Body;
use crate::error::ApiError;
use crate::shared::Shared;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HeaderName, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::TcpStream;

/// What is about one connection and not about the request.
const OF_A_CONNECTION: [HeaderName; 3] = [
    CONNECTION,
    TRANSFER_ENCODING,
    HeaderName::from_static("keep-alive"),
];
/// How long the next process may take to accept a connection. It is there already, or about to be.
const PATIENCE: Duration = Duration::from_secs(10);

/// A body that is passed on.
enum Passed {
    /// As it comes.
    Incoming(Incoming),
    /// What was read already.
    Whole(Option<Bytes>),
}

impl HttpBody for Passed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Incoming(body) => Pin::new(body).poll_frame(context),
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Incoming(body) => body.is_end_stream(),
            Self::Whole(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Incoming(body) => body.size_hint(),
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
        }
    }
}

/// Passes a request on.
pub(crate) async fn request(
    shared: &Shared,
    caller: &Caller,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let (head, body) = request.into_parts();
    if head.headers.contains_key(UPGRADE) {
        // A WebSocket is opened on a connection of its own.
        return Err(ApiError::restarting());
    }
    pass(shared, caller, head, Passed::Incoming(body)).await
}

/// Passes a request on whose body was read already.
pub(crate) async fn read(
    shared: &Shared,
    caller: &Caller,
    head: Parts,
    body: Bytes,
) -> Result<Response<Body>, ApiError> {
    pass(shared, caller, head, Passed::Whole(Some(body))).await
}

/// Says that the connection ends with this answer.
pub(crate) fn ends(response: &mut Response<Body>) {
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
}

async fn pass(
    shared: &Shared,
    caller: &Caller,
    mut head: Parts,
    body: Passed,
) -> Result<Response<Body>, ApiError> {
    for name in &OF_A_CONNECTION {
        head.headers.remove(name);
    }
    let failed = |_| ApiError::restarting();
    // To the address that the client knows, so that its `Host` is as right there as here.
    let place = (caller.local, shared.port);
    let connecting = tokio::time::timeout(PATIENCE, TcpStream::connect(place));
    let stream = connecting.await.map_err(|_| ApiError::restarting())?;
    let stream = stream.map_err(|_| ApiError::restarting())?;
    let _ = stream.set_nodelay(true);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    tokio::spawn(connection);
    let answered = sender.send_request(Request::from_parts(head, body)).await;
    let (mut head, body) = answered.map_err(failed)?.into_parts();
    for name in &OF_A_CONNECTION {
        head.headers.remove(name);
    }
    let pieces = stream::unfold((body, sender), |(mut body, sender)| async move {
        let piece = Data(&mut body).await?;
        Some((piece, (body, sender)))
    });
    let mut response = Response::from_parts(head, Body::Stream(pieces.boxed()));
    ends(&mut response);
    Ok(response)
}

/// The next piece of a body; none at its end, or when it broke off: then it is shorter than its head says.
struct Data<'b>(&'b mut Incoming);

impl Future for Data<'_> {
    type Output = Option<Bytes>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let body = &mut *self.get_mut().0;
        loop {
            let Some(Ok(frame)) = ready!(Pin::new(&mut *body).poll_frame(context)) else {
                return Poll::Ready(None);
            };
            if let Ok(data) = frame.into_data() {
                return Poll::Ready(Some(data));
            }
        }
    }
}
