//! Two artifacts, or an artifact and a directory, side by side: by layer, and below that by file (rule P74).

use crate::artifact::{Artifact, Descriptor};
use crate::digest::Digest;
use crate::error::PackError;
use crate::inspect::{LayerFile, files_of};
use crate::layer::LayerKind;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What happened to a layer, seen from the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerChange {
    /// Only the right has it.
    Added,
    /// Only the left has it.
    Removed,
    /// Both have it, with different bytes.
    Changed,
    /// Both have the same.
    Identical,
}

/// What happened to a file, seen from the left. Files that are the same are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactFileChange {
    /// Only the right has it.
    Added,
    /// Only the left has it.
    Removed,
    /// Its bytes differ.
    Changed,
    /// Its bytes are the same; whether it may be run is not.
    Mode,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileDifference {
    /// The path in its layer; empty where the layer is one document.
    pub path: String,
    /// What happened.
    pub change: ArtifactFileChange,
    /// The file on the left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<LayerFile>,
    /// The file on the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<LayerFile>,
}

/// A layer on one or both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LayerDifference {
    /// The type.
    pub media_type: String,
    /// What happened.
    pub change: LayerChange,
    /// The blob on the left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Digest>,
    /// The blob on the right; a directory has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Digest>,
    /// The files that differ, where somebody looked.
    pub files: Vec<FileDifference>,
}

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffDepth {
    /// The layers' digests.
    Layers,
    /// The files in layers that differ.
    Files,
}

/// Two things side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactDifference {
    /// Every layer: first those of the left in its order, then those that only the right has.
    pub changes: Vec<LayerDifference>,
    /// Whether all layers are identical. The configs may still differ: two versions of one content.
    pub identical: bool,
    /// What happened to the config.
    pub config: LayerChange,
}

/// Compares two artifacts. Layers are told apart by their types, and several of one type by their order.
pub fn diff(
    left: &Artifact,
    right: &Artifact,
    depth: DiffDepth,
) -> Result<ArtifactDifference, PackError> {
    let sides = (numbered(left), numbered(right));
    let mut changes = Vec::new();
    for (key, of_left) in &sides.0 {
        let of_right = find(&sides.1, key);
        let change = match of_right {
            None => LayerChange::Removed,
            Some(of_right) if of_right.digest == of_left.digest => LayerChange::Identical,
            Some(_) => LayerChange::Changed,
        };
        changes.push(layer(key.0, change, Some(of_left), of_right));
    }
    for (key, of_right) in &sides.1 {
        if find(&sides.0, key).is_none() {
            changes.push(layer(key.0, LayerChange::Added, None, Some(of_right)));
        }
    }
    if depth == DiffDepth::Files {
        for change in changes
            .iter_mut()
            .filter(|found| found.change != LayerChange::Identical)
        {
            if let Some(kind) = LayerKind::from_media_type(&change.media_type) {
                change.files = differences(files_of(left, kind)?, files_of(right, kind)?);
            }
        }
    }
    Ok(ArtifactDifference {
        identical: changes
            .iter()
            .all(|found| found.change == LayerChange::Identical),
        changes,
        config: if left.manifest.config.digest == right.manifest.config.digest {
            LayerChange::Identical
        } else {
            LayerChange::Changed
        },
    })
}

type Key<'a> = (&'a str, usize);

fn numbered(artifact: &Artifact) -> Vec<(Key<'_>, &Descriptor)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let layers = artifact.manifest.layers.iter();
    layers
        .map(|layer| {
            let count = counts.entry(&layer.media_type).or_default();
            *count += 1;
            ((layer.media_type.as_str(), *count), layer)
        })
        .collect()
}

fn find<'a>(side: &[(Key<'_>, &'a Descriptor)], key: &Key<'_>) -> Option<&'a Descriptor> {
    let found = side.iter().find(|(known, _)| known == key);
    found.map(|(_, descriptor)| *descriptor)
}

fn layer(
    media_type: &str,
    change: LayerChange,
    left: Option<&Descriptor>,
    right: Option<&Descriptor>,
) -> LayerDifference {
    LayerDifference {
        media_type: media_type.to_owned(),
        change,
        left: left.map(|descriptor| descriptor.digest),
        right: right.map(|descriptor| descriptor.digest),
        files: Vec::new(),
    }
}

fn differences(
    mut left: BTreeMap<String, LayerFile>,
    mut right: BTreeMap<String, LayerFile>,
) -> Vec<FileDifference> {
    let paths: BTreeSet<String> = left.keys().chain(right.keys()).cloned().collect();
    let found = paths.into_iter().filter_map(|path| {
        let (left, right) = (left.remove(&path), right.remove(&path));
        let change = match (&left, &right) {
            (None, Some(_)) => ArtifactFileChange::Added,
            (Some(_), None) => ArtifactFileChange::Removed,
            (Some(left), Some(right)) if left.digest != right.digest => ArtifactFileChange::Changed,
            (Some(left), Some(right)) if left.executable != right.executable => {
                ArtifactFileChange::Mode
            }
            (None, None) | (Some(_), Some(_)) => return None,
        };
        Some(FileDifference {
            path,
            change,
            left,
            right,
        })
    });
    found.collect()
}
