//! Layers on their way into the store, piece by piece (rules P15, P20–P23, P28, P29).

use super::options::{BuildOptions, BuiltLayer};
use super::refusal;
use super::tree::LayerSource;
use crate::archive::{self, TarWriter};
use crate::artifact::Descriptor;
use crate::canonical;
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, ExitKind, PackError};
use crate::layer::{LayerKind, MB};
use crate::store::Store;
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// A JSON document may be written with any amount of white space; this much is read.
const MAX_DOCUMENT_BYTES: u64 = 16 * MB;

/// Sources are plain files by now: links were followed when they were looked at, and nothing may have changed since.
const PLAIN: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Refuse,
    max_bytes: u64::MAX,
    oversized: Oversized::Keep,
};

pub(super) fn too_large(kind: LayerKind, limit: u64) -> PackError {
    let message = format!(
        "the {} layer is larger than its limit of {limit} bytes",
        kind.name()
    );
    PackError::new(ErrorClass::LayerTooLarge, message)
        .hint("leave something out with `.staxignore`, or raise the limit")
}

/// Writes files into an archive layer.
pub(super) fn tar(
    store: &Store,
    root: &Root,
    kind: LayerKind,
    files: &[LayerSource],
    options: &BuildOptions,
) -> Result<BuiltLayer, PackError> {
    let limit = options.limit(kind);
    let bytes: u64 = files.iter().map(|file| file.fingerprint.size).sum();
    if bytes > limit {
        return Err(too_large(kind, limit));
    }
    let blob = store.begin_blob()?;
    let mut writer = TarWriter::new(Hashing::new(archive::compress(blob)));
    for file in files {
        let mut reader = root.open_reader(&file.place, &PLAIN).map_err(refusal::of)?;
        if reader.fingerprint != file.fingerprint {
            return Err(changed(&file.place));
        }
        let executable = reader.mode & 0o111 != 0;
        let size = reader.fingerprint.size;
        writer.file(&file.path, executable, size, &mut reader)?;
    }
    let (compressed, digest, size) = writer.finish()?.finish();
    if size > limit {
        return Err(too_large(kind, limit));
    }
    let blob = compressed.finish().map_err(unwritten)?;
    let (blob_digest, blob_size) = blob.keep()?;
    Ok(BuiltLayer {
        kind,
        descriptor: Descriptor::new(kind.media_type(), blob_digest, blob_size),
        tar: Some((digest, size)),
        files: files.len(),
        units: units(kind, files),
    })
}

/// Writes a layer that is one file.
pub(super) fn document(
    store: &Store,
    root: &Root,
    kind: LayerKind,
    file: &LayerSource,
    options: &BuildOptions,
) -> Result<BuiltLayer, PackError> {
    let limit = options.limit(kind);
    let policy = ReadPolicy {
        max_bytes: match kind.format() {
            crate::layer::Format::Raw => limit,
            _ => limit.max(MAX_DOCUMENT_BYTES),
        },
        oversized: Oversized::Refuse,
        ..PLAIN
    };
    let bytes = root.read(&file.place, &policy).map_err(refusal::of)?.bytes;
    if kind == LayerKind::Prompt {
        return put(store, kind, &bytes, 1, limit);
    }
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("`{}` is not JSON", file.place.display());
        PackError::new(ErrorClass::MalformedJson, message).caused_by(error)
    })?;
    if let Some(document) = crate::definition::DocumentKind::from_name(kind.name()) {
        crate::definition::check(document, &value)
            .map_err(|error| error.exiting(ExitKind::Local))?;
    }
    put(
        store,
        kind,
        canonical::to_string(&value).as_bytes(),
        1,
        limit,
    )
}

/// Writes a layer whose bytes are known.
pub(super) fn put(
    store: &Store,
    kind: LayerKind,
    bytes: &[u8],
    files: usize,
    limit: u64,
) -> Result<BuiltLayer, PackError> {
    if bytes.len() as u64 > limit {
        return Err(too_large(kind, limit));
    }
    Ok(BuiltLayer {
        kind,
        descriptor: store.put(kind.media_type(), bytes)?,
        tar: None,
        files,
        units: files,
    })
}

/// Counts what files make: a directory of skills holds as many as it has directories.
pub(super) fn units(kind: LayerKind, files: &[LayerSource]) -> usize {
    if kind != LayerKind::Skills {
        return files.len();
    }
    // Sorted by their bytes, the files of one skill stand together.
    let mut skills: Vec<&str> = files
        .iter()
        .filter_map(|file| file.path.split_once('/').map(|(skill, _)| skill))
        .collect();
    skills.dedup();
    skills.len()
}

fn changed(place: &Path) -> PackError {
    let message = format!("`{}` changed while it was packed", place.display());
    PackError::new(ErrorClass::Io, message)
        .hint("pack again when no other program writes to the directory")
}

fn unwritten(error: std::io::Error) -> PackError {
    PackError::new(ErrorClass::Io, "a layer cannot be written").caused_by(error)
}

/// Puts the empty document that stands for "nothing", and returns its descriptor.
pub(super) fn empty(store: &Store) -> Result<Descriptor, PackError> {
    let mut blob = store.begin_blob()?;
    blob.write_all(b"{}").map_err(unwritten)?;
    let (digest, size) = blob.keep()?;
    debug_assert_eq!((digest, size), (Digest::of(b"{}"), 2));
    Ok(Descriptor::empty())
}
