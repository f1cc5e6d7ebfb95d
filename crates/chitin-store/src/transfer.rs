//! Transcripts in and out, byte for byte.

use crate::begin::{self, Fresh};
use crate::disk::{self, Directory, File, Open, damaged};
use crate::file_store::{self, FileStore};
use crate::names;
use crate::read;
use crate::store::{Begin, LockMode, SessionEntry, SessionStore, StoreError};
use chitin_protocol::transcript::Header;
use std::io::Write;
use std::path::Path;

impl FileStore {
    /// Copies a transcript from anywhere into the store under a key: the header and every record stay as they are. The
    /// original is only read. A session that has the key is put into the archive if a new session begins, else
    /// nothing is done.
    pub fn import(
        &self,
        session_key: &str,
        transcript: &Path,
        begin: &Begin<'_>,
    ) -> Result<SessionEntry, StoreError> {
        let (Some(parent), Some(name)) = (
            transcript.parent(),
            transcript.file_name().and_then(|name| name.to_str()),
        ) else {
            return Err(damaged(transcript.to_path_buf(), "it is no file"));
        };
        let parent = if parent == Path::new("") {
            Path::new(".")
        } else {
            parent
        };
        let file = Directory::open(parent)?
            .map(|directory| directory.file(name, Open::Read))
            .transpose()?
            .flatten()
            .ok_or_else(|| damaged(transcript.to_path_buf(), "it is not there"))?;
        self.import_file(session_key, &file, begin)
    }

    pub(crate) fn import_file(
        &self,
        key: &str,
        from: &File,
        begin: &Begin<'_>,
    ) -> Result<SessionEntry, StoreError> {
        file_store::check_key(key)?;
        let (header, _) = read::header(from)?;
        let length = from.len()?;
        let exists = || StoreError::Exists {
            key: key.to_owned(),
        };
        if self.find(key)?.is_some() && !begin.new_session {
            return Err(exists());
        }
        let directory = self.made()?;
        let mut made = None;
        let imported = self.ledger.change(
            |turn| {
                let entry = turn.get(key)?;
                let old = entry.as_ref().and_then(SessionEntry::transcript_name);
                if old.is_some() && !begin.new_session {
                    return Err(exists());
                }
                // Nobody may be writing to the one that goes into the archive.
                let old = old
                    .map(|name| directory.file(&name, Open::Append))
                    .transpose()?
                    .flatten();
                if let Some(old) = &old
                    && !old.lock(LockMode::Refuse)?
                {
                    return Err(StoreError::Busy {
                        key: key.to_owned(),
                    });
                }
                // Not before: an index that is missing is made of the transcripts that are there.
                let own = Some(header.id.clone());
                let own = own.filter(|id| names::is_transcript(&names::of_id(id)));
                let (file, stem) = self.new_file(&directory, own, Open::CopyNew)?;
                made = Some(names::of_id(&stem));
                disk::copy(from, 0, length, &file)?;
                file.sync_data()?;
                let header = header.clone();
                let fresh = Fresh { file, stem, header };
                Ok((begin::place(turn, &directory, key, &fresh, begin)?, old))
            },
            |_| Ok(()),
        );
        match imported {
            Ok((placed, _held)) => {
                placed.archive_old(&directory, begin)?;
                Ok(placed.entry)
            }
            Err(error) => {
                if let Some(name) = made {
                    let _ = directory.remove(&name);
                }
                Err(error)
            }
        }
    }

    /// Copies a session of another store into this one under another key: every record and what the index says of it. The
    /// other store is only read. A session that has the key already is put into the archive if a new session begins,
    /// else it is an error.
    pub fn adopt(
        &self,
        from: &Self,
        from_key: &str,
        to_key: &str,
        begin: &Begin<'_>,
    ) -> Result<SessionEntry, StoreError> {
        let (_, file) = from.transcript_of(from_key)?;
        let old = from.find(from_key)?.unwrap_or_default();
        let new = self.import_file(to_key, &file, begin)?;
        self.annotate(to_key, &mut |entry| {
            *entry = SessionEntry {
                session_id: entry.session_id.clone(),
                session_file: entry.session_file.clone(),
                ..old.clone()
            };
        })?;
        Ok(new)
    }

    /// Copies the transcripts that another store keeps of sessions that were reset, where `is_wanted` says so of the first
    /// line. One that is here already stays as it is, and one that cannot be read is left where it is. Returns how many were
    /// copied.
    pub fn adopt_archive(
        &self,
        from: &Self,
        is_wanted: impl Fn(&Header) -> bool,
    ) -> Result<usize, StoreError> {
        let Some(old) = Directory::open(from.directory())? else {
            return Ok(0);
        };
        let new = self.made()?;
        let mut copied = 0;
        for listed in old.list(names::is_archived)? {
            let name = &listed.name;
            let Some(file) = old.file(name, Open::Read)? else {
                continue;
            };
            let is_wanted = read::header(&file).is_ok_and(|(header, _)| is_wanted(&header));
            if !is_wanted || new.listed(name)?.is_some() {
                continue;
            }
            // Whole under its name, or not there: what a crash leaves is written again.
            let partial = format!(".{name}.part");
            if let Some(to) = new.file(&partial, Open::Replace)? {
                disk::copy(&file, 0, file.len()?, &to)?;
                to.sync_data()?;
                new.rename(&partial, name)?;
                copied += 1;
            }
        }
        new.sync()?;
        Ok(copied)
    }

    /// Returns the first line of a session's transcript: when and in which workspace it began.
    pub fn header(&self, session_key: &str) -> Result<Header, StoreError> {
        let (_, file) = self.transcript_of(session_key)?;
        Ok(read::header(&file)?.0)
    }

    /// Writes a session's transcript to somewhere else, byte for byte, up to the last whole line. Returns how much it was.
    pub fn export(&self, session_key: &str, to: &mut dyn Write) -> Result<u64, StoreError> {
        let (_, file) = self.transcript_of(session_key)?;
        export(&file, to)
    }
}

pub(crate) fn export(file: &File, to: &mut dyn Write) -> Result<u64, StoreError> {
    let (_, begin) = read::header(file)?;
    let end = read::good_end(file, begin, file.len()?)?;
    let mut buffer = vec![0; 1 << 20];
    let mut at = 0;
    while at < end {
        let take = usize::try_from((end - at).min(buffer.len() as u64)).unwrap_or(buffer.len());
        let read = file.read_at(&mut buffer[..take], at)?;
        if read == 0 {
            break;
        }
        to.write_all(&buffer[..read])
            .map_err(|source| StoreError::Io {
                path: file.path().to_path_buf(),
                source,
            })?;
        at += read as u64;
    }
    Ok(at)
}
