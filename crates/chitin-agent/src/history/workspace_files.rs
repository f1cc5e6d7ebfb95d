//! Workspace files that stand in the conversation (S8): put there once, put there again where they changed, and sent in any case.

use crate::compat::{WORKSPACE_FILES_RECORD, record};
use chitin_context::continuation::{ConversationFile, ConversationFiles};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Opens a later note.
const CHANGED: &str = "# Workspace Files\nWorkspace files changed. What follows replaces their earlier text in this conversation.";

/// Returns the record that puts files into a conversation, as far as it does not hold them as they are now.
pub fn due_record(branch: &[TranscriptEntry], wanted: &ConversationFiles) -> Option<EntryBody> {
    let held = held(branch);
    let changed: Vec<&ConversationFile> = wanted
        .files
        .iter()
        .filter(|file| held.get(file.path.as_str()) != Some(&digest(file)))
        .collect();
    let is_wanted = |path: &str| wanted.files.iter().any(|file| file.path == path);
    let gone: Vec<&str> = held
        .keys()
        .copied()
        .filter(|path| !is_wanted(path))
        .collect();
    if changed.is_empty() && gone.is_empty() {
        return None;
    }
    let opening = if held.is_empty() {
        &*wanted.opening
    } else {
        CHANGED
    };
    let mut text = opening.to_owned();
    for file in &changed {
        let _ = write!(text, "\n{}", file.text);
    }
    for path in &gone {
        let _ = write!(
            text,
            "\n## {path}\n[No longer part of the workspace files.]"
        );
    }
    let files = changed
        .iter()
        .map(|file| json!({"path": file.path, "sha256": digest(file)}));
    let gone = gone.iter().map(|path| json!({"path": path}));
    let files: Vec<Value> = files.chain(gone).collect();
    Some(EntryBody::Other(json!({
        "type": record::CUSTOM_MESSAGE,
        "customType": WORKSPACE_FILES_RECORD,
        "content": text,
        "display": false,
        "details": {"files": files},
    })))
}

/// Tells whether records hold files as they are now.
pub(super) fn are_held(shown: &[TranscriptEntry], wanted: &ConversationFiles) -> bool {
    let held = held(shown);
    let mut files = wanted.files.iter();
    files.all(|file| held.get(file.path.as_str()) == Some(&digest(file)))
}

/// Tells whether a record holds workspace files.
pub(super) fn holds_files(entry: &TranscriptEntry) -> bool {
    files_of(entry).is_some()
}

/// Returns the digests of the files that records hold, the latest of each.
fn held(entries: &[TranscriptEntry]) -> BTreeMap<&str, String> {
    let mut held = BTreeMap::new();
    for file in entries.iter().filter_map(files_of).flatten() {
        let Some(path) = file["path"].as_str() else {
            continue;
        };
        match file["sha256"].as_str() {
            Some(digest) => held.insert(path, digest.to_owned()),
            None => held.remove(path),
        };
    }
    held
}

fn files_of(entry: &TranscriptEntry) -> Option<&Vec<Value>> {
    let EntryBody::Other(value) = &entry.body else {
        return None;
    };
    let is_ours = value["type"] == record::CUSTOM_MESSAGE
        && value["customType"] == WORKSPACE_FILES_RECORD
        && value["content"].is_string();
    value["details"]["files"].as_array().filter(|_| is_ours)
}

fn digest(file: &ConversationFile) -> String {
    hex::encode(Sha256::digest(&file.text))
}
