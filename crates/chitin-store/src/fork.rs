//! A session that begins with a copy of another one's conversation.

use crate::begin::{self, Fresh};
use crate::compat;
use crate::disk::{self, Directory, File, Open};
use crate::file_store::{self, FileStore};
use crate::names;
use crate::read::{self, BranchReach, Span};
use crate::store::{Begin, SessionEntry, SessionStore, StoreError};
use chitin_protocol::message::{Block, Content, Extra, Message};
use chitin_protocol::transcript::{EntryBody, Header, TranscriptEntry};
use std::collections::HashSet;

/// How often a transcript may be cut under a process that copies it: only failed writes are cut off.
const MAX_ATTEMPTS: usize = 10;

/// A part of the copy.
#[derive(Debug, PartialEq)]
enum Piece {
    /// Bytes of the original, from one place to another, whole lines.
    Bytes { begin: u64, end: u64 },
    /// A record that is written anew, since the record before it is another than in the original.
    Line(Vec<u8>),
}

impl FileStore {
    /// See [`SessionStore::fork`]. The original needs no lock: it is only ever appended to, and its last whole line ends what
    /// is read.
    pub(crate) fn fork_session(
        &self,
        from: &str,
        to: &str,
        begin: &Begin<'_>,
    ) -> Result<SessionEntry, StoreError> {
        file_store::check_key(to)?;
        let exists = || StoreError::Exists { key: to.to_owned() };
        let (directory, parent) = self.transcript_of(from)?;
        if self.find(to)?.is_some() {
            return Err(exists());
        }
        let (header, pieces) = pieces(&parent)?;
        let first = self.new_session_id(to);
        let (file, stem) = self.new_file(&directory, Some(first), Open::CopyNew)?;
        let name = names::of_id(&stem);
        let path = parent.path().to_string_lossy().into_owned();
        let fresh = Fresh {
            header: Header {
                kind: compat::SESSION.to_owned(),
                // The records are those of the original, and so is their form.
                version: header.version,
                id: stem.clone(),
                timestamp: begin.now.to_owned(),
                cwd: begin.workspace.to_owned(),
                extra: Extra::from_iter([(compat::PARENT_SESSION.to_owned(), path.into())]),
            },
            file,
            stem,
        };
        let forked = write(&fresh, &parent, &pieces)
            .and_then(|()| self.place_fork(&directory, to, &fresh, begin));
        if forked.is_err() {
            let _ = directory.remove(&name);
        }
        forked
    }

    fn place_fork(
        &self,
        directory: &Directory,
        key: &str,
        fresh: &Fresh,
        begin: &Begin<'_>,
    ) -> Result<SessionEntry, StoreError> {
        self.ledger.change(
            |turn| {
                if turn.get(key)?.is_some() {
                    return Err(StoreError::Exists {
                        key: key.to_owned(),
                    });
                }
                let entry = SessionEntry {
                    forked_from_parent: Some(true),
                    ..begin::place(turn, directory, key, fresh, begin)?.entry
                };
                turn.set(key, &entry)?;
                Ok(entry)
            },
            |_| Ok(()),
        )
    }
}

/// Writes the copy, onto the disk.
fn write(fresh: &Fresh, parent: &File, pieces: &[Piece]) -> Result<(), StoreError> {
    fresh.file.write_all(&begin::header_line(&fresh.header))?;
    for piece in pieces {
        match piece {
            Piece::Bytes { begin, end } => disk::copy(parent, *begin, *end, &fresh.file)?,
            Piece::Line(line) => fresh.file.write_all(line)?,
        }
    }
    fresh.file.sync_data()
}

/// Finds out what of a transcript is copied. A straight conversation is one piece.
fn pieces(parent: &File) -> Result<(Header, Vec<Piece>), StoreError> {
    let (header, first) = read::header(parent)?;
    let mut attempt = 0;
    let (branch, spans) = loop {
        attempt += 1;
        let length = parent.len()?;
        let located = read::good_end(parent, first, length)
            .and_then(|end| read::located_branch(parent, first, end, BranchReach::Needed));
        match located {
            Ok((branch, spans, _)) => break (branch, spans),
            Err(_) if attempt < MAX_ATTEMPTS && parent.len()? < length => {}
            Err(error) => return Err(error),
        }
    };
    let complete = complete(&branch.entries);
    Ok((header, join(&branch.entries[..complete], &spans)))
}

/// Joins lines that follow each other in the original, and makes those anew whose parent is not the record before.
fn join(entries: &[TranscriptEntry], spans: &[Span]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before: Option<&str> = None;
    for (entry, span) in entries.iter().zip(spans) {
        let next = span.offset + span.bytes + 1;
        if entry.parent_id.as_deref() != before {
            pieces.push(Piece::Line(child_of(before, entry)));
        } else if let Some(Piece::Bytes { end, .. }) = pieces.last_mut()
            && *end == span.offset
        {
            *end = next;
        } else {
            pieces.push(Piece::Bytes {
                begin: span.offset,
                end: next,
            });
        }
        before = Some(&entry.id);
    }
    pieces
}

/// Writes a record as the child of another; nothing else of it changes.
fn child_of(parent: Option<&str>, entry: &TranscriptEntry) -> Vec<u8> {
    let mut value = serde_json::to_value(entry).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert(compat::PARENT_ID.to_owned(), parent.into());
    }
    let mut line = serde_json::to_vec(&value).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Returns how many records of a branch are copied: all of them, unless the last answer waits for results of its calls. What
/// was called for there is not over, and the copy would never hear of it; that answer and what came after it is left out.
fn complete(entries: &[TranscriptEntry]) -> usize {
    let mut length = entries.len();
    while let Some(at) = unfinished(&entries[..length]) {
        length = at;
    }
    length
}

/// Returns where the last answer is, if it waits for results of its calls.
fn unfinished(entries: &[TranscriptEntry]) -> Option<usize> {
    let mut results: HashSet<&str> = HashSet::new();
    for (at, entry) in entries.iter().enumerate().rev() {
        match &entry.body {
            EntryBody::Message(Message::ToolResult(result)) => {
                results.insert(&result.tool_call_id);
            }
            EntryBody::Message(Message::Assistant(answer)) => {
                let is_waiting = calls(&answer.content).any(|id| !results.contains(id));
                return is_waiting.then_some(at);
            }
            // Somebody spoke since, or it was put into a summary: whatever has no result will not get one.
            EntryBody::Message(Message::User(_)) | EntryBody::Compaction(_) => return None,
            EntryBody::Message(Message::Other(_))
            | EntryBody::ModelChange { .. }
            | EntryBody::ThinkingLevelChange { .. }
            | EntryBody::Custom { .. }
            | EntryBody::Other(_) => {}
        }
    }
    None
}

/// Returns the calls of tools in an answer, by their ids.
fn calls(content: &Content) -> impl Iterator<Item = &str> {
    let blocks = match content {
        Content::Blocks(blocks) => blocks.as_slice(),
        Content::Text(_) | Content::Other(_) => &[],
    };
    blocks.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(&*call.id),
        Block::Text(_) | Block::Thinking(_) | Block::Image(_) | Block::Other(_) => None,
    })
}
