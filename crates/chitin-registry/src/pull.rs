//! From a registry into the store.

use crate::content::{as_registry, blobs_of, empty_blob, not_an_artifact};
use crate::http::{Action, Endpoint, Failure, Request, Retry, refused, wrong_answer};
use crate::progress::{ProgressListener, TransferEvent};
use crate::registry::{RegistryClient, header};
use chitin_pack::artifact::{Descriptor, Manifest};
use chitin_pack::compat::{OCI_EMPTY, OCI_MANIFEST};
use chitin_pack::reference::Reference;
use chitin_pack::store::{PartialBlob, Store};
use chitin_pack::{Digest, ErrorClass, ExitKind, PackError};
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::header::RANGE;
use reqwest::{Method, Response, StatusCode};
use std::sync::Arc;

/// A try that got at least this far is not counted as a failed one.
const WORTH_IT: u64 = 256 * 1024;
const DAMAGED: &str = "the registry's copy is damaged or was changed; push it again";

/// How a manifest is kept.
#[derive(Debug, Clone, Copy)]
enum Keep {
    /// For itself: whoever pulled it gives it a name.
    Artifact,
    /// As long as the other one is.
    ReferrerOf(Digest),
}

impl Keep {
    fn check(self, bytes: &[u8]) -> Result<(), PackError> {
        let Self::ReferrerOf(subject) = self else {
            return Ok(());
        };
        let named = Manifest::parse(bytes)?.subject;
        if named.is_some_and(|named| named.digest == subject) {
            return Ok(());
        }
        let message = format!("what is listed as a referrer does not refer to {subject}");
        Err(PackError::new(ErrorClass::InvalidManifest, message))
    }
}

impl RegistryClient {
    /// Brings an artifact into the store and returns the digest of its manifest. It has no tag there yet: whoever wants it
    /// to stay holds [`Store::adding`] until it has one.
    ///
    /// Only missing blobs are fetched. Each is checked before it gets its name; the manifest comes last.
    ///
    /// Cancellation safe: what was received of a blob stays, and the next pull goes on from there.
    pub async fn pull(
        &self,
        reference: &Reference,
        store: &Arc<Store>,
        progress: &dyn ProgressListener,
    ) -> Result<Digest, PackError> {
        let endpoint = self.endpoint(reference)?;
        let identifier = reference.identifier();
        self.pull_manifest(
            &endpoint,
            reference,
            &identifier,
            Keep::Artifact,
            store,
            progress,
        )
        .await
    }

    /// Brings an artifact and what refers to it with a given artifact type, such as its signatures. Returns the digests of
    /// both. What is listed and does not refer to the artifact, or is gone, is passed over.
    ///
    /// Cancellation safe, as [`RegistryClient::pull`].
    pub async fn pull_with_referrers(
        &self,
        reference: &Reference,
        artifact_type: &str,
        store: &Arc<Store>,
        progress: &dyn ProgressListener,
    ) -> Result<(Digest, Vec<Digest>), PackError> {
        let digest = self.pull(reference, store, progress).await?;
        let endpoint = self.endpoint(reference)?;
        let mut brought = Vec::new();
        for referrer in self.referrers(reference, &digest, artifact_type).await? {
            let identifier = referrer.digest.to_string();
            let keep = Keep::ReferrerOf(digest);
            match self
                .pull_manifest(&endpoint, reference, &identifier, keep, store, progress)
                .await
            {
                Ok(found) => brought.push(found),
                // Anybody may enter anything in the list, and what was removed may still stand there.
                Err(error)
                    if matches!(
                        error.class(),
                        ErrorClass::NotFound | ErrorClass::InvalidManifest
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((digest, brought))
    }

    async fn pull_manifest(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        identifier: &str,
        keep: Keep,
        store: &Arc<Store>,
        progress: &dyn ProgressListener,
    ) -> Result<Digest, PackError> {
        let claimed = Arc::clone(store);
        let _adding = blocking(move || claimed.adding()).await?;
        let manifest = self
            .manifest_at(endpoint, reference, identifier, OCI_MANIFEST)
            .await?;
        let list = blobs_of(&manifest.bytes).map_err(not_an_artifact)?;
        keep.check(&manifest.bytes).map_err(not_an_artifact)?;
        self.check_size(&list.blobs)?;
        let fetches = list.blobs.iter().map(|blob| {
            let repository = &reference.repository;
            self.fetch(endpoint, repository, blob, store, progress)
        });
        stream::iter(fetches)
            .buffer_unordered(self.transport.options.concurrency.max(1))
            .try_collect::<()>()
            .await?;
        let store = Arc::clone(store);
        blocking(move || {
            if list.empty.is_some() {
                store.put(OCI_EMPTY, empty_blob())?;
            }
            match keep {
                Keep::Artifact => store.put_manifest_bytes(&manifest.bytes),
                Keep::ReferrerOf(_) => store.put_referrer_bytes(&manifest.bytes),
            }
        })
        .await?;
        Ok(manifest.digest)
    }

    fn check_size(&self, blobs: &[Descriptor]) -> Result<(), PackError> {
        let limit = self.transport.options.max_artifact_bytes;
        let total = blobs
            .iter()
            .fold(0_u64, |total, blob| total.saturating_add(blob.size));
        if total <= limit {
            return Ok(());
        }
        let message = format!("the artifact has {total} bytes, more than the limit of {limit}");
        let error = PackError::new(ErrorClass::LayerTooLarge, message);
        Err(as_registry(error).hint("raise the limit if you trust its author"))
    }

    /// Fetches one blob, or the rest of it.
    async fn fetch(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        blob: &Descriptor,
        store: &Arc<Store>,
        progress: &dyn ProgressListener,
    ) -> Result<(), PackError> {
        let (digest, total) = (blob.digest, blob.size);
        let (local, wanted) = (Arc::clone(store), blob.clone());
        if blocking(move || Ok(local.has_whole(&wanted))).await? {
            progress.event(TransferEvent::AlreadyThere { digest, total });
            return Ok(());
        }
        loop {
            let mut partial = open(store, blob).await?;
            let resumed = partial.length();
            progress.event(TransferEvent::Started {
                digest,
                resumed,
                total,
            });
            self.fetch_rest(endpoint, repository, blob, &mut partial, progress)
                .await?;
            match blocking(move || partial.keep()).await {
                Ok(()) => break,
                // What an earlier run left may have been damaged since. Once more, from the beginning.
                Err(error) if error.class() == ErrorClass::DigestMismatch && resumed > 0 => {}
                Err(error) if error.class() == ErrorClass::DigestMismatch => {
                    return Err(as_registry(error).hint(DAMAGED));
                }
                Err(error) => return Err(error),
            }
        }
        progress.event(TransferEvent::Finished { digest, total });
        Ok(())
    }

    async fn fetch_rest(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        blob: &Descriptor,
        partial: &mut PartialBlob,
        progress: &dyn ProgressListener,
    ) -> Result<(), PackError> {
        let mut patience = self.patience();
        while partial.length() < blob.size {
            let before = partial.length();
            let failure = match self
                .fetch_some(endpoint, repository, blob, partial, progress)
                .await
            {
                Ok(()) => continue,
                Err(failure) => failure,
            };
            if partial.length() >= before + WORTH_IT {
                patience.renew();
            }
            patience
                .wait(failure, Some((progress, blob.digest)))
                .await?;
        }
        Ok(())
    }

    /// Makes one request for what is missing, and takes what comes.
    async fn fetch_some(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        blob: &Descriptor,
        partial: &mut PartialBlob,
        progress: &dyn ProgressListener,
    ) -> Result<(), Failure> {
        let (digest, total) = (blob.digest, blob.size);
        let url = endpoint.url(&format!("{repository}/blobs/{digest}"));
        let mut request = Request::new(endpoint, repository, Action::Pull, Method::GET, url);
        if partial.length() > 0 {
            request = request.header(RANGE, &format!("bytes={}-", partial.length()));
        }
        let mut response = self.transport.send(&request).await?;
        match response.status() {
            StatusCode::OK => {
                check_total(blob, content_length(&response))?;
                partial.restart()?;
            }
            StatusCode::PARTIAL_CONTENT => {
                let Some((start, whole)) = content_range(&response) else {
                    return Err(wrong_answer(endpoint, "a part that does not say which").into());
                };
                check_total(blob, whole)?;
                if start != partial.length() {
                    return Err(wrong_answer(endpoint, "another part than asked for").into());
                }
            }
            // What we have is longer than what is there, or the registry knows no parts.
            StatusCode::RANGE_NOT_SATISFIABLE if partial.length() > 0 => {
                partial.restart()?;
                return Err(Failure::soon(
                    refused(endpoint, &digest.to_string(), response).await.error,
                ));
            }
            _ => return Err(refused(endpoint, &digest.to_string(), response).await),
        }
        let idle = self.transport.options.timeouts.idle;
        loop {
            let piece = match tokio::time::timeout(idle, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(Failure::of_connection(endpoint, error)),
                Err(_) => return Err(Failure::of_silence(endpoint, idle)),
            };
            partial.append(&piece).map_err(as_registry_if_wrong)?;
            progress.event(TransferEvent::Advanced {
                digest,
                done: partial.length(),
                total,
            });
        }
        if partial.length() < total {
            let message = format!("`{}` sent only a part of {digest}", endpoint.host);
            let error = PackError::new(ErrorClass::Registry, message);
            return Err(Failure {
                error: error.hint("run the command again; it resumes where it stopped"),
                retry: Retry::Soon,
            });
        }
        Ok(())
    }
}

/// Runs what waits for the disk where nobody else has to wait for it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PackError> + Send + 'static,
) -> Result<T, PackError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => {
            Err(PackError::new(ErrorClass::Io, "work on the store was stopped").caused_by(error))
        }
    }
}

async fn open(store: &Arc<Store>, blob: &Descriptor) -> Result<PartialBlob, PackError> {
    let (store, blob) = (Arc::clone(store), blob.clone());
    blocking(move || store.resume_blob(&blob)).await
}

/// A blob of another size than its descriptor says is not the blob, and will not become it.
fn check_total(blob: &Descriptor, found: Option<u64>) -> Result<(), PackError> {
    match found {
        Some(found) if found != blob.size => {
            let message = format!(
                "the registry has {found} bytes of {}, its manifest says {}",
                blob.digest, blob.size
            );
            Err(PackError::new(ErrorClass::SizeMismatch, message)
                .exiting(ExitKind::Registry)
                .hint(DAMAGED))
        }
        _ => Ok(()),
    }
}

fn as_registry_if_wrong(error: PackError) -> PackError {
    match error.class() {
        ErrorClass::SizeMismatch => as_registry(error).hint(DAMAGED),
        _ => error,
    }
}

fn content_length(response: &Response) -> Option<u64> {
    header(response, "content-length")?.parse().ok()
}

/// Reads `bytes 5-9/10`: where the part begins, and the size of the whole where it is known.
fn content_range(response: &Response) -> Option<(u64, Option<u64>)> {
    let text = header(response, "content-range")?;
    let (part, whole) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = part.split_once('-')?;
    Some((start.trim().parse().ok()?, whole.trim().parse().ok()))
}
