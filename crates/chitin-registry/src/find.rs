//! From what a person names to an artifact: in a directory, an archive, the store, or a registry.

use chitin_pack::artifact::Artifact;
use chitin_pack::found::{self, ArtifactPlace};
use chitin_pack::locate::{LocatedArtifact, OnDisk, locate};
use chitin_pack::reference::Reference;
use chitin_pack::signatures::{SignatureCandidate, UsedName};
use chitin_pack::store::Store;
use chitin_pack::{Digest, ErrorClass, PackError};
use std::path::PathBuf;
use std::sync::Arc;

/// Brings artifacts out of registries while one is looked for. It decides how the caller waits, what progress looks like and
/// what stops a transfer.
pub trait ArtifactSource {
    /// What can go wrong on the way.
    type Error: std::error::Error + From<PackError> + Send + Sync + 'static;

    /// Brings an artifact and what refers to it into the store. Returns its digest, and those of its signatures.
    fn pull(
        &self,
        reference: &Reference,
        store: &Arc<Store>,
    ) -> Result<(Digest, Vec<Digest>), Self::Error>;

    /// Hears that an artifact was taken from the store, although its registry may have a newer one by now.
    fn pulled_before(&self, _name: &str) {}
}

/// An artifact, found.
pub struct FoundArtifact {
    /// The artifact.
    pub artifact: Artifact,
    /// What people call it.
    pub name: String,
    /// What a policy's patterns are compared with.
    pub target: Option<String>,
    /// Its signatures, wherever they were.
    pub signatures: Vec<SignatureCandidate>,
    /// Where it came from.
    pub origin: ArtifactOrigin,
    /// What it is in: what came from a registry is in the store by now.
    pub place: ArtifactPlace,
}

/// Where an artifact came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactOrigin {
    /// A file or directory that was named.
    File,
    /// The local store.
    Store,
    /// A registry, just now.
    Registry,
}

/// Whether a registry is asked for what was pulled before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RegistryRefresh {
    /// The store will do.
    #[default]
    Never,
    /// The registry is asked.
    Always,
}

/// Finds artifacts.
pub struct ArtifactFinder<S> {
    /// The local store.
    pub store: Arc<Store>,
    /// Whether registries are asked for what was pulled before.
    pub refresh: RegistryRefresh,
    base: PathBuf,
    source: S,
}

impl FoundArtifact {
    /// Returns the name that signatures must have been made for: none for files and for names that the user gave to something in
    /// the local store.
    pub fn used_name(&self) -> Option<UsedName> {
        match self.origin {
            ArtifactOrigin::File => None,
            ArtifactOrigin::Store | ArtifactOrigin::Registry => UsedName::of(&self.name),
        }
    }

    /// Tells whether it is what an earlier pull left in the store.
    pub fn was_pulled(&self) -> bool {
        let reference = self.name.parse::<Reference>();
        self.origin == ArtifactOrigin::Store
            && reference.is_ok_and(|reference| reference.registry.is_some())
    }
}

impl<S: ArtifactSource> ArtifactFinder<S> {
    /// Finds artifacts in a store, at paths below `base`, and in registries through `source`.
    pub const fn new(store: Arc<Store>, base: PathBuf, source: S) -> Self {
        Self {
            store,
            refresh: RegistryRefresh::Never,
            base,
            source,
        }
    }

    /// Returns what brings artifacts out of registries.
    pub const fn source(&self) -> &S {
        &self.source
    }

    fn locate(&self, word: &str) -> Result<LocatedArtifact, PackError> {
        let places = OnDisk {
            base: self.base.clone(),
        };
        locate(word, &places)
    }

    /// Finds an artifact. One in a registry is taken from the store if it was pulled before; otherwise, or when that is asked for,
    /// it is brought into the store, with its signatures.
    pub fn find(&self, word: &str) -> Result<FoundArtifact, S::Error> {
        if let Some(found) = self.find_pulled(word)? {
            self.source.pulled_before(&found.name);
            return Ok(found);
        }
        self.find_now(word)
    }

    /// Finds what was pulled before, in the store. Nothing is asked of the network.
    fn find_pulled(&self, word: &str) -> Result<Option<FoundArtifact>, PackError> {
        let LocatedArtifact::Remote(reference) = self.locate(word)? else {
            return Ok(None);
        };
        if self.refresh == RegistryRefresh::Always {
            return Ok(None);
        }
        let name = reference.to_string();
        let tagged = self.store.tags()?.into_iter().find(|tag| tag.name == name);
        // A digest names one content for ever; what a tag stands for was written down when it was pulled.
        let digest = match (tagged, reference.digest) {
            (Some(tag), None) => tag.manifest.digest,
            (_, Some(digest)) => digest,
            (None, None) => return Ok(None),
        };
        let Ok(artifact) = self.store.artifact(&digest) else {
            return Ok(None);
        };
        let is_whole = artifact
            .manifest
            .layers
            .iter()
            .all(|layer| self.store.has_whole(layer));
        if !is_whole {
            return Ok(None);
        }
        Ok(Some(FoundArtifact {
            signatures: self.store.signatures_of(&digest)?,
            artifact,
            target: found::target_of(&name),
            name,
            origin: ArtifactOrigin::Store,
            place: ArtifactPlace::Store(Arc::clone(&self.store)),
        }))
    }

    /// Finds an artifact as it is now: a reference is asked of its registry.
    pub fn find_now(&self, word: &str) -> Result<FoundArtifact, S::Error> {
        let located = self.locate(word)?;
        if let LocatedArtifact::Remote(reference) = &located {
            return self.pull(reference);
        }
        let found = found::open(&located, &self.base, Some(&self.store))?;
        let found = found.ok_or_else(|| {
            let message = format!("`{word}` is in a registry");
            PackError::new(ErrorClass::MissingManifest, message)
        })?;
        Ok(FoundArtifact {
            artifact: found.artifact,
            name: word.to_owned(),
            target: found.target,
            signatures: found.signatures,
            place: found.place,
            origin: match located {
                LocatedArtifact::Layout(..) | LocatedArtifact::Archive(..) => ArtifactOrigin::File,
                LocatedArtifact::Stored(_)
                | LocatedArtifact::Digest(_)
                | LocatedArtifact::Remote(_) => ArtifactOrigin::Store,
            },
        })
    }

    /// Gives what came out of a registry its reference as a name in the store, now that it may be used.
    pub fn keep(&self, found: &FoundArtifact) -> Result<(), PackError> {
        if found.origin == ArtifactOrigin::Registry {
            let bytes = &found.artifact.manifest_bytes;
            let manifest = self.store.put_manifest_bytes(bytes)?;
            self.store.tag(&found.name, &manifest)?;
        }
        Ok(())
    }

    /// Brings an artifact and its signatures out of a registry into the store. It has no name there until it is kept.
    pub fn pull(&self, reference: &Reference) -> Result<FoundArtifact, S::Error> {
        let adding = self.store.adding()?;
        let (digest, referrers) = self.source.pull(reference, &self.store)?;
        for referrer in referrers {
            let bytes = self.store.manifest_bytes(&referrer)?;
            self.store.put_referrer_bytes(&bytes)?;
        }
        let artifact = self.store.artifact(&digest)?;
        drop(adding);
        Ok(FoundArtifact {
            signatures: self.store.signatures_of(&digest)?,
            artifact,
            name: reference.to_string(),
            target: found::target_of(&reference.to_string()),
            origin: ArtifactOrigin::Registry,
            place: ArtifactPlace::Store(Arc::clone(&self.store)),
        })
    }
}
