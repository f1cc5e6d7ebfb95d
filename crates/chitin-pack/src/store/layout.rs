//! Artifacts in directories that others made: an OCI image layout, or a manifest beside its blobs.

use super::index::{self, Tagged};
use super::{open_blob, referrers, unreadable};
use crate::artifact::{Artifact, Blobs, MAX_MANIFEST_BYTES};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::signatures::SignatureCandidate;
use chitin_guard::{DirectoryEntryKind, ReadPolicy, Root};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const MARKER: &str = "oci-layout";
pub(super) const MARKER_TEXT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;

/// A directory with an artifact in it.
#[derive(Debug)]
pub struct ImageLayout {
    pub(super) root: Root,
}

impl ImageLayout {
    /// Opens a directory; one that holds no artifact is an error.
    pub fn open(directory: &Path) -> Result<Self, PackError> {
        let missing = || {
            PackError::new(
                ErrorClass::MissingManifest,
                format!("there is no artifact at `{}`", directory.display()),
            )
            .hint("name a directory that `chitin pack --output` wrote, or a reference")
        };
        let root = match Root::open(directory) {
            Ok(root) => root,
            Err(error) if error.is_missing() => return Err(missing()),
            Err(error) => return Err(unreadable(error)),
        };
        let is_file = |name: &str| root.kind(Path::new(name)) == Some(DirectoryEntryKind::File);
        if is_file(MARKER) || is_file(MANIFEST) {
            Ok(Self { root })
        } else {
            Err(missing())
        }
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Returns the artifact with that tag; without one there must be one artifact only.
    pub fn artifact(self, tag: Option<&str>) -> Result<Artifact, PackError> {
        Arc::new(self).find(tag)
    }

    /// Returns the artifact with that tag, and stays open for its signatures.
    pub fn find(self: &Arc<Self>, tag: Option<&str>) -> Result<Artifact, PackError> {
        let bytes = if self.root.kind(Path::new(MANIFEST)) == Some(DirectoryEntryKind::File) {
            let policy = ReadPolicy::inside(MAX_MANIFEST_BYTES);
            let read = self.root.read(Path::new(MANIFEST), &policy);
            read.map_err(unreadable)?.bytes
        } else {
            let entries = index::entries(&self.root)?;
            let chosen = index::choose(&entries, tag)?;
            crate::artifact::read_verified(self.as_ref(), chosen, MAX_MANIFEST_BYTES)?
        };
        Artifact::open(Arc::clone(self) as Arc<dyn Blobs>, bytes)
    }

    /// Returns the tags of an OCI layout.
    pub fn tags(&self) -> Result<Vec<Tagged>, PackError> {
        index::entries(&self.root).map(index::named)
    }

    /// Returns the signatures of an artifact.
    pub fn signatures_of(
        self: &Arc<Self>,
        subject: &Digest,
    ) -> Result<Vec<SignatureCandidate>, PackError> {
        let entries = index::entries(&self.root)?;
        let blobs = Arc::clone(self) as Arc<dyn Blobs>;
        Ok(referrers::signatures(&blobs, &entries, subject))
    }
}

impl Blobs for ImageLayout {
    fn open(&self, digest: &Digest) -> Result<Box<dyn Read + '_>, PackError> {
        open_blob(&self.root, &super::blob_path(digest), digest)
    }
}
