//! Reads a line of a transcript quickly.
//!
//! The usual records are read straight into their types. Anything out of the ordinary makes the quick way give up, and the
//! line is read again by the way that understands everything; both give the same record. Programs that share the format
//! write things that JSON parsers refuse, such as half surrogate pairs: these are mended in memory, and when nothing helps,
//! the record is at least kept in its place on the branch.

mod quick;

use super::{EntryBody, Header, TranscriptEntry};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Why a line is no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// It is no JSON at all.
    #[error("it is no JSON")]
    NotJson,
    /// It is JSON, but no record.
    #[error("{0}")]
    NoRecord(&'static str),
}

impl TranscriptEntry {
    /// Reads one line of a transcript, without its line end.
    pub fn from_line(line: &[u8]) -> Result<Self, LineProblem> {
        if let Some(entry) = quick::entry(line) {
            return Ok(entry);
        }
        if let Ok(value) = serde_json::from_slice::<Value>(line) {
            return Self::from_value(value).map_err(LineProblem::NoRecord);
        }
        if !is_json(line) {
            return Err(LineProblem::NotJson);
        }
        if let Some(value) = mend(line).and_then(|text| serde_json::from_str(&text).ok()) {
            return Self::from_value(value).map_err(LineProblem::NoRecord);
        }
        in_its_place(line)
    }
}

impl Header {
    /// Reads the first line of a transcript.
    pub fn from_line(line: &[u8]) -> Result<Self, LineProblem> {
        let header: Self = match serde_json::from_slice(line) {
            Ok(header) => header,
            Err(_) if is_json(line) => return Err(LineProblem::NoRecord("it is no header")),
            Err(_) => return Err(LineProblem::NotJson),
        };
        if header.kind == "session" {
            Ok(header)
        } else {
            Err(LineProblem::NoRecord("it is no header"))
        }
    }
}

/// Tells whether a line is JSON to any program: nesting, numbers and surrogates are not looked at.
pub fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok() && !line.is_empty()
}

/// Replaces bytes that are no UTF-8 and escapes that are half a surrogate pair.
fn mend(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let bytes = text.as_bytes();
    let mut mended = String::with_capacity(text.len());
    let mut taken = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match surrogate(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(surrogate(bytes, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                mended.push_str(text.get(taken..at)?);
                mended.push_str("\\ufffd");
                at += 6;
                taken = at;
            }
            // Some other escape: it and the character after it.
            Some(_) | None => at += 2,
        }
    }
    mended.push_str(text.get(taken..)?);
    Some(mended)
}

/// Returns the number of the `\uXXXX` escape at a place.
fn surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

/// Reads only what keeps a record in its place: a body that no parser of ours can hold is left out.
fn in_its_place(line: &[u8]) -> Result<TranscriptEntry, LineProblem> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'a, str>,
        id: String,
        #[serde(rename = "parentId", default)]
        parent_id: Option<String>,
        #[serde(default)]
        timestamp: Option<String>,
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
        return Err(LineProblem::NoRecord("it cannot be understood"));
    };
    let body = json!({
        "type": envelope.kind, "id": envelope.id, "parentId": envelope.parent_id,
        "timestamp": envelope.timestamp,
    });
    Ok(TranscriptEntry::new(
        envelope.id,
        envelope.parent_id,
        envelope.timestamp.unwrap_or_default(),
        EntryBody::Other(body),
    ))
}
