//! The OpenAPI document: made of the operations and the types of their requests and replies, committed as
//! `docs/reference/openapi.json`, and served as it is committed. A start of the server does not read it.

mod document;

pub use document::openapi_document;
pub(crate) use document::{
    Schemas, Shape, document, events, json, messages, request, stream_or, text,
};

use crate::body::Body;
use crate::page::takes_gzip;
use bytes::Bytes;
use flate2::read::GzDecoder;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, VARY};
use hyper::{HeaderMap, Response};
use std::io::Read;

/// The document, compressed by the build script.
const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz"));

/// Answers with the document.
pub(crate) fn answer(headers: &HeaderMap) -> Response<Body> {
    let zipped = takes_gzip(headers);
    let bytes = if zipped {
        Bytes::from_static(COMPRESSED)
    } else {
        let mut text = Vec::new();
        // Reading from memory does not fail.
        let _ = GzDecoder::new(COMPRESSED).read_to_end(&mut text);
        text.into()
    };
    let mut response = Response::new(Body::whole(bytes));
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    fields.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if zipped {
        fields.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
