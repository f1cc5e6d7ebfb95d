//! Socket Mode: hello, envelopes, acknowledgements, and what is told again.

use super::Shared;
use super::request::Whole;
use super::serve::plain;
use super::state::Out;
use futures_util::{SinkExt, StreamExt};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

/// How often what was not acknowledged is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Turns a request with a ticket into a WebSocket. A ticket is good once.
pub(super) fn upgrade(shared: Arc<Shared>, mut request: Request<Incoming>) -> Response<Whole> {
    let query = request.uri().query().unwrap_or_default();
    let ticket = query.strip_prefix("ticket=").unwrap_or_default().to_owned();
    let known = shared.change(|state| {
        let place = state.tickets.iter().position(|known| *known == ticket);
        place.map(|place| state.tickets.remove(place))
    });
    let key = request.headers().get(SEC_WEBSOCKET_KEY);
    let accept = key.map(|key| derive_accept_key(key.as_bytes()));
    let accept = accept.and_then(|accept| HeaderValue::try_from(accept).ok());
    let (Some(_), Some(accept)) = (known, accept) else {
        return plain(StatusCode::FORBIDDEN, "the ticket is not good");
    };
    let mut response = plain(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    let upgrading = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrading.await {
            let io = TokioIo::new(upgraded);
            let socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
            serve(&shared, socket).await;
        }
    });
    response
}

async fn serve(shared: &Shared, mut socket: WebSocketStream<TokioIo<Upgraded>>) {
    let (sender, mut out) = mpsc::unbounded_channel();
    let hello = json!({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}});
    if socket.send(text(&hello.to_string())).await.is_err() {
        return;
    }
    let id = shared.change(|state| {
        state.opened += 1;
        let id = state.opened;
        state.sockets.insert(id, sender);
        // What nobody was told, or what went to a connection that is gone.
        let open: Vec<String> = state.pending.keys().cloned().collect();
        for envelope in open {
            let gone =
                |socket: Option<usize>| socket.is_none_or(|id| !state.sockets.contains_key(&id));
            if gone(state.pending[&envelope].socket) {
                state.send(&envelope);
            }
        }
        id
    });
    let mut waited = tokio::time::interval(LOOK);
    let mut told = std::collections::HashMap::new();
    loop {
        tokio::select! {
            next = out.recv() => match next {
                Some(Out::Text(message)) => {
                    if socket.send(text(&message)).await.is_err() {
                        break;
                    }
                }
                Some(Out::Close) => {
                    let _ = socket.close(None).await;
                    break;
                }
                Some(Out::Break) | None => break,
            },
            came = socket.next() => match came {
                Some(Ok(Message::Text(message))) => acknowledge(shared, &message),
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
            _ = waited.tick() => tell_again(shared, id, &mut told),
        }
    }
    shared.change(|state| state.sockets.remove(&id));
}

fn text(message: &str) -> Message {
    Message::Text(message.to_owned().into())
}

fn acknowledge(shared: &Shared, message: &str) {
    let value: Value = serde_json::from_str(message).unwrap_or_default();
    shared.change(|state| {
        let id = value["envelope_id"].as_str().unwrap_or_default();
        match state.pending.remove(id) {
            Some(pending) => state.acknowledged.push(pending.event_id),
            None => state.odd.push(message.to_owned()),
        }
    });
}

/// Tells again what was not acknowledged in time.
fn tell_again(
    shared: &Shared,
    id: usize,
    told: &mut std::collections::HashMap<(String, u64), tokio::time::Instant>,
) {
    let state = shared.lock();
    let within = state.ack_within;
    let mine = state
        .pending
        .iter()
        .filter(|(_, one)| one.socket == Some(id));
    let mut late = Vec::new();
    for (envelope, pending) in mine {
        let at = told
            .entry((envelope.clone(), pending.told))
            .or_insert_with(tokio::time::Instant::now);
        if at.elapsed() > within && pending.told < 4 {
            late.push(envelope.clone());
        }
    }
    drop(state);
    for envelope in late {
        shared.change(|state| state.send(&envelope));
    }
}
