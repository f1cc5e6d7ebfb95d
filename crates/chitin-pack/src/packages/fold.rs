//! An agent and its packages as one artifact that needs no packages any more.

use super::contents::{Merged, MergedFile};
use crate::archive::{self, TarWriter};
use crate::artifact::{Artifact, Descriptor, Manifest};
use crate::canonical;
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use crate::store::Store;
use std::collections::HashMap;
use std::io;

/// Puts an artifact into the store that holds the merged layers. What packages do not touch keeps its bytes and its digest.
/// The result has no name there: hold [`Store::adding`] as long as it is needed.
pub fn fold(merged: &Merged, store: &Store) -> Result<Descriptor, PackError> {
    let _adding = store.adding()?;
    let agent = merged.agent();
    store.copy_in(agent)?;
    let mut layers = Vec::new();
    for kind in LayerKind::ALL {
        if kind == LayerKind::Packages {
            continue;
        }
        if let Some(layer) = layer(merged, agent, kind, store)? {
            layers.push(layer);
        }
    }
    store.put_manifest(&Manifest {
        layers,
        ..agent.manifest.clone()
    })
}

fn layer(
    merged: &Merged,
    agent: &Artifact,
    kind: LayerKind,
    store: &Store,
) -> Result<Option<Descriptor>, PackError> {
    let own = merged.sources().len() - 1;
    match kind.format() {
        Format::Tar => {
            let files = merged.files(kind);
            if files.iter().all(|file| file.source == own) {
                return Ok(agent.layer(kind).cloned());
            }
            archive_of(merged, kind, files, store).map(Some)
        }
        Format::Json => match merged.document(kind) {
            Some(document) => {
                let bytes = canonical::to_string(document).into_bytes();
                store.put(kind.media_type(), &bytes).map(Some)
            }
            None => Ok(agent.layer(kind).cloned()),
        },
        Format::Raw => Ok(agent.layer(kind).cloned()),
    }
}

/// Archives are read in the order in which they were written, which is not the order of the new one: contents wait in a
/// file that has no name.
fn archive_of(
    merged: &Merged,
    kind: LayerKind,
    files: &[MergedFile],
    store: &Store,
) -> Result<Descriptor, PackError> {
    let mut waiting = store.begin_waiting()?;
    let mut places = HashMap::new();
    merged.visit(kind, |source, entry, content| {
        let start = waiting.end();
        io::copy(content, &mut waiting).map_err(archive::broken)?;
        places.insert((source, entry.path.clone()), start);
        Ok(())
    })?;
    let mut sorted: Vec<(String, &MergedFile)> = files
        .iter()
        .enumerate()
        .map(|(at, file)| (place_of(kind, at, file), file))
        .collect();
    sorted.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
    let blob = store.begin_blob()?;
    let mut writer = TarWriter::new(archive::compress(blob));
    for (path, file) in sorted {
        let start = places.get(&(file.source, file.path.clone()));
        let start = start.ok_or_else(|| {
            let message = format!("`{}` went away while packages were merged", file.path);
            PackError::new(ErrorClass::Io, message)
        })?;
        let mut content = waiting.part(*start, file.size);
        writer.file(&path, file.executable, file.size, &mut content)?;
    }
    let blob = writer.finish()?.finish().map_err(|error| {
        PackError::new(ErrorClass::Io, "a layer cannot be written").caused_by(error)
    })?;
    let (digest, size) = blob.keep()?;
    Ok(Descriptor::new(kind.media_type(), digest, size))
}

/// Rules are read in the order of their paths, and merged ones have an order of their own (rule P51): a directory in front
/// keeps it, and leaves the file's name, which may be the rule's id, alone.
fn place_of(kind: LayerKind, at: usize, file: &MergedFile) -> String {
    match kind {
        LayerKind::Rules => format!("{at:05}/{}", file.path),
        _ => file.path.clone(),
    }
}
