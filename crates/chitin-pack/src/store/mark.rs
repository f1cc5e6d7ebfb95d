//! Small notes about blobs, by digest. They can be deleted at any time.

use super::{Store, unwritable};
use crate::digest::Digest;
use crate::error::PackError;
use chitin_guard::ReadPolicy;
use std::path::{Path, PathBuf};

const MAX_MARK_BYTES: u64 = 256;

impl Store {
    pub(crate) fn has_mark(&self, group: &str, digest: &Digest, text: &str) -> bool {
        let read = self
            .root
            .read(&place(group, digest), &ReadPolicy::inside(MAX_MARK_BYTES));
        read.is_ok_and(|read| read.bytes == text.as_bytes())
    }

    pub(crate) fn set_mark(
        &self,
        group: &str,
        digest: &Digest,
        text: &str,
    ) -> Result<(), PackError> {
        self.root
            .make_directories(Path::new(group))
            .and_then(|()| self.root.replace(&place(group, digest), text.as_bytes()))
            .map_err(unwritable)
    }
}

fn place(group: &str, digest: &Digest) -> PathBuf {
    Path::new(group).join(digest.hex())
}
