//! Bodies of requests: JSON, or a form with files.

use super::state::SentFile;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;

/// Reads the body of a request, and the files in it.
pub(super) fn read_body(headers: &HeaderMap, body: &[u8]) -> (Value, Vec<SentFile>) {
    let mime = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let Some(boundary) = mime.strip_prefix("multipart/form-data; boundary=") else {
        return (serde_json::from_slice(body).unwrap_or_default(), Vec::new());
    };
    let mut message = Value::Null;
    let mut files = Vec::new();
    for part in parts(body, boundary) {
        let Some(split) = find(part, b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&part[..split]).into_owned();
        let content = &part[split + 4..];
        match quoted(&head, "filename=\"") {
            Some(name) => files.push(SentFile {
                name,
                mime: head
                    .lines()
                    .find_map(|line| line.strip_prefix("Content-Type: "))
                    .unwrap_or_default()
                    .to_owned(),
                bytes: content.to_vec(),
            }),
            None if quoted(&head, "name=\"").as_deref() == Some("payload_json") => {
                message = serde_json::from_slice(content).unwrap_or_default();
            }
            None => {}
        }
    }
    (message, files)
}

fn parts<'a>(body: &'a [u8], boundary: &str) -> Vec<&'a [u8]> {
    let opening = format!("--{boundary}\r\n");
    let ending = format!("\r\n--{boundary}");
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some(start) = find(rest, opening.as_bytes()) {
        let from = &rest[start + opening.len()..];
        let Some(end) = find(from, ending.as_bytes()) else {
            break;
        };
        parts.push(&from[..end]);
        rest = &from[end + 2..];
    }
    parts
}

fn quoted(head: &str, before: &str) -> Option<String> {
    let start = head.find(before)? + before.len();
    let end = head[start..].find('"')?;
    Some(head[start..start + end].to_owned())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}
