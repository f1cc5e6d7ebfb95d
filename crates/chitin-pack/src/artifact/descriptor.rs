//! Descriptors: type, digest and size of a blob.

use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use oci_spec::image;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// No blob is larger. Canonical JSON cannot say more either: its numbers are those of ECMAScript.
const MOST_BYTES: u64 = 1 << 53;

/// What a manifest says of a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The type of the content.
    pub media_type: String,
    /// The name of the content.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// Notes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// The artifact type, where the content is a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
}

impl Descriptor {
    /// Describes bytes.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self::new(media_type, Digest::of(bytes), bytes.len() as u64)
    }

    /// Describes content by its digest and size.
    pub fn new(media_type: &str, digest: Digest, size: u64) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest,
            size,
            annotations: BTreeMap::new(),
            artifact_type: None,
        }
    }

    /// The OCI empty descriptor, which stands for "nothing".
    pub fn empty() -> Self {
        Self::of(crate::compat::OCI_EMPTY, b"{}")
    }
}

impl TryFrom<&image::Descriptor> for Descriptor {
    type Error = PackError;

    fn try_from(found: &image::Descriptor) -> Result<Self, PackError> {
        let digest = found.digest().to_string().parse().map_err(|_| {
            PackError::new(
                ErrorClass::InvalidManifest,
                format!("`{}` is a digest that is not SHA-256", found.digest()),
            )
        })?;
        if found.size() > MOST_BYTES {
            let message = format!("`{}` is not the size of a blob", found.size());
            return Err(PackError::new(ErrorClass::InvalidManifest, message));
        }
        Ok(Self {
            media_type: found.media_type().to_string(),
            digest,
            size: found.size(),
            annotations: found
                .annotations()
                .iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            artifact_type: found.artifact_type().as_ref().map(ToString::to_string),
        })
    }
}
