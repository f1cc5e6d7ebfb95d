//! From the store to a registry.

mod upload;

use crate::content::{blobs_of, empty_blob};
use crate::http::{Action, Endpoint, Failure, Payload, Request, refused, refused_with_code};
use crate::progress::{ProgressListener, TransferEvent};
use crate::pull::blocking;
use crate::registry::{RegistryClient, header};
use bytes::Bytes;
use chitin_pack::artifact::{Descriptor, Manifest};
use chitin_pack::compat::OCI_MANIFEST;
use chitin_pack::reference::{DEFAULT_TAG, Reference};
use chitin_pack::store::Store;
use chitin_pack::{Digest, ErrorClass, ExitKind, PackError};
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode};
use std::sync::Arc;
use upload::Content;

impl RegistryClient {
    /// Sends an artifact of the store to a registry: the blobs that it does not have, then the manifest exactly as it is
    /// here, under the reference's tag. Returns the digest, which is the local one. A manifest that refers to another one
    /// is entered in that one's list of referrers.
    ///
    /// Cancellation safe: the registry has whole blobs or none, and the manifest last of all.
    pub async fn push(
        &self,
        store: &Arc<Store>,
        digest: &Digest,
        reference: &Reference,
        progress: &dyn ProgressListener,
    ) -> Result<Digest, PackError> {
        if let Some(named) = reference.digest
            && named != *digest
        {
            let message = format!("`{reference}` names another artifact than {digest}");
            return Err(PackError::new(ErrorClass::InvalidReference, message)
                .hint("leave the digest out of the reference"));
        }
        let identifier = match (&reference.tag, reference.digest) {
            (Some(tag), _) => tag.clone(),
            (None, Some(digest)) => digest.to_string(),
            (None, None) => DEFAULT_TAG.to_owned(),
        };
        self.push_as(store, digest, reference, &identifier, progress)
            .await
    }

    pub(crate) async fn push_as(
        &self,
        store: &Arc<Store>,
        digest: &Digest,
        reference: &Reference,
        identifier: &str,
        progress: &dyn ProgressListener,
    ) -> Result<Digest, PackError> {
        let endpoint = self.endpoint(reference)?;
        let (local, name) = (Arc::clone(store), *digest);
        let bytes = blocking(move || local.manifest_bytes(&name)).await?;
        let list = blobs_of(&bytes)?;
        let (local, needed) = (Arc::clone(store), list.blobs.clone());
        blocking(
            move || match needed.iter().find(|blob| !local.has_whole(blob)) {
                // A damaged blob is found here, where it can be told from a registry's mistake.
                Some(blob) => Err(local.not_whole(blob)),
                None => Ok(()),
            },
        )
        .await?;
        let of_store = list
            .blobs
            .iter()
            .map(|blob| (blob, Content::Stored(Arc::clone(store))));
        let empty = list.empty.iter().map(|blob| {
            let bytes = Bytes::from_static(empty_blob());
            (blob, Content::Known(bytes))
        });
        let sends = of_store.chain(empty).map(|(blob, content)| {
            let repository = &reference.repository;
            self.send_blob(&endpoint, repository, blob, content, progress)
        });
        stream::iter(sends)
            .buffer_unordered(self.transport.options.concurrency.max(1))
            .try_collect::<()>()
            .await?;
        let manifest = Manifest::parse(&bytes)?;
        let answer = self
            .put_manifest(&endpoint, reference, identifier, OCI_MANIFEST, bytes.into())
            .await?;
        if let Some(found) = answer.digest
            && found.starts_with("sha256:")
            && found != digest.to_string()
        {
            let message = format!("the registry took the manifest for {found}, it is {digest}");
            return Err(PackError::new(ErrorClass::DigestMismatch, message)
                .exiting(ExitKind::Registry)
                .hint("do not use what is there"));
        }
        if let Some(subject) = &manifest.subject
            && answer.subject.as_deref() != Some(subject.digest.to_string().as_str())
        {
            let entry = Descriptor {
                artifact_type: Some(manifest.artifact_type.clone()),
                annotations: manifest.annotations.clone(),
                ..store_descriptor(store, digest)?
            };
            self.enter_referrer(&endpoint, reference, &subject.digest, &entry)
                .await?;
        }
        Ok(*digest)
    }

    /// Sends one blob, unless the registry has it.
    async fn send_blob(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        blob: &Descriptor,
        content: Content,
        progress: &dyn ProgressListener,
    ) -> Result<(), PackError> {
        let (digest, total) = (blob.digest, blob.size);
        let mut patience = self.patience();
        let is_there = loop {
            match self.has_blob(endpoint, repository, &digest).await {
                Ok(is_there) => break is_there,
                Err(failure) => patience.wait(failure, Some((progress, digest))).await?,
            }
        };
        if is_there {
            progress.event(TransferEvent::AlreadyThere { digest, total });
            return Ok(());
        }
        self.upload(endpoint, repository, blob, &content, progress)
            .await?;
        progress.event(TransferEvent::Finished { digest, total });
        Ok(())
    }

    async fn has_blob(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        digest: &Digest,
    ) -> Result<bool, Failure> {
        let url = endpoint.url(&format!("{repository}/blobs/{digest}"));
        let request = Request::new(endpoint, repository, Action::Push, Method::HEAD, url);
        let response = self.transport.send(&request).await?;
        match response.status() {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(refused(endpoint, &digest.to_string(), response).await),
        }
    }

    /// Puts a manifest. Doing so twice does no harm, so it is tried again.
    pub(crate) async fn put_manifest(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        identifier: &str,
        media_type: &str,
        bytes: Bytes,
    ) -> Result<Accepted, PackError> {
        let repository = &reference.repository;
        let url = endpoint.url(&format!("{repository}/manifests/{identifier}"));
        let request = Request::new(endpoint, repository, Action::Push, Method::PUT, url)
            .header(CONTENT_TYPE, media_type)
            .body(Payload::Known(bytes));
        let mut patience = self.patience();
        loop {
            match self.put_once(&request, identifier).await {
                Ok(accepted) => return Ok(accepted),
                Err(failure) => patience.wait(failure, None).await?,
            }
        }
    }

    async fn put_once(&self, request: &Request<'_>, identifier: &str) -> Result<Accepted, Failure> {
        let response = self.transport.send(request).await?;
        if !response.status().is_success() {
            let (failure, code) = refused_with_code(request.endpoint, identifier, response).await;
            // The digests of a manifest are right. A registry that still writes the links of a blob, for a push that was broken off,
            // reads half of one and calls it wrong.
            return Err(match code.as_deref() {
                Some("DIGEST_INVALID") => Failure::soon(failure.error),
                _ => failure,
            });
        }
        Ok(Accepted {
            digest: header(&response, "docker-content-digest"),
            subject: header(&response, "oci-subject"),
        })
    }
}

/// What a registry says of a manifest that it took.
#[derive(Debug)]
pub(crate) struct Accepted {
    digest: Option<String>,
    /// The digest of the subject, when the registry keeps the list of referrers itself.
    subject: Option<String>,
}

fn store_descriptor(store: &Store, digest: &Digest) -> Result<Descriptor, PackError> {
    let bytes = store.manifest_bytes(digest)?;
    Ok(Descriptor::of(OCI_MANIFEST, &bytes))
}
