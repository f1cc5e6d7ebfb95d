//! Manifests: written canonically, read by the OCI types.

use super::descriptor::Descriptor;
use crate::canonical;
use crate::compat::{OCI_EMPTY, OCI_MANIFEST};
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use oci_spec::image::ImageManifest;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Larger manifests are refused, as registries do.
pub const MAX_MANIFEST_BYTES: u64 = 4 * 1024 * 1024;

/// An OCI image manifest with an artifact type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// What kind of artifact it is.
    pub artifact_type: String,
    /// The config blob.
    pub config: Descriptor,
    /// The layers, without the empty one that stands for none.
    pub layers: Vec<Descriptor>,
    /// Notes.
    pub annotations: BTreeMap<String, String>,
    /// What it refers to, for signatures and the like.
    pub subject: Option<Descriptor>,
}

impl Manifest {
    /// Writes the manifest. Its digest is that of these bytes (rule P14).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut members = Map::new();
        members.insert("schemaVersion".into(), json!(2));
        members.insert("mediaType".into(), json!(OCI_MANIFEST));
        members.insert("artifactType".into(), json!(self.artifact_type));
        members.insert("config".into(), json!(self.config));
        members.insert(
            "layers".into(),
            if self.layers.is_empty() {
                json!([Descriptor::empty()])
            } else {
                json!(self.layers)
            },
        );
        if let Some(subject) = &self.subject {
            members.insert("subject".into(), json!(subject));
        }
        if !self.annotations.is_empty() {
            members.insert("annotations".into(), json!(self.annotations));
        }
        canonical::to_string(&Value::Object(members)).into_bytes()
    }

    /// Reads a manifest.
    pub fn parse(bytes: &[u8]) -> Result<Self, PackError> {
        let wrong = |what: &str| PackError::new(ErrorClass::InvalidManifest, what.to_owned());
        if bytes.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(wrong("the manifest is too large"));
        }
        let read: ImageManifest = serde_json::from_slice(bytes)
            .map_err(|error| wrong("the manifest is not one").caused_by(error))?;
        if read.schema_version() != 2 {
            return Err(wrong("the manifest has another schema version than 2"));
        }
        let config = Descriptor::try_from(read.config())?;
        let layers = read
            .layers()
            .iter()
            .map(Descriptor::try_from)
            .filter(|layer| {
                !layer
                    .as_ref()
                    .is_ok_and(|found| found.media_type == OCI_EMPTY)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            artifact_type: match read.artifact_type() {
                Some(kind) => kind.to_string(),
                // Before OCI 1.1 the config's type said what an artifact is.
                None => config.media_type.clone(),
            },
            config,
            layers,
            annotations: read
                .annotations()
                .iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            subject: read
                .subject()
                .as_ref()
                .map(Descriptor::try_from)
                .transpose()?,
        })
    }

    /// Returns the layers that the format knows. Two of one kind are refused, other types are passed over (rule P14).
    pub fn layers_by_kind(&self) -> Result<Vec<(LayerKind, Descriptor)>, PackError> {
        let mut found: Vec<(LayerKind, Descriptor)> = Vec::new();
        for layer in &self.layers {
            let Some(kind) = LayerKind::from_media_type(&layer.media_type) else {
                continue;
            };
            if found.iter().any(|(known, _)| *known == kind) {
                let message = format!("the artifact has two {} layers", kind.name());
                return Err(PackError::new(ErrorClass::DuplicateLayerType, message));
            }
            found.push((kind, layer.clone()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_canonical_json_cannot_say_is_none() {
        let manifest = |size: u64| {
            let blob = Descriptor::new("text/plain", crate::digest::Digest::of(b""), size);
            let written = json!({"schemaVersion": 2, "config": blob, "layers": []});
            Manifest::parse(written.to_string().as_bytes())
        };
        assert!(manifest(1 << 53).is_ok());
        assert!(manifest((1 << 53) + 1).is_err());
    }
}
