//! The changes of a long index that its file does not say yet: lines at the end of a file beside it.
//!
//! Each line is a checksum, a space and JSON. The first one says which index the changes belong to; the others say what
//! became of a session, the last one of each session counts. `docs/design/008-session-index.md` says why, and what holds when
//! the index is not the one that the changes belong to.

use super::table::{Index, Pending};
use crate::disk::ContentPrint;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How many hexadecimal digits a checksum has.
const DIGITS: usize = 16;
const FORMAT: &str = "chitin-session-changes";
const VERSION: u64 = 1;

/// What a line says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line<'a> {
    /// The first line of all.
    Header {
        /// The name of the format.
        format: String,
        /// Its version.
        version: u64,
        /// The index that the changes belong to; none when there was no file.
        base: Option<ContentPrint>,
    },
    /// A session's entry, as it stands in the index.
    Set {
        key: String,
        #[serde(borrow)]
        text: std::borrow::Cow<'a, str>,
    },
    /// A session that was taken away, and when it was last used.
    Removed { key: String, updated_at: i64 },
    /// An index that says everything up to here.
    Folded { base: ContentPrint },
}

/// Writes the first line.
pub(super) fn write_header(out: &mut Vec<u8>, base: Option<ContentPrint>) {
    let header = Line::Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        base,
    };
    write(out, &header);
}

/// Writes that an index says everything up to here.
pub(super) fn write_folded(out: &mut Vec<u8>, base: ContentPrint) {
    write(out, &Line::Folded { base });
}

/// Writes changes. What goes is told with its last use, as the index says it.
pub(super) fn write_changes(out: &mut Vec<u8>, changes: &Pending, index: &Index) {
    for (key, slot) in changes {
        let key = key.to_string();
        if let Some(slot) = slot {
            write(
                out,
                &Line::Set {
                    key,
                    text: slot.text().into(),
                },
            );
        } else {
            let updated_at = index.updated_at(&key).unwrap_or_default();
            write(out, &Line::Removed { key, updated_at });
        }
    }
}

fn write(out: &mut Vec<u8>, line: &Line<'_>) {
    let begin = out.len();
    out.resize(begin + DIGITS, b'0');
    out.push(b' ');
    // Strings and numbers into memory: this cannot fail.
    let _ = serde_json::to_writer(&mut *out, line);
    let (sum, content) = out[begin..].split_at_mut(DIGITS);
    sum.copy_from_slice(checksum(&content[1..]).as_bytes());
    out.push(b'\n');
}

/// How the changes of a file stand to the index beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Standing {
    /// They belong to it.
    #[default]
    Own,
    /// The index was written by somebody else since: of a session that both changed, the later one counts.
    Foreign,
    /// The index says all of it already.
    Folded,
}

/// How to read on in a file of changes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Replay {
    pub(super) standing: Standing,
}

/// Why changes cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplayError {
    /// The first line is not whole: nothing can have been acknowledged.
    NoHeader,
    /// A later version wrote them.
    Newer,
}

impl Replay {
    /// Finds out how changes stand to an index.
    pub(super) fn of(bytes: &[u8], base: Option<ContentPrint>) -> Result<Self, ReplayError> {
        let mut lines = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .filter_map(read);
        let Some(Line::Header {
            format,
            version,
            base: own,
        }) = lines.next()
        else {
            return Err(ReplayError::NoHeader);
        };
        if format != FORMAT || version != VERSION {
            return Err(ReplayError::Newer);
        }
        let mut standing = if own == base {
            Standing::Own
        } else {
            Standing::Foreign
        };
        for line in lines {
            if let Line::Folded { base: folded } = line
                && Some(folded) == base
            {
                standing = Standing::Folded;
            }
        }
        Ok(Self { standing })
    }

    /// Makes the changes that lines tell of; a line that is none is passed over. Returns how much of the bytes is whole lines.
    pub(super) fn apply(self, bytes: &[u8], index: &mut Index) -> usize {
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        if self.standing == Standing::Folded {
            return whole;
        }
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            let is_later = |index: &Index, key: &str, updated_at: i64| {
                self.standing == Standing::Foreign
                    && index
                        .updated_at(key)
                        .is_some_and(|known| known > updated_at)
            };
            match read(line) {
                Some(Line::Set { key, text }) => {
                    let updated_at = super::slot::updated_at(&text).unwrap_or_default();
                    if !is_later(index, &key, updated_at) {
                        index.put_text(Arc::from(key), text.into());
                    }
                }
                Some(Line::Removed { key, updated_at }) => {
                    if !is_later(index, &key, updated_at) {
                        index.remove(&key);
                    }
                }
                Some(Line::Header { .. } | Line::Folded { .. }) | None => {}
            }
        }
        whole
    }
}

/// Reads a line with its end; `None` when it is none.
fn read(line: &[u8]) -> Option<Line<'_>> {
    let line = line.strip_suffix(b"\n")?;
    let (sum, content) = line.split_at_checked(DIGITS)?;
    let content = content.strip_prefix(b" ")?;
    if checksum(content).as_bytes() != sum {
        return None;
    }
    serde_json::from_slice(content).ok()
}

fn checksum(content: &[u8]) -> String {
    let hash = blake3::hash(content).to_hex();
    hash[..DIGITS].to_owned()
}
