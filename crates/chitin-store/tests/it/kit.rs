//! A store in a directory of its own, and records to put into it.

use chitin_contract::TranscriptRules;
use chitin_protocol::message::{Content, Message};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::{
    Begin, FileStore, LockMode, NewEntry, OpenSession, RandomIds, SessionStore, StoreError,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const KEY: &str = "agent:main:main";
pub(crate) const NOW: &str = "2026-04-01T12:00:00.000Z";
pub(crate) const NOW_MS: i64 = 1_775_044_800_000;

/// For a session that nobody has open.
pub(crate) const SOON: LockMode = LockMode::Wait(10_000);

pub(crate) struct Kit {
    _directory: TempDir,
    pub(crate) state: PathBuf,
    pub(crate) store: FileStore,
}

impl Kit {
    pub(crate) fn new() -> Self {
        Self::with(&TranscriptRules::CANONICAL)
    }

    pub(crate) fn with(rules: &TranscriptRules) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        Self {
            store: store_at(&FileStore::directory_of(&state, "main"), rules),
            state,
            _directory: directory,
        }
    }

    /// Opens the session.
    pub(crate) fn open(&self) -> Box<dyn OpenSession> {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<Box<dyn OpenSession>, StoreError> {
        self.store.open(KEY, &begin(), LockMode::Refuse)
    }

    /// Writes a transcript by hand, and the index that names it.
    pub(crate) fn transcript(&self, content: impl AsRef<[u8]>) -> PathBuf {
        let directory = self.store.directory();
        fs::create_dir_all(directory).unwrap();
        let path = directory.join("s1.jsonl");
        fs::write(&path, content).unwrap();
        let index = format!("{{{KEY:?}:{{\"sessionId\":\"s1\",\"updatedAt\":1}}}}");
        fs::write(directory.join("sessions.json"), index).unwrap();
        path
    }

    pub(crate) fn index(&self) -> Value {
        let bytes = fs::read(self.store.directory().join("sessions.json")).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Returns the names in the store's directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.store.directory())
    }
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(crate) fn store_at(directory: &Path, rules: &TranscriptRules) -> FileStore {
    FileStore::new(directory, rules, RandomIds)
}

pub(crate) fn begin() -> Begin<'static> {
    Begin {
        workspace: "/home/ada/workspace",
        now: NOW,
        now_ms: NOW_MS,
        new_session: false,
    }
}

pub(crate) fn new_session() -> Begin<'static> {
    Begin {
        new_session: true,
        ..begin()
    }
}

pub(crate) fn say(text: &str) -> Vec<NewEntry> {
    vec![NewEntry {
        body: EntryBody::Message(Message::user(text, NOW_MS)),
    }]
}

pub(crate) fn texts(entries: &[TranscriptEntry]) -> Vec<String> {
    let content = |entry: &TranscriptEntry| entry.message()?.content().map(Content::text);
    entries.iter().filter_map(content).collect()
}

/// A record, as a line.
pub(crate) fn line(id: &str, parent: Option<&str>, text: &str) -> String {
    let message = serde_json::json!({
        "type": "message", "id": id, "parentId": parent, "timestamp": NOW,
        "message": {"role": "user", "content": text, "timestamp": NOW_MS},
    });
    format!("{message}\n")
}

pub(crate) const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\
    \"timestamp\":\"2026-04-01T12:00:00.000Z\",\"cwd\":\"/w\"}\n";
