//! Contents by their digest: `objects/ab/cdef…`, compressed where that saves room.

use crate::entry::ContentId;
use crate::error::UndoError;
use chitin_guard::{
    Fingerprint, Hardlinks, LinkPolicy, NewFile, Oversized, ReadError, ReadPolicy, Reader, Root,
    WriteOutcome,
};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Where contents lie beneath the store.
pub(crate) const DIRECTORY: &str = "objects";
/// Stands in the store while contents are written that no record names yet.
pub(crate) const UNFINISHED: &str = "unfinished";
/// The first byte of a file with a content as it is.
const PLAIN: u8 = 0;
/// The first byte of a file with a compressed content.
const COMPRESSED: u8 = 1;
/// Shorter contents are not compressed.
const MIN_COMPRESSED: usize = 512;
/// Contents up to this size are read into memory; larger ones pass through.
const MAX_IN_MEMORY: u64 = 1 << 20;
/// So many contents are written to the disk one by one; of more, all at once is quicker.
const MAX_SINGLE_SYNCS: usize = 16;
/// How many files a directory of contents has at most.
const MAX_NAMES: usize = 4_000_000;

/// Writes contents, and knows how much room is left for them.
pub(crate) struct ContentWriter<'a> {
    store: &'a Root,
    /// How many bytes more may be stored.
    pub(crate) room: u64,
    /// How many bytes were stored.
    pub(crate) written: u64,
    /// How many contents were stored.
    count: usize,
}

/// What was read of a file.
pub(crate) enum Taken {
    /// Its content is stored.
    Stored { id: ContentId, size: u64 },
    /// There is no room for it.
    NoRoom,
}

impl<'a> ContentWriter<'a> {
    pub(crate) const fn new(store: &'a Root, room: u64) -> Self {
        Self {
            store,
            room,
            written: 0,
            count: 0,
        }
    }

    /// Stores the content of an open file.
    pub(crate) fn take(&mut self, file: &mut Reader, limit: u64) -> Result<Taken, UndoError> {
        let failed = |source| UndoError::Io {
            path: self.store.path().join(DIRECTORY),
            source,
        };
        if file.fingerprint.size > MAX_IN_MEMORY {
            return self.take_large(file, limit);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(file.fingerprint.size).unwrap_or(0) + 1);
        file.take(MAX_IN_MEMORY * 2)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let id = ContentId::of(&bytes);
        let size = bytes.len() as u64;
        if self.store.fingerprint(&place(id)).is_some() {
            return Ok(Taken::Stored { id, size });
        }
        if size > self.room {
            return Ok(Taken::NoRoom);
        }
        let mut new = self.begin()?;
        let packed = if bytes.len() < MIN_COMPRESSED {
            None
        } else {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).map_err(failed)?;
            let packed = encoder.finish().map_err(failed)?;
            (packed.len() < bytes.len()).then_some(packed)
        };
        let mut file = Vec::with_capacity(bytes.len() + 1);
        file.push(if packed.is_some() { COMPRESSED } else { PLAIN });
        file.extend_from_slice(packed.as_deref().unwrap_or(&bytes));
        new.write_all(&file).map_err(failed)?;
        self.keep(new, id, file.len() as u64)?;
        Ok(Taken::Stored { id, size })
    }

    /// Does the same for a file that is not held in memory.
    fn take_large(&mut self, file: &mut Reader, limit: u64) -> Result<Taken, UndoError> {
        let failed = |source| UndoError::Io {
            path: self.store.path().join(DIRECTORY),
            source,
        };
        // A file may grow while it is read.
        let limit = limit.min(self.room);
        if file.fingerprint.size > limit {
            return Ok(Taken::NoRoom);
        }
        let mut new = self.begin()?;
        new.write_all(&[COMPRESSED]).map_err(failed)?;
        let mut hasher = blake3::Hasher::new();
        let mut encoder = ZlibEncoder::new(&mut new, Compression::fast());
        let mut buffer = vec![0; 64 << 10];
        let mut size = 0_u64;
        loop {
            let count = file.read(&mut buffer).map_err(failed)?;
            if count == 0 {
                break;
            }
            size += count as u64;
            if size > limit {
                return Ok(Taken::NoRoom);
            }
            hasher.update(&buffer[..count]);
            encoder.write_all(&buffer[..count]).map_err(failed)?;
        }
        encoder.finish().map_err(failed)?;
        let id = ContentId(*hasher.finalize().as_bytes());
        let stored = new.fingerprint().map_err(failed)?.size;
        if self.store.fingerprint(&place(id)).is_none() {
            self.keep(new, id, stored)?;
        }
        Ok(Taken::Stored { id, size })
    }

    fn begin(&mut self) -> Result<NewFile, UndoError> {
        if self.count == 0 {
            Root::create_private(&self.store.path().join(DIRECTORY))?;
            // From here until a record names them, a crash leaves contents that nobody needs.
            let mark = self.store.begin_file(Path::new(""), 0o600)?;
            self.store.keep_file_unsynced(mark, Path::new(UNFINISHED))?;
        }
        Ok(self.store.begin_file(Path::new(DIRECTORY), 0o600)?)
    }

    fn keep(&mut self, new: NewFile, id: ContentId, bytes: u64) -> Result<(), UndoError> {
        let place = place(id);
        if let Some(shelf) = place.parent()
            && self.store.kind(shelf).is_none()
        {
            Root::create_private(&self.store.path().join(shelf))?;
        }
        if self.count < MAX_SINGLE_SYNCS {
            new.file().sync_all().map_err(|source| UndoError::Io {
                path: self.store.path().join(&place),
                source,
            })?;
        }
        if self.store.keep_file_unsynced(new, &place)? == WriteOutcome::Created {
            self.count += 1;
            self.written += bytes;
            self.room = self.room.saturating_sub(bytes);
        }
        Ok(())
    }

    /// Waits until the disk has all contents. Only then may a record name them.
    pub(crate) fn sync(&self) -> Result<(), UndoError> {
        if self.count > MAX_SINGLE_SYNCS {
            self.store.sync_file_system()?;
        }
        Ok(())
    }

    /// Tells whether anything was stored.
    pub(crate) const fn has_written(&self) -> bool {
        self.count > 0
    }
}

/// Reads what follows the first byte of a file with a content; of an odd file, as it is.
pub(crate) fn decoded<'r>(kind: u8, file: impl Read + 'r) -> Box<dyn Read + 'r> {
    if kind == COMPRESSED {
        Box::new(ZlibDecoder::new(file))
    } else {
        Box::new(file)
    }
}

/// Returns where a content lies.
fn place(id: ContentId) -> PathBuf {
    let name = id.to_string();
    Path::new(DIRECTORY).join(&name[..2]).join(&name[2..])
}

/// Tells whether a content is stored.
pub(crate) fn is_there(store: &Root, id: ContentId) -> bool {
    store.fingerprint(&place(id)).is_some()
}

/// Reads a content of at most `limit` bytes; nothing if it is larger.
pub(crate) fn read(
    store: &Root,
    id: ContentId,
    size: u64,
    limit: u64,
) -> Result<Option<Vec<u8>>, UndoError> {
    if size > limit {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    copy(store, id, size, &mut bytes)?;
    Ok(Some(bytes))
}

/// Writes a content of a known size to `out` and fails unless it is the one that was stored.
pub(crate) fn copy(
    store: &Root,
    id: ContentId,
    size: u64,
    out: &mut impl Write,
) -> Result<(), UndoError> {
    let damaged = |_| UndoError::Damaged { id };
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Refuse,
        max_bytes: u64::MAX,
        oversized: Oversized::Keep,
    };
    let mut file = match store.open_reader(&place(id), &policy) {
        Ok(file) => file,
        Err(ReadError::Missing { .. }) => return Err(UndoError::Damaged { id }),
        Err(error) => return Err(error.into()),
    };
    let mut kind = [0];
    file.read_exact(&mut kind).map_err(damaged)?;
    let mut source: Box<dyn Read> = match kind[0] {
        PLAIN => Box::new(file),
        COMPRESSED => Box::new(ZlibDecoder::new(file)),
        _ => return Err(UndoError::Damaged { id }),
    };
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    let mut copied = 0_u64;
    loop {
        let count = source.read(&mut buffer).map_err(damaged)?;
        copied += count as u64;
        if count == 0 || copied > size {
            break;
        }
        hasher.update(&buffer[..count]);
        out.write_all(&buffer[..count])
            .map_err(|source| UndoError::Io {
                path: store.path().join(place(id)),
                source,
            })?;
    }
    if copied != size || *hasher.finalize().as_bytes() != id.0 {
        return Err(UndoError::Damaged { id });
    }
    Ok(())
}

/// Returns how much room each content takes.
pub(crate) fn sizes(store: &Root) -> Result<HashMap<ContentId, u64>, UndoError> {
    let mut sizes = HashMap::new();
    each(store, |_, id, bytes| {
        if let Some(id) = id {
            sizes.insert(id, bytes);
        }
        Ok(())
    })?;
    Ok(sizes)
}

/// Removes what nobody needs and returns how many bytes the rest takes.
pub(crate) fn sweep(store: &Root, needed: &HashSet<ContentId>) -> Result<u64, UndoError> {
    let mut kept = 0;
    each(store, |path, id, bytes| {
        if id.is_some_and(|id| needed.contains(&id)) {
            kept += bytes;
            return Ok(());
        }
        Ok(store.remove_file(path)?)
    })?;
    Ok(kept)
}

/// Visits every file with a content, and what unfinished writes left.
fn each(
    store: &Root,
    mut visit: impl FnMut(&Path, Option<ContentId>, u64) -> Result<(), UndoError>,
) -> Result<(), UndoError> {
    let shelves = match store.survey(Path::new(DIRECTORY), MAX_NAMES) {
        Ok(shelves) => shelves,
        Err(ReadError::Missing { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for shelf in shelves {
        let path = Path::new(DIRECTORY).join(&shelf.name);
        if shelf.kind != chitin_guard::DirectoryEntryKind::Directory {
            visit(&path, None, 0)?;
            continue;
        }
        for file in store.survey(&path, MAX_NAMES)? {
            let name = format!("{}{}", shelf.name.display(), file.name.display());
            let mut digest = [0; 32];
            let id = hex::decode_to_slice(name, &mut digest)
                .ok()
                .map(|()| ContentId(digest));
            visit(&path.join(&file.name), id, file.fingerprint.size)?;
        }
    }
    Ok(())
}

/// Returns the digest and the size of a file that is open, without keeping anything.
pub(crate) fn digest(file: &mut Reader, limit: u64) -> io::Result<Option<(ContentId, u64)>> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    let mut size = 0_u64;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(Some((ContentId(*hasher.finalize().as_bytes()), size)));
        }
        size += count as u64;
        if size > limit {
            return Ok(None);
        }
        hasher.update(&buffer[..count]);
    }
}

/// Tells whether a file that was read is still the one that was opened.
pub(crate) fn is_same(root: &Root, path: &Path, opened: &Fingerprint) -> bool {
    root.fingerprint(path).is_some_and(|now| now == *opened)
}
