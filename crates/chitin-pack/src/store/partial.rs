//! Blobs that come in over several tries: what was received stays under `partial/` until the rest is there.

use super::{BLOB_POLICY, Store, blob, blob_path, unreadable, unwritable};
use crate::artifact::Descriptor;
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, PackError};
use chitin_guard::{GrowingFile, NewFile, Reader};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const PARTIAL: &str = "partial";

/// A blob of known digest and size, some of which may be there already. Dropped, what was written stays for the next try.
#[derive(Debug)]
pub struct PartialBlob {
    store: Arc<Store>,
    wanted: Descriptor,
    place: Place,
    seen: Hashing<io::Sink>,
    length: u64,
}

/// Where the bytes go.
#[derive(Debug)]
enum Place {
    /// Under the blob's own name, to be continued.
    Shared(GrowingFile),
    /// Somebody else is getting the same blob: a file that goes when it is dropped.
    Private(NewFile),
}

impl Place {
    const fn file(&self) -> &File {
        match self {
            Self::Shared(growing) => growing.file(),
            Self::Private(new) => new.file(),
        }
    }
}

impl Store {
    /// Opens what was received of a blob so far. It is read once: its digest goes on from there.
    pub fn resume_blob(self: &Arc<Self>, wanted: &Descriptor) -> Result<PartialBlob, PackError> {
        self.root
            .make_directories(Path::new(PARTIAL))
            .map_err(unwritable)?;
        let growing = self.root.grow_file(&partial_path(&wanted.digest), 0o644);
        let place = match growing.map_err(unwritable)? {
            Some(growing) => Place::Shared(growing),
            None => Place::Private(
                self.root
                    .begin_file(Path::new(PARTIAL), 0o644)
                    .map_err(unwritable)?,
            ),
        };
        let mut partial = PartialBlob {
            store: Arc::clone(self),
            wanted: wanted.clone(),
            place,
            seen: Hashing::new(io::sink()),
            length: 0,
        };
        partial.catch_up().map_err(|error| failed(wanted, error))?;
        Ok(partial)
    }

    /// Opens a blob to read it from an offset.
    pub fn reader_at(&self, digest: &Digest, offset: u64) -> Result<Reader, PackError> {
        let missing = || {
            let message = format!("the blob {digest} is not there");
            PackError::new(ErrorClass::MissingBlob, message)
        };
        let mut reader = match self.root.open_reader(&blob_path(digest), &BLOB_POLICY) {
            Ok(reader) => reader,
            Err(error) if error.is_missing() => return Err(missing()),
            Err(error) => return Err(unreadable(error)),
        };
        reader.seek(SeekFrom::Start(offset)).map_err(|error| {
            let message = format!("the blob {digest} cannot be read");
            PackError::new(ErrorClass::Io, message).caused_by(error)
        })?;
        Ok(reader)
    }
}

impl PartialBlob {
    /// Returns how many bytes are there.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Forgets what is there and begins again.
    pub fn restart(&mut self) -> Result<(), PackError> {
        self.empty().map_err(|error| failed(&self.wanted, error))
    }

    /// Adds bytes at the end. More than the blob is to have are refused.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), PackError> {
        if self.length + bytes.len() as u64 > self.wanted.size {
            let message = format!(
                "the blob {} is longer than the {} bytes that its manifest says",
                self.wanted.digest, self.wanted.size
            );
            return Err(PackError::new(ErrorClass::SizeMismatch, message));
        }
        self.place
            .file()
            .write_all(bytes)
            .and_then(|()| self.seen.write_all(bytes))
            .map_err(|error| failed(&self.wanted, error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Gives the blob its name, if it is what its descriptor says; else it is thrown away.
    pub fn keep(self) -> Result<(), PackError> {
        let (_, digest, size) = self.seen.finish();
        if digest != self.wanted.digest || size != self.wanted.size {
            if let Place::Shared(growing) = self.place {
                growing.discard();
            }
            let message = format!(
                "a blob is not what its name says: expected {} of {} bytes, received {digest} of {size} bytes",
                self.wanted.digest, self.wanted.size
            );
            return Err(PackError::new(ErrorClass::DigestMismatch, message));
        }
        let store = &self.store;
        match self.place {
            Place::Shared(growing) => {
                let kept = store.root.keep_grown(&growing, &blob_path(&digest));
                kept.map_err(unwritable)?;
                store.saw_whole(digest);
                Ok(())
            }
            Place::Private(new) => blob::keep(store, new, digest),
        }
    }

    /// Throws away what is there.
    pub fn discard(self) {
        match self.place {
            Place::Shared(growing) => growing.discard(),
            Place::Private(_) => {}
        }
    }

    fn catch_up(&mut self) -> io::Result<()> {
        if self.place.file().metadata()?.len() > self.wanted.size {
            return self.empty();
        }
        let mut file = self.place.file();
        file.seek(SeekFrom::Start(0))?;
        let limited = &mut file.take(self.wanted.size);
        self.length = io::copy(limited, &mut self.seen)?;
        Ok(())
    }

    fn empty(&mut self) -> io::Result<()> {
        let mut file = self.place.file();
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        self.seen = Hashing::new(io::sink());
        self.length = 0;
        Ok(())
    }
}

fn partial_path(digest: &Digest) -> PathBuf {
    Path::new(PARTIAL).join(digest.hex())
}

fn failed(wanted: &Descriptor, error: io::Error) -> PackError {
    let message = format!("what was received of {} cannot be kept", wanted.digest);
    PackError::new(ErrorClass::Io, message).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn store() -> (TempDir, Arc<Store>) {
        let directory = TempDir::new().unwrap();
        let store = Store::create(&directory.path().join("oci")).unwrap();
        (directory, Arc::new(store))
    }

    #[test]
    fn what_was_received_is_continued_by_the_next_one() {
        let (_directory, store) = store();
        let wanted = Descriptor::of("text/plain", b"harbour pilot");
        let mut first = store.resume_blob(&wanted).unwrap();
        first.append(b"harbour ").unwrap();
        let beside = store.resume_blob(&wanted).unwrap();
        assert_eq!(beside.length(), 0, "two never write to one file");
        drop((first, beside));

        let mut second = store.resume_blob(&wanted).unwrap();
        assert_eq!(second.length(), 8);
        second.append(b"pilot").unwrap();
        assert!(!store.has(&wanted));
        second.keep().unwrap();
        assert!(store.has(&wanted));
        let mut text = String::new();
        let mut rest = store.reader_at(&wanted.digest, 8).unwrap();
        rest.read_to_string(&mut text).unwrap();
        assert_eq!(text, "pilot");
    }

    #[test]
    fn wrong_bytes_never_get_the_name_and_do_not_stay() {
        let (_directory, store) = store();
        let wanted = Descriptor::of("text/plain", b"harbour pilot");
        let mut wrong = store.resume_blob(&wanted).unwrap();
        wrong.append(b"harbour pirat").unwrap();
        let longer = wrong.append(b"e").unwrap_err();
        assert_eq!(longer.class(), ErrorClass::SizeMismatch);
        let error = wrong.keep().unwrap_err();
        assert_eq!(error.class(), ErrorClass::DigestMismatch);
        assert!(!store.has(&wanted));
        assert_eq!(store.resume_blob(&wanted).unwrap().length(), 0);
    }

    #[test]
    fn a_damaged_blob_is_healed_by_getting_it_again() {
        let (directory, store) = store();
        let wanted = store.put("text/plain", b"harbour pilot").unwrap();
        let path = directory.path().join("oci").join(blob_path(&wanted.digest));
        let damaged = rustix::fs::open(&path, rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty());
        rustix::fs::ftruncate(damaged.unwrap(), 3).unwrap();
        assert!(!store.has(&wanted));
        let mut again = store.resume_blob(&wanted).unwrap();
        again.append(b"harbour pilot").unwrap();
        again.keep().unwrap();
        assert!(store.has(&wanted));
    }
}
