//! What a client sent: read whole, its arguments found.

use super::state::Call;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming};
use hyper::{HeaderMap, Request};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The largest body.
const LARGEST: usize = 64 << 20;

/// A body that is there whole.
pub(super) struct Whole(Option<Bytes>);

impl Whole {
    pub(super) fn new(bytes: impl Into<Bytes>) -> Self {
        Self(Some(bytes.into()))
    }
}

impl HttpBody for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.get_mut().0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Reads a body whole.
pub(super) async fn body(request: &mut Request<Incoming>) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let frame = poll_fn(|context| Pin::new(request.body_mut()).poll_frame(context)).await;
        match frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    whole.extend_from_slice(data);
                }
            }
            Some(Err(_)) | None => return whole,
        }
        if whole.len() > LARGEST {
            return whole;
        }
    }
}

/// Reads a call: arguments come as a form, or as JSON with methods that write.
pub(super) fn call(method: &str, headers: &HeaderMap, body: &[u8]) -> Call {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let token = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let text = String::from_utf8_lossy(body);
    let is_json = header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    let arguments = if is_json {
        json_arguments(&text)
    } else {
        form(&text)
    };
    Call {
        method: method.to_owned(),
        token: token.unwrap_or_default().to_owned(),
        arguments,
    }
}

fn json_arguments(text: &str) -> BTreeMap<String, String> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten();
    fields
        .map(|(key, value)| {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (key.clone(), value)
        })
        .collect()
}

fn form(text: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        percent_decode_str(&text).decode_utf8_lossy().into_owned()
    };
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (decoded(key), decoded(value)))
        .collect()
}
