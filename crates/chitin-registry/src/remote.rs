//! A look at an artifact where it is: manifest and config, nothing else.

use crate::content::{empty_blob, not_an_artifact};
use crate::http::{Action, Endpoint, Request};
use crate::registry::RegistryClient;
use chitin_pack::artifact::{Artifact, Blobs, Descriptor, Manifest};
use chitin_pack::compat::{OCI_EMPTY, OCI_MANIFEST};
use chitin_pack::reference::Reference;
use chitin_pack::{Digest, ErrorClass, ExitKind, PackError};
use reqwest::Method;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

/// What is looked at is small.
const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

impl RegistryClient {
    /// Opens an artifact where it is: its manifest and config are read and checked, its layers are not there.
    ///
    /// Cancellation safe: nothing is changed.
    pub async fn artifact(&self, reference: &Reference) -> Result<Artifact, PackError> {
        let endpoint = self.endpoint(reference)?;
        let found = self
            .manifest_at(&endpoint, reference, &reference.identifier(), OCI_MANIFEST)
            .await?;
        let manifest = Manifest::parse(&found.bytes).map_err(not_an_artifact)?;
        let config = self
            .document(&endpoint, &reference.repository, &manifest.config)
            .await?;
        let blobs = Fetched(BTreeMap::from([(manifest.config.digest, config)]));
        Artifact::open(Arc::new(blobs), found.bytes.into()).map_err(not_an_artifact)
    }

    /// Reads a small blob, checked.
    async fn document(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        blob: &Descriptor,
    ) -> Result<Vec<u8>, PackError> {
        if blob.media_type == OCI_EMPTY {
            return Ok(empty_blob().to_vec());
        }
        let digest = blob.digest;
        let wrong = |class, message: String| {
            let error = PackError::new(class, message).exiting(ExitKind::Registry);
            error.hint("the registry's copy is damaged or was changed; push it again")
        };
        if blob.size > MAX_DOCUMENT_BYTES {
            let message = format!("{digest} has {} bytes, too many for a config", blob.size);
            return Err(wrong(ErrorClass::LayerTooLarge, message));
        }
        let url = endpoint.url(&format!("{repository}/blobs/{digest}"));
        let request = Request::new(endpoint, repository, Action::Pull, Method::GET, url);
        let limit = usize::try_from(MAX_DOCUMENT_BYTES).unwrap_or(usize::MAX);
        let found = self.read(&request, &digest.to_string(), limit).await?;
        if Digest::of(&found.body) == digest && found.body.len() as u64 == blob.size {
            return Ok(found.body.into());
        }
        let message = format!("a blob is not what its name says: expected {digest}");
        Err(wrong(ErrorClass::DigestMismatch, message))
    }
}

/// The blobs that were read.
#[derive(Debug)]
struct Fetched(BTreeMap<Digest, Vec<u8>>);

impl Blobs for Fetched {
    fn open(&self, digest: &Digest) -> Result<Box<dyn Read + '_>, PackError> {
        if let Some(bytes) = self.0.get(digest) {
            return Ok(Box::new(bytes.as_slice()));
        }
        let message = format!("the blob {digest} is in the registry and was not fetched");
        Err(PackError::new(ErrorClass::MissingBlob, message)
            .exiting(ExitKind::Registry)
            .hint("pull the artifact first"))
    }
}
