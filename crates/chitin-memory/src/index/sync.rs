//! Making the index say what the files say.

use super::batch::{Batch, written};
use super::embedding::Embedding;
use super::job::{JobFile, SyncJob, SyncProgress, SyncReport, SyncStop};
use super::notes::{IndexNote, Rebuild};
use super::prepared::{Hash, PreparedFile, PreparedPiece, Taken};
use super::state::State;
use super::trouble::Trouble;
use super::{Index, IndexedFile, NewPiece};
use crate::embed::Embedder;
use crate::search::{ChunkSource, FindError};
use chitin_guard::Fingerprint;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How many bytes of text go into one change: enough to be quick, so few that nobody waits long.
const BATCH_BYTES: usize = 8 << 20;
/// How many files go into one change.
const BATCH_FILES: usize = 4096;
/// How often progress is told.
const TELLING: Duration = Duration::from_millis(100);
impl Index {
    /// Makes the index say what the files say.
    ///
    /// A file whose fingerprint is known is not opened. What was done before a stop is kept. Other processes may search all the
    /// while, and may sync too. Whatever happens is a note, not an error.
    pub fn sync(&mut self, job: &SyncJob<'_>) -> SyncReport {
        let begin = Instant::now();
        let mut report = SyncReport::default();
        self.make_sure_of_the_place(&mut report);
        // Twice, because the first time may find damage, and the second then begins with nothing.
        for is_last in [false, true] {
            let mut run = Run {
                index: self,
                job,
                report: &mut report,
                told: begin,
                progress: SyncProgress {
                    files: job.files.len(),
                    ..SyncProgress::default()
                },
                batch: Batch::default(),
                batch_bytes: 0,
            };
            match run.all() {
                Ok(()) => break,
                Err(Trouble::Damaged) if !is_last => {
                    let notes = std::mem::take(&mut report.notes);
                    report = SyncReport {
                        notes,
                        ..SyncReport::default()
                    };
                    self.damaged.store(true, Ordering::Relaxed);
                    self.make_sure_of_the_place(&mut report);
                }
                Err(trouble) => {
                    let note = trouble.note();
                    report.note(note.unwrap_or(IndexNote::Rebuilt(Rebuild::Damaged)));
                    report.stopped = Some(SyncStop::Unwritten);
                    break;
                }
            }
        }
        report.seconds = begin.elapsed().as_secs_f64();
        report
    }

    /// Puts a file's pieces into the index, in place of those that it had.
    pub fn put(
        &mut self,
        file: &IndexedFile<'_>,
        pieces: &[NewPiece<'_>],
    ) -> Result<(), FindError> {
        let pieces: Vec<_> = pieces.iter().map(PreparedPiece::new).collect();
        let mut hasher = blake3::Hasher::new();
        for piece in &pieces {
            piece.add_to(&mut hasher);
        }
        let batch = Batch {
            files: vec![PreparedFile {
                source: file.source,
                path: file.path.to_owned(),
                fingerprint: Fingerprint::default(),
                modified_ms: file.modified_ms,
                hash: *hasher.finalize().as_bytes(),
                pieces,
            }],
            ..Batch::default()
        };
        batch.write(&mut self.db, &self.shape, self.limits.max_pieces)?;
        Ok(())
    }
}

/// One attempt at a sync.
struct Run<'i, 'j, 'a> {
    index: &'i mut Index,
    job: &'j SyncJob<'a>,
    report: &'i mut SyncReport,
    told: Instant,
    progress: SyncProgress,
    batch: Batch,
    batch_bytes: usize,
}

/// A file as the index knows it.
struct Known {
    id: i64,
    fingerprint: Vec<u8>,
    hash: Hash,
}

type KnownFiles = HashMap<(ChunkSource, String), Known>;

impl Run<'_, '_, '_> {
    fn all(&mut self) -> Result<(), Trouble> {
        let mut known = self.known_files()?;
        let gone = self.gone(&known);
        let mut version = self.version()?;
        self.report.pieces = State::read(&self.index.db)?.pieces;
        let max_pieces = self.index.limits.max_pieces;
        let mut left_out = 0;
        for file in &self.job.files {
            if self.is_stopped() {
                break;
            }
            self.report.looked += 1;
            self.progress.looked += 1;
            tell(self.job, &mut self.told, &self.progress);
            let key = (file.source, file.path.clone());
            if self.report.pieces >= max_pieces && !known.contains_key(&key) {
                left_out += 1;
                continue;
            }
            self.look_at(file, known.get(&key));
            if self.batch_bytes >= BATCH_BYTES || self.batch.files.len() >= BATCH_FILES {
                left_out += self.flush()?;
                // Another process wrote meanwhile: what it did need not be done again.
                if self.version()? != version {
                    version = self.version()?;
                    known = self.known_files()?;
                }
            }
        }
        if self.report.stopped.is_none() {
            self.batch.gone = gone;
        }
        left_out += self.flush()?;
        if left_out > 0 {
            let note = IndexNote::TooMany {
                files: left_out,
                limit: max_pieces,
            };
            self.report.note(note);
        }
        if let (Some(embedder), None) = (self.job.embedder, self.report.stopped) {
            self.embed(embedder)?;
        }
        // Others may have added to it.
        self.report.pieces = State::read(&self.index.db)?.pieces;
        Ok(())
    }

    /// Returns the files that were known at the beginning and are no more. What others add meanwhile is not ours to judge.
    fn gone(&self, known: &KnownFiles) -> Vec<i64> {
        let listed: HashSet<(ChunkSource, &str)> = self
            .job
            .files
            .iter()
            .map(|file| (file.source, file.path.as_str()))
            .collect();
        known
            .iter()
            .filter(|((source, path), _)| {
                self.job.sources.contains(source) && !listed.contains(&(*source, path))
            })
            .map(|(_, file)| file.id)
            .collect()
    }

    /// Looks at one file, and reads and cuts it if it may have changed.
    fn look_at(&mut self, file: &JobFile<'_>, known: Option<&Known>) {
        // No fingerprint at all is never a known one.
        let is_unchanged = file.fingerprint != Fingerprint::default()
            && known.is_some_and(|known| known.fingerprint == written(&file.fingerprint));
        if is_unchanged {
            self.report.unchanged += 1;
            return;
        }
        let text = match (file.read)() {
            Ok(text) => text,
            Err(message) => {
                let path = file.path.clone();
                return self.report.note(IndexNote::Unreadable { path, message });
            }
        };
        self.report.read += 1;
        let mut taken = Taken::new(file, &text);
        if let Some(known) = known
            && known.hash == taken.hash
        {
            let touched = (known.id, file.fingerprint, taken.modified_ms());
            self.batch.touched.push(touched);
        } else {
            let prepared = taken.prepare(self.job.cut, self.index.limits.max_pieces);
            self.batch_bytes += prepared.bytes();
            self.batch.files.push(prepared);
        }
        for note in taken.notes {
            self.report.note(note);
        }
    }

    /// Writes what was collected. Returns how many files were cut short.
    fn flush(&mut self) -> Result<usize, Trouble> {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(0);
        }
        let max_pieces = self.index.limits.max_pieces;
        let done = batch.write(&mut self.index.db, &self.index.shape, max_pieces)?;
        self.report.changed += done.changed;
        self.report.added += done.added;
        self.report.removed += done.removed;
        self.report.pieces = done.pieces;
        Ok(done.cut_short)
    }

    fn embed(&mut self, embedder: &dyn Embedder) -> Result<(), Trouble> {
        let mut embedding = Embedding::new(&mut self.index.db, embedder)?;
        let mut progress = SyncProgress {
            to_embed: embedding.missing(),
            ..self.progress
        };
        loop {
            self.report.stopped = self.job.stopped();
            if self.report.stopped.is_some() || !embedding.step()? {
                break;
            }
            progress.embedded = embedding.embedded + embedding.cached;
            tell(self.job, &mut self.told, &progress);
        }
        self.report.embedded = embedding.embedded;
        self.report.cached = embedding.cached;
        if let Some(message) = embedding.failure.take() {
            let pieces = embedding.failed;
            self.report.note(IndexNote::NotEmbedded { pieces, message });
        }
        Ok(())
    }

    fn is_stopped(&mut self) -> bool {
        self.report.stopped = self.job.stopped();
        self.report.stopped.is_some()
    }

    fn version(&self) -> Result<i64, Trouble> {
        let db = &self.index.db;
        Ok(db.pragma_query_value(None, "data_version", |row| row.get(0))?)
    }

    fn known_files(&self) -> Result<KnownFiles, Trouble> {
        let mut ask = self
            .index
            .db
            .prepare_cached("SELECT id, source, path, fingerprint, hash FROM files")?;
        let mut rows = ask.query([])?;
        let mut files = KnownFiles::new();
        while let Some(row) = rows.next()? {
            let source = row.get_ref(1)?.as_str().ok().and_then(ChunkSource::of_name);
            let source = source.ok_or(Trouble::Damaged)?;
            let known = Known {
                id: row.get(0)?,
                fingerprint: row.get(3)?,
                hash: row.get(4)?,
            };
            files.insert((source, row.get(2)?), known);
        }
        Ok(files)
    }
}

fn tell(job: &SyncJob<'_>, told: &mut Instant, progress: &SyncProgress) {
    if told.elapsed() >= TELLING {
        *told = Instant::now();
        (job.progress)(progress);
    }
}
