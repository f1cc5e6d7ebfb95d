//! Takes secrets out of recordings that were written before they were known. Entries lean on each other, so that a file is written anew.

use super::packed::{Block, REQUEST, Unpacker};
use super::recording::{body_of, entries_of, event_in, is_event, taken, with_body};
use super::recording_log::{Entry, LinePacker, RequestEntry};
use super::redact::JournalRedactor;
use super::trajectory::BodyMark;
use serde_json::Value;
use std::collections::HashSet;

/// Tells whether entries of a file lean on each other, so that none of them can be changed alone.
pub fn is_recording(bytes: &[u8]) -> bool {
    lines(bytes).any(Block::is_one)
}

/// Returns a trajectory without secrets, and how many of its entries said one for the first time; nothing if none did. What cannot be
/// read is not kept.
pub fn cleaned(bytes: &[u8], redactor: &JournalRedactor) -> Option<(Vec<u8>, usize)> {
    let found = secret_entries(bytes, redactor);
    if found == 0 {
        return None;
    }
    let mut unpacker = Unpacker::default();
    let mut packer = LinePacker::default();
    let mut clean = String::with_capacity(bytes.len());
    // The body of the last request as it is written now.
    let mut body = String::new();
    for line in lines(bytes) {
        if !Block::is_one(line) {
            packer.end(&mut clean);
            match event_in(line) {
                Some(mut event) => {
                    redactor.value(&mut event);
                    clean.push_str(&event.to_string());
                }
                None => clean.push_str(&redactor.text(&String::from_utf8_lossy(line))),
            }
            clean.push('\n');
            continue;
        }
        let entries = Block::read(line).and_then(|block| unpacker.open(&block).ok());
        for entry in entries.iter().flat_map(|entries| entries_of(entries)) {
            let Some((kind, value)) = taken(&mut unpacker, entry) else {
                continue;
            };
            let (kind, value) = (kind.to_owned(), value.clone());
            let request = unpacker.last(REQUEST).map(|(_, request)| request);
            if let Some(entry) = clean_entry(&kind, value, request, &mut body, redactor) {
                packer.entry(entry, 0, &mut clean);
            }
        }
        packer.end(&mut clean);
    }
    Some((clean.into_bytes(), found))
}

fn clean_entry(
    kind: &str,
    value: Value,
    request: Option<&Value>,
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
    let mut record = with_body(value, request)?;
    redactor.value(&mut record);
    // Where the request changed, the two no longer have the text in common, and the event keeps its own.
    let body = BodyMark::put(&mut record, body);
    Some(Entry::Event {
        kind: kind.to_owned().into(),
        record,
        body,
    })
}

/// Counts the entries that say a secret for the first time. What a string is made of is looked at whole.
fn secret_entries(bytes: &[u8], redactor: &JournalRedactor) -> usize {
    let mut unpacker = Unpacker::default();
    let mut looked: HashSet<u32> = HashSet::new();
    let mut found = 0;
    for line in lines(bytes) {
        if !Block::is_one(line) {
            found += usize::from(has_secret(line, redactor));
            continue;
        }
        let Some(block) = Block::read(line) else {
            continue;
        };
        if block.is_first() {
            looked.clear();
        }
        let entries = unpacker.open(&block);
        for entry in entries.iter().flat_map(|entries| entries_of(entries)) {
            let mut is_secret = has_secret(entry, redactor);
            let _ = taken(&mut unpacker, entry);
            for (number, text) in unpacker.joined() {
                if looked.insert(number) {
                    is_secret |= redactor.text(text) != text;
                }
            }
            found += usize::from(is_secret);
        }
    }
    found
}

fn has_secret(line: &[u8], redactor: &JournalRedactor) -> bool {
    if let Ok(before) = serde_json::from_slice::<Value>(line) {
        let mut after = before.clone();
        redactor.value(&mut after);
        after != before
    } else {
        let text = String::from_utf8_lossy(line);
        redactor.text(&text) != text
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
}
