//! Tags: names for manifests, in the layout's `index.json`. Referrers, such as signatures, stand there without a name.

use super::{Store, unreadable, unwritable};
use crate::artifact::Descriptor;
use crate::canonical;
use crate::compat::{AGENT, ANNOTATION_REF_NAME, OCI_INDEX, PACKAGE, PROFILE, SOURCE};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use chitin_guard::{ClaimKind, ReadPolicy, Root};
use serde::{Deserialize, Serialize};
use std::path::Path;

pub(super) const INDEX: &str = "index.json";
/// Two processes that tag at once do so one after the other.
pub(super) const INDEX_LOCK: &str = "index.lock";
pub(super) const MAX_INDEX_BYTES: u64 = 16 * 1024 * 1024;
/// Longer names are nobody's.
const MAX_NAME: usize = 1024;

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
    /// Optional by OCI, and other tools leave it out.
    #[serde(default = "index_type")]
    media_type: String,
    manifests: Vec<Descriptor>,
}

fn index_type() -> String {
    OCI_INDEX.to_owned()
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

/// Returns the named manifests among entries, sorted by name.
pub(super) fn named(entries: Vec<Descriptor>) -> Vec<Tagged> {
    let mut tags: Vec<_> = entries
        .into_iter()
        .filter_map(|mut manifest| {
            let name = manifest.annotations.remove(ANNOTATION_REF_NAME)?;
            Some(Tagged { name, manifest })
        })
        .collect();
    tags.sort_by(|a, b| a.name.cmp(&b.name));
    tags
}

/// Returns the entry with that tag; without one there must be one artifact only.
pub(super) fn choose<'e>(
    entries: &'e [Descriptor],
    tag: Option<&str>,
) -> Result<&'e Descriptor, PackError> {
    let is_named = |entry: &&Descriptor| name_of(entry).is_some();
    let found: Vec<_> = match tag {
        Some(tag) => entries
            .iter()
            .filter(|entry| name_of(entry) == Some(tag))
            .collect(),
        None if entries.iter().any(|entry| name_of(entry).is_some()) => {
            entries.iter().filter(is_named).collect()
        }
        // Referrers have no name either, but a type of their own.
        None => entries.iter().filter(|entry| !may_refer(entry)).collect(),
    };
    // One artifact may well have several names.
    match found.split_first() {
        Some((first, rest)) if rest.iter().all(|other| other.digest == first.digest) => Ok(first),
        _ => {
            let message = match found.len() {
                0 => "the layout has no such artifact",
                _ => "the layout contains several artifacts",
            };
            let names = entries.iter().filter_map(name_of);
            let error = PackError::new(ErrorClass::MissingManifest, message).about(names);
            Err(error.hint("write `:TAG` after the path"))
        }
    }
}

/// Returns the name of an entry.
pub(super) fn name_of(entry: &Descriptor) -> Option<&str> {
    entry
        .annotations
        .get(ANNOTATION_REF_NAME)
        .map(String::as_str)
}

/// Tells whether an entry may be a referrer: one without a name whose type is none of the artifacts'.
pub(super) fn may_refer(entry: &Descriptor) -> bool {
    let kinds = [AGENT, PACKAGE, PROFILE, SOURCE];
    let kind = entry.artifact_type.as_deref();
    name_of(entry).is_none() && kind.is_some_and(|kind| !kinds.contains(&kind))
}

/// Adds a referrer, which has no name.
pub(super) fn attach(root: &Root, referrer: &Descriptor) -> Result<(), PackError> {
    edit(root, |manifests| {
        let is_same = |known: &Descriptor| known.digest == referrer.digest;
        if manifests
            .iter()
            .any(|known| is_same(known) && name_of(known).is_none())
        {
            return false;
        }
        let mut referrer = referrer.clone();
        referrer.annotations.clear();
        manifests.push(referrer);
        true
    })
}

/// Takes referrers away.
pub(super) fn detach(root: &Root, referrers: &[Digest]) -> Result<(), PackError> {
    edit(root, |manifests| {
        let before = manifests.len();
        manifests.retain(|known| name_of(known).is_some() || !referrers.contains(&known.digest));
        manifests.len() < before
    })
}

/// Adds a referrer to the text of an index, in which all else stays, whoever wrote it. `None` when it is there already.
pub(super) fn with_referrer(
    bytes: &[u8],
    referrer: &Descriptor,
) -> Result<Option<Vec<u8>>, PackError> {
    let is_same = |known: &Descriptor| known.digest == referrer.digest && name_of(known).is_none();
    if parse(bytes)?.iter().any(is_same) {
        return Ok(None);
    }
    let mut index: serde_json::Value = serde_json::from_slice(bytes).map_err(not_an_index)?;
    let entry = serde_json::to_value(referrer).map_err(not_an_index)?;
    if let Some(entries) = index["manifests"].as_array_mut() {
        entries.push(entry);
    }
    Ok(Some(canonical::of(&index).into_bytes()))
}

/// Changes the entries in one step, while nobody else does; `change` tells whether there is anything to write.
fn edit(root: &Root, change: impl FnOnce(&mut Vec<Descriptor>) -> bool) -> Result<(), PackError> {
    let _alone = root
        .claim(Path::new(INDEX_LOCK), ClaimKind::Alone)
        .map_err(unwritable)?;
    let mut index = load(root)?;
    if !change(&mut index.manifests) {
        return Ok(());
    }
    root.replace(Path::new(INDEX), canonical::of(&index).as_bytes())
        .map_err(unwritable)
}

/// Gives a manifest a name, or takes a name away.
pub(super) fn change(
    root: &Root,
    name: &str,
    manifest: Option<&Descriptor>,
) -> Result<Option<Descriptor>, PackError> {
    let mut before = None;
    edit(root, |manifests| {
        let place = manifests
            .iter()
            .position(|known| name_of(known) == Some(name));
        before = place.map(|at| manifests.remove(at));
        let Some(manifest) = manifest else {
            return before.is_some();
        };
        let mut manifest = manifest.clone();
        manifest
            .annotations
            .insert(ANNOTATION_REF_NAME.to_owned(), name.to_owned());
        let is_new = before.as_ref() != Some(&manifest);
        manifests.push(manifest);
        is_new
    })?;
    Ok(before)
}

/// Writes the index of a layout with these entries.
pub(super) fn to_text(manifests: Vec<Descriptor>) -> String {
    canonical::of(&Index {
        manifests,
        ..Index::default()
    })
}

/// Reads the entries out of an index.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Descriptor>, PackError> {
    let index: Result<Index, _> = serde_json::from_slice(bytes);
    Ok(index.map_err(not_an_index)?.manifests)
}

fn not_an_index(error: serde_json::Error) -> PackError {
    let message = "`index.json` is not an index";
    PackError::new(ErrorClass::InvalidManifest, message).caused_by(error)
}

/// Returns all entries of a layout, in their order.
pub(super) fn entries(root: &Root) -> Result<Vec<Descriptor>, PackError> {
    load(root).map(|index| index.manifests)
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
        entries(&self.root).map(named)
    }

    /// Finds a tag.
    pub fn tagged(&self, name: &str) -> Result<Option<Descriptor>, PackError> {
        let tags = self.tags()?;
        Ok(tags
            .into_iter()
            .find(|tag| tag.name == name)
            .map(|tag| tag.manifest))
    }

    /// Gives a manifest, which must be there, a name; the manifest that had it before loses it and is returned.
    pub fn tag(&self, name: &str, manifest: &Descriptor) -> Result<Option<Descriptor>, PackError> {
        if name.is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
            let message = format!("`{}` cannot be a name in the store", name.escape_debug());
            return Err(PackError::new(ErrorClass::InvalidName, message));
        }
        // Nobody sweeps between the look and the change.
        let _adding = self.adding()?;
        if !self.has(manifest) {
            let message = format!("the manifest {} is not in the store", manifest.digest);
            return Err(PackError::new(ErrorClass::MissingManifest, message));
        }
        change(&self.root, name, Some(manifest))
    }

    /// Takes a name away; returns what had it.
    pub fn untag(&self, name: &str) -> Result<Option<Descriptor>, PackError> {
        let _adding = self.adding()?;
        change(&self.root, name, None)
    }
}
