//! The server: connections in, answers out, until it is told to stop.

use super::request::{self, Whole};
use super::state::Fault;
use super::{Shared, api, sharing, socket};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Serves until it is told to stop.
pub(super) fn run(
    shared: &Arc<Shared>,
    listener: std::net::TcpListener,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap_or_else(|e| unreachable!("no runtime: {e}"));
    runtime.block_on(async {
        if let Err(error) = listener.set_nonblocking(true) {
            unreachable!("a socket that waits: {error}");
        }
        let listener = tokio::net::TcpListener::from_std(listener)
            .unwrap_or_else(|e| unreachable!("no listener: {e}"));
        tokio::select! {
            _ = stopped => {}
            () = accept(shared, &listener) => {}
        }
    });
    // Tasks that still wait go with the runtime.
    runtime.shutdown_background();
}

async fn accept(shared: &Arc<Shared>, listener: &tokio::net::TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(answer(shared, request).await) }
            });
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            let _ = serving.with_upgrades().await;
        });
    }
}

async fn answer(shared: Arc<Shared>, mut request: Request<Incoming>) -> Response<Whole> {
    let path = request.uri().path().to_owned();
    if path == "/link" {
        return socket::upgrade(shared, request);
    }
    let body = request::body(&mut request).await;
    if let Some(id) = path.strip_prefix("/upload/") {
        return sharing::upload(&shared, id, body);
    }
    if let Some(id) = path.strip_prefix("/files/") {
        return sharing::download(&shared, id, request.headers());
    }
    let Some(method) = path.strip_prefix("/api/") else {
        return plain(StatusCode::NOT_FOUND, "nothing is here");
    };
    let call = request::call(method, request.headers(), &body);
    let fault = shared.change(|state| {
        state.calls.push(call.clone());
        let faults = state.faults.get_mut(method);
        faults.and_then(std::collections::VecDeque::pop_front)
    });
    match fault {
        Some(Fault::Limit(seconds)) => {
            let mut response = json_response(&json!({"ok": false, "error": "ratelimited"}));
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            let headers = response.headers_mut();
            headers.insert("retry-after", seconds.into());
            return response;
        }
        Some(Fault::Refuse(code, needed)) => {
            return json_response(&json!({"ok": false, "error": code, "needed": needed}));
        }
        Some(Fault::Status(status)) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            return plain(status, "<html>nobody is home</html>");
        }
        Some(Fault::Delay(wait)) => tokio::time::sleep(wait).await,
        None => {}
    }
    let (answer, scopes) =
        shared.change(|state| (api::call(state, shared.place, &call), state.scopes.clone()));
    let mut response = json_response(&answer);
    if let Ok(scopes) = scopes.parse() {
        response.headers_mut().insert("x-oauth-scopes", scopes);
    }
    response
}

fn json_response(value: &Value) -> Response<Whole> {
    let mut response = Response::new(Whole::new(value.to_string()));
    let kind = hyper::header::HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert("content-type", kind);
    response
}

pub(super) fn plain(status: StatusCode, text: &str) -> Response<Whole> {
    let mut response = Response::new(Whole::new(text.to_owned()));
    *response.status_mut() = status;
    response
}
