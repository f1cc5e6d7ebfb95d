//! Blobs on their way into the store.

use super::{Adding, BLOBS, Store, blob_path, unwritable};
use crate::artifact::Descriptor;
use crate::digest::{Digest, Hashing};
use crate::error::PackError;
use chitin_guard::NewFile;
use std::io::{self, Write};
use std::path::Path;

/// A blob that is being written. Dropped, it was never there.
#[derive(Debug)]
pub struct BlobWriter<'s> {
    store: &'s Store,
    /// Whoever sweeps must not take a file for abandoned that is being written.
    _adding: Adding,
    out: Hashing<NewFile>,
}

impl<'s> BlobWriter<'s> {
    pub(super) fn new(store: &'s Store, adding: Adding) -> Result<Self, PackError> {
        let file = store
            .root
            .begin_file(Path::new(BLOBS), 0o644)
            .map_err(unwritable)?;
        Ok(Self {
            store,
            _adding: adding,
            out: Hashing::new(file),
        })
    }

    /// Gives the blob its name; returns its digest and size. What stands under the name gives way: it is the same, or damaged.
    pub fn keep(self) -> Result<(Digest, u64), PackError> {
        let (file, digest, size) = self.out.finish();
        keep(self.store, file, digest)?;
        Ok((digest, size))
    }

    /// Gives the blob its name if it is the one that was expected; any other was never there.
    pub fn keep_as(self, expected: &Descriptor) -> Result<(), PackError> {
        let (file, digest, size) = self.out.finish();
        crate::artifact::compare(expected, digest, size)?;
        keep(self.store, file, digest)
    }
}

/// Gives a file the name of a blob whose bytes it holds.
pub(super) fn keep(store: &Store, file: NewFile, digest: Digest) -> Result<(), PackError> {
    store
        .root
        .keep_file_over(file, &blob_path(&digest))
        .map_err(unwritable)?;
    store.saw_whole(digest);
    Ok(())
}

impl Write for BlobWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
