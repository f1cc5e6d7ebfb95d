//! The one port: requests, files, and the way to the gateway.

use super::faults::Fault;
use super::state::{Asked, SentFile};
use super::{Shared, gateway, messages, rest};
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// The largest request that is taken.
const MOST_BODY: usize = 64 << 20;

/// A body of one piece.
pub(super) struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// An answer that is lost on the way.
#[derive(Debug)]
struct Lost;

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the answer is lost")
    }
}

impl std::error::Error for Lost {}

/// Serves until it is told to stop.
pub(super) fn serve(
    shared: Arc<Shared>,
    listener: std::net::TcpListener,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap_or_else(|error| unreachable!("no runtime: {error}"));
    runtime.block_on(async move {
        let accepting = async {
            listener.set_nonblocking(true).ok()?;
            let listener = tokio::net::TcpListener::from_std(listener).ok()?;
            loop {
                let (stream, _) = listener.accept().await.ok()?;
                stream.set_nodelay(true).ok()?;
                let shared = Arc::clone(&shared);
                let service =
                    hyper::service::service_fn(move |request| answer(Arc::clone(&shared), request));
                tokio::spawn(async move {
                    let http = hyper::server::conn::http1::Builder::new();
                    let _ = http
                        .serve_connection(TokioIo::new(stream), service)
                        .with_upgrades()
                        .await;
                });
            }
        };
        tokio::select! {
            end = accepting => {
                let _: Option<()> = end;
            }
            _ = stopped => {}
        }
    });
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Whole>, Lost> {
    if request.headers().contains_key(header::SEC_WEBSOCKET_KEY) {
        return Ok(upgrade(shared, request));
    }
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let Some(path) = path.strip_prefix("/api/v10/") else {
        return Ok(file(&shared, &path));
    };
    let (path, method) = (path.to_owned(), request.method().to_string());
    let (headers, body) = (request.headers().clone(), read(request.into_body()).await);
    let (body, files) = messages::read_body(&headers, &body);
    let mut asked = Asked {
        method,
        path,
        body,
        status: 0,
        agent: text(&headers, header::USER_AGENT.as_str()),
    };
    let told = shared.change(|state| {
        let told = decide(state, &headers, &asked, &files);
        asked.status = told.as_ref().map_or(0, |told| told.0);
        state.asked.push(asked);
        told
    });
    let Some((status, more, body)) = told else {
        return Err(Lost);
    };
    let mut response = match body {
        Value::Null => whole(status, "application/json", Vec::new()),
        Value::String(words) => whole(status, "text/html", words.into_bytes()),
        body => whole(status, "application/json", body.to_string().into_bytes()),
    };
    response.headers_mut().extend(more);
    Ok(response)
}

/// Decides on an answer; none is one that is lost.
fn decide(
    state: &mut super::state::State,
    headers: &HeaderMap,
    asked: &Asked,
    files: &[SentFile],
) -> Option<(u16, HeaderMap, Value)> {
    let path = asked.path.as_str();
    let mut more = HeaderMap::new();
    let token = text(headers, header::AUTHORIZATION.as_str());
    let token = token.strip_prefix("Bot ").unwrap_or_default();
    if state.token.as_deref() != Some(token) {
        return Some((
            401,
            more,
            json!({"message": "401: Unauthorized", "code": 0}),
        ));
    }
    let rule = state.rules.iter_mut().find(|rule| {
        rule.times > 0 && rule.method == asked.method && path.contains(&rule.fragment)
    });
    let fault = rule.map(|rule| {
        rule.times -= 1;
        rule.fault.clone()
    });
    match fault {
        Some(Fault::TooMany {
            retry_after,
            global,
        }) => {
            let scope = if global { "global" } else { "user" };
            put(&mut more, "x-ratelimit-scope", scope);
            if global {
                put(&mut more, "x-ratelimit-global", "true");
            } else {
                put(&mut more, "x-ratelimit-bucket", "b1");
                put(&mut more, "x-ratelimit-limit", "5");
                put(&mut more, "x-ratelimit-remaining", "0");
                put(
                    &mut more,
                    "x-ratelimit-reset-after",
                    &retry_after.to_string(),
                );
            }
            return Some(too_many(more, retry_after, global));
        }
        Some(Fault::Status(status, code)) => {
            return Some((
                status,
                more,
                json!({"message": "It is refused", "code": code}),
            ));
        }
        Some(Fault::Words(status)) => {
            return Some((status, more, json!("<html>error code: 1015</html>")));
        }
        Some(Fault::LoseAnswer) => {
            rest::answer(state, asked, files);
            return None;
        }
        None => {}
    }
    let bucket = state
        .buckets
        .iter_mut()
        .find(|bucket| bucket.is_for(&asked.method, path));
    if let Some(bucket) = bucket {
        let told = bucket.count();
        put(&mut more, "x-ratelimit-bucket", "b2");
        put(&mut more, "x-ratelimit-limit", &told.limit.to_string());
        put(&mut more, "x-ratelimit-remaining", &told.left.to_string());
        put(
            &mut more,
            "x-ratelimit-reset-after",
            &format!("{:.3}", told.reset_after),
        );
        if told.refused {
            put(&mut more, "x-ratelimit-scope", "user");
            return Some(too_many(more, told.reset_after, false));
        }
    }
    let (status, body) = rest::answer(state, asked, files);
    Some((status, more, body))
}

fn too_many(mut more: HeaderMap, retry_after: f64, global: bool) -> (u16, HeaderMap, Value) {
    // The header is in whole seconds, the body says it exactly.
    put(
        &mut more,
        "retry-after",
        &format!("{:.0}", retry_after.ceil()),
    );
    let body = json!({"message": "You are being rate limited.", "retry_after": retry_after, "global": global});
    (429, more, body)
}

fn upgrade(shared: Arc<Shared>, mut request: Request<Incoming>) -> Response<Whole> {
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY);
    let accept = derive_accept_key(key.map_or(b"", HeaderValue::as_bytes));
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(&mut request).await {
            gateway::serve(shared, upgraded).await;
        }
    });
    let mut response = whole(101, "text/plain", Vec::new());
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    put(headers, "connection", "Upgrade");
    put(headers, "upgrade", "websocket");
    put(headers, "sec-websocket-accept", &accept);
    response
}

fn file(shared: &Shared, path: &str) -> Response<Whole> {
    shared.change(|state| {
        let found = state.files.get(path).cloned();
        state.asked.push(Asked {
            method: "GET".to_owned(),
            path: path.to_owned(),
            body: Value::Null,
            status: if found.is_some() { 200 } else { 404 },
            agent: String::new(),
        });
        match found {
            Some((mime, bytes)) => whole(200, &mime, bytes),
            None => whole(404, "text/plain", Vec::new()),
        }
    })
}

fn whole(status: u16, mime: &str, body: Vec<u8>) -> Response<Whole> {
    let body = (!body.is_empty()).then(|| Bytes::from(body));
    let mut response = Response::new(Whole(body));
    *response.status_mut() = status.try_into().unwrap_or_default();
    put(response.headers_mut(), "content-type", mime);
    response
}

async fn read(mut body: Incoming) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        match frame {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data()
                    && bytes.len() + data.len() <= MOST_BODY
                {
                    bytes.extend_from_slice(&data);
                }
            }
            _ => return bytes,
        }
    }
}

fn put(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn text(headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}
