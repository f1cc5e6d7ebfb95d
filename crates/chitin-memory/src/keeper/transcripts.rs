//! Past conversations as files of the index.

use super::setting::{Setting, TranscriptOwner};
use crate::archive::{ArchivedConversation, session_text};
use crate::index::{FileText, JobFile, MAX_FILE_BYTES};
use crate::search::ChunkSource;
use chitin_contract::ArchiveRules;
use chitin_guard::{
    DirectoryEntryKind, Fingerprint, Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root,
};
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

/// How many transcripts are looked at.
const MOST_TRANSCRIPTS: usize = 50_000;
/// How much of one is read: text for the index is a small part of it.
const MOST_BYTES: u64 = 64 << 20;
/// How a transcript's name ends. One that was set aside has more after it.
const EXTENSION: &str = ".jsonl";

/// A transcript on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transcript {
    pub(super) name: String,
    pub(super) fingerprint: Fingerprint,
}

impl Transcript {
    /// Says whether it is the transcript of a session.
    pub(super) fn is_of(&self, session_id: &str) -> bool {
        self.name == name_of(session_id)
    }
}

/// Lists the transcripts of a directory. One that is not there has none.
pub(super) fn list(directory: &Path) -> Vec<Transcript> {
    let Ok(root) = Root::open(directory) else {
        return Vec::new();
    };
    let looked = root
        .survey(Path::new(""), MOST_TRANSCRIPTS)
        .unwrap_or_default();
    let mut transcripts: Vec<Transcript> = looked
        .into_iter()
        .filter(|looked| looked.kind == DirectoryEntryKind::File)
        .filter_map(|looked| {
            let name = looked.name.into_string().ok()?;
            let is_transcript = name.ends_with(EXTENSION) || name.contains(".jsonl.reset.");
            is_transcript.then_some(Transcript {
                name,
                fingerprint: looked.fingerprint,
            })
        })
        .collect();
    transcripts.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    transcripts
}

/// Describes a transcript for the index.
pub(super) fn job<'a>(
    root: &'a Root,
    setting: &'a Setting,
    transcript: &'a Transcript,
) -> JobFile<'a> {
    let path = conversation(setting, &transcript.name).path(&setting.rules.archive);
    JobFile {
        source: ChunkSource::Sessions,
        path,
        fingerprint: transcript.fingerprint,
        read: Box::new(move || read(root, setting, &transcript.name)),
    }
}

/// Returns the name of the file of a session's transcript.
pub(super) fn name_of(session_id: &str) -> String {
    format!("{session_id}{EXTENSION}")
}

/// Returns the name under which a session's transcript is found.
pub fn conversation_path(agent: &str, session_id: &str, rules: &ArchiveRules) -> String {
    let file_name = &name_of(session_id);
    ArchivedConversation { agent, file_name }.path(rules)
}

fn conversation<'a>(setting: &'a Setting, name: &'a str) -> ArchivedConversation<'a> {
    ArchivedConversation {
        agent: &setting.agent,
        file_name: name,
    }
}

/// Reads what was said. A conversation that belongs to another workspace says nothing here.
fn read(root: &Root, setting: &Setting, name: &str) -> Result<FileText<'static>, String> {
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Allow,
        max_bytes: MOST_BYTES,
        oversized: Oversized::Keep,
    };
    let read = root
        .read(Path::new(name), &policy)
        .map_err(|error| error.to_string())?;
    if setting.owner == TranscriptOwner::Workspace && !belongs(&read.bytes, &setting.workspace) {
        return Ok(FileText::default());
    }
    let said = session_text(
        conversation(setting, name),
        &read.bytes,
        &setting.rules.archive,
        &*setting.redact,
    );
    let mut bytes = said.text.into_bytes();
    bytes.truncate(MAX_FILE_BYTES + 1);
    let lines = said.line_map.into_iter();
    Ok(FileText {
        bytes: Cow::Owned(bytes),
        lines: Some(
            lines
                .map(|line| u32::try_from(line).unwrap_or(u32::MAX))
                .collect(),
        ),
    })
}

/// Tells whether a transcript was written for a workspace. One that does not say is everybody's.
fn belongs(transcript: &[u8], workspace: &Path) -> bool {
    let end = transcript.iter().position(|byte| *byte == b'\n');
    let header: Value = serde_json::from_slice(&transcript[..end.unwrap_or(transcript.len())])
        .unwrap_or(Value::Null);
    header["cwd"].as_str().map(Path::new).is_none_or(|began| {
        // By another spelling, such as a link, it is the same directory.
        let real = |path: &Path| Root::open(path).map(|root| root.real_path().to_path_buf());
        began == workspace
            || matches!((real(began), real(workspace)), (Ok(one), Ok(other)) if one == other)
    })
}
