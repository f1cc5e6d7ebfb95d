//! Artifacts leave the store: as an OCI image layout in a directory, as the same in one deterministic archive, or as a
//! manifest beside its blobs. What is written appears whole, or not at all.

use super::{BLOBS, copy, index, layout, unreadable, unwritable};
use crate::archive::TarWriter;
use crate::artifact::{Artifact, Blobs, Descriptor, compare};
use crate::compat::{ANNOTATION_REF_NAME, OCI_EMPTY, OCI_MANIFEST};
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, PackError};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, Root, WriteOutcome};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What is to be written.
#[derive(Debug)]
pub struct Export<'a> {
    /// The artifact.
    pub artifact: &'a Artifact,
    /// Its signatures, and whatever else refers to it.
    pub referrers: Vec<&'a Artifact>,
    /// The tag that it gets.
    pub tag: Option<&'a str>,
}

/// Where the bytes of a blob are.
enum Source<'a> {
    Bytes(&'a [u8]),
    Blob(&'a dyn Blobs, &'a Descriptor),
}

impl<'a> Export<'a> {
    fn artifacts(&self) -> impl Iterator<Item = &'a Artifact> {
        let referrers = self.referrers.clone();
        [self.artifact].into_iter().chain(referrers)
    }

    /// Every blob once, by digest.
    fn blobs(&self) -> BTreeMap<Digest, Source<'a>> {
        let mut blobs = BTreeMap::new();
        for artifact in self.artifacts() {
            blobs.extend(contents(artifact));
            blobs.insert(artifact.digest, Source::Bytes(&artifact.manifest_bytes));
        }
        blobs
    }

    /// The index: the artifact under its tag, and what refers to it without one.
    fn index(&self) -> String {
        let entries = self.artifacts().enumerate().map(|(at, artifact)| {
            let size = artifact.manifest_bytes.len() as u64;
            let mut entry = Descriptor::new(OCI_MANIFEST, artifact.digest, size);
            entry.artifact_type = Some(artifact.manifest.artifact_type.clone());
            if let (0, Some(tag)) = (at, self.tag) {
                entry
                    .annotations
                    .insert(ANNOTATION_REF_NAME.to_owned(), tag.to_owned());
            }
            entry
        });
        index::to_text(entries.collect())
    }
}

/// The config and the layers of an artifact.
fn contents(artifact: &Artifact) -> BTreeMap<Digest, Source<'_>> {
    let manifest = &artifact.manifest;
    let empty = Descriptor::empty().digest;
    let mut blobs: BTreeMap<_, _> = manifest
        .layers
        .iter()
        .chain([&manifest.config])
        .filter(|descriptor| descriptor.media_type != OCI_EMPTY)
        .map(|descriptor| {
            let source = Source::Blob(artifact.blobs().as_ref(), descriptor);
            (descriptor.digest, source)
        })
        .collect();
    if copy::names(&artifact.manifest_bytes, &empty) {
        blobs.insert(empty, Source::Bytes(copy::EMPTY));
    }
    blobs
}

impl Source<'_> {
    fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Blob(_, descriptor) => descriptor.size,
        }
    }

    /// Hands the bytes out and fails when they are not those that were promised.
    fn hand_out(
        &self,
        take: impl FnOnce(&mut dyn Read) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        match self {
            Self::Bytes(bytes) => take(&mut &**bytes),
            Self::Blob(blobs, descriptor) => {
                let source = blobs.open(&descriptor.digest)?;
                let mut hashed = HashedRead {
                    source: source.take(descriptor.size.saturating_add(1)),
                    hashing: Hashing::new(io::sink()),
                };
                take(&mut hashed)?;
                let (_, digest, size) = hashed.hashing.finish();
                compare(descriptor, digest, size)
            }
        }
    }
}

struct HashedRead<R> {
    source: R,
    hashing: Hashing<io::Sink>,
}

impl<R: Read> Read for HashedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.hashing.write_all(&buffer[..count])?;
        Ok(count)
    }
}

/// Writes an OCI image layout into a directory that is not there yet.
pub fn write_layout(target: &Path, export: &Export<'_>) -> Result<(), PackError> {
    let directory = Fresh::new(target)?;
    directory.blobs(&export.blobs())?;
    directory.file(layout::MARKER, layout::MARKER_TEXT)?;
    directory.file(index::INDEX, export.index().as_bytes())?;
    directory.keep()
}

/// Writes the manifest beside its blobs into a directory that is not there yet; returns how many blobs there are.
pub fn extract(target: &Path, artifact: &Artifact) -> Result<usize, PackError> {
    let directory = Fresh::new(target)?;
    let blobs = contents(artifact);
    directory.blobs(&blobs)?;
    directory.file(layout::MANIFEST, &artifact.manifest_bytes)?;
    directory.keep()?;
    Ok(blobs.len())
}

/// Writes an OCI image layout as one archive that is not there yet. The same artifact gives the same bytes.
pub fn write_archive(target: &Path, export: &Export<'_>) -> Result<(), PackError> {
    let (parent, name) = place(target)?;
    let file = parent
        .begin_file(Path::new(""), 0o644)
        .map_err(unwritable)?;
    let mut tar = TarWriter::new(file);
    for (digest, source) in export.blobs() {
        let path = format!("{BLOBS}/{}", digest.hex());
        source.hand_out(|content| tar.file(&path, false, source.size(), content))?;
    }
    let index = export.index();
    let mut add = |path: &str, bytes: &[u8]| {
        let size = bytes.len() as u64;
        tar.file(path, false, size, &mut &*bytes)
    };
    add(index::INDEX, index.as_bytes())?;
    add(layout::MARKER, layout::MARKER_TEXT)?;
    let file = tar.finish()?;
    match parent.keep_file(file, &name).map_err(unwritable)? {
        WriteOutcome::Created => Ok(()),
        WriteOutcome::AlreadyThere => Err(taken(target)),
    }
}

/// Opens the directory that something is to stand in.
fn place(target: &Path) -> Result<(Root, PathBuf), PackError> {
    let Some(name) = target.file_name() else {
        let message = format!("`{}` names no file or directory", target.display());
        return Err(PackError::new(ErrorClass::Usage, message));
    };
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (root, _) = Root::create(parent).map_err(unwritable)?;
    if root.kind(Path::new(name)).is_some() {
        return Err(taken(target));
    }
    Ok((root, PathBuf::from(name)))
}

fn taken(target: &Path) -> PackError {
    let message = format!("`{}` is there already", target.display());
    PackError::new(ErrorClass::Conflict, message).hint("name something that is not there yet")
}

/// A directory under another name until it is whole. Dropped, it was never there.
struct Fresh<'t> {
    parent: Root,
    root: Root,
    temporary: PathBuf,
    name: PathBuf,
    target: &'t Path,
}

impl<'t> Fresh<'t> {
    fn new(target: &'t Path) -> Result<Self, PackError> {
        let (parent, name) = place(target)?;
        for attempt in 0_u32.. {
            let process = rustix::process::getpid().as_raw_nonzero();
            let temporary = PathBuf::from(format!(".{}.{process}-{attempt}.tmp", name.display()));
            if parent.kind(&temporary).is_some() {
                continue;
            }
            parent
                .make_directories(&temporary.join(BLOBS))
                .map_err(unwritable)?;
            let root = parent.enter(&temporary).map_err(unwritable)?;
            return Ok(Self {
                parent,
                root,
                temporary,
                name,
                target,
            });
        }
        Err(taken(target))
    }

    fn blobs(&self, blobs: &BTreeMap<Digest, Source<'_>>) -> Result<(), PackError> {
        for (digest, source) in blobs {
            let begun = self.root.begin_file(Path::new(BLOBS), 0o644);
            let mut file = begun.map_err(unwritable)?;
            source.hand_out(|content| match io::copy(content, &mut file) {
                Ok(_) => Ok(()),
                Err(error) => {
                    let message = format!("the blob {digest} cannot be written");
                    Err(PackError::new(ErrorClass::Io, message).caused_by(error))
                }
            })?;
            self.root
                .keep_file(file, &super::blob_path(digest))
                .map_err(unwritable)?;
        }
        Ok(())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> Result<(), PackError> {
        let written = self.root.write_new(Path::new(name), bytes);
        written.map(|_| ()).map_err(unwritable)
    }

    fn keep(self) -> Result<(), PackError> {
        let moved = self.parent.rename_new(&self.temporary, &self.name);
        match moved.map_err(unwritable)? {
            WriteOutcome::Created => Ok(()),
            WriteOutcome::AlreadyThere => Err(taken(self.target)),
        }
    }

    /// Removes what was written so far.
    fn discard(&self) -> Result<(), PackError> {
        for directory in [Path::new(BLOBS), Path::new("")] {
            let root = &self.root;
            let names = root.list_with_leftovers(directory, &LinkPolicy::Refuse, usize::MAX);
            for entry in names.map_err(unreadable)? {
                if entry.kind != DirectoryEntryKind::Directory {
                    let path = directory.join(entry.name);
                    self.root.remove_file(&path).map_err(unwritable)?;
                }
            }
        }
        for directory in [BLOBS, "blobs"] {
            let removed = self.root.remove_empty_directory(Path::new(directory));
            removed.map_err(unwritable)?;
        }
        let removed = self.parent.remove_empty_directory(&self.temporary);
        removed.map_err(unwritable)
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        // Once it has its name it is no longer here to be removed.
        if self.parent.kind(&self.temporary).is_some() {
            let _ = self.discard();
        }
    }
}
