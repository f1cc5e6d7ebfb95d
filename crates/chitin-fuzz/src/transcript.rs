//! A transcript of any content: read, opened, repaired, appended to.
#![expect(
    clippy::disallowed_methods,
    reason = "transcripts are written and looked at behind the store's back"
)]

use crate::recipe::Recipe;
use crate::{novelty, records, scratch};
use chitin_contract::TranscriptRules;
use chitin_protocol::message::Message;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::{
    Begin, BranchReach, FileStore, LockMode, NewEntry, RandomIds, SessionStore, StoreError,
    StoreNote,
};
use serde_json::Value;
use std::fs;

/// What transcripts are made of.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "\r\n",
    "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"t\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n",
    "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"timestamp\":\"t\",\"message\":{\"role\":\"toolResult\",\"content\":[]}}\n",
    "{\"type\":\"compaction\",\"id\":\"k\",\"parentId\":\"b\",\"summary\":\"\",\"firstKeptEntryId\":\"a\",\"tokensBefore\":1}\n",
    "{\"type\":\"custom\",\"id\":\"c\",\"parentId\":\"k\",\"timestamp\":\"t\",\"customType\":\"x\",\"data\":null}\n",
    "\"parentId\":",
    "\"message\":",
    "\"role\":\"assistant\"",
    "\"usage\":{\"input\":1,\"cost\":{\"total\":0.5}}",
    "\"content\":[{\"type\":\"toolCall\",\"arguments\":null}]",
    "\"isError\":true",
    "null",
    "0.0",
    "1e999",
    "\\ud800",
    "\u{fffd}",
    "[[[[[[[[",
    "\0",
];

const KEY: &str = "agent:main:main";
const HEADER: &str =
    "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n";

/// Reads the lines by themselves, then makes a transcript of them and works with it. An input that begins with a one is choices
/// for a tree of records.
pub fn run(data: &[u8]) {
    if let Some((1, choices)) = data.split_first() {
        let lines = records::lines(&mut Recipe::new(choices));
        return of_bytes(&[b"\x02", lines.as_bytes()].concat());
    }
    of_bytes(data);
}

fn of_bytes(data: &[u8]) {
    for line in data.split(|byte| *byte == b'\n') {
        lossless(line);
    }
    // Half of the inputs are what comes after a header, half are the whole file.
    let content = match data.split_first() {
        Some((first, rest)) if first % 2 == 0 => [HEADER.as_bytes(), rest].concat(),
        Some(_) | None => data.to_vec(),
    };
    let directory = scratch::fresh("transcript");
    let path = directory.join("s1.jsonl");
    fs::write(&path, &content).expect("a transcript can be written");
    let index = format!("{{\"{KEY}\":{{\"sessionId\":\"s1\",\"updatedAt\":1}}}}");
    fs::write(directory.join("sessions.json"), index).expect("an index can be written");

    let store = FileStore::new(&directory, &TranscriptRules::CANONICAL, RandomIds);
    let read = store.inspect(KEY, BranchReach::Needed);
    let whole = store.inspect(KEY, BranchReach::Whole);
    let after_reading = fs::read(&path).expect("the transcript is still there");
    assert_eq!(after_reading, content, "reading changed the file");
    let begin = Begin {
        workspace: "/w",
        now: "t",
        now_ms: 1,
        new_session: false,
    };
    let mut session = match (store.open(KEY, &begin, LockMode::Refuse), &read) {
        (Ok(session), Ok(_)) => session,
        (Err(StoreError::Damaged { .. }), Err(_)) => {
            let left = fs::read(&path).expect("the transcript is still there");
            assert_eq!(left, content, "a refused file was changed");
            return novelty::note("refused");
        }
        (opened, read) => panic!("{:?} {read:?}", opened.err()),
    };
    let (read, whole) = (read.expect("seen above"), whole.expect("a longer reach"));
    assert_eq!(*session.branch(), read.branch, "opening reads otherwise");
    assert!(
        whole.branch.entries.ends_with(&read.branch.entries),
        "the needed part is no end of the whole"
    );
    let mut kept = fs::read(&path).expect("the transcript is still there");
    for note in session.notes() {
        novelty::note(std::mem::discriminant(note));
        if let StoreNote::SetAside { path, .. } = note {
            kept.extend(fs::read(path).expect("what was set aside is there"));
        }
    }
    assert_eq!(kept, content, "something was lost");

    let body = EntryBody::Message(Message::user("after", 1));
    let made = session
        .append(vec![NewEntry { body }], "t")
        .expect("there is room");
    let branch = session.branch().clone();
    drop(session);
    let again = store.read(KEY).expect("it was read before");
    assert_eq!(again.entries.last(), made.last(), "the last record is gone");
    assert!(branch.entries.ends_with(&again.entries) || again.entries.ends_with(&branch.entries));
    novelty::note((branch.entries.len().min(6), branch.has_older));
}

/// A record that is read and written says the same.
fn lossless(line: &[u8]) {
    let (Ok(value), Ok(entry)) = (
        serde_json::from_slice::<Value>(line),
        TranscriptEntry::from_line(line),
    ) else {
        return;
    };
    novelty::note((
        std::mem::discriminant(&entry.body),
        entry.extra.len().min(3),
    ));
    let written = serde_json::to_value(&entry).expect("a record can be written");
    assert_eq!(written, value, "a record changed");
    let slow = TranscriptEntry::from_value(value).expect("the quick way read it");
    assert_eq!(entry, slow, "two ways, two records");
}
