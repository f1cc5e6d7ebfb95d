//! Artifacts on their way from one place to another. Every blob is checked on the way, and one that is not what its name
//! says never gets that name.

use super::Store;
use crate::artifact::{Artifact, Descriptor};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::signatures::SignatureCandidate;
use std::io::{self, Read};

/// The bytes of the OCI empty descriptor.
pub(super) const EMPTY: &[u8] = b"{}";

/// Tells whether a manifest's bytes name a digest.
pub(super) fn names(manifest: &[u8], digest: &Digest) -> bool {
    let hex = digest.hex();
    manifest
        .windows(hex.len())
        .any(|window| window == hex.as_bytes())
}

impl Store {
    /// Copies an artifact into the store; returns its manifest, which has no name yet. Hold [`Store::adding`] until it has.
    pub fn copy_in(&self, artifact: &Artifact) -> Result<Descriptor, PackError> {
        let _adding = self.adding()?;
        self.copy_blobs(artifact)?;
        self.put_manifest_bytes(&artifact.manifest_bytes)
    }

    /// Copies the signatures of an artifact into the store; returns how many. Those that cannot be read stay behind.
    pub fn copy_signatures(&self, signatures: &[SignatureCandidate]) -> Result<usize, PackError> {
        let _adding = self.adding()?;
        let mut copied = 0;
        for signature in signatures.iter().filter_map(|one| one.found.as_ref().ok()) {
            self.copy_blobs(signature)?;
            self.put_referrer_bytes(&signature.manifest_bytes)?;
            copied += 1;
        }
        Ok(copied)
    }

    fn copy_blobs(&self, artifact: &Artifact) -> Result<(), PackError> {
        let of_layers = artifact.manifest.layers.iter();
        for descriptor in of_layers.chain([&artifact.manifest.config]) {
            if self.has_whole(descriptor) || descriptor.media_type == crate::compat::OCI_EMPTY {
                continue;
            }
            let mut source = artifact.blobs().open(&descriptor.digest)?;
            let mut blob = self.begin_blob()?;
            // One byte more than promised is enough to know that it is another blob.
            let mut limited = source.by_ref().take(descriptor.size.saturating_add(1));
            io::copy(&mut limited, &mut blob).map_err(|error| {
                let message = format!("the blob {} cannot be copied", descriptor.digest);
                PackError::new(ErrorClass::Io, message).caused_by(error)
            })?;
            blob.keep_as(descriptor)?;
        }
        Ok(())
    }
}
