//! A session begins: its transcript, its key, its place in the index.

use crate::compat;
use crate::disk::{Directory, File, Open, damaged};
use crate::file_session::FileSession;
use crate::file_store::{FileStore, MAX_ATTEMPTS};
use crate::index::Turn;
use crate::names;
use crate::store::{Begin, Branch, LockMode, OpenSession, SessionEntry, StoreError, StoreNote};
use chitin_contract::ExplicitIds;
use chitin_protocol::message::Extra;
use chitin_protocol::transcript::Header;
use std::sync::Arc;

/// A new transcript that is not in the index yet.
pub(crate) struct Fresh {
    pub(crate) file: File,
    pub(crate) stem: String,
    pub(crate) header: Header,
}

/// A session that began.
struct Began {
    fresh: Fresh,
    length: u64,
    placed: Placed,
}

/// A key that goes on with a new transcript.
pub(crate) struct Placed {
    pub(crate) entry: SessionEntry,
    /// The transcript that it had.
    old: Option<String>,
}

impl FileStore {
    /// Begins a session for a key, if the index says that it has the transcript that it was found to have; else returns
    /// `None`. That transcript is put into the archive; whoever calls has its lock. If the session does not begin anew, the
    /// transcript is lost.
    pub(crate) fn begin(
        &self,
        directory: &Directory,
        key: &str,
        found: Option<&str>,
        begin: &Begin<'_>,
        notes: &mut Vec<StoreNote>,
    ) -> Result<Option<Box<dyn OpenSession>>, StoreError> {
        let mut made = None;
        let result = self.ledger.change(
            |turn| {
                turn.take_notes(notes);
                let old = turn.get(key)?;
                let name = old.as_ref().and_then(SessionEntry::transcript_name);
                if name.as_deref() != found {
                    return Ok(None);
                }
                match found {
                    // What the index names can be no transcript of ours.
                    None if old.is_some() => notes.push(StoreNote::LostTranscript {
                        path: directory.path_of(compat::INDEX),
                    }),
                    Some(name) if !begin.new_session => notes.push(StoreNote::LostTranscript {
                        path: directory.path_of(name),
                    }),
                    Some(_) | None => {}
                }
                let (fresh, length) = self.new_transcript(directory, key, begin)?;
                made = Some(names::of_id(&fresh.stem));
                let placed = place(turn, directory, key, &fresh, begin)?;
                Ok(Some(Began {
                    fresh,
                    length,
                    placed,
                }))
            },
            // The directory is put onto the disk once for all, after the index.
            |new| match new {
                Some(new) => new.fresh.file.sync_data(),
                None => Ok(()),
            },
        );
        if result.is_err()
            && let Some(name) = made
        {
            let _ = directory.remove(&name);
        }
        let Some(new) = result? else {
            return Ok(None);
        };
        new.placed.archive_old(directory, begin)?;
        Ok(Some(Box::new(FileSession::new(
            Arc::clone(&self.ledger),
            key.to_owned(),
            new.placed.entry,
            (new.fresh.header, Branch::default(), std::mem::take(notes)),
            (new.fresh.file, new.length),
            (self.rules, Arc::clone(&self.ids)),
        ))))
    }

    /// Makes a new transcript for a key, with its header, and takes its lock. Returns also how long it is.
    fn new_transcript(
        &self,
        directory: &Directory,
        key: &str,
        begin: &Begin<'_>,
    ) -> Result<(Fresh, u64), StoreError> {
        let first = self.new_session_id(key);
        let (file, stem) = self.new_file(directory, Some(first), Open::CreateNew)?;
        let header = Header {
            kind: compat::SESSION.to_owned(),
            version: self.rules.header_version,
            id: stem.clone(),
            timestamp: begin.now.to_owned(),
            cwd: begin.workspace.to_owned(),
            extra: Extra::new(),
        };
        let line = header_line(&header);
        let written = file
            .lock(LockMode::Refuse)
            .and_then(|_| file.write_all(&line));
        if let Err(error) = written {
            let _ = directory.remove(&names::of_id(&stem));
            return Err(error);
        }
        Ok((Fresh { file, stem, header }, line.len() as u64))
    }

    /// Makes a file for a transcript, of the name that is wanted if that can be. Returns also its name, without the ending.
    pub(crate) fn new_file(
        &self,
        directory: &Directory,
        wanted: Option<String>,
        open: Open,
    ) -> Result<(File, String), StoreError> {
        let others = std::iter::repeat_with(|| self.ids.session()).take(MAX_ATTEMPTS);
        for stem in wanted.into_iter().chain(others) {
            if let Some(file) = directory.file(&names::of_id(&stem), open)? {
                return Ok((file, stem));
            }
        }
        Err(damaged(
            directory.path_of(compat::INDEX),
            "no session id is free",
        ))
    }

    /// Returns the id of a new session (R18).
    pub(crate) fn new_session_id(&self, key: &str) -> String {
        match self.rules.explicit_ids {
            ExplicitIds::Allotted => self.ids.session(),
            ExplicitIds::AsNamed => key
                .strip_prefix("agent:")
                .and_then(|rest| rest.split_once(':'))
                .and_then(|(_, rest)| rest.strip_prefix(compat::EXPLICIT))
                .filter(|name| names::is_transcript(&names::of_id(name)))
                .map_or_else(|| self.ids.session(), str::to_owned),
        }
    }
}

/// Returns a header as the first line of a transcript.
pub(crate) fn header_line(header: &Header) -> Vec<u8> {
    let mut line = serde_json::to_vec(header).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Lets a key go on with a new transcript.
pub(crate) fn place(
    turn: &mut Turn<'_>,
    directory: &Directory,
    key: &str,
    fresh: &Fresh,
    begin: &Begin<'_>,
) -> Result<Placed, StoreError> {
    let name = names::of_id(&fresh.stem);
    let old = turn.get(key)?;
    let old_name = old.as_ref().and_then(SessionEntry::transcript_name);
    let entry = SessionEntry {
        session_id: fresh.header.id.clone(),
        session_file: Some(directory.path_of(&name).to_string_lossy().into_owned()),
        updated_at: begin.now_ms,
        ..old.unwrap_or_default().carried_over()
    };
    turn.set(key, &entry)?;
    turn.note_key(key, &fresh.stem);
    Ok(Placed {
        entry,
        old: old_name.filter(|old| *old != name),
    })
}

impl Placed {
    /// Puts the transcript that the key had into the archive. The disk is not waited for: the next change of the index does that,
    /// and after a crash before it the transcript lies where it was, with nobody naming it, as after a crash before this call.
    pub(crate) fn archive_old(
        &self,
        directory: &Directory,
        begin: &Begin<'_>,
    ) -> Result<(), StoreError> {
        if let Some(old) = &self.old
            && directory.listed(old)?.is_some()
        {
            put_away(directory, old, compat::RESET, begin.now)?;
        }
        Ok(())
    }
}

/// Gives a transcript the name that it has in the archive; whoever calls decides whether to wait for the disk.
pub(crate) fn put_away(
    directory: &Directory,
    name: &str,
    marker: &str,
    now: &str,
) -> Result<(), StoreError> {
    let archived = format!("{name}{marker}{}", names::time(now));
    let free = std::iter::once(archived.clone()).chain((2..).map(|n| format!("{archived}-{n}")));
    directory.set_aside(name, free)?;
    Ok(())
}
