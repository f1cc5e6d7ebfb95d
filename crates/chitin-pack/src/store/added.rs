//! A signature is put where the artifact is: into a directory or an archive that others may have made. All else in it stays
//! as it is, and what cannot be changed is not changed by half.

use super::archive_file::{ArchiveFile, split};
use super::index::{self, INDEX, INDEX_LOCK};
use super::layout::{self, ImageLayout};
use super::{BLOBS, blob_path, unreadable, unwritable};
use crate::archive::TarWriter;
use crate::artifact::Descriptor;
use crate::error::{ErrorClass, PackError};
use crate::signatures::Signature;
use chitin_guard::{ClaimKind, Expected, ReadPolicy, Root, WriteOutcome, commit_all};
use std::path::{Path, PathBuf};

/// The bits that let anybody write.
const WRITABLE: u32 = 0o222;

impl ImageLayout {
    /// Puts a signature of an artifact beside it. Returns the signature's manifest.
    pub fn add_signature(&self, signature: &Signature) -> Result<Descriptor, PackError> {
        let root = &self.root;
        for place in ["", BLOBS, INDEX] {
            if is_read_only(root, Path::new(place)) {
                return Err(read_only(root.path()));
            }
        }
        let entry = signature.entry();
        let claim = root.claim(Path::new(self.lock()), ClaimKind::Alone);
        let _alone = claim.map_err(|error| elsewhere(unwritable(error)))?;
        let index = match root.read(
            Path::new(INDEX),
            &ReadPolicy::inside(index::MAX_INDEX_BYTES),
        ) {
            Ok(read) => read.bytes,
            // A manifest beside its blobs has none.
            Err(error) if error.is_missing() => index::to_text(Vec::new()).into_bytes(),
            Err(error) => return Err(unreadable(error)),
        };
        let Some(index) = index::with_referrer(&index, &entry)? else {
            return Ok(entry);
        };
        let mut new = Vec::new();
        let added = self.add_blobs(signature, &mut new).and_then(|()| {
            let replaced = root.replace(Path::new(INDEX), &index);
            replaced.map_err(unwritable)
        });
        if let Err(error) = added {
            for blob in new {
                let _ = root.remove_file(&blob);
            }
            return Err(elsewhere(error));
        }
        Ok(entry)
    }

    /// A file that is there, so that none stays behind.
    fn lock(&self) -> &'static str {
        let names = [INDEX_LOCK, layout::MARKER];
        let is_there = |name: &&str| self.root.kind(Path::new(name)).is_some();
        names.into_iter().find(is_there).unwrap_or(layout::MANIFEST)
    }

    /// Writes the documents of a signature; `new` is told which were not there.
    fn add_blobs(&self, signature: &Signature, new: &mut Vec<PathBuf>) -> Result<(), PackError> {
        self.root
            .make_directories(Path::new(BLOBS))
            .map_err(unwritable)?;
        for (digest, bytes) in signature.blobs() {
            let path = blob_path(&digest);
            let written = self.root.write_new(&path, &bytes).map_err(unwritable)?;
            if written == WriteOutcome::Created {
                new.push(path);
            }
        }
        Ok(())
    }
}

impl ArchiveFile {
    /// Puts a signature of an artifact beside it: the archive is written anew and takes the place of the old one, if nobody
    /// changed that meanwhile. Returns the signature's manifest.
    pub fn add_signature(&self, signature: &Signature) -> Result<Descriptor, PackError> {
        let missing = || {
            let message = format!("there is no file at `{}`", self.path.display());
            PackError::new(ErrorClass::MissingManifest, message)
        };
        let (parent, name) = split(&self.path).ok_or_else(missing)?;
        if self.reader.mode & WRITABLE == 0 {
            return Err(read_only(&self.path));
        }
        let entry = signature.entry();
        let (index, at) = &self.index;
        let Some(index) = index::with_referrer(index, &entry)? else {
            return Ok(entry);
        };
        let parent = Root::open(parent).map_err(unreadable)?;
        let begun = parent.begin_file(Path::new(""), 0o600);
        let mut tar = TarWriter::new(begun.map_err(|error| elsewhere(unwritable(error)))?);
        tar.raw(&mut self.section(0..at.start), "")?;
        tar.file(INDEX, false, index.len() as u64, &mut &*index)?;
        tar.raw(&mut self.section(at.end..self.end), &format!("{BLOBS}/"))?;
        for (digest, bytes) in signature.blobs() {
            if !self.blobs.contains_key(&digest) {
                let path = format!("{BLOBS}/{}", digest.hex());
                tar.file(&path, false, bytes.len() as u64, &mut &*bytes)?;
            }
        }
        let expected = Expected::Unchanged(self.reader.fingerprint);
        parent
            .prepare_file_exactly(tar.finish()?, name, expected, self.reader.mode)
            .and_then(|change| commit_all(vec![change]))
            .map_err(|error| elsewhere(unwritable(error)))?;
        Ok(entry)
    }
}

/// Tells whether a file or directory is there and closed to everybody's writing, that of root included.
fn is_read_only(root: &Root, path: &Path) -> bool {
    root.permissions(path)
        .is_some_and(|mode| mode & WRITABLE == 0)
}

fn read_only(path: &Path) -> PackError {
    let message = format!("`{}` is read-only", path.display());
    elsewhere(PackError::new(ErrorClass::Io, message))
}

/// Says what to do where nothing can be written.
fn elsewhere(error: PackError) -> PackError {
    error.hint(
        "nothing was changed; sign a copy that can be written, or the artifact in the local store",
    )
}
