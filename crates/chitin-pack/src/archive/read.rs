//! Archive in, files out; anything odd refuses the whole (rule P42).

use super::header::{self, BLOCK};
use super::path::{MAX_PATH_BYTES, SeenPaths};
use crate::error::{ErrorClass, PackError};
use std::io::{self, Read};

/// How much an archive may hold.
#[derive(Debug, Clone, Copy)]
pub struct ArchiveLimits {
    /// Bytes of the whole archive, headers included.
    pub bytes: u64,
    /// Entries.
    pub entries: usize,
}

impl ArchiveLimits {
    /// That many bytes, and a sane number of entries.
    pub const fn bytes(bytes: u64) -> Self {
        Self {
            bytes,
            entries: 200_000,
        }
    }
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveEntryKind {
    /// A file.
    File {
        /// Whether it may be run.
        executable: bool,
        /// Its size.
        size: u64,
    },
    /// A directory.
    Directory,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// The path, safe to join to a root; a directory's has no `/` at its end.
    pub path: String,
    /// What it is.
    pub kind: ArchiveEntryKind,
}

/// Reads an archive to its end and shows each entry with its content, in order. What the visitor leaves unread is passed
/// over.
pub fn read(
    source: impl Read,
    limits: ArchiveLimits,
    mut visit: impl FnMut(&ArchiveEntry, &mut dyn Read) -> Result<(), PackError>,
) -> Result<(), PackError> {
    let mut reader = Reader {
        source,
        left: limits.bytes,
    };
    let mut seen = SeenPaths::default();
    let mut longer: Option<Vec<u8>> = None;
    let mut block = [0; BLOCK];
    for _ in 0..=limits.entries {
        reader.block(&mut block)?;
        if block.iter().all(|byte| *byte == 0) {
            seen.finish()?;
            return reader.end();
        }
        if header::hides_bytes(&block) {
            return Err(unsafe_path(&block[..100]));
        }
        let parsed = header::parse(&block).ok_or_else(|| damaged("a header is not one"))?;
        let kind = match parsed.flag {
            b'0' | 0 => ArchiveEntryKind::File {
                executable: parsed.executable,
                size: parsed.size,
            },
            b'5' => ArchiveEntryKind::Directory,
            b'x' => {
                longer = reader.extended(parsed.size)?.or(longer);
                continue;
            }
            other => return Err(odd(other, &parsed.path)),
        };
        let raw = longer.take().unwrap_or(parsed.path);
        let path = safe_path(&raw, kind)?;
        match kind {
            ArchiveEntryKind::File { .. } => seen.add(&path)?,
            ArchiveEntryKind::Directory if parsed.size > 0 => {
                return Err(damaged("a directory has content"));
            }
            ArchiveEntryKind::Directory => {}
        }
        if let Some(parent) = seen.file_above(&path) {
            let message = format!("`{}` is both a file and a directory", parent.escape_debug());
            return Err(PackError::new(ErrorClass::DuplicatePath, message));
        }
        let entry = ArchiveEntry { path, kind };
        let mut content = (&mut reader).take(parsed.size);
        visit(&entry, &mut content)?;
        let unread = content.limit();
        reader.skip(unread)?;
        reader.skip((BLOCK as u64 - parsed.size % BLOCK as u64) % BLOCK as u64)?;
    }
    Err(PackError::new(
        ErrorClass::LayerTooLarge,
        format!("an archive has more than {} entries", limits.entries),
    ))
}

/// Counts what it hands out.
struct Reader<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(TooLarge))?;
        Ok(count)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the archive is larger than its limit")]
struct TooLarge;

impl<R: Read> Reader<R> {
    fn block(&mut self, block: &mut [u8; BLOCK]) -> Result<(), PackError> {
        self.read_exact(block).map_err(broken)
    }

    fn skip(&mut self, count: u64) -> Result<(), PackError> {
        let skipped = io::copy(&mut self.by_ref().take(count), &mut io::sink()).map_err(broken)?;
        if skipped == count {
            Ok(())
        } else {
            Err(damaged("it is cut off"))
        }
    }

    /// After the first empty block come a second one and nothing but zeros.
    fn end(mut self) -> Result<(), PackError> {
        let mut block = [0; BLOCK];
        self.block(&mut block)?;
        loop {
            if block.iter().any(|byte| *byte != 0) {
                return Err(damaged("something stands after its end"));
            }
            match self.read(&mut block).map_err(broken)? {
                0 => return Ok(()),
                count => block[count..].fill(0),
            }
        }
    }

    /// Reads an extended header and returns the path in it. Sizes and links there would contradict the plain header.
    fn extended(&mut self, size: u64) -> Result<Option<Vec<u8>>, PackError> {
        if size > 4 * MAX_PATH_BYTES as u64 {
            return Err(damaged("an extended header is too long"));
        }
        let mut records = Vec::new();
        self.by_ref()
            .take(size)
            .read_to_end(&mut records)
            .map_err(broken)?;
        self.skip((BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64)?;
        let mut rest = records.as_slice();
        let mut path = None;
        while !rest.is_empty() {
            let record =
                next_record(&mut rest).ok_or_else(|| damaged("an extended header is not one"))?;
            match record {
                (b"path", value) => path = Some(value.to_vec()),
                (b"size" | b"linkpath", _) => {
                    return Err(damaged("an extended header changes what an entry is"));
                }
                _ => {}
            }
        }
        Ok(path)
    }
}

fn next_record<'r>(rest: &mut &'r [u8]) -> Option<(&'r [u8], &'r [u8])> {
    let space = rest.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
    let record = rest.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    *rest = &rest[length..];
    Some((&record[..equals], &record[equals + 1..]))
}

fn safe_path(raw: &[u8], kind: ArchiveEntryKind) -> Result<String, PackError> {
    let text = std::str::from_utf8(raw).map_err(|_| unsafe_path(raw))?;
    let path = match kind {
        ArchiveEntryKind::Directory => text.strip_suffix('/').unwrap_or(text),
        ArchiveEntryKind::File { .. } => text,
    };
    match super::path::check(path) {
        Ok(()) => Ok(path.to_owned()),
        Err(_) => Err(unsafe_path(raw)),
    }
}

fn unsafe_path(raw: &[u8]) -> PackError {
    let shown = String::from_utf8_lossy(&raw[..raw.len().min(120)]).into_owned();
    PackError::new(
        ErrorClass::UnsafePath,
        format!(
            "an archive contains the path `{}`, which is not safe to write",
            shown.trim_end_matches('\0').escape_debug()
        ),
    )
    .hint("do not use this artifact; ask its author")
}

fn odd(flag: u8, path: &[u8]) -> PackError {
    let what = match flag {
        b'1' => "a hard link",
        b'2' => "a symbolic link",
        b'3' | b'4' => "a device",
        b'6' => "a FIFO",
        _ => "something other than a file or a directory",
    };
    let shown = String::from_utf8_lossy(path).into_owned();
    PackError::new(
        ErrorClass::UnsupportedEntryType,
        format!("an archive holds {what}, `{}`", shown.escape_debug()),
    )
    .hint("do not use this artifact; ask its author")
}

fn damaged(what: &str) -> PackError {
    PackError::new(
        ErrorClass::MalformedArchive,
        format!("an archive is damaged: {what}"),
    )
}

/// Says what stopped a read: the limit, the compression, or the disk. A visitor meets the same errors in the content that
/// it reads, and may use this to explain them.
pub(crate) fn broken(error: io::Error) -> PackError {
    if error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<TooLarge>)
    {
        return PackError::new(
            ErrorClass::LayerTooLarge,
            "an archive is larger than its limit",
        );
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it is cut off"),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            damaged("its compression is not what it says").caused_by(error)
        }
        _ => PackError::new(ErrorClass::Io, "an archive cannot be read").caused_by(error),
    }
}
