//! An OCI image layout in one archive, read where it is: a list of where each blob begins, and the file.

use super::index::{self, Tagged};
use super::{BLOBS, layout, referrers, unreadable};
use crate::archive::{self, ArchiveEntryKind, ArchiveLimits, BLOCK};
use crate::artifact::{Artifact, Blobs, Descriptor, MAX_MANIFEST_BYTES, read_verified};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::signatures::SignatureCandidate;
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadPolicy, Reader, Root};
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger archives are no artifacts: the limits of all layers together are far below.
const LIMITS: ArchiveLimits = ArchiveLimits {
    bytes: 4 * 1024 * 1024 * 1024,
    entries: 16_384,
};

/// The file may be named through links and have a second name; what it holds is checked by digest.
const POLICY: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Anywhere,
    hardlinks: Hardlinks::Allow,
    max_bytes: LIMITS.bytes,
    oversized: Oversized::Refuse,
};

/// An archive with an artifact in it.
#[derive(Debug)]
pub struct ArchiveFile {
    pub(super) reader: Reader,
    /// The path of the file itself, where links led to it.
    pub(super) path: PathBuf,
    /// Where each blob begins, and its size.
    pub(super) blobs: HashMap<Digest, (u64, u64)>,
    /// The bytes of the index, and where its entry is.
    pub(super) index: (Vec<u8>, Range<u64>),
    /// Where the last entry ends.
    pub(super) end: u64,
    entries: Vec<Descriptor>,
}

/// What a look through an archive finds.
#[derive(Default)]
struct Scanned {
    is_layout: bool,
    blobs: HashMap<Digest, (u64, u64)>,
    index: Option<(Vec<u8>, Range<u64>)>,
    end: u64,
}

impl ArchiveFile {
    /// Opens an archive and reads its list of contents. Anything odd in it refuses the whole.
    pub fn open(path: &Path) -> Result<Self, PackError> {
        let missing = || {
            let message = format!("there is no artifact at `{}`", path.display());
            PackError::new(ErrorClass::MissingManifest, message)
                .hint("name an archive that `chitin pack --output` wrote")
        };
        let Some((parent, name)) = split(path) else {
            return Err(missing());
        };
        let opened = Root::open(parent).and_then(|root| root.open_reader(name, &POLICY));
        let reader = match opened {
            Ok(reader) => reader,
            Err(error) if error.is_missing() => return Err(missing()),
            Err(error) => return Err(unreadable(error)),
        };
        let found = scan(&reader)?;
        let Some(index) = found.index.filter(|_| found.is_layout) else {
            return Err(missing());
        };
        Ok(Self {
            entries: index::parse(&index.0)?,
            path: reader.linked_to.clone().unwrap_or_else(|| path.to_owned()),
            blobs: found.blobs,
            end: found.end,
            index,
            reader,
        })
    }

    /// Returns the path of the file, where links led to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a part of the file.
    pub(super) fn section(&self, range: Range<u64>) -> impl Read + '_ {
        Section {
            reader: &self.reader,
            at: range.start,
            left: range.end - range.start,
        }
    }

    /// Returns the artifact with that tag; without one there must be one artifact only.
    pub fn find(self: &Arc<Self>, tag: Option<&str>) -> Result<Artifact, PackError> {
        let chosen = index::choose(&self.entries, tag)?;
        let bytes = read_verified(self.as_ref(), chosen, MAX_MANIFEST_BYTES)?;
        Artifact::open(Arc::clone(self) as Arc<dyn Blobs>, bytes)
    }

    /// Returns the tags.
    pub fn tags(&self) -> Vec<Tagged> {
        index::named(self.entries.clone())
    }

    /// Returns the signatures of an artifact.
    pub fn signatures_of(self: &Arc<Self>, subject: &Digest) -> Vec<SignatureCandidate> {
        let blobs = Arc::clone(self) as Arc<dyn Blobs>;
        referrers::signatures(&blobs, &self.entries, subject)
    }
}

/// Splits a path into a directory and a name in it.
pub(super) fn split(path: &Path) -> Option<(&Path, &Path)> {
    let (name, parent) = (path.file_name()?, path.parent()?);
    let here = parent.as_os_str().is_empty();
    let parent = if here { Path::new(".") } else { parent };
    Some((parent, Path::new(name)))
}

/// Notes where each blob is, the index, and whether the archive says what it is.
fn scan(reader: &Reader) -> Result<Scanned, PackError> {
    let at = Cell::new(0);
    let mut found = Scanned::default();
    archive::read(Counted { reader, at: &at }, LIMITS, |entry, content| {
        let begin = at.get();
        let ArchiveEntryKind::File { size, .. } = entry.kind else {
            found.end = begin;
            return Ok(());
        };
        let block = BLOCK as u64;
        found.end = begin + size.next_multiple_of(block);
        let name = entry.path.strip_prefix(BLOBS);
        let name = name.and_then(|rest| rest.strip_prefix('/'));
        if let Some(digest) = name.and_then(Digest::from_hex) {
            found.blobs.insert(digest, (begin, size));
        } else if entry.path == layout::MARKER {
            found.is_layout = true;
        } else if entry.path == index::INDEX {
            if size > index::MAX_INDEX_BYTES {
                let message = "the archive's index is too large";
                return Err(PackError::new(ErrorClass::LayerTooLarge, message));
            }
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes).map_err(archive::broken)?;
            found.index = Some((bytes, begin - block..found.end));
        }
        Ok(())
    })?;
    Ok(found)
}

impl Blobs for ArchiveFile {
    fn open(&self, digest: &Digest) -> Result<Box<dyn Read + '_>, PackError> {
        match self.blobs.get(digest) {
            Some((at, size)) => Ok(Box::new(self.section(*at..*at + *size))),
            None => Err(PackError::new(
                ErrorClass::MissingBlob,
                format!("the blob {digest} is not in the archive"),
            )
            .hint("the artifact is not complete; get it again")),
        }
    }
}

/// Reads from the beginning and knows how far it is.
struct Counted<'r> {
    reader: &'r Reader,
    at: &'r Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read_at(buffer, self.at.get())?;
        self.at.set(self.at.get() + count as u64);
        Ok(count)
    }
}

/// A part of the file.
struct Section<'r> {
    reader: &'r Reader,
    at: u64,
    left: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX);
        let wanted = wanted.min(buffer.len());
        let count = self.reader.read_at(&mut buffer[..wanted], self.at)?;
        self.at += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}
