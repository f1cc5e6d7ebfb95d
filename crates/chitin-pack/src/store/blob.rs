//! Blobs on their way into the store.

use super::{Adding, BLOBS, blob_path, unwritable};
use crate::artifact::Descriptor;
use crate::digest::{Digest, Hashing};
use crate::error::PackError;
use chitin_guard::{NewFile, Root};
use std::io::{self, Write};
use std::path::Path;

/// A blob that is being written. Dropped, it was never there.
#[derive(Debug)]
pub struct BlobWriter<'s> {
    root: &'s Root,
    /// Whoever sweeps must not take a file for abandoned that is being written.
    _adding: Adding,
    out: Hashing<NewFile>,
}

impl<'s> BlobWriter<'s> {
    pub(super) fn new(root: &'s Root, adding: Adding) -> Result<Self, PackError> {
        let file = root
            .begin_file(Path::new(BLOBS), 0o644)
            .map_err(unwritable)?;
        Ok(Self {
            root,
            _adding: adding,
            out: Hashing::new(file),
        })
    }

    /// Gives the blob its name; returns its digest and size. A blob that is there already is the same one.
    pub fn keep(self) -> Result<(Digest, u64), PackError> {
        let (file, digest, size) = self.out.finish();
        self.root
            .keep_file(file, &blob_path(&digest))
            .map_err(unwritable)?;
        Ok((digest, size))
    }

    /// Gives the blob its name if it is the one that was expected; any other was never there.
    pub fn keep_as(self, expected: &Descriptor) -> Result<(), PackError> {
        let (file, digest, size) = self.out.finish();
        crate::artifact::compare(expected, digest, size)?;
        self.root
            .keep_file(file, &blob_path(&digest))
            .map_err(unwritable)?;
        Ok(())
    }
}

impl Write for BlobWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
