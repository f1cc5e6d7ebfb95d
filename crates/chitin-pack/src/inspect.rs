//! What is in an artifact, as a value for people and programs (rule P73).

use crate::archive::{ArchiveEntryKind, broken};
use crate::artifact::{Artifact, Descriptor};
use crate::compat::{ANNOTATION_TITLE, ANNOTATION_VERSION};
use crate::digest::{Digest, Hashing};
use crate::error::PackError;
use crate::layer::{Format, LayerKind};
use crate::signatures::Checked;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Read};

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InspectDepth {
    /// The manifest and the config.
    Manifest,
    /// How many files each layer holds.
    Counts,
    /// Every file, with its digest.
    Files,
}

/// A file of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerFile {
    /// Its size.
    pub size: u64,
    /// Its digest.
    pub digest: Digest,
    /// Whether it may be run.
    pub executable: bool,
}

/// A layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LayerFacts {
    /// The name that the format has for it; none for types that the format does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<&'static str>,
    /// Its descriptor.
    #[serde(flatten)]
    pub descriptor: Descriptor,
    /// How many files it holds, where it is an archive and somebody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Their bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// The files, where somebody asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<BTreeMap<String, LayerFile>>,
}

/// An artifact, described.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactInspection {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// What kind of artifact it is.
    pub artifact_type: String,
    /// The manifest's digest.
    pub digest: Digest,
    /// The size of everything.
    pub size: u64,
    /// The config.
    pub config: Value,
    /// The manifest's notes.
    pub annotations: BTreeMap<String, String>,
    /// The layers, in the order of the manifest.
    pub layers: Vec<LayerFacts>,
    /// Its signatures.
    pub signatures: Vec<Checked>,
}

/// Describes an artifact.
pub fn inspect(
    artifact: &Artifact,
    depth: InspectDepth,
    signatures: Vec<Checked>,
) -> Result<ArtifactInspection, PackError> {
    let manifest = &artifact.manifest;
    let text = |member: &str, annotation: &str| {
        let said = artifact.said(member, annotation);
        said.unwrap_or_default().to_owned()
    };
    let layers = manifest.layers.iter();
    let layers = layers.map(|layer| layer_facts(artifact, layer, depth));
    let layers = layers.collect::<Result<Vec<_>, _>>()?;
    let blobs = layers.iter().map(|layer| layer.descriptor.size);
    let size = blobs.fold(manifest.config.size, u64::saturating_add);
    Ok(ArtifactInspection {
        name: text("name", ANNOTATION_TITLE),
        version: text("version", ANNOTATION_VERSION),
        artifact_type: manifest.artifact_type.clone(),
        digest: artifact.digest,
        size: size.saturating_add(artifact.manifest_bytes.len() as u64),
        config: artifact.config.clone(),
        annotations: manifest.annotations.clone(),
        layers,
        signatures,
    })
}

/// The manifest and the config as they are: what the format's own tool prints as JSON.
pub fn documents(artifact: &Artifact) -> Value {
    let manifest: Value = serde_json::from_slice(&artifact.manifest_bytes).unwrap_or_default();
    json!({ "manifest": manifest, "config": artifact.config })
}

fn layer_facts(
    artifact: &Artifact,
    layer: &Descriptor,
    depth: InspectDepth,
) -> Result<LayerFacts, PackError> {
    let kind = LayerKind::from_media_type(&layer.media_type);
    let mut facts = LayerFacts {
        layer: kind.map(LayerKind::name),
        descriptor: layer.clone(),
        files: None,
        file_bytes: None,
        entries: None,
    };
    let Some(kind) = kind.filter(|kind| kind.format() == Format::Tar) else {
        return Ok(facts);
    };
    match depth {
        InspectDepth::Manifest => {}
        InspectDepth::Counts => {
            let (mut files, mut bytes) = (0, 0);
            artifact.files(kind, kind.limit(), |entry, _| {
                if let ArchiveEntryKind::File { size, .. } = entry.kind {
                    files += 1;
                    bytes += size;
                }
                Ok(())
            })?;
            facts.files = Some(files);
            facts.file_bytes = Some(bytes);
        }
        InspectDepth::Files => {
            let entries = files_of(artifact, kind)?;
            facts.files = Some(entries.len());
            facts.file_bytes = Some(entries.values().map(|file| file.size).sum());
            facts.entries = Some(entries);
        }
    }
    Ok(facts)
}

/// Returns the files of a layer by path. A layer that is one document is one file with an empty path.
pub(crate) fn files_of(
    artifact: &Artifact,
    kind: LayerKind,
) -> Result<BTreeMap<String, LayerFile>, PackError> {
    let mut files = BTreeMap::new();
    let Some(descriptor) = artifact.layer(kind) else {
        return Ok(files);
    };
    if kind.format() != Format::Tar {
        let facts = LayerFile {
            size: descriptor.size,
            digest: descriptor.digest,
            executable: false,
        };
        files.insert(String::new(), facts);
        return Ok(files);
    }
    artifact.files(kind, kind.limit(), |entry, content| {
        if let ArchiveEntryKind::File { executable, size } = entry.kind {
            let facts = LayerFile {
                size,
                digest: digest_of(content)?,
                executable,
            };
            files.insert(entry.path.clone(), facts);
        }
        Ok(())
    })?;
    Ok(files)
}

fn digest_of(content: &mut dyn Read) -> Result<Digest, PackError> {
    let mut hashing = Hashing::new(io::sink());
    io::copy(content, &mut hashing).map_err(broken)?;
    let (_, digest, _) = hashing.finish();
    Ok(digest)
}
