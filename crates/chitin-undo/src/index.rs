//! The index: the workspace as it was last seen, in one file that is replaced as a whole.
//!
//! Little-endian numbers and lengths, sorted by path, and a BLAKE3 digest of everything at the end. It is the only file that is
//! read on every turn, so it is read without intermediate values.

use crate::entry::{ContentId, Entry, NotCovered};
use crate::path::FilePath;
use chitin_guard::Fingerprint;
use std::collections::HashMap;
use thiserror::Error;

/// What an index begins with; the digit changes with the format.
const MAGIC: &[u8; 16] = b"chitin undo 01\n\0";
/// The length of the digest at the end.
const DIGEST: usize = 32;
/// The longest text of a link.
const MAX_TEXT: usize = 65_536;
/// How many entries are read.
const MAX_ENTRIES: u32 = 4_000_000;

/// An entry and what tells cheaply whether it is still the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) entry: Entry,
    pub(crate) fingerprint: Fingerprint,
    /// Whether an equal fingerprint proves that nothing changed: the file was not written so recently that a further change
    /// would look the same.
    pub(crate) settled: bool,
}

/// The workspace as it was last seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    pub(crate) entries: HashMap<FilePath, Known>,
    /// The last record of the log that is contained in it.
    pub(crate) sequence: u64,
    /// The number that the next turn gets.
    pub(crate) next_turn: u64,
    /// How long the log was.
    pub(crate) log_bytes: u64,
    /// How many bytes the contents take on the disk.
    pub(crate) stored_bytes: u64,
    /// When the oldest record was made; nothing if there is none.
    pub(crate) oldest_ms: i64,
}

/// Why bytes are no index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IndexError {
    /// They begin with something else: another format, or no index at all.
    #[error("it has another format")]
    Format,
    /// The digest does not match.
    #[error("its digest does not match")]
    Damaged,
    /// What they say contradicts itself.
    #[error("its contents are invalid")]
    Invalid,
}

impl Index {
    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes it as bytes. Equal indexes give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + self.entries.len() * 160);
        out.extend_from_slice(MAGIC);
        for number in [
            self.sequence,
            self.next_turn,
            self.log_bytes,
            self.stored_bytes,
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.oldest_ms.to_le_bytes());
        let count = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&count.to_le_bytes());
        let mut sorted: Vec<_> = self.entries.iter().collect();
        sorted.sort_unstable_by_key(|(path, _)| *path);
        for (path, known) in sorted {
            put_bytes(&mut out, path.bytes());
            put_known(&mut out, known);
        }
        let digest = blake3::hash(&out);
        out.extend_from_slice(digest.as_bytes());
        out
    }

    /// Reads it from bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, IndexError> {
        let (body, digest) = bytes
            .split_last_chunk::<DIGEST>()
            .ok_or(IndexError::Format)?;
        let rest = body.strip_prefix(MAGIC).ok_or(IndexError::Format)?;
        if blake3::hash(body).as_bytes() != digest {
            return Err(IndexError::Damaged);
        }
        Input(rest).index().ok_or(IndexError::Invalid)
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    // Longer ones were refused when they were found.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(bytes);
}

fn put_known(out: &mut Vec<u8>, known: &Known) {
    let mode = known.entry.mode().unwrap_or_default();
    match &known.entry {
        Entry::File { content, size, .. } => {
            out.push(b'f');
            out.extend_from_slice(&mode.to_le_bytes());
            out.extend_from_slice(&size.to_le_bytes());
            out.extend_from_slice(&content.0);
        }
        Entry::Directory { .. } => {
            out.push(b'd');
            out.extend_from_slice(&mode.to_le_bytes());
            return;
        }
        Entry::Link { text } => {
            out.push(b'l');
            put_bytes(out, text);
        }
        Entry::Uncovered {
            reason,
            size,
            modified,
            ..
        } => {
            out.push(match reason {
                NotCovered::TooLarge => b'L',
                NotCovered::Unreadable => b'U',
                NotCovered::NoRoom => b'N',
            });
            out.extend_from_slice(&mode.to_le_bytes());
            out.extend_from_slice(&size.to_le_bytes());
            put_time(out, *modified);
        }
    }
    let fingerprint = &known.fingerprint;
    for number in [fingerprint.dev, fingerprint.ino, fingerprint.size] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    put_time(out, fingerprint.mtime);
    put_time(out, fingerprint.ctime);
    out.push(u8::from(known.settled));
}

fn put_time(out: &mut Vec<u8>, (seconds, nanoseconds): (i64, i64)) {
    out.extend_from_slice(&seconds.to_le_bytes());
    out.extend_from_slice(&nanoseconds.to_le_bytes());
}

/// What is left to read.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn index(mut self) -> Option<Index> {
        let mut index = Index {
            sequence: self.u64()?,
            next_turn: self.u64()?,
            log_bytes: self.u64()?,
            stored_bytes: self.u64()?,
            oldest_ms: self.i64()?,
            entries: HashMap::new(),
        };
        let count = self.u32()?;
        // Every entry has at least a length, a name, a kind and a mode.
        if count > MAX_ENTRIES || count as usize > self.0.len() / 10 {
            return None;
        }
        index.entries.reserve(count as usize);
        let mut last: Option<&[u8]> = None;
        for _ in 0..count {
            let bytes = self.bytes(usize::MAX)?;
            // Sorted, so that no name is there twice and equal indexes are equal bytes.
            if last.is_some_and(|last| last >= bytes) {
                return None;
            }
            last = Some(bytes);
            let known = self.known()?;
            index.entries.insert(FilePath::new(bytes)?, known);
        }
        self.0.is_empty().then_some(index)
    }

    fn known(&mut self) -> Option<Known> {
        let [kind] = self.take::<1>()?;
        let entry = match kind {
            b'f' => Entry::File {
                mode: self.mode()?,
                size: self.u64()?,
                content: ContentId(self.take()?),
            },
            b'd' => {
                return Some(Known {
                    entry: Entry::Directory { mode: self.mode()? },
                    fingerprint: Fingerprint::default(),
                    settled: true,
                });
            }
            b'l' => Entry::Link {
                text: self.bytes(MAX_TEXT)?.to_vec(),
            },
            b'L' | b'U' | b'N' => Entry::Uncovered {
                reason: match kind {
                    b'L' => NotCovered::TooLarge,
                    b'U' => NotCovered::Unreadable,
                    _ => NotCovered::NoRoom,
                },
                mode: self.mode()?,
                size: self.u64()?,
                modified: self.time()?,
            },
            _ => return None,
        };
        let fingerprint = Fingerprint {
            dev: self.u64()?,
            ino: self.u64()?,
            size: self.u64()?,
            mtime: self.time()?,
            ctime: self.time()?,
        };
        let settled = match self.take()? {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        Some(Known {
            entry,
            fingerprint,
            settled,
        })
    }
}

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn bytes(&mut self, limit: usize) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        if length > limit {
            return None;
        }
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }

    fn time(&mut self) -> Option<(i64, i64)> {
        Some((self.i64()?, self.i64()?))
    }

    fn mode(&mut self) -> Option<u32> {
        self.u32().filter(|mode| *mode <= 0o7777)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known() -> impl Strategy<Value = Known> {
        let time = (any::<i64>(), any::<i64>());
        let fingerprint = (any::<u64>(), any::<u64>(), any::<u64>(), time, time);
        let reason = prop_oneof![
            Just(NotCovered::TooLarge),
            Just(NotCovered::Unreadable),
            Just(NotCovered::NoRoom)
        ];
        let entry = prop_oneof![
            (any::<[u8; 32]>(), any::<u64>(), 0_u32..0o10000).prop_map(|(digest, size, mode)| {
                Entry::File {
                    content: ContentId(digest),
                    size,
                    mode,
                }
            }),
            (0_u32..0o10000).prop_map(|mode| Entry::Directory { mode }),
            proptest::collection::vec(any::<u8>(), 0..40).prop_map(|text| Entry::Link { text }),
            (reason, any::<u64>(), 0_u32..0o10000, time).prop_map(
                |(reason, size, mode, modified)| Entry::Uncovered {
                    reason,
                    size,
                    mode,
                    modified
                }
            ),
        ];
        (entry, fingerprint, any::<bool>()).prop_map(
            |(entry, (dev, ino, size, mtime, ctime), settled)| {
                let settled = settled || entry.is_directory();
                let fingerprint = if entry.is_directory() {
                    Fingerprint::default()
                } else {
                    Fingerprint {
                        dev,
                        ino,
                        size,
                        mtime,
                        ctime,
                    }
                };
                Known {
                    entry,
                    fingerprint,
                    settled,
                }
            },
        )
    }

    fn index() -> impl Strategy<Value = Index> {
        let entries =
            proptest::collection::hash_map("[a-c]{1,3}(/[a-c]{1,3}){0,2}", known(), 0..20);
        (entries, any::<u64>(), any::<i64>()).prop_map(|(entries, number, oldest_ms)| Index {
            entries: entries
                .into_iter()
                .map(|(path, known)| (FilePath::new(path.as_bytes()).unwrap(), known))
                .collect(),
            sequence: number,
            next_turn: number / 2,
            log_bytes: number / 3,
            stored_bytes: number / 4,
            oldest_ms,
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(index in index()) {
            let bytes = index.to_bytes();
            prop_assert_eq!(Index::parse(&bytes).unwrap(), index.clone());
            prop_assert_eq!(index.to_bytes(), bytes);
        }

        #[test]
        fn a_changed_byte_never_passes(index in index(), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
            let mut bytes = index.to_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            prop_assert!(Index::parse(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Index::parse(&bytes);
            // Also with a digest that fits.
            let mut body = MAGIC.to_vec();
            body.append(&mut bytes);
            let digest = blake3::hash(&body);
            body.extend_from_slice(digest.as_bytes());
            if let Ok(index) = Index::parse(&body) {
                prop_assert_eq!(index.to_bytes(), body);
            }
        }
    }
}
