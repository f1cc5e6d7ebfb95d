//! Manifests in registries: found, read, written.

use crate::http::{Action, Endpoint, Request, wrong_answer};
use crate::registry::RegistryClient;
use bytes::Bytes;
use chitin_pack::artifact::{Descriptor, MAX_MANIFEST_BYTES, Manifest};
use chitin_pack::compat::{OCI_EMPTY, OCI_MANIFEST};
use chitin_pack::reference::Reference;
use chitin_pack::{Digest, ErrorClass, ExitKind, PackError};
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::Value;

/// More blobs than any artifact has.
const MAX_BLOBS: usize = 256;
const EMPTY_BLOB: &[u8] = b"{}";

/// A manifest with its exact bytes.
#[derive(Debug)]
pub(crate) struct ManifestBytes {
    pub(crate) digest: Digest,
    pub(crate) bytes: Bytes,
    pub(crate) media_type: String,
}

impl RegistryClient {
    /// Finds what a reference means now: media type, digest and size.
    ///
    /// Cancellation safe: nothing is changed.
    pub async fn resolve(&self, reference: &Reference) -> Result<Descriptor, PackError> {
        let endpoint = self.endpoint(reference)?;
        let request = manifest_request(
            &endpoint,
            reference,
            &reference.identifier(),
            Method::HEAD,
            OCI_MANIFEST,
        );
        let found = self.read(&request, &reference.to_string(), 0).await?;
        let named = found
            .digest
            .as_deref()
            .and_then(|digest| digest.parse::<Digest>().ok());
        if let (Some(digest), Some(length)) = (named, found.length) {
            check_digest(reference, digest)?;
            let media_type = found.media_type.as_deref().unwrap_or(OCI_MANIFEST);
            return Ok(Descriptor::new(media_type, digest, length));
        }
        // A registry that does not say must show.
        let manifest = self
            .manifest_at(&endpoint, reference, &reference.identifier(), OCI_MANIFEST)
            .await?;
        Ok(Descriptor::of(&manifest.media_type, &manifest.bytes))
    }

    /// Reads the manifest that a reference names, exactly as it is there, checked against every digest that is known.
    ///
    /// Cancellation safe: nothing is changed.
    pub async fn manifest(&self, reference: &Reference) -> Result<(Digest, Vec<u8>), PackError> {
        let endpoint = self.endpoint(reference)?;
        let found = self
            .manifest_at(&endpoint, reference, &reference.identifier(), OCI_MANIFEST)
            .await?;
        Ok((found.digest, found.bytes.into()))
    }

    pub(crate) async fn manifest_at(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        identifier: &str,
        media_type: &str,
    ) -> Result<ManifestBytes, PackError> {
        let request = manifest_request(endpoint, reference, identifier, Method::GET, media_type);
        let what = format!("{}/{} {identifier}", endpoint.host, reference.repository);
        let limit = usize::try_from(MAX_MANIFEST_BYTES).unwrap_or(usize::MAX);
        let found = self.read(&request, &what, limit).await?;
        let digest = Digest::of(&found.body);
        if let Ok(wanted) = identifier.parse::<Digest>()
            && wanted != digest
        {
            return Err(other_digest(&wanted.to_string(), digest));
        }
        // Other algorithms than ours cannot be compared.
        if let Some(named) = found.digest
            && named.starts_with("sha256:")
            && named != digest.to_string()
        {
            return Err(other_digest(&named, digest));
        }
        Ok(ManifestBytes {
            digest,
            bytes: found.body,
            media_type: found.media_type.unwrap_or_else(|| media_type.to_owned()),
        })
    }
}

pub(crate) fn manifest_request<'r>(
    endpoint: &'r Endpoint,
    reference: &'r Reference,
    identifier: &str,
    method: Method,
    media_type: &str,
) -> Request<'r> {
    let repository = &reference.repository;
    let url = endpoint.url(&format!("{repository}/manifests/{identifier}"));
    Request::new(endpoint, repository, Action::Pull, method, url).header(ACCEPT, media_type)
}

fn check_digest(reference: &Reference, found: Digest) -> Result<(), PackError> {
    match reference.digest {
        Some(wanted) if wanted != found => Err(other_digest(&wanted.to_string(), found)),
        _ => Ok(()),
    }
}

fn other_digest(wanted: &str, found: Digest) -> PackError {
    let message = format!("the manifest is {found}, not {wanted}");
    PackError::new(ErrorClass::DigestMismatch, message)
        .exiting(ExitKind::Registry)
        .hint("the registry or something on the way changed it; do not use it")
}

/// The blobs of a manifest, each once, and whether the empty one is among them.
#[derive(Debug)]
pub(crate) struct BlobList {
    pub(crate) blobs: Vec<Descriptor>,
    pub(crate) empty: Option<Descriptor>,
}

/// Lists the blobs that a manifest needs, the empty one apart: its bytes are known.
pub(crate) fn blobs_of(bytes: &[u8]) -> Result<BlobList, PackError> {
    let manifest = Manifest::parse(bytes)?;
    let mut blobs: Vec<Descriptor> = Vec::new();
    let needed = [&manifest.config].into_iter().chain(&manifest.layers);
    for descriptor in needed.filter(|descriptor| descriptor.media_type != OCI_EMPTY) {
        match blobs.iter().find(|known| known.digest == descriptor.digest) {
            None => blobs.push(descriptor.clone()),
            Some(known) if known.size == descriptor.size => {}
            Some(_) => {
                let message = format!("the manifest gives {} two sizes", descriptor.digest);
                return Err(PackError::new(ErrorClass::InvalidManifest, message));
            }
        }
    }
    if blobs.len() > MAX_BLOBS {
        let message = format!("the manifest names more than {MAX_BLOBS} blobs");
        return Err(PackError::new(ErrorClass::InvalidManifest, message));
    }
    // The manifest's own list leaves out the layer that stands for none.
    let document: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let layers = document["layers"].as_array().into_iter().flatten();
    let has_empty = layers
        .chain([&document["config"]])
        .any(|descriptor| descriptor["mediaType"] == OCI_EMPTY);
    let empty = has_empty.then(Descriptor::empty);
    Ok(BlobList { blobs, empty })
}

/// The bytes of the empty blob.
pub(crate) const fn empty_blob() -> &'static [u8] {
    EMPTY_BLOB
}

/// Whatever is wrong with something that came from a registry ends the command as a registry's failure.
pub(crate) fn as_registry(error: PackError) -> PackError {
    error.exiting(ExitKind::Registry)
}

/// A manifest that came from a registry and is not one of ours.
pub(crate) fn not_an_artifact(error: PackError) -> PackError {
    as_registry(error).hint("check the reference; what is there may be an image and not an agent")
}

/// Parses JSON that a registry sent.
pub(crate) fn json<T: serde::de::DeserializeOwned>(
    endpoint: &Endpoint,
    bytes: &[u8],
    what: &str,
) -> Result<T, PackError> {
    serde_json::from_slice(bytes).map_err(|error| wrong_answer(endpoint, what).caused_by(error))
}
