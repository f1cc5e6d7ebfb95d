//! What is asked of a sync, and what it says afterwards.

use super::notes::IndexNote;
use crate::embed::Embedder;
use crate::search::ChunkSource;
use chitin_guard::{Fingerprint, Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::time::Instant;

/// How much of a file is in the index, in bytes.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// How many notes of one sync are kept: a thousand unreadable files are no more news than a hundred.
const MAX_NOTES: usize = 100;

/// A piece as it is put into the index.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewPiece<'a> {
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// Its text.
    pub text: &'a str,
    /// The headings above it, if the index keeps their words.
    pub heading: Option<&'a str>,
}

/// Cuts the text of a file (its path, then its text) into pieces and hands them out in order.
pub type Cut<'a> = dyn Fn(&str, &str, &mut dyn FnMut(NewPiece<'_>)) + 'a;

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileText<'a> {
    /// Its bytes, or the first [`MAX_FILE_BYTES`] and at least one more if there are more.
    pub bytes: Cow<'a, [u8]>,
    /// For each line of the text, the line to show instead; for texts that were made from something else.
    pub lines: Option<Cow<'a, [u32]>>,
}

/// A file that should be in the index.
pub struct JobFile<'a> {
    /// Where it is from.
    pub source: ChunkSource,
    /// Its path as it is shown, with `/`.
    pub path: String,
    /// What is compared to know that it did not change.
    pub fingerprint: Fingerprint,
    /// Reads it, or says why not. Asked only if the fingerprint is new.
    pub read: Box<dyn Fn() -> Result<FileText<'a>, String> + 'a>,
}

impl<'a> JobFile<'a> {
    /// Describes a memory file beneath a root.
    pub fn beneath(root: &'a Root, path: String, fingerprint: Fingerprint) -> Self {
        let relative = path.clone();
        let policy = ReadPolicy {
            links: LinkPolicy::EveryHopInside,
            hardlinks: Hardlinks::Allow,
            // One more than is kept, so that it is known that there is more.
            max_bytes: MAX_FILE_BYTES as u64 + 4,
            oversized: Oversized::Keep,
        };
        let read = move || {
            let read = root.read(Path::new(&relative), &policy);
            read.map(|read| FileText {
                bytes: Cow::Owned(read.bytes),
                lines: None,
            })
            .map_err(|error| error.to_string())
        };
        Self {
            source: ChunkSource::Memory,
            path,
            fingerprint,
            read: Box::new(read),
        }
    }
}

impl fmt::Debug for JobFile<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("JobFile")
            .field("source", &self.source)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// What the index should say, and how to get there.
pub struct SyncJob<'a> {
    /// All files of the sources below.
    pub files: Vec<JobFile<'a>>,
    /// The sources whose files are all in the list; files of these that are not there leave the index.
    pub sources: &'a [ChunkSource],
    /// Cuts texts into pieces.
    pub cut: &'a Cut<'a>,
    /// Makes vectors, if there are to be any.
    pub embedder: Option<&'a dyn Embedder>,
    /// Is told how far it is, a few times a second at most.
    pub progress: &'a dyn Fn(&SyncProgress),
    /// Tells whether to stop. What was done is kept.
    pub cancelled: &'a dyn Fn() -> bool,
    /// When to stop. What was done is kept.
    pub deadline: Option<Instant>,
}

impl fmt::Debug for SyncJob<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("SyncJob")
            .field("files", &self.files)
            .field("sources", &self.sources)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl<'a> SyncJob<'a> {
    /// Begins a job that makes no vectors, tells nobody and is not stopped.
    pub fn new(files: Vec<JobFile<'a>>, sources: &'a [ChunkSource], cut: &'a Cut<'a>) -> Self {
        Self {
            files,
            sources,
            cut,
            embedder: None,
            progress: &|_| {},
            cancelled: &|| false,
            deadline: None,
        }
    }

    pub(super) fn stopped(&self) -> Option<SyncStop> {
        if (self.cancelled)() {
            return Some(SyncStop::Cancelled);
        }
        let is_late = self.deadline.is_some_and(|end| Instant::now() >= end);
        is_late.then_some(SyncStop::Late)
    }
}

/// How far a sync is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncProgress {
    /// Files that were looked at.
    pub looked: usize,
    /// Files that there are.
    pub files: usize,
    /// Pieces that got a vector.
    pub embedded: usize,
    /// Pieces that had none when vectors were begun with.
    pub to_embed: usize,
}

/// Why a sync ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncStop {
    /// It was told to.
    Cancelled,
    /// Its time was over.
    Late,
    /// The index could not be written; a note says why.
    Unwritten,
}

/// What a sync did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SyncReport {
    /// Files that were looked at.
    pub looked: usize,
    /// Files whose fingerprint was known; they were not opened.
    pub unchanged: usize,
    /// Files that were read.
    pub read: usize,
    /// Files whose pieces are new.
    pub changed: usize,
    /// Files that left the index.
    pub removed: usize,
    /// Pieces that came into the index.
    pub added: usize,
    /// Pieces that are in the index now.
    pub pieces: usize,
    /// Pieces that got a vector that was made for them.
    pub embedded: usize,
    /// Pieces that got a vector that was made earlier.
    pub cached: usize,
    /// How long it took.
    pub seconds: f64,
    /// Why it ended before its end.
    pub stopped: Option<SyncStop>,
    /// What a user should know.
    pub notes: Vec<IndexNote>,
}

impl SyncReport {
    /// Adds a note, if there are not too many.
    pub(super) fn note(&mut self, note: IndexNote) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        }
    }
}
