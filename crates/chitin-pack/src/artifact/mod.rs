//! An artifact that was found: its manifest, its config, and its layers, each checked against its name before use.

mod descriptor;
mod manifest;

pub use descriptor::Descriptor;
pub use manifest::{MAX_MANIFEST_BYTES, Manifest};

use crate::archive::{self, ArchiveEntry, ArchiveLimits};
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use serde_json::Value;
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

/// Larger configs are nobody's.
const MAX_CONFIG_BYTES: u64 = 4 * crate::layer::MB;

/// Somewhere that holds blobs by their digest.
pub trait Blobs: fmt::Debug + Send + Sync {
    /// Opens a blob to read it from the beginning. The bytes need not be what the digest promises: [`Artifact`] checks.
    fn open(&self, digest: &Digest) -> Result<Box<dyn Read + '_>, PackError>;
}

/// An artifact whose manifest and config were read and make sense.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The manifest's digest, the name of the whole.
    pub digest: Digest,
    /// The manifest's exact bytes.
    pub manifest_bytes: Vec<u8>,
    /// The manifest.
    pub manifest: Manifest,
    /// The config document.
    pub config: Value,
    layers: Vec<(LayerKind, Descriptor)>,
    blobs: Arc<dyn Blobs>,
}

impl Artifact {
    /// Reads manifest and config. Layers are not touched yet.
    pub fn open(blobs: Arc<dyn Blobs>, manifest_bytes: Vec<u8>) -> Result<Self, PackError> {
        let manifest = Manifest::parse(&manifest_bytes)?;
        let layers = manifest.layers_by_kind()?;
        let config = if manifest.config.media_type == crate::compat::OCI_EMPTY {
            Value::Object(serde_json::Map::new())
        } else {
            let bytes = read_verified(blobs.as_ref(), &manifest.config, MAX_CONFIG_BYTES)?;
            serde_json::from_slice(&bytes).map_err(|error| {
                PackError::new(ErrorClass::InvalidManifest, "the config is not JSON")
                    .caused_by(error)
            })?
        };
        Ok(Self {
            digest: Digest::of(&manifest_bytes),
            manifest_bytes,
            manifest,
            config,
            layers,
            blobs,
        })
    }

    /// Returns what the artifact says of itself: a member of its config, or else an annotation.
    pub fn said(&self, member: &str, annotation: &str) -> Option<&str> {
        let said = self.config.get(member).and_then(Value::as_str);
        let annotations = &self.manifest.annotations;
        said.or_else(|| annotations.get(annotation).map(String::as_str))
    }

    /// Returns the layers that the format knows, in the order of the manifest.
    pub fn layers(&self) -> &[(LayerKind, Descriptor)] {
        &self.layers
    }

    /// Returns one layer.
    pub fn layer(&self, kind: LayerKind) -> Option<&Descriptor> {
        self.layers
            .iter()
            .find(|(found, _)| *found == kind)
            .map(|(_, descriptor)| descriptor)
    }

    /// Returns where its blobs are.
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.blobs
    }

    /// Reads a layer that is one document; `None` when there is no such layer. Checked before it is returned.
    pub fn document(&self, kind: LayerKind) -> Result<Option<Vec<u8>>, PackError> {
        self.layer(kind)
            .map(|descriptor| read_verified(self.blobs.as_ref(), descriptor, kind.limit()))
            .transpose()
    }

    /// Reads a layer that is JSON.
    pub fn json(&self, kind: LayerKind) -> Result<Option<Value>, PackError> {
        let Some(bytes) = self.document(kind)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            let message = format!("the {} layer is not JSON", kind.name());
            PackError::new(ErrorClass::MalformedJson, message).caused_by(error)
        })
    }

    /// Checks every blob against its descriptor, without looking inside.
    pub fn verify(&self) -> Result<(), PackError> {
        let of_layers = self.manifest.layers.iter();
        for descriptor in of_layers.chain([&self.manifest.config]) {
            verify_blob(self.blobs.as_ref(), descriptor)?;
        }
        Ok(())
    }

    /// Shows the files of an archive layer in order, with its uncompressed limit. The compressed bytes are checked first,
    /// so that nothing is taken out of a blob that is not the one named.
    pub fn files(
        &self,
        kind: LayerKind,
        limit: u64,
        visit: impl FnMut(&ArchiveEntry, &mut dyn Read) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        let Some(descriptor) = self.layer(kind) else {
            return Ok(());
        };
        if kind.format() != Format::Tar {
            let message = format!("the {} layer is not an archive", kind.name());
            return Err(PackError::new(ErrorClass::InvalidManifest, message));
        }
        verify_blob(self.blobs.as_ref(), descriptor)?;
        let source = self.blobs.open(&descriptor.digest)?;
        archive::read(
            archive::decompress(source),
            ArchiveLimits::bytes(limit),
            visit,
        )
    }
}

/// Reads a blob whole and checks it.
pub fn read_verified(
    blobs: &dyn Blobs,
    descriptor: &Descriptor,
    limit: u64,
) -> Result<Vec<u8>, PackError> {
    if descriptor.size > limit {
        let message = format!(
            "{} is larger than its limit of {limit} bytes",
            descriptor.digest
        );
        return Err(PackError::new(ErrorClass::LayerTooLarge, message));
    }
    let mut bytes = Vec::new();
    blobs
        .open(&descriptor.digest)?
        .take(descriptor.size.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(descriptor, error))?;
    compare(descriptor, Digest::of(&bytes), bytes.len() as u64)?;
    Ok(bytes)
}

/// Reads a blob piece by piece and checks it.
pub fn verify_blob(blobs: &dyn Blobs, descriptor: &Descriptor) -> Result<(), PackError> {
    let mut hashing = Hashing::new(io::sink());
    let mut source = blobs
        .open(&descriptor.digest)?
        .take(descriptor.size.saturating_add(1));
    io::copy(&mut source, &mut hashing).map_err(|error| unreadable(descriptor, error))?;
    let (_, digest, size) = hashing.finish();
    compare(descriptor, digest, size)
}

/// Compares what was read with what was promised.
pub(crate) fn compare(descriptor: &Descriptor, digest: Digest, size: u64) -> Result<(), PackError> {
    if digest == descriptor.digest && size == descriptor.size {
        return Ok(());
    }
    Err(PackError::new(
        ErrorClass::DigestMismatch,
        format!(
            "a blob is not what its name says: expected {} of {} bytes",
            descriptor.digest, descriptor.size
        ),
    )
    .hint("the artifact was damaged or changed; get it again"))
}

fn unreadable(descriptor: &Descriptor, error: io::Error) -> PackError {
    let message = format!("the blob {} cannot be read", descriptor.digest);
    PackError::new(ErrorClass::Io, message).caused_by(error)
}
