//! Artifacts in directories that others made: an OCI image layout, or a manifest beside its blobs.

use super::index::{self, Tagged};
use super::{open_blob, unreadable};
use crate::artifact::{Artifact, Blobs, MAX_MANIFEST_BYTES};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use chitin_workspace::guard::{EntryKind, ReadPolicy, Root};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub(super) const MARKER: &str = "oci-layout";
pub(super) const MARKER_TEXT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;
const MANIFEST: &str = "manifest.json";

/// A directory with an artifact in it.
#[derive(Debug)]
pub struct Layout {
    root: Root,
}

impl Layout {
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
        let is_file = |name: &str| root.kind(Path::new(name)) == Some(EntryKind::File);
        if is_file(MARKER) || is_file(MANIFEST) {
            Ok(Self { root })
        } else {
            Err(missing())
        }
    }

    /// Returns the artifact with that tag; without one there must be one artifact only.
    pub fn artifact(self, tag: Option<&str>) -> Result<Artifact, PackError> {
        let bytes = if self.root.kind(Path::new(MANIFEST)) == Some(EntryKind::File) {
            let policy = ReadPolicy::inside(MAX_MANIFEST_BYTES);
            let read = self.root.read(Path::new(MANIFEST), &policy);
            read.map_err(unreadable)?.bytes
        } else {
            self.indexed(tag)?
        };
        Artifact::open(Arc::new(self), bytes)
    }

    /// Returns the tags of an OCI layout.
    pub fn tags(&self) -> Result<Vec<Tagged>, PackError> {
        index::read(&self.root)
    }

    fn indexed(&self, tag: Option<&str>) -> Result<Vec<u8>, PackError> {
        let tags = self.tags()?;
        let found: Vec<_> = tags
            .iter()
            .filter(|tagged| tag.is_none_or(|wanted| tagged.name == wanted))
            .collect();
        let [only] = found.as_slice() else {
            let names = tags.iter().map(|tagged| tagged.name.clone());
            let message = match found.len() {
                0 => "the layout has no such artifact",
                _ => "the layout holds several artifacts",
            };
            let error = PackError::new(ErrorClass::MissingManifest, message).about(names);
            return Err(error.hint("write `:TAG` after the directory"));
        };
        crate::artifact::read_verified(self, &only.manifest, MAX_MANIFEST_BYTES)
    }
}

impl Blobs for Layout {
    fn open(&self, digest: &Digest) -> Result<Box<dyn Read + '_>, PackError> {
        open_blob(&self.root, &super::blob_path(digest), digest)
    }
}
