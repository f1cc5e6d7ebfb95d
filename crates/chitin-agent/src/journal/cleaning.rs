//! Takes secrets out of recordings that were written before they were known. Lines lean on each other, so that a file is written anew.

use super::packed::{PackedLine, REQUEST, Unpacker};
use super::recording::{body_of, event_in, is_event, with_body};
use super::recording_log::{Entry, LinePacker, RequestEntry};
use super::redact::JournalRedactor;
use super::trajectory::BodyMark;
use serde_json::Value;
use std::collections::HashSet;

/// Tells whether lines of a file lean on each other, so that none of them can be changed alone.
pub fn is_recording(bytes: &[u8]) -> bool {
    lines(bytes).any(PackedLine::is_one)
}

/// Returns a trajectory without secrets, and how many of its lines said one for the first time; nothing if none did. What cannot be read
/// is not kept.
pub fn cleaned(bytes: &[u8], redactor: &JournalRedactor) -> Option<(Vec<u8>, usize)> {
    let found = secret_lines(bytes, redactor);
    if found == 0 {
        return None;
    }
    let mut unpacker = Unpacker::default();
    let mut packer = LinePacker::default();
    let mut clean = String::with_capacity(bytes.len());
    // The body of the last request as it is written now.
    let mut body = String::new();
    for line in lines(bytes) {
        let entry = match packed(line, &mut unpacker) {
            Content::Value(kind, value) => entry(&kind, value, &unpacker, &mut body, redactor),
            Content::Lost => None,
            Content::Other => {
                let text = String::from_utf8_lossy(line);
                match event_in(line) {
                    Some(mut event) => {
                        redactor.value(&mut event);
                        clean.push_str(&event.to_string());
                    }
                    None => clean.push_str(&redactor.text(&text)),
                }
                clean.push('\n');
                None
            }
        };
        if let Some(entry) = entry {
            let at = clean.len() as u64;
            clean.push_str(&packer.line(entry, at));
        }
    }
    Some((clean.into_bytes(), found))
}

enum Content {
    Value(String, Value),
    /// It cannot be read.
    Lost,
    /// It leans on nothing.
    Other,
}

fn packed(line: &[u8], unpacker: &mut Unpacker) -> Content {
    if !PackedLine::is_one(line) {
        return Content::Other;
    }
    let Some(packed) = PackedLine::read(line) else {
        return Content::Lost;
    };
    let kind = packed.kind().to_owned();
    match unpacker.take(packed, line.len() + 1) {
        Ok(value) => Content::Value(kind, value.clone()),
        Err(_) => Content::Lost,
    }
}

fn entry(
    kind: &str,
    value: Value,
    unpacker: &Unpacker,
    body: &mut String,
    redactor: &JournalRedactor,
) -> Option<Entry> {
    let word = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    if kind == REQUEST {
        let before = body_of(&value)?;
        let text = match serde_json::from_str::<Value>(&before) {
            Ok(parsed) => {
                let mut after = parsed.clone();
                redactor.value(&mut after);
                if after == parsed {
                    before.into_owned()
                } else {
                    after.to_string()
                }
            }
            Err(_) => redactor.text(&before).into_owned(),
        };
        body.clone_from(&text);
        return Some(Entry::Request(RequestEntry {
            run_id: word("runId"),
            call: u32::try_from(value["call"].as_u64()?).ok()?,
            digest: word("digest"),
            text,
        }));
    }
    if !is_event(&value) {
        return None;
    }
    let mut record = with_body(value, unpacker.last(REQUEST).map(|(_, request)| request))?;
    redactor.value(&mut record);
    // Where the request changed, the two no longer have the text in common, and the event keeps its own.
    let body = BodyMark::put(&mut record, body);
    Some(Entry::Event {
        kind: kind.to_owned().into(),
        record,
        body,
    })
}

/// Counts the lines that say a secret for the first time. What a string is made of is looked at whole.
fn secret_lines(bytes: &[u8], redactor: &JournalRedactor) -> usize {
    let mut unpacker = Unpacker::default();
    let mut looked: HashSet<u32> = HashSet::new();
    let mut found = 0;
    for line in lines(bytes) {
        let Ok(before) = serde_json::from_slice::<Value>(line) else {
            let text = String::from_utf8_lossy(line);
            found += usize::from(redactor.text(&text) != text);
            continue;
        };
        let mut after = before.clone();
        redactor.value(&mut after);
        let mut has_secret = after != before;
        if let Some(packed) = PackedLine::read(line).filter(|_| PackedLine::is_one(line)) {
            if packed.is_first() {
                looked.clear();
            }
            let _ = unpacker.take(packed, line.len() + 1);
            for (number, text) in unpacker.joined() {
                if looked.insert(number) {
                    has_secret |= redactor.text(text) != text;
                }
            }
        }
        found += usize::from(has_secret);
    }
    found
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
}
