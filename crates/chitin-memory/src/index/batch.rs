//! Some files' pieces on their way into the index, in one change.

use super::place;
use super::prepared::{Hash, PreparedFile, PreparedPiece};
use super::shape::Shape;
use super::state::State;
use super::trouble::Trouble;
use crate::chunk;
use chitin_contract::{MemoryIndexRules, RemarkWords, TitleWords, UnspacedScripts};
use chitin_guard::Fingerprint;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::borrow::Cow;
use std::collections::HashMap;

/// A change that is made whole or not at all.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) files: Vec<PreparedFile>,
    /// Files that were written but say the same.
    pub(super) touched: Vec<(i64, Fingerprint, i64)>,
    /// Files that are gone.
    pub(super) gone: Vec<i64>,
}

/// What a change did.
#[derive(Default)]
pub(super) struct BatchOutcome {
    pub(super) changed: usize,
    pub(super) added: usize,
    pub(super) removed: usize,
    /// Files whose pieces did not all find room.
    pub(super) cut_short: usize,
    pub(super) pieces: usize,
}

impl Batch {
    pub(super) const fn is_empty(&self) -> bool {
        self.files.is_empty() && self.touched.is_empty() && self.gone.is_empty()
    }

    /// Makes the change, with nobody else writing.
    pub(super) fn write(
        &self,
        db: &mut Connection,
        shape: &Shape,
        max_pieces: usize,
    ) -> Result<BatchOutcome, Trouble> {
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // A process with other settings made it anew for itself.
        if !place::is_of_shape(&change, shape)? {
            return Err(Trouble::Busy);
        }
        let mut writer = Writer {
            state: State::read(&change)?,
            db: &change,
            rules: &shape.rules,
            max_pieces,
            done: BatchOutcome::default(),
        };
        // What leaves makes room for what comes.
        for id in &self.gone {
            writer.remove_file(*id)?;
        }
        for file in &self.files {
            writer.put(file)?;
        }
        for (id, fingerprint, modified_ms) in &self.touched {
            writer.touch(*id, fingerprint, *modified_ms)?;
        }
        let Writer {
            mut state,
            mut done,
            ..
        } = writer;
        done.pieces = state.pieces;
        state.write(&change)?;
        change.commit()?;
        Ok(done)
    }
}

/// The pieces that a file had, by hash. Each hash may be there several times.
type OldPieces = HashMap<Hash, Vec<(i64, u32, u32)>>;

struct Writer<'a> {
    db: &'a Connection,
    rules: &'a MemoryIndexRules,
    max_pieces: usize,
    state: State,
    done: BatchOutcome,
}

impl Writer<'_> {
    fn put(&mut self, file: &PreparedFile) -> Result<(), Trouble> {
        let known: Option<(i64, Vec<u8>)> = self
            .db
            .prepare_cached("SELECT id, hash FROM files WHERE source = ? AND path = ?")?
            .query_row(params![file.source.name(), file.path], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let (id, mut old) = match known {
            // Another process was quicker.
            Some((id, hash)) if hash == file.hash => {
                return self.touch(id, &file.fingerprint, file.modified_ms);
            }
            Some((id, _)) => (id, self.pieces_of(id)?),
            None => (self.add_file(file)?, OldPieces::new()),
        };
        self.done.changed += 1;
        let mut new = Vec::new();
        for piece in &file.pieces {
            // What stands in the file as before keeps its place in the index, and its vector.
            match old.get_mut(&piece.hash).and_then(Vec::pop) {
                Some((old, start, end)) if (start, end) != (piece.start_line, piece.end_line) => {
                    self.move_piece(old, piece)?;
                }
                Some(_) => {}
                None => new.push(piece),
            }
        }
        let leaving: Vec<i64> = old.into_values().flatten().map(|(id, ..)| id).collect();
        self.remove_pieces(&leaving)?;
        let room = self.max_pieces.saturating_sub(self.state.pieces);
        for piece in new.iter().take(room) {
            self.add_piece(id, &file.path, piece)?;
        }
        let (hash, fingerprint) = if new.len() > room {
            self.done.cut_short += 1;
            // Looked at again next time, when there may be room.
            (Hash::default(), Fingerprint::default())
        } else {
            (file.hash, file.fingerprint)
        };
        let mut update = self.db.prepare_cached(
            "UPDATE files SET hash = ?, fingerprint = ?, modified_ms = ? WHERE id = ?",
        )?;
        update.execute(params![hash, written(&fingerprint), file.modified_ms, id])?;
        Ok(())
    }

    fn add_file(&mut self, file: &PreparedFile) -> Result<i64, Trouble> {
        let id = self.state.new_id();
        let mut insert = self.db.prepare_cached(
            "INSERT INTO files (id, source, path, fingerprint, hash, modified_ms) VALUES (?, ?, ?, x'', x'', ?)",
        )?;
        insert.execute(params![id, file.source.name(), file.path, file.modified_ms])?;
        Ok(id)
    }

    fn touch(&self, id: i64, fingerprint: &Fingerprint, modified_ms: i64) -> Result<(), Trouble> {
        let mut update = self
            .db
            .prepare_cached("UPDATE files SET fingerprint = ?, modified_ms = ? WHERE id = ?")?;
        update.execute(params![written(fingerprint), modified_ms, id])?;
        Ok(())
    }

    fn pieces_of(&self, file: i64) -> Result<OldPieces, Trouble> {
        let mut ask = self.db.prepare_cached(
            "SELECT id, start_line, end_line, hash FROM pieces WHERE file = ? ORDER BY id DESC",
        )?;
        let mut rows = ask.query([file])?;
        let mut pieces = OldPieces::new();
        while let Some(row) = rows.next()? {
            let place = (row.get(0)?, row.get(1)?, row.get(2)?);
            pieces.entry(row.get(3)?).or_default().push(place);
        }
        Ok(pieces)
    }

    fn add_piece(&mut self, file: i64, path: &str, piece: &PreparedPiece) -> Result<(), Trouble> {
        let id = self.state.new_id();
        let mut insert = self.db.prepare_cached(
            "INSERT INTO pieces (id, file, start_line, end_line, hash, text) VALUES (?, ?, ?, ?, ?, ?)",
        )?;
        insert.execute(params![
            id,
            file,
            piece.start_line,
            piece.end_line,
            piece.hash,
            piece.text
        ])?;
        let told = match self.rules.remarks {
            RemarkWords::LeftOut if chunk::is_curated(path) => chunk::without_remarks(&piece.text),
            RemarkWords::LeftOut | RemarkWords::Kept => Cow::Borrowed(piece.text.as_str()),
        };
        let text = self.spaced(&told);
        match self.rules.titles {
            TitleWords::Unkept => {
                let mut insert = self
                    .db
                    .prepare_cached("INSERT INTO words (rowid, text) VALUES (?, ?)")?;
                insert.execute(params![id, text])?;
            }
            TitleWords::Weighted(_) => {
                let title = match &piece.heading {
                    Some(heading) => Cow::Owned(format!("{path}\n{heading}")),
                    None => Cow::Borrowed(path),
                };
                let mut insert = self
                    .db
                    .prepare_cached("INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)")?;
                insert.execute(params![id, text, self.spaced(&title)])?;
            }
        }
        self.state.pieces += 1;
        self.done.added += 1;
        Ok(())
    }

    /// Returns a text as its words are kept.
    fn spaced<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.rules.unspaced {
            UnspacedScripts::WholeRuns => Cow::Borrowed(text),
            UnspacedScripts::Pairs => crate::words::segmented(text),
        }
    }

    fn move_piece(&self, id: i64, piece: &PreparedPiece) -> Result<(), Trouble> {
        let mut update = self
            .db
            .prepare_cached("UPDATE pieces SET start_line = ?, end_line = ? WHERE id = ?")?;
        update.execute(params![piece.start_line, piece.end_line, id])?;
        Ok(())
    }

    fn remove_file(&mut self, id: i64) -> Result<(), Trouble> {
        let pieces = self.pieces_of(id)?;
        let pieces: Vec<i64> = pieces.into_values().flatten().map(|(id, ..)| id).collect();
        self.remove_pieces(&pieces)?;
        let mut delete = self.db.prepare_cached("DELETE FROM files WHERE id = ?")?;
        self.done.removed += delete.execute([id])?;
        Ok(())
    }

    fn remove_pieces(&mut self, ids: &[i64]) -> Result<(), Trouble> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut piece = self.db.prepare_cached("DELETE FROM pieces WHERE id = ?")?;
        let mut words = self
            .db
            .prepare_cached("DELETE FROM words WHERE rowid = ?")?;
        let mut vector = self
            .db
            .prepare_cached("DELETE FROM vectors WHERE piece = ?")?;
        for id in ids {
            self.state.pieces = self.state.pieces.saturating_sub(piece.execute([id])?);
            words.execute([id])?;
            let answered = vector.execute([id])?;
            self.state.answered = self.state.answered.saturating_sub(answered);
        }
        self.state.removals += 1;
        Ok(())
    }
}

/// Returns a fingerprint as it is kept.
pub(super) fn written(fingerprint: &Fingerprint) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(56);
    for number in [fingerprint.dev, fingerprint.ino, fingerprint.size] {
        bytes.extend(number.to_le_bytes());
    }
    for (seconds, nanoseconds) in [fingerprint.mtime, fingerprint.ctime] {
        bytes.extend(seconds.to_le_bytes());
        bytes.extend(nanoseconds.to_le_bytes());
    }
    bytes
}
