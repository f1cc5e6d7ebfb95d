//! A session that this process has open for writing.

use crate::append::Appender;
use crate::disk::File;
use crate::ids::Ids;
use crate::index::IndexFile;
use crate::reverse::MAX_LINE_BYTES;
use crate::shape::{self, Run, SessionSpeaker};
use crate::store::{
    Branch, NewEntry, OpenSession, PendingRecords, SessionEntry, StoreError, StoreNote,
};
use chitin_contract::TranscriptRules;
use chitin_protocol::transcript::{Header, TranscriptEntry};
use std::path::PathBuf;
use std::sync::Arc;

/// A session that this process has open for writing. The lock goes with it, and with the process.
pub(crate) struct FileSession {
    ledger: Arc<IndexFile>,
    key: String,
    entry: SessionEntry,
    header: Header,
    branch: Branch,
    notes: Vec<StoreNote>,
    appender: Appender,
    rules: TranscriptRules,
    ids: Arc<dyn Ids>,
    run: Option<Run>,
    buffer: Vec<u8>,
}

impl FileSession {
    pub(crate) fn new(
        ledger: Arc<IndexFile>,
        key: String,
        entry: SessionEntry,
        (header, branch, notes): (Header, Branch, Vec<StoreNote>),
        (file, length): (File, u64),
        (rules, ids): (TranscriptRules, Arc<dyn Ids>),
    ) -> Self {
        Self {
            ledger,
            key,
            entry,
            header,
            branch,
            notes,
            appender: Appender::new(file, length),
            rules,
            ids,
            run: None,
            buffer: Vec::new(),
        }
    }

    /// Gives records their names, parents and form, and writes them into the buffer.
    fn prepare(
        &mut self,
        entries: Vec<NewEntry>,
        now: &str,
    ) -> Result<Vec<TranscriptEntry>, StoreError> {
        let run = self.run.get_or_insert_with(|| Run {
            id: self.ids.session(),
            speaker: SessionSpeaker::Owner,
        });
        let mut made: Vec<TranscriptEntry> = Vec::with_capacity(entries.len());
        self.buffer.clear();
        for entry in entries {
            let before = self.buffer.len();
            let id = loop {
                let id = self.ids.record(self.rules.record_ids);
                let mut taken = self.branch.entries.iter().chain(&made);
                if !taken.any(|entry| entry.id == id) {
                    break id;
                }
            };
            let parent = made.last().or(self.branch.entries.last());
            let entry = TranscriptEntry::new(
                id,
                parent.map(|parent| parent.id.clone()),
                now.to_owned(),
                shape::for_writing(entry.body, &self.rules, run),
            );
            if let Err(error) = serde_json::to_writer(&mut self.buffer, &entry) {
                return Err(StoreError::Io {
                    path: self.appender.file().path().to_path_buf(),
                    source: error.into(),
                });
            }
            self.buffer.push(b'\n');
            let bytes = (self.buffer.len() - before) as u64;
            if bytes > MAX_LINE_BYTES {
                return Err(StoreError::TooLong {
                    path: self.appender.file().path().to_path_buf(),
                    bytes,
                });
            }
            made.push(entry);
        }
        Ok(made)
    }

    fn keep(&mut self, entries: &[TranscriptEntry]) {
        self.branch.entries.extend_from_slice(entries);
        // One large record must not keep its room for good.
        self.buffer.shrink_to(1 << 20);
    }
}

impl OpenSession for FileSession {
    fn key(&self) -> &str {
        &self.key
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn transcript(&self) -> PathBuf {
        self.appender.file().path().to_path_buf()
    }

    fn transcript_bytes(&self) -> u64 {
        self.appender.length()
    }

    fn branch(&self) -> &Branch {
        &self.branch
    }

    fn append(
        &mut self,
        entries: Vec<NewEntry>,
        now: &str,
    ) -> Result<Vec<TranscriptEntry>, StoreError> {
        let made = self.prepare(entries, now)?;
        self.appender.append(&self.buffer)?;
        self.keep(&made);
        Ok(made)
    }

    fn append_pending(
        &mut self,
        entries: Vec<NewEntry>,
        now: &str,
    ) -> Result<PendingRecords, StoreError> {
        let made = self.prepare(entries, now)?;
        let ticket = self.appender.write(&self.buffer)?;
        self.keep(&made);
        Ok(PendingRecords::new(made, || ticket.wait()))
    }

    fn begin_run(&mut self, run: &Run) {
        self.run = Some(run.clone());
    }

    fn notes(&self) -> &[StoreNote] {
        &self.notes
    }

    fn entry(&self) -> &SessionEntry {
        &self.entry
    }

    fn update(&mut self, change: &mut dyn FnMut(&mut SessionEntry)) -> Result<(), StoreError> {
        let (key, own, notes) = (&self.key, &self.entry, &mut self.notes);
        self.entry = self.ledger.change(
            |turn| {
                turn.take_notes(notes);
                let mut entry = turn.get(key)?.unwrap_or_else(|| own.clone());
                change(&mut entry);
                // Which transcript the session has is not for callers to change: it is the one that is open.
                entry.session_id.clone_from(&own.session_id);
                entry.session_file.clone_from(&own.session_file);
                turn.set(key, &entry)?;
                Ok(entry)
            },
            |_| Ok(()),
        )?;
        Ok(())
    }
}
