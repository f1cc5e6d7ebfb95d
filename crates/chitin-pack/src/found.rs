//! What was located, opened: the artifact, its signatures, and the name that a policy knows it by.

use crate::artifact::{Artifact, Descriptor};
use crate::error::{ErrorClass, PackError};
use crate::locate::{LocatedArtifact, find_stored};
use crate::reference::Reference;
use crate::signatures::{Signature, SignatureCandidate};
use crate::store::{ArchiveFile, ImageLayout, Store};
use std::path::Path;
use std::sync::Arc;

/// What an artifact was found in.
#[derive(Debug, Clone)]
pub enum ArtifactPlace {
    /// The local store.
    Store(Arc<Store>),
    /// A directory that was named.
    Layout(Arc<ImageLayout>),
    /// An archive that was named.
    Archive(Arc<ArchiveFile>),
}

impl ArtifactPlace {
    /// Returns the path of what was named; none for the store.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Store(_) => None,
            Self::Layout(layout) => Some(layout.path()),
            Self::Archive(archive) => Some(archive.path()),
        }
    }

    /// Puts a signature of an artifact beside it, and changes nothing if that fails. Returns the signature's manifest.
    pub fn add_signature(&self, signature: &Signature) -> Result<Descriptor, PackError> {
        match self {
            Self::Store(store) => signature.put(store),
            Self::Layout(layout) => layout.add_signature(signature),
            Self::Archive(archive) => archive.add_signature(signature),
        }
    }
}

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
    /// What it is in.
    pub place: ArtifactPlace,
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
    let (artifact, signatures, target, place) = match located {
        LocatedArtifact::Remote(_) => return Ok(None),
        LocatedArtifact::Layout(path, tag) => {
            let layout = Arc::new(ImageLayout::open(&base.join(path))?);
            let artifact = layout.find(tag.as_deref())?;
            let signatures = layout.signatures_of(&artifact.digest)?;
            (artifact, signatures, None, ArtifactPlace::Layout(layout))
        }
        LocatedArtifact::Archive(path, tag) => {
            let archive = Arc::new(ArchiveFile::open(&base.join(path))?);
            let artifact = archive.find(tag.as_deref())?;
            let signatures = archive.signatures_of(&artifact.digest);
            (artifact, signatures, None, ArtifactPlace::Archive(archive))
        }
        LocatedArtifact::Digest(digest) => {
            let store = stored()?;
            let artifact = store.artifact(digest)?;
            let place = ArtifactPlace::Store(Arc::clone(store));
            (artifact, store.signatures_of(digest)?, None, place)
        }
        LocatedArtifact::Stored(name) => {
            let store = stored()?;
            let digest = find_stored(store, name)?.digest;
            let artifact = store.artifact(&digest)?;
            let signatures = store.signatures_of(&digest)?;
            let place = ArtifactPlace::Store(Arc::clone(store));
            (artifact, signatures, target_of(name), place)
        }
    };
    Ok(Some(LocalArtifact {
        artifact,
        signatures,
        target,
        place,
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
