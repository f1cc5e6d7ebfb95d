//! A look at the whole store: is every blob what its name says, and does every manifest have its blobs?

use super::{Store, blob_path, index, unwritable};
use crate::artifact::{Descriptor, MAX_MANIFEST_BYTES, read_verified};
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, PackError};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::PathBuf;

/// What to do with damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreRepair {
    /// Only say it.
    Report,
    /// Remove damaged blobs, so that they can be got again.
    RemoveDamaged,
}

/// A blob that should be there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MissingFrom {
    /// Who needs it: a name of the store, or the digest of a manifest.
    pub needed_by: String,
    /// The blob.
    pub digest: Digest,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkup {
    /// Blobs that were read.
    pub blobs: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Blobs that are not what their names say.
    pub damaged: Vec<Digest>,
    /// Blobs that should be there; those that were damaged and removed are among them.
    pub missing: BTreeSet<MissingFrom>,
    /// Files that do not belong there.
    pub strange: Vec<PathBuf>,
}

impl Checkup {
    /// Tells whether all is well. Strange files harm nobody.
    pub fn is_clean(&self) -> bool {
        self.damaged.is_empty() && self.missing.is_empty()
    }
}

impl Store {
    /// Reads every blob and follows every name.
    pub fn check(&self, repair: StoreRepair) -> Result<Checkup, PackError> {
        let _claims = match repair {
            StoreRepair::Report => (Some(self.adding()?), None),
            StoreRepair::RemoveDamaged => (None, Some(self.alone()?)),
        };
        let files = self.files()?;
        let mut found = Checkup {
            strange: files.strange,
            ..Checkup::default()
        };
        for (digest, size) in files.blobs {
            found.blobs += 1;
            found.bytes += size;
            if !self.is_whole(&digest)? {
                found.damaged.push(digest);
                if repair == StoreRepair::RemoveDamaged {
                    self.root
                        .remove_file(&blob_path(&digest))
                        .map_err(unwritable)?;
                }
            }
        }
        for entry in index::entries(&self.root)? {
            let name = index::name_of(&entry).unwrap_or_default().to_owned();
            self.follow(name, entry, &mut found);
        }
        Ok(found)
    }

    fn is_whole(&self, digest: &Digest) -> Result<bool, PackError> {
        let mut hashing = Hashing::new(io::sink());
        let mut blob = match crate::artifact::Blobs::open(self, digest) {
            Ok(blob) => blob,
            Err(error) if error.class() == ErrorClass::MissingBlob => return Ok(true),
            Err(error) => return Err(error),
        };
        // A disk that cannot give the bytes back is damage too.
        let read = io::copy(&mut blob, &mut hashing);
        let (_, found, _) = hashing.finish();
        Ok(read.is_ok() && found == *digest)
    }

    fn follow(&self, name: String, entry: Descriptor, found: &mut Checkup) {
        let mut seen = HashSet::new();
        let mut left = vec![(name, entry)];
        while let Some((needed_by, entry)) = left.pop() {
            if !seen.insert(entry.digest) {
                continue;
            }
            if !self.has(&entry) {
                let digest = entry.digest;
                found.missing.insert(MissingFrom { needed_by, digest });
                continue;
            }
            // Damage was said already.
            let Ok(bytes) = read_verified(self, &entry, MAX_MANIFEST_BYTES) else {
                continue;
            };
            let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let list = |member: &str| match document.get(member) {
                Some(Value::Array(items)) => items.clone(),
                Some(Value::Object(one)) => vec![Value::Object(one.clone())],
                _ => Vec::new(),
            };
            let described = |value: Value| serde_json::from_value::<Descriptor>(value).ok();
            let blobs = list("config").into_iter().chain(list("layers"));
            for blob in blobs.filter_map(described).filter(|blob| !self.has(blob)) {
                found.missing.insert(MissingFrom {
                    needed_by: entry.digest.to_string(),
                    digest: blob.digest,
                });
            }
            let manifests = list("manifests").into_iter().filter_map(described);
            left.extend(manifests.map(|manifest| (entry.digest.to_string(), manifest)));
        }
    }
}
