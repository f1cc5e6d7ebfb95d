//! Sweeping: what no name leads to goes.
//!
//! Names lead to manifests, manifests to blobs, lists to manifests, and a manifest that is kept keeps what refers to it. A
//! referrer whose subject is gone goes too. Nobody adds while this runs.

use super::partial::PARTIAL;
use super::{BLOBS, Store, blob_path, index, unreadable, unwritable};
use crate::artifact::{Descriptor, MAX_MANIFEST_BYTES, read_verified};
use crate::compat::{OCI_INDEX, OCI_MANIFEST};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use chitin_guard::{DirectoryEntryKind, LinkPolicy};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// More files than this are not a store of ours.
const MAX_FILES: usize = 1_000_000;

/// Whether to remove or only to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// Says what would go.
    Rehearse,
    /// Removes it.
    Remove,
}

/// What went, or would go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Swept {
    /// Blobs that stay.
    pub kept: usize,
    /// Their bytes.
    pub kept_bytes: u64,
    /// Blobs that go, by digest, with their sizes.
    pub removed: BTreeMap<Digest, u64>,
    /// Files that somebody began and never finished.
    pub unfinished: usize,
    /// Bytes that become free.
    pub removed_bytes: u64,
    /// Referrers whose subject is gone.
    pub referrers: Vec<Digest>,
}

/// What a store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreUsage {
    /// Names.
    pub tags: usize,
    /// Blobs, manifests among them.
    pub blobs: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that sweeping would free.
    pub unreferenced_bytes: u64,
}

/// The files of the blob directory.
pub(super) struct Files {
    pub(super) blobs: BTreeMap<Digest, u64>,
    /// What somebody began and did not finish, with sizes.
    pub(super) unfinished: Vec<(PathBuf, u64)>,
    /// What nobody knows.
    pub(super) strange: Vec<PathBuf>,
}

impl Store {
    /// Removes what no name leads to. Fails when somebody is adding.
    pub fn sweep(&self, how: Sweep) -> Result<Swept, PackError> {
        let _alone = self.alone()?;
        let (swept, unfinished) = self.plan()?;
        if how == Sweep::Remove {
            // First the list, then what it names: a sweep that is cut off leaves too much, never too little.
            if !swept.referrers.is_empty() {
                index::detach(&self.root, &swept.referrers)?;
            }
            for path in unfinished {
                self.root.remove_file(&path).map_err(unwritable)?;
            }
            for digest in swept.removed.keys() {
                self.root
                    .remove_file(&blob_path(digest))
                    .map_err(unwritable)?;
            }
        }
        Ok(swept)
    }

    /// Returns what the store holds.
    pub fn usage(&self) -> Result<StoreUsage, PackError> {
        let _adding = self.adding()?;
        let (swept, _) = self.plan()?;
        Ok(StoreUsage {
            tags: self.tags()?.len(),
            blobs: swept.kept + swept.removed.len(),
            bytes: swept.kept_bytes + swept.removed.values().sum::<u64>(),
            unreferenced_bytes: swept.removed_bytes,
        })
    }

    fn plan(&self) -> Result<(Swept, Vec<PathBuf>), PackError> {
        let (kept, referrers) = self.mark()?;
        let files = self.files()?;
        let mut swept = Swept {
            referrers,
            unfinished: files.unfinished.len(),
            removed_bytes: files.unfinished.iter().map(|(_, size)| size).sum(),
            ..Swept::default()
        };
        for (digest, size) in files.blobs {
            if kept.contains(&digest) {
                swept.kept += 1;
                swept.kept_bytes += size;
            } else {
                swept.removed.insert(digest, size);
                swept.removed_bytes += size;
            }
        }
        let unfinished = files.unfinished.into_iter().map(|(path, _)| path);
        Ok((swept, unfinished.collect()))
    }

    /// Returns what is needed, and the referrers that nobody needs.
    fn mark(&self) -> Result<(HashSet<Digest>, Vec<Digest>), PackError> {
        let mut kept = HashSet::new();
        let mut referrers = Vec::new();
        for entry in index::entries(&self.root)? {
            match index::name_of(&entry) {
                Some(_) => self.mark_from(entry, &mut kept)?,
                None => match self.subject_of(&entry)? {
                    Some(subject) => referrers.push((entry, subject)),
                    None => self.mark_from(entry, &mut kept)?,
                },
            }
        }
        // A referrer may itself have referrers.
        loop {
            let before = referrers.len();
            for (entry, subject) in std::mem::take(&mut referrers) {
                if kept.contains(&subject) {
                    self.mark_from(entry, &mut kept)?;
                } else {
                    referrers.push((entry, subject));
                }
            }
            if referrers.len() == before {
                let gone = referrers.into_iter().map(|(entry, _)| entry.digest);
                return Ok((kept, gone.collect()));
            }
        }
    }

    fn subject_of(&self, entry: &Descriptor) -> Result<Option<Digest>, PackError> {
        let document = self.document(entry)?;
        let subject = document.as_ref().and_then(|found| found.get("subject"));
        Ok(subject.and_then(digest_in))
    }

    fn mark_from(&self, entry: Descriptor, kept: &mut HashSet<Digest>) -> Result<(), PackError> {
        let mut left = vec![entry];
        while let Some(entry) = left.pop() {
            if !kept.insert(entry.digest) {
                continue;
            }
            let Some(document) = self.document(&entry)? else {
                continue;
            };
            let config = document.get("config").and_then(digest_in);
            let layers = document.get("layers").and_then(Value::as_array);
            let layers = layers.into_iter().flatten().filter_map(digest_in);
            kept.extend(config.into_iter().chain(layers));
            let manifests = document.get("manifests").and_then(Value::as_array);
            for manifest in manifests.into_iter().flatten() {
                if let Ok(manifest) = serde_json::from_value(manifest.clone()) {
                    left.push(manifest);
                }
            }
        }
        Ok(())
    }

    /// Reads a manifest or a list of them; `None` when it is not there, or is something else. A damaged one stops
    /// everything: nobody knows what it led to.
    fn document(&self, entry: &Descriptor) -> Result<Option<Value>, PackError> {
        let is_ours = [OCI_MANIFEST, OCI_INDEX].contains(&entry.media_type.as_str());
        let damaged = |error: PackError| {
            let message = format!(
                "the manifest {} is damaged; nothing was swept",
                entry.digest
            );
            PackError::new(ErrorClass::DigestMismatch, message)
                .hint("check the store and repair it first")
                .caused_by(error)
        };
        match read_verified(self, entry, MAX_MANIFEST_BYTES) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(document) => Ok(Some(document)),
                Err(error) if is_ours => Err(damaged(
                    PackError::new(ErrorClass::InvalidManifest, "it is not JSON").caused_by(error),
                )),
                Err(_) => Ok(None),
            },
            Err(error) if error.class() == ErrorClass::MissingBlob => Ok(None),
            Err(error) => Err(damaged(error)),
        }
    }

    /// Lists the blob directory, what is left of downloads, and what is left of changes to the index.
    pub(super) fn files(&self) -> Result<Files, PackError> {
        let mut files = Files {
            blobs: BTreeMap::new(),
            unfinished: Vec::new(),
            strange: Vec::new(),
        };
        let list = |directory: &Path| {
            let root = &self.root;
            let names = root.list_with_leftovers(directory, &LinkPolicy::Refuse, MAX_FILES);
            names.map_err(unreadable)
        };
        for entry in list(Path::new(BLOBS))? {
            let path = Path::new(BLOBS).join(&entry.name);
            let name = entry.name.to_string_lossy();
            if entry.kind != DirectoryEntryKind::File {
                files.strange.push(path);
            } else if let Some(digest) = Digest::from_hex(&name) {
                files.blobs.insert(digest, self.size(&path));
            } else if is_leftover(&name) {
                let size = self.size(&path);
                files.unfinished.push((path, size));
            } else {
                files.strange.push(path);
            }
        }
        // Nobody is receiving anything now; a blob of which a part is here begins again the next time.
        if self.root.kind(Path::new(PARTIAL)) == Some(DirectoryEntryKind::Directory) {
            for entry in list(Path::new(PARTIAL))? {
                let path = Path::new(PARTIAL).join(&entry.name);
                let size = self.size(&path);
                files.unfinished.push((path, size));
            }
        }
        for entry in list(Path::new(""))? {
            let name = entry.name.to_string_lossy();
            if entry.kind == DirectoryEntryKind::File && is_leftover(&name) {
                let path = PathBuf::from(&entry.name);
                let size = self.size(&path);
                files.unfinished.push((path, size));
            }
        }
        Ok(files)
    }

    fn size(&self, path: &Path) -> u64 {
        let end = self.root.walk(path, &LinkPolicy::Refuse);
        end.map_or(0, |end| end.fingerprint.size)
    }
}

/// Knows what a write leaves that was killed, also under the names that older versions gave.
fn is_leftover(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

fn digest_in(descriptor: &Value) -> Option<Digest> {
    descriptor.get("digest")?.as_str()?.parse().ok()
}
