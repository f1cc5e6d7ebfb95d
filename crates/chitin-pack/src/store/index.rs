//! Tags: names for manifests, in the layout's `index.json`.

use super::{Store, unreadable, unwritable};
use crate::artifact::Descriptor;
use crate::canonical;
use crate::compat::{ANNOTATION_REF_NAME, OCI_INDEX};
use crate::error::{ErrorClass, PackError};
use chitin_workspace::guard::{ClaimKind, ReadPolicy, Root};
use serde::{Deserialize, Serialize};
use std::path::Path;

const INDEX: &str = "index.json";
/// Two processes that tag at once do so one after the other.
const INDEX_LOCK: &str = "index.lock";
const MAX_INDEX_BYTES: u64 = 64 * 1024 * 1024;

/// A manifest and the name it goes by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tagged {
    /// The name, such as `harbor:1.0.0` or a whole reference.
    pub name: String,
    /// The manifest.
    pub manifest: Descriptor,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    schema_version: u32,
    /// Others leave it out.
    #[serde(default = "index_type")]
    media_type: String,
    manifests: Vec<Descriptor>,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            schema_version: 2,
            media_type: index_type(),
            manifests: Vec::new(),
        }
    }
}

fn index_type() -> String {
    OCI_INDEX.to_owned()
}

/// Returns the tags of a layout, sorted by name; manifests without a name have an empty one.
pub(super) fn read(root: &Root) -> Result<Vec<Tagged>, PackError> {
    let index = load(root)?;
    let mut tags: Vec<_> = index
        .manifests
        .into_iter()
        .map(|mut manifest| Tagged {
            name: manifest
                .annotations
                .remove(ANNOTATION_REF_NAME)
                .unwrap_or_default(),
            manifest,
        })
        .collect();
    tags.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tags)
}

/// Gives a manifest a name, or takes a name away.
pub(super) fn change(
    root: &Root,
    name: &str,
    manifest: Option<&Descriptor>,
) -> Result<Option<Descriptor>, PackError> {
    let _alone = root
        .claim(Path::new(INDEX_LOCK), ClaimKind::Alone)
        .map_err(unwritable)?;
    let mut index = load(root)?;
    let named = |found: &Descriptor| {
        found
            .annotations
            .get(ANNOTATION_REF_NAME)
            .map(String::as_str)
            == Some(name)
    };
    let before = index
        .manifests
        .iter()
        .position(named)
        .map(|at| index.manifests.remove(at));
    if let Some(manifest) = manifest {
        let mut manifest = manifest.clone();
        manifest
            .annotations
            .insert(ANNOTATION_REF_NAME.to_owned(), name.to_owned());
        if before.as_ref() == Some(&manifest) {
            return Ok(before);
        }
        index.manifests.push(manifest);
    } else if before.is_none() {
        return Ok(None);
    }
    root.replace(Path::new(INDEX), canonical::of(&index).as_bytes())
        .map_err(unwritable)?;
    Ok(before)
}

fn load(root: &Root) -> Result<Index, PackError> {
    match root.read(Path::new(INDEX), &ReadPolicy::inside(MAX_INDEX_BYTES)) {
        Ok(read) => serde_json::from_slice(&read.bytes).map_err(|error| {
            let message = format!("`{}` is not an index", root.path().join(INDEX).display());
            PackError::new(ErrorClass::InvalidManifest, message).caused_by(error)
        }),
        Err(error) if error.is_missing() => Ok(Index::default()),
        Err(error) => Err(unreadable(error)),
    }
}

impl Store {
    /// Returns the tags, sorted by name.
    pub fn tags(&self) -> Result<Vec<Tagged>, PackError> {
        read(&self.root)
    }

    /// Finds a tag.
    pub fn tagged(&self, name: &str) -> Result<Option<Descriptor>, PackError> {
        let tags = self.tags()?;
        Ok(tags
            .into_iter()
            .find(|tag| tag.name == name)
            .map(|tag| tag.manifest))
    }

    /// Gives a manifest a name; the manifest that had it before loses it and is returned.
    pub fn tag(&self, name: &str, manifest: &Descriptor) -> Result<Option<Descriptor>, PackError> {
        change(&self.root, name, Some(manifest))
    }

    /// Takes a name away; returns what had it.
    pub fn untag(&self, name: &str) -> Result<Option<Descriptor>, PackError> {
        change(&self.root, name, None)
    }
}
