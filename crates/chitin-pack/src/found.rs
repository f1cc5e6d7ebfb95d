//! What was located, opened: the artifact, its signatures, and the name that a policy knows it by.

use crate::artifact::Artifact;
use crate::error::{ErrorClass, PackError};
use crate::locate::{LocatedArtifact, find_stored};
use crate::reference::Reference;
use crate::signatures::SignatureCandidate;
use crate::store::{ArchiveFile, ImageLayout, Store};
use std::path::Path;
use std::sync::Arc;

/// An artifact of this machine.
#[derive(Debug)]
pub struct LocalArtifact {
    /// The artifact.
    pub artifact: Artifact,
    /// Its signatures.
    pub signatures: Vec<SignatureCandidate>,
    /// What a policy compares its patterns with: `host/repository`, or a plain name. None for what is known by its place or
    /// its digest only.
    pub target: Option<String>,
}

/// Opens what is on this machine. Paths begin at `base`. What is in a registry is `None` here: it is pulled first.
pub fn open(
    located: &LocatedArtifact,
    base: &Path,
    store: Option<&Arc<Store>>,
) -> Result<Option<LocalArtifact>, PackError> {
    let stored = || {
        store.ok_or_else(|| {
            PackError::new(ErrorClass::MissingManifest, "the local store is empty")
                .hint("pack or pull something first")
        })
    };
    let (artifact, signatures, target) = match located {
        LocatedArtifact::Remote(_) => return Ok(None),
        LocatedArtifact::Layout(path, tag) => {
            let layout = Arc::new(ImageLayout::open(&base.join(path))?);
            let artifact = layout.find(tag.as_deref())?;
            let signatures = layout.signatures_of(&artifact.digest)?;
            (artifact, signatures, None)
        }
        LocatedArtifact::Archive(path, tag) => {
            let archive = Arc::new(ArchiveFile::open(&base.join(path))?);
            let artifact = archive.find(tag.as_deref())?;
            let signatures = archive.signatures_of(&artifact.digest);
            (artifact, signatures, None)
        }
        LocatedArtifact::Digest(digest) => {
            let store = stored()?;
            let artifact = store.artifact(digest)?;
            (artifact, store.signatures_of(digest)?, None)
        }
        LocatedArtifact::Stored(name) => {
            let store = stored()?;
            let digest = find_stored(store, name)?.digest;
            let artifact = store.artifact(&digest)?;
            (artifact, store.signatures_of(&digest)?, target_of(name))
        }
    };
    Ok(Some(LocalArtifact {
        artifact,
        signatures,
        target,
    }))
}

/// Returns what a policy compares its patterns with: a reference without its tag and digest.
pub fn target_of(reference: &str) -> Option<String> {
    let reference: Reference = reference.parse().ok()?;
    Some(match reference.registry {
        Some(host) => format!("{host}/{}", reference.repository),
        None => reference.repository,
    })
}
