//! Notes that are not on the disk, to be indexed.

use chitin_contract::MemoryIndexRules;
use chitin_guard::Fingerprint;
use chitin_memory::embed::Embedder;
use chitin_memory::index::{FileText, Index, JobFile, NewPiece, Shape, SyncJob, SyncReport};
use chitin_memory::search::{ChunkSource, Finder, FoundChunk, Within};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Notes by path, each with a number that goes up when it is written.
#[derive(Clone, Default)]
pub(crate) struct Notebook {
    notes: BTreeMap<String, Note>,
    clock: i64,
}

#[derive(Clone)]
struct Note {
    source: ChunkSource,
    bytes: Vec<u8>,
    lines: Option<Vec<u32>>,
    written: i64,
    is_locked: bool,
}

impl Notebook {
    pub(crate) fn of(notes: &[(&str, &str)]) -> Self {
        let mut notebook = Self::default();
        for (path, text) in notes {
            notebook.write(path, text);
        }
        notebook
    }

    pub(crate) fn write(&mut self, path: &str, text: impl AsRef<[u8]>) {
        self.put(ChunkSource::Memory, path, text.as_ref(), None);
    }

    /// A past conversation: each line of the text stands for a line of the transcript.
    pub(crate) fn talk(&mut self, path: &str, text: &str, lines: &[u32]) {
        self.put(
            ChunkSource::Sessions,
            path,
            text.as_bytes(),
            Some(lines.to_vec()),
        );
    }

    fn put(&mut self, source: ChunkSource, path: &str, bytes: &[u8], lines: Option<Vec<u32>>) {
        self.clock += 1;
        let note = Note {
            source,
            bytes: bytes.to_vec(),
            lines,
            written: self.clock,
            is_locked: false,
        };
        self.notes.insert(path.to_owned(), note);
    }

    /// Writes what is there already.
    pub(crate) fn touch(&mut self, path: &str) {
        self.clock += 1;
        self.notes.get_mut(path).unwrap().written = self.clock;
    }

    /// Makes a note unreadable.
    pub(crate) fn lock(&mut self, path: &str) {
        self.touch(path);
        self.notes.get_mut(path).unwrap().is_locked = true;
    }

    pub(crate) fn delete(&mut self, path: &str) {
        self.notes.remove(path);
    }

    pub(crate) fn files(&self) -> Vec<JobFile<'_>> {
        let file = |(path, note): (&String, &'_ Note)| JobFile {
            source: note.source,
            path: path.clone(),
            fingerprint: Fingerprint {
                mtime: (note.written, 0),
                ..Fingerprint::default()
            },
            read: Box::new({
                let note = note.clone();
                move || {
                    if note.is_locked {
                        return Err("no permission".to_owned());
                    }
                    Ok(FileText {
                        bytes: Cow::Owned(note.bytes.clone()),
                        lines: note.lines.clone().map(Cow::Owned),
                    })
                }
            }),
        };
        self.notes.iter().map(file).collect()
    }

    pub(crate) fn job(&self) -> SyncJob<'_> {
        SyncJob::new(
            self.files(),
            &[ChunkSource::Memory, ChunkSource::Sessions],
            &by_paragraph,
        )
    }

    pub(crate) fn sync(&self, index: &mut Index) -> SyncReport {
        index.sync(&self.job())
    }

    pub(crate) fn sync_with(&self, index: &mut Index, embedder: &dyn Embedder) -> SyncReport {
        index.sync(&SyncJob {
            embedder: Some(embedder),
            ..self.job()
        })
    }

    /// An index of these notes that lives in memory, with our own rules.
    pub(crate) fn indexed(&self) -> Index {
        let mut index = Index::volatile_of(&ours()).unwrap();
        assert_eq!(self.sync(&mut index).notes, []);
        index
    }
}

/// The shape of an index with our own rules.
pub(crate) fn ours() -> Shape {
    Shape::new(MemoryIndexRules::CANONICAL)
}

/// Cuts at blank lines. A line that begins with `#` is the heading of what follows.
pub(crate) fn by_paragraph(_: &str, text: &str, take: &mut dyn FnMut(NewPiece<'_>)) {
    let mut heading = None;
    let mut line = 1;
    for paragraph in text.split("\n\n") {
        let lines = u32::try_from(paragraph.matches('\n').count()).unwrap();
        if let Some(title) = paragraph.strip_prefix('#') {
            heading = Some(title.trim());
        } else if !paragraph.trim().is_empty() {
            take(NewPiece {
                start_line: line,
                end_line: line + lines,
                text: paragraph,
                heading,
            });
        }
        line += lines + 2;
    }
}

pub(crate) fn find(index: &Index, expression: &str) -> Vec<FoundChunk> {
    index.words(expression, 50, &Within::default()).unwrap()
}

/// Where words are found: `path:line`, sorted.
pub(crate) fn places(index: &Index, expression: &str) -> Vec<String> {
    sorted_places(&find(index, expression))
}

pub(crate) fn sorted_places(found: &[FoundChunk]) -> Vec<String> {
    let place = |found: &FoundChunk| format!("{}:{}", found.piece.path, found.piece.start_line);
    let mut places: Vec<_> = found.iter().map(place).collect();
    places.sort();
    places
}
