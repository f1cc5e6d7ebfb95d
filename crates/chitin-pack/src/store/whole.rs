//! Blobs that are still what their names say.

use super::{BLOB_POLICY, Store, blob_path};
use crate::artifact::{Descriptor, verify_blob};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use chitin_guard::Fingerprint;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// When more are known than this, all are forgotten.
const MOST_SEEN: usize = 16_384;

/// The blobs that this process has read or written whole, as their files were then: none of them is read twice.
#[derive(Debug, Default)]
pub(super) struct SeenWhole(Mutex<HashMap<Digest, Fingerprint>>);

impl Store {
    /// Tells whether a blob is there and is what its name says. Reads it, unless this process has before and nobody wrote to it
    /// since.
    pub fn has_whole(&self, descriptor: &Descriptor) -> bool {
        let Some(found) = self.fingerprint(&descriptor.digest) else {
            return false;
        };
        if found.size != descriptor.size {
            return false;
        }
        let known = self.seen_whole.get(&descriptor.digest);
        if known == Some(found) {
            return true;
        }
        let is_whole = verify_blob(self, descriptor).is_ok();
        if is_whole {
            self.seen_whole.put(descriptor.digest, found);
        }
        is_whole
    }

    /// Says what is wrong with a blob that is needed and not whole.
    pub fn not_whole(&self, needed: &Descriptor) -> PackError {
        let digest = needed.digest;
        if self.fingerprint(&digest).is_none() {
            let message = format!("the blob {digest} is not in the store");
            return PackError::new(ErrorClass::MissingBlob, message)
                .hint("the artifact is not complete; pack or pull it again");
        }
        let message = format!("the blob {digest} in the store is damaged");
        PackError::new(ErrorClass::DigestMismatch, message)
            .hint("pack or pull the artifact again, which replaces it")
    }

    /// Notes that a blob was just written, under this digest.
    pub(super) fn saw_whole(&self, digest: Digest) {
        if let Some(found) = self.fingerprint(&digest) {
            self.seen_whole.put(digest, found);
        }
    }

    fn fingerprint(&self, digest: &Digest) -> Option<Fingerprint> {
        let found = self.root.open_reader(&blob_path(digest), &BLOB_POLICY);
        Some(found.ok()?.fingerprint)
    }
}

impl SeenWhole {
    fn get(&self, digest: &Digest) -> Option<Fingerprint> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(digest).copied()
    }

    fn put(&self, digest: Digest, found: Fingerprint) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST_SEEN {
            seen.clear();
        }
        seen.insert(digest, found);
    }
}
