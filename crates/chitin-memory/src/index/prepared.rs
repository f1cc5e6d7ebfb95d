//! Files that were read and cut, on their way into the index.

use super::job::{Cut, FileText, JobFile, MAX_FILE_BYTES, NewPiece};
use super::notes::IndexNote;
use crate::search::ChunkSource;
use chitin_guard::Fingerprint;
use std::borrow::Cow;

/// The hash of a file or a piece.
pub(super) type Hash = [u8; 32];

/// A file that was read and cut.
pub(super) struct PreparedFile {
    pub(super) source: ChunkSource,
    pub(super) path: String,
    pub(super) fingerprint: Fingerprint,
    pub(super) modified_ms: i64,
    pub(super) hash: Hash,
    pub(super) pieces: Vec<PreparedPiece>,
}

/// A piece on its way into the index.
pub(super) struct PreparedPiece {
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) hash: Hash,
    pub(super) text: String,
    pub(super) heading: Option<String>,
}

impl PreparedPiece {
    pub(super) fn new(piece: &NewPiece<'_>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(piece.text.as_bytes());
        // The headings are in the index too: a piece below another heading is another piece.
        if let Some(heading) = piece.heading {
            hasher.update(b"\0").update(heading.as_bytes());
        }
        Self {
            start_line: piece.start_line,
            end_line: piece.end_line,
            hash: *hasher.finalize().as_bytes(),
            text: piece.text.to_owned(),
            heading: piece.heading.map(str::to_owned),
        }
    }

    /// Adds it to the hash of all pieces of a file.
    pub(super) fn add_to(&self, hasher: &mut blake3::Hasher) {
        hasher.update(&self.start_line.to_le_bytes());
        hasher.update(&self.end_line.to_le_bytes());
        hasher.update(&self.hash);
    }

    /// Shows other lines than those of the text that was cut.
    pub(super) fn show_lines(&mut self, lines: &[u32]) {
        let shown = |line: u32| {
            let place = usize::try_from(line)
                .unwrap_or(usize::MAX)
                .saturating_sub(1);
            lines.get(place).or(lines.last()).copied().unwrap_or(line)
        };
        (self.start_line, self.end_line) = (shown(self.start_line), shown(self.end_line));
    }
}

impl PreparedFile {
    /// Returns how much text it holds.
    pub(super) fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.len()).sum()
    }
}

/// A file that was read.
pub(super) struct Taken<'a, 'f> {
    file: &'a JobFile<'f>,
    bytes: &'a [u8],
    lines: Option<&'a [u32]>,
    /// Says whether it is the same as before.
    pub(super) hash: Hash,
    /// What a user should know of it.
    pub(super) notes: Vec<IndexNote>,
}

impl<'a, 'f> Taken<'a, 'f> {
    pub(super) fn new(file: &'a JobFile<'f>, text: &'a FileText<'_>) -> Self {
        let (mut notes, lines) = (Vec::new(), text.lines.as_deref());
        let bytes = fitting(&text.bytes);
        if bytes.len() < text.bytes.len() {
            notes.push(IndexNote::TooLarge {
                path: file.path.clone(),
                bytes: bytes.len(),
            });
        }
        Self {
            file,
            bytes,
            lines,
            hash: hash_of(bytes, lines),
            notes,
        }
    }

    pub(super) const fn modified_ms(&self) -> i64 {
        let (seconds, nanoseconds) = self.file.fingerprint.mtime;
        seconds
            .saturating_mul(1000)
            .saturating_add(nanoseconds / 1_000_000)
    }

    /// Cuts it.
    pub(super) fn prepare(&mut self, cut: &Cut<'_>, max_pieces: usize) -> PreparedFile {
        let path = &self.file.path;
        let text = String::from_utf8_lossy(self.bytes);
        if let Cow::Owned(_) = text {
            self.notes.push(IndexNote::NotUtf8 { path: path.clone() });
        }
        let mut pieces = Vec::new();
        cut(path, &text, &mut |piece| {
            // One more than fits, so that it is known that there are more.
            if pieces.len() <= max_pieces {
                let mut piece = PreparedPiece::new(&piece);
                piece.show_lines(self.lines.unwrap_or_default());
                pieces.push(piece);
            }
        });
        PreparedFile {
            source: self.file.source,
            path: path.clone(),
            fingerprint: self.file.fingerprint,
            modified_ms: self.modified_ms(),
            hash: self.hash,
            pieces,
        }
    }
}

/// Returns as much of a file as is indexed, in whole characters.
fn fitting(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= MAX_FILE_BYTES {
        return bytes;
    }
    let mut end = MAX_FILE_BYTES;
    while end > MAX_FILE_BYTES - 4 && bytes[end] & 0b1100_0000 == 0b1000_0000 {
        end -= 1;
    }
    &bytes[..end]
}

fn hash_of(bytes: &[u8], lines: Option<&[u32]>) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytes);
    for line in lines.unwrap_or_default() {
        hasher.update(&line.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
