//! The local store: an OCI image layout in the state directory, content-addressed, shared by all processes of a user.
//!
//! ```text
//! oci/oci-layout          what this is
//! oci/index.json          tags, and the referrers of what is tagged
//! oci/blobs/sha256/…      blobs, manifests among them, under their digests
//! oci/partial/…           downloads that are not whole yet, under the digests they are to have
//! oci/lock                claimed together by those who add, alone by those who remove
//! oci/packs/…             notes that let a build of unchanged files skip reading them
//! ```
//!
//! A blob gets its name when it is whole and on the disk, so whatever stands under a name was right when it was put there. What
//! became of it since is another matter: whoever builds on a blob asks for a whole one, and one that was damaged is replaced.

mod added;
mod archive_file;
mod blob;
mod check;
mod copy;
mod export;
mod index;
mod layout;
mod mark;
mod partial;
mod record;
mod referrers;
mod sweep;
mod whole;

pub use archive_file::ArchiveFile;
pub use blob::BlobWriter;
pub use check::{Checkup, MissingFrom, StoreRepair};
pub use export::{Export, extract, write_archive, write_layout};
pub use index::Tagged;
pub use layout::ImageLayout;
pub use partial::PartialBlob;
pub use referrers::fallback_tag;
pub use sweep::{StoreUsage, Sweep, Swept};

use crate::artifact::{Artifact, Blobs, Descriptor, Manifest};
use crate::compat::OCI_MANIFEST;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use chitin_guard::{
    ClaimKind, Hardlinks, LinkPolicy, NameClaim, Oversized, ReadError, ReadPolicy, Root, WriteError,
};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use whole::SeenWhole;

const BLOBS: &str = "blobs/sha256";
const LOCK: &str = "lock";
/// How often, and how long apart, somebody who wants the store alone asks for it.
const PATIENCE: usize = 20;
const MOMENT: std::time::Duration = std::time::Duration::from_millis(10);

/// The store, open.
#[derive(Debug)]
pub struct Store {
    root: Root,
    seen_whole: SeenWhole,
}

/// Keeps others from removing blobs as long as it lives.
#[derive(Debug)]
pub struct Adding {
    _claim: NameClaim,
}

impl Store {
    /// Returns the store's directory in a state directory.
    pub fn directory_of(state: &Path) -> PathBuf {
        state.join("oci")
    }

    /// Tells whether a file belongs into a copy of the store, by its path below the store: locks and blobs that are only half there do not.
    pub fn is_kept_in_copies(path: &Path) -> bool {
        let first = path
            .components()
            .next()
            .map(std::path::Component::as_os_str);
        let moments = [LOCK, index::INDEX_LOCK, partial::PARTIAL];
        !moments.iter().any(|name| first == Some(name.as_ref()))
    }

    /// Opens a store, and makes it if it is not there.
    pub fn create(directory: &Path) -> Result<Self, PackError> {
        let (root, _) = Root::create(directory).map_err(unwritable)?;
        root.make_directories(Path::new(BLOBS))
            .map_err(unwritable)?;
        root.write_new(Path::new(layout::MARKER), layout::MARKER_TEXT)
            .map_err(unwritable)?;
        Ok(Self::at(root))
    }

    fn at(root: Root) -> Self {
        let seen_whole = SeenWhole::default();
        Self { root, seen_whole }
    }

    /// Opens a store to read it; `None` when there is none yet.
    pub fn open(directory: &Path) -> Result<Option<Self>, PackError> {
        match Root::open(directory) {
            Ok(root) => Ok(Some(Self::at(root))),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(unreadable(error)),
        }
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Keeps what is added from being swept away before it has a tag.
    pub fn adding(&self) -> Result<Adding, PackError> {
        let claim = self.root.claim(Path::new(LOCK), ClaimKind::Shared);
        match claim.map_err(unwritable)? {
            Some(claim) => Ok(Adding { _claim: claim }),
            None => Err(busy()),
        }
    }

    /// Claims the store alone, for those who remove. Does not wait for others to finish, but for a moment: a process that is
    /// being started holds the claims of its parent until it runs.
    fn alone(&self) -> Result<NameClaim, PackError> {
        for _ in 0..PATIENCE {
            let claim = self.root.claim(Path::new(LOCK), ClaimKind::AloneNow);
            if let Some(claim) = claim.map_err(unwritable)? {
                return Ok(claim);
            }
            std::thread::sleep(MOMENT);
        }
        Err(
            PackError::new(ErrorClass::Io, "another process is using the store")
                .hint("try again when that is done"),
        )
    }

    /// Begins a blob that is written piece by piece.
    pub fn begin_blob(&self) -> Result<BlobWriter<'_>, PackError> {
        BlobWriter::new(self, self.adding()?)
    }

    /// Puts a blob.
    pub fn put(&self, media_type: &str, bytes: &[u8]) -> Result<Descriptor, PackError> {
        let descriptor = Descriptor::of(media_type, bytes);
        if !self.has_whole(&descriptor) {
            let mut blob = self.begin_blob()?;
            std::io::Write::write_all(&mut blob, bytes).map_err(|error| {
                PackError::new(ErrorClass::Io, "a blob cannot be written").caused_by(error)
            })?;
            blob.keep()?;
        }
        Ok(descriptor)
    }

    /// Tells whether a blob is there with the right size. Its bytes were checked when it was put there; [`Store::has_whole`] checks
    /// them again.
    pub fn has(&self, descriptor: &Descriptor) -> bool {
        self.root
            .open_reader(&blob_path(&descriptor.digest), &BLOB_POLICY)
            .is_ok_and(|found| found.fingerprint.size == descriptor.size)
    }

    /// Opens an artifact of the store by the digest of its manifest.
    pub fn artifact(self: &Arc<Self>, digest: &Digest) -> Result<Artifact, PackError> {
        let bytes = self.manifest_bytes(digest)?;
        Artifact::open(Arc::clone(self) as Arc<dyn Blobs>, bytes)
    }

    /// Reads a manifest and checks it against its name.
    pub fn manifest_bytes(&self, digest: &Digest) -> Result<Vec<u8>, PackError> {
        let mut bytes = Vec::new();
        self.open(digest)?
            .take(crate::artifact::MAX_MANIFEST_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| {
                let message = format!("the manifest {digest} cannot be read");
                PackError::new(ErrorClass::Io, message).caused_by(error)
            })?;
        if Digest::of(&bytes) == *digest {
            Ok(bytes)
        } else {
            let message = format!("the manifest {digest} is not what its name says");
            Err(PackError::new(ErrorClass::DigestMismatch, message)
                .hint("the store is damaged; pack or pull the artifact again"))
        }
    }

    /// Puts a manifest, all of whose blobs must be there.
    pub fn put_manifest(&self, manifest: &Manifest) -> Result<Descriptor, PackError> {
        self.put_manifest_bytes(&manifest.to_bytes())
    }

    /// Puts a manifest with the bytes it came in.
    pub fn put_manifest_bytes(&self, bytes: &[u8]) -> Result<Descriptor, PackError> {
        let manifest = Manifest::parse(bytes)?;
        let empty = Descriptor::empty();
        if copy::names(bytes, &empty.digest) {
            self.put(&empty.media_type, copy::EMPTY)?;
        }
        let of_layers = manifest.layers.iter();
        for needed in of_layers.chain([&manifest.config]) {
            if needed.media_type != crate::compat::OCI_EMPTY && !self.has_whole(needed) {
                return Err(self.not_whole(needed));
            }
        }
        let mut descriptor = self.put(OCI_MANIFEST, bytes)?;
        descriptor.artifact_type = Some(manifest.artifact_type);
        Ok(descriptor)
    }
}

impl Blobs for Store {
    fn open(&self, digest: &Digest) -> Result<Box<dyn Read + '_>, PackError> {
        open_blob(&self.root, &blob_path(digest), digest)
    }
}

/// No link, no second name: a blob is a file of the store and nothing else.
const BLOB_POLICY: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Allow,
    max_bytes: u64::MAX,
    oversized: Oversized::Keep,
};

fn blob_path(digest: &Digest) -> PathBuf {
    Path::new(BLOBS).join(digest.hex())
}

fn open_blob(root: &Root, path: &Path, digest: &Digest) -> Result<Box<dyn Read>, PackError> {
    match root.open_reader(path, &BLOB_POLICY) {
        Ok(reader) => Ok(Box::new(reader)),
        Err(error) if error.is_missing() => Err(PackError::new(
            ErrorClass::MissingBlob,
            format!("the blob {digest} is not there"),
        )
        .hint("the artifact is not complete; get it again")),
        Err(error) => Err(unreadable(error)),
    }
}

fn unreadable(error: ReadError) -> PackError {
    let message = format!("`{}` cannot be read", error.path().display());
    PackError::new(ErrorClass::Io, message).caused_by(error)
}

fn unwritable(error: WriteError) -> PackError {
    let message = format!("`{}` cannot be written", error.path().display());
    PackError::new(ErrorClass::Io, message).caused_by(error)
}

fn busy() -> PackError {
    PackError::new(ErrorClass::Io, "another process is cleaning the store")
        .hint("try again when that is done")
}
