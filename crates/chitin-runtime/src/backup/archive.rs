//! The file that a backup is: a compressed tar archive with a list of digests after each part of it.
//!
//! In this order: `chitin-backup.json` says the format; then files, as `home/PATH`; after at most [`PART`] of them `manifest/NUMBER.jsonl`, which has the
//! path, size and digest of each; and at the end `end.json`, which counts them all. Written and read in one go: memory holds one part, whatever the size.
//! Other programs can unpack it; this reader takes nothing that this writer does not write.

use super::BackupError;
use super::tar::{self, TarReader, TarWriter};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, Read, Write};

/// What is written. Older ones are read, newer ones refused.
pub(super) const VERSION: u32 = 1;
const FORMAT: &str = "chitin-backup";
const HEAD: &str = "chitin-backup.json";
const END: &str = "end.json";
const FILES: &str = "home/";
const MANIFESTS: &str = "manifest/";
/// After how many files their digests are written.
const PART: usize = 4096;
/// A head or an end is not longer.
const MOST_OF_A_HEAD: u64 = 64 << 10;
/// A part's list is not longer.
const MOST_OF_A_MANIFEST: u64 = 32 << 20;
/// How many files a backup has at most.
const MOST_FILES: u64 = 4_000_000;
/// How many bytes they have together at most.
const MOST_BYTES: u64 = 1 << 44;
/// Deeper paths are nobody's.
const MOST_DEPTH: usize = 64;

/// What a backup says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupHead {
    format: String,
    /// The version of the format.
    pub version: u32,
    /// The version of the program that wrote it.
    pub chitin: String,
    /// When it was begun, as an ISO instant.
    pub created: String,
    /// The home that it is of.
    pub home: String,
    /// Whether files that only hold secrets are in it.
    pub secrets: bool,
    /// Whether the artifact store is in it.
    pub artifacts: bool,
}

impl BackupHead {
    pub(super) fn new(created: String, home: String, secrets: bool, artifacts: bool) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            chitin: env!("CARGO_PKG_VERSION").to_owned(),
            created,
            home,
            secrets,
            artifacts,
        }
    }
}

/// A line of a part's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Listed {
    path: String,
    size: u64,
    executable: bool,
    digest: String,
}

/// What all files come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupTotals {
    /// How many files.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// The end of an archive.
#[derive(Debug, Serialize, Deserialize)]
struct End {
    #[serde(flatten)]
    totals: BackupTotals,
    /// The digest of all lists.
    digest: String,
}

/// Writes a backup.
pub(super) struct BackupWriter<W: Write> {
    tar: TarWriter<chitin_pack::archive::Compressor<W>>,
    part: Vec<Listed>,
    parts: u32,
    lists: blake3::Hasher,
    totals: BackupTotals,
}

impl<W: Write> BackupWriter<W> {
    pub(super) fn begin(out: W, head: &BackupHead) -> io::Result<Self> {
        let mut tar = TarWriter::new(chitin_pack::archive::compress(out));
        tar.bytes(HEAD, &line(head)?)?;
        Ok(Self {
            tar,
            part: Vec::new(),
            parts: 0,
            lists: blake3::Hasher::new(),
            totals: BackupTotals::default(),
        })
    }

    /// Adds a file of a size that is known beforehand. A content that is shorter is an error.
    pub(super) fn file(
        &mut self,
        path: &str,
        executable: bool,
        size: u64,
        content: &mut dyn Read,
    ) -> io::Result<()> {
        let mut digested = Digested::new(content.take(size));
        let name = format!("{FILES}{path}");
        self.tar.file(&name, executable, size, &mut digested)?;
        self.totals.files += 1;
        self.totals.bytes += size;
        self.part.push(Listed {
            path: path.to_owned(),
            size,
            executable,
            digest: digested.digest(),
        });
        if self.part.len() >= PART {
            self.end_part()?;
        }
        Ok(())
    }

    fn end_part(&mut self) -> io::Result<()> {
        let mut list = Vec::new();
        for listed in self.part.drain(..) {
            list.extend(line(&listed)?);
        }
        self.parts += 1;
        self.lists.update(&list);
        self.tar.bytes(&manifest_name(self.parts), &list)
    }

    pub(super) fn finish(mut self) -> io::Result<(W, BackupTotals)> {
        if !self.part.is_empty() {
            self.end_part()?;
        }
        let end = End {
            totals: self.totals,
            digest: self.lists.finalize().to_hex().to_string(),
        };
        self.tar.bytes(END, &line(&end)?)?;
        let out = self.tar.finish()?.finish()?;
        Ok((out, self.totals))
    }
}

fn manifest_name(part: u32) -> String {
    format!("{MANIFESTS}{part:04}.jsonl")
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::other)?;
    line.push(b'\n');
    Ok(line)
}

/// A file of a backup that is being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BackupFile {
    /// Where it belongs beneath the home; plain names only.
    pub(super) path: String,
    pub(super) executable: bool,
    pub(super) size: u64,
}

/// Reads a backup to its end and shows each file with its content. Nothing that was shown may be used before this returns: only then is all of it
/// known to be what was written. What the visitor leaves unread is read and checked too.
pub(super) fn read(
    source: impl Read,
    mut see_head: impl FnMut(&BackupHead) -> Result<(), BackupError>,
    mut visit: impl FnMut(&BackupFile, &mut dyn Read) -> Result<(), BackupError>,
) -> Result<(BackupHead, BackupTotals), BackupError> {
    let mut tar = TarReader::new(chitin_pack::archive::decompress(source));
    let head = tar.next().map_err(not_one)?;
    let head = head.filter(|entry| entry.path == HEAD && entry.size <= MOST_OF_A_HEAD);
    let Some(entry) = head else {
        return Err(BackupError::NotOne);
    };
    let head: BackupHead =
        serde_json::from_slice(&content(&mut tar, entry.size)?).map_err(|_| BackupError::NotOne)?;
    if head.format != FORMAT {
        return Err(BackupError::NotOne);
    }
    if head.version > VERSION {
        return Err(BackupError::Newer {
            version: head.version,
            chitin: head.chitin,
        });
    }
    see_head(&head)?;
    let mut reading = Reading::default();
    loop {
        let Some(entry) = tar.next().map_err(damaged)? else {
            return Err(BackupError::damaged("its end is missing"));
        };
        if let Some(path) = entry.path.strip_prefix(FILES) {
            reading.file(&mut tar, path, &entry, &mut visit)?;
        } else if entry.path == manifest_name(reading.parts + 1) {
            if entry.size > MOST_OF_A_MANIFEST {
                return Err(BackupError::damaged("a list of digests is too long"));
            }
            let list = content(&mut tar, entry.size)?;
            reading.list(&list)?;
        } else if entry.path == END && entry.size <= MOST_OF_A_HEAD {
            let end = content(&mut tar, entry.size)?;
            let end: End = serde_json::from_slice(&end)
                .map_err(|_| BackupError::damaged("its end cannot be read"))?;
            reading.end(&end)?;
            if tar.next().map_err(damaged)?.is_some() {
                return Err(BackupError::damaged("something stands after its end"));
            }
            tar.finish().map_err(damaged)?;
            return Ok((head, end.totals));
        } else {
            let shown = entry.path.escape_debug().take(120).collect::<String>();
            return Err(BackupError::damaged(format!(
                "`{shown}` does not belong into it"
            )));
        }
    }
}

/// Reads a short entry whole.
fn content<R: Read>(tar: &mut TarReader<R>, size: u64) -> Result<Vec<u8>, BackupError> {
    let mut bytes = Vec::new();
    tar.content(size, &mut |reader| {
        reader.read_to_end(&mut bytes).map(|_| ())
    })
    .map_err(damaged)?;
    Ok(bytes)
}

#[derive(Default)]
struct Reading {
    part: Vec<Listed>,
    parts: u32,
    lists: blake3::Hasher,
    totals: BackupTotals,
    /// Digests of the paths so far.
    seen: HashSet<u128>,
    /// The same of the directories above them.
    directories: HashSet<u128>,
}

fn name_of(path: &str) -> u128 {
    let hash = blake3::hash(path.as_bytes());
    let half = hash.as_bytes().first_chunk::<16>();
    half.map_or(0, |half| u128::from_be_bytes(*half))
}

impl Reading {
    fn file<R: Read>(
        &mut self,
        tar: &mut TarReader<R>,
        path: &str,
        entry: &tar::TarEntry,
        visit: &mut impl FnMut(&BackupFile, &mut dyn Read) -> Result<(), BackupError>,
    ) -> Result<(), BackupError> {
        check_path(path)?;
        let shown = path.escape_debug();
        if !self.seen.insert(name_of(path)) {
            return Err(BackupError::damaged(format!("`{shown}` is in it twice")));
        }
        let above: Vec<u128> = path
            .match_indices('/')
            .map(|(at, _)| name_of(&path[..at]))
            .collect();
        if self.directories.contains(&name_of(path))
            || above.iter().any(|name| self.seen.contains(name))
        {
            let what = format!("`{shown}` is both a file and a directory, or below a file");
            return Err(BackupError::damaged(what));
        }
        self.directories.extend(above);
        self.totals.files += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(entry.size);
        if self.totals.files > MOST_FILES || self.totals.bytes > MOST_BYTES {
            return Err(BackupError::damaged("it holds more than any home"));
        }
        if self.part.len() >= PART {
            return Err(BackupError::damaged("a list of digests is missing"));
        }
        let file = BackupFile {
            path: path.to_owned(),
            executable: entry.executable,
            size: entry.size,
        };
        let mut failed = None;
        let mut digest = String::new();
        tar.content(entry.size, &mut |reader| {
            let mut digested = Digested::new(reader);
            if let Err(error) = visit(&file, &mut digested) {
                failed = Some(error);
                return Ok(());
            }
            io::copy(&mut digested, &mut io::sink())?;
            digest = digested.digest();
            Ok(())
        })
        .map_err(damaged)?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.part.push(Listed {
            path: file.path,
            size: file.size,
            executable: file.executable,
            digest,
        });
        Ok(())
    }

    /// Compares the files of a part with their list.
    fn list(&mut self, list: &[u8]) -> Result<(), BackupError> {
        self.parts += 1;
        self.lists.update(list);
        let mut files = self.part.drain(..);
        for text in list.split_inclusive(|byte| *byte == b'\n') {
            let listed: Listed = serde_json::from_slice(text)
                .map_err(|_| BackupError::damaged("a list of digests cannot be read"))?;
            let Some(file) = files.next() else {
                let shown = listed.path.escape_debug().to_string();
                return Err(BackupError::damaged(format!("`{shown}` is missing")));
            };
            if file != listed {
                let shown = file.path.escape_debug();
                return Err(BackupError::damaged(format!(
                    "`{shown}` is not what was backed up"
                )));
            }
        }
        match files.next() {
            Some(file) => {
                let shown = file.path.escape_debug();
                Err(BackupError::damaged(format!("`{shown}` was added to it")))
            }
            None => Ok(()),
        }
    }

    fn end(&self, end: &End) -> Result<(), BackupError> {
        let is_whole = self.part.is_empty()
            && self.totals == end.totals
            && self.lists.finalize().to_hex().as_str() == end.digest;
        if is_whole {
            Ok(())
        } else {
            Err(BackupError::damaged("files are missing"))
        }
    }
}

/// Refuses paths that lead anywhere but to a file beneath the home.
pub(super) fn check_path(path: &str) -> Result<(), BackupError> {
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && part.len() <= 255 && !part.contains('\0');
    let mut parts = path.split('/');
    if parts.clone().count() <= MOST_DEPTH && parts.all(is_plain) {
        return Ok(());
    }
    let shown: String = path.escape_debug().take(120).collect();
    Err(BackupError::Unsafe { path: shown })
}

pub(super) fn damaged(error: io::Error) -> BackupError {
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut off".to_owned(),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => error.to_string(),
        _ => return BackupError::Unreadable(error),
    };
    BackupError::Damaged { reason }
}

/// At its very beginning, a file that cannot be read as an archive is no backup.
fn not_one(error: io::Error) -> BackupError {
    match damaged(error) {
        BackupError::Damaged { .. } => BackupError::NotOne,
        other => other,
    }
}

/// Digests what is read through it.
struct Digested<R> {
    source: R,
    hasher: blake3::Hasher,
}

impl<R: Read> Digested<R> {
    fn new(source: R) -> Self {
        let hasher = blake3::Hasher::new();
        Self { source, hasher }
    }

    fn digest(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}
