//! Manifests that refer to others: signatures and the like. They stand in the index without a name, as other tools write
//! them too; the fallback tag that registries without a better way use is understood.

use super::{Store, index};
use crate::artifact::{Artifact, Blobs, Descriptor, MAX_MANIFEST_BYTES, Manifest, read_verified};
use crate::compat::SIGNATURE;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::signatures::SignatureCandidate;
use std::collections::HashSet;
use std::sync::Arc;

/// More referrers in one layout are not looked at.
const MAX_REFERRERS: usize = 16_384;

/// Returns the name of the tag under which registries without a better way list what refers to a manifest.
pub fn fallback_tag(subject: &Digest) -> String {
    format!("sha256-{}", subject.hex())
}

/// Finds the signatures of a manifest. One that is listed and cannot be read is returned with the reason.
pub(super) fn signatures(
    blobs: &Arc<dyn Blobs>,
    entries: &[Descriptor],
    subject: &Digest,
) -> Vec<SignatureCandidate> {
    referring(blobs, entries, subject, Some(SIGNATURE))
}

/// Finds what refers to a manifest, of one type or of any.
pub(super) fn referring(
    blobs: &Arc<dyn Blobs>,
    entries: &[Descriptor],
    subject: &Digest,
    wanted: Option<&str>,
) -> Vec<SignatureCandidate> {
    let is_other = |kind: &str| wanted.is_some_and(|wanted| kind != wanted);
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for (entry, is_certain) in listed(blobs.as_ref(), entries, subject) {
        let other_kind = entry.artifact_type.as_deref().is_some_and(is_other);
        if other_kind || !seen.insert(entry.digest) {
            continue;
        }
        let artifact = read_verified(blobs.as_ref(), &entry, MAX_MANIFEST_BYTES)
            .and_then(|bytes| Ok((Manifest::parse(&bytes)?, bytes)));
        let artifact = match artifact {
            Ok((manifest, bytes)) => {
                let refers = manifest
                    .subject
                    .as_ref()
                    .is_some_and(|named| named.digest == *subject);
                let is_wanted = !is_other(&manifest.artifact_type);
                if !is_wanted || !(refers || is_certain) {
                    continue;
                }
                Artifact::open(Arc::clone(blobs), bytes)
            }
            // Whose signature it was cannot be told any more, unless the list is that of this manifest.
            Err(_) if !is_certain => continue,
            Err(error) => Err(error),
        };
        found.push(SignatureCandidate {
            digest: entry.digest,
            found: artifact,
        });
    }
    found
}

/// Entries that may refer to a manifest, and whether they are certain to.
fn listed(blobs: &dyn Blobs, entries: &[Descriptor], subject: &Digest) -> Vec<(Descriptor, bool)> {
    let fallback = fallback_tag(subject);
    let of_index = entries
        .iter()
        .find(|entry| index::name_of(entry) == Some(&fallback))
        .and_then(|entry| read_verified(blobs, entry, MAX_MANIFEST_BYTES).ok())
        .and_then(|bytes| index::parse(&bytes).ok())
        .unwrap_or_default();
    let unnamed = entries
        .iter()
        .filter(|entry| index::name_of(entry).is_none());
    let unnamed = unnamed.map(|entry| (entry.clone(), false));
    let certain = of_index.into_iter().map(|entry| (entry, true));
    certain.chain(unnamed).take(MAX_REFERRERS).collect()
}

impl Store {
    /// Puts a manifest that refers to another one. It stays as long as that one does.
    pub fn put_referrer(&self, manifest: &Manifest) -> Result<Descriptor, PackError> {
        self.put_referrer_bytes(&manifest.to_bytes())
    }

    /// Puts a manifest that refers to another one, with the bytes it came in.
    pub fn put_referrer_bytes(&self, bytes: &[u8]) -> Result<Descriptor, PackError> {
        let _adding = self.adding()?;
        if Manifest::parse(bytes)?.subject.is_none() {
            let message = "a referrer that refers to nothing";
            return Err(PackError::new(ErrorClass::InvalidManifest, message));
        }
        let descriptor = self.put_manifest_bytes(bytes)?;
        index::attach(&self.root, &descriptor)?;
        Ok(descriptor)
    }

    /// Returns everything that refers to an artifact: signatures, evaluations, approvals, snapshots.
    pub fn referrers_of(
        self: &Arc<Self>,
        subject: &Digest,
    ) -> Result<Vec<SignatureCandidate>, PackError> {
        let entries = index::entries(&self.root)?;
        let blobs = Arc::clone(self) as Arc<dyn Blobs>;
        Ok(referring(&blobs, &entries, subject, None))
    }

    /// Returns the signatures of an artifact.
    pub fn signatures_of(
        self: &Arc<Self>,
        subject: &Digest,
    ) -> Result<Vec<SignatureCandidate>, PackError> {
        let entries = index::entries(&self.root)?;
        let blobs = Arc::clone(self) as Arc<dyn Blobs>;
        Ok(signatures(&blobs, &entries, subject))
    }
}
