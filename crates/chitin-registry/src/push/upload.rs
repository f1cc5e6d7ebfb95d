//! One blob on its way up: in one request, or in pieces that a cut connection does not undo.

use crate::http::{Action, Endpoint, Failure, Payload, Request, Retry, refused, wrong_answer};
use crate::progress::{ProgressListener, TransferEvent};
use crate::registry::{RegistryClient, header};
use bytes::Bytes;
use chitin_pack::artifact::Descriptor;
use chitin_pack::store::Store;
use chitin_pack::{Digest, PackError};
use reqwest::header::{CONTENT_RANGE, CONTENT_TYPE, HeaderName};
use reqwest::{Method, Response, StatusCode, Url};
use std::sync::Arc;

const OCTETS: &str = "application/octet-stream";

/// Where a blob's bytes come from.
#[derive(Debug)]
pub(super) enum Content {
    Stored(Arc<Store>),
    Known(Bytes),
}

impl Content {
    /// Returns a piece.
    fn piece(&self, digest: Digest, offset: u64, length: u64) -> Payload {
        match self {
            Self::Known(bytes) => {
                let size = bytes.len() as u64;
                let at = |place: u64| usize::try_from(place.min(size)).unwrap_or_default();
                Payload::Known(bytes.slice(at(offset)..at(offset.saturating_add(length))))
            }
            Self::Stored(store) => Payload::Stored {
                store: Arc::clone(store),
                digest,
                offset,
                length,
            },
        }
    }
}

/// An upload that the registry knows of.
#[derive(Debug)]
struct Session {
    location: Url,
    offset: u64,
    chunk: u64,
}

/// What one upload is about.
#[derive(Clone, Copy)]
struct Task<'t> {
    endpoint: &'t Endpoint,
    repository: &'t str,
    blob: &'t Descriptor,
    content: &'t Content,
    progress: &'t dyn ProgressListener,
}

impl RegistryClient {
    /// Sends a blob. After a cut connection the registry is asked how far it got; when it does not know any more, the blob
    /// is sent from the beginning.
    pub(super) async fn upload(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        blob: &Descriptor,
        content: &Content,
        progress: &dyn ProgressListener,
    ) -> Result<(), PackError> {
        let task = Task {
            endpoint,
            repository,
            blob,
            content,
            progress,
        };
        let mut patience = self.patience();
        let mut session = None;
        progress.event(TransferEvent::Started {
            digest: blob.digest,
            resumed: 0,
            total: blob.size,
        });
        loop {
            let before = session
                .as_ref()
                .map_or(0, |session: &Session| session.offset);
            let failure = match self.advance(task, &mut session).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            let after = session.as_ref().map_or(0, |session| session.offset);
            if after > before {
                patience.renew();
            }
            patience
                .wait(failure, Some((progress, blob.digest)))
                .await?;
            while let Some(broken) = session.take() {
                match self.ask_how_far(task, &broken).await {
                    Ok(known) => {
                        session = known;
                        break;
                    }
                    Err(failure) => {
                        session = Some(broken);
                        let about = Some((progress, blob.digest));
                        patience.wait(failure, about).await?;
                    }
                }
            }
            // The answer to the last request may have been lost, and not the request.
            if session.is_none()
                && matches!(
                    self.has_blob(endpoint, repository, &blob.digest).await,
                    Ok(true)
                )
            {
                return Ok(());
            }
        }
    }

    async fn advance(&self, task: Task<'_>, session: &mut Option<Session>) -> Result<(), Failure> {
        let open = match session.take() {
            Some(open) => open,
            None => self.begin(task).await?,
        };
        let open = session.insert(open);
        let size = task.blob.size;
        if open.offset == 0 && size <= open.chunk {
            let body = task.content.piece(task.blob.digest, 0, size);
            return self.finish(task, session, body).await;
        }
        while let Some(open) = session.as_mut()
            && open.offset < size
        {
            let length = open.chunk.min(size - open.offset);
            let piece = task.content.piece(task.blob.digest, open.offset, length);
            self.send_piece(task, session, piece).await?;
        }
        self.finish(task, session, Payload::empty()).await
    }

    /// Opens an upload.
    async fn begin(&self, task: Task<'_>) -> Result<Session, Failure> {
        let url = task
            .endpoint
            .url(&format!("{}/blobs/uploads/", task.repository));
        let request = task.request(Method::POST, url);
        let response = self.transport.send(&request).await?;
        if response.status() != StatusCode::ACCEPTED {
            return Err(task.refused(response).await);
        }
        let wished = self.transport.options.chunk_bytes.max(1);
        let least = header(&response, "oci-chunk-min-length")
            .and_then(|least| least.parse().ok())
            .unwrap_or_default();
        Ok(Session {
            location: task.location(&request.url, &response)?,
            offset: 0,
            chunk: wished.max(least),
        })
    }

    async fn send_piece(
        &self,
        task: Task<'_>,
        session: &mut Option<Session>,
        piece: Payload,
    ) -> Result<(), Failure> {
        let Some(open) = session.as_mut() else {
            return Err(task.lost().into());
        };
        let end = open.offset + piece.length();
        let request = task
            .request(Method::PATCH, open.location.clone())
            .header(CONTENT_TYPE, OCTETS)
            .header(CONTENT_RANGE, &format!("{}-{}", open.offset, end - 1))
            .body(piece);
        let response = self.transport.send(&request).await?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::CREATED | StatusCode::NO_CONTENT => {}
            status => return Err(task.piece_refused(session, status, response).await),
        }
        open.location = task.location(&request.url, &response)?;
        // A registry may have kept less than it was sent.
        open.offset = match range_end(&response) {
            Some(kept) if kept < end => kept.max(open.offset),
            _ => end,
        };
        task.progress.event(TransferEvent::Advanced {
            digest: task.blob.digest,
            done: open.offset,
            total: task.blob.size,
        });
        Ok(())
    }

    /// Closes an upload: the registry compares the digest and gives the blob its name.
    async fn finish(
        &self,
        task: Task<'_>,
        session: &mut Option<Session>,
        body: Payload,
    ) -> Result<(), Failure> {
        let Some(open) = session.as_ref() else {
            return Err(task.lost().into());
        };
        let mut url = open.location.clone();
        // The address may have a query already, which stays.
        url.query_pairs_mut()
            .append_pair("digest", &task.blob.digest.to_string());
        let request = task
            .request(Method::PUT, url)
            .header(CONTENT_TYPE, OCTETS)
            .body(body);
        let response = self.transport.send(&request).await?;
        match response.status() {
            StatusCode::CREATED | StatusCode::NO_CONTENT | StatusCode::ACCEPTED => Ok(()),
            status => Err(task.piece_refused(session, status, response).await),
        }
    }

    /// Asks how much of an upload is there. `None` when the registry does not know.
    async fn ask_how_far(
        &self,
        task: Task<'_>,
        broken: &Session,
    ) -> Result<Option<Session>, Failure> {
        let request = task.request(Method::GET, broken.location.clone());
        let response = self.transport.send(&request).await?;
        if response.status() != StatusCode::NO_CONTENT {
            let failure = task.refused(response).await;
            return match failure.retry {
                Retry::Never => Ok(None),
                Retry::Soon | Retry::After(_) => Err(failure),
            };
        }
        let Some(offset) = range_end(&response).filter(|offset| *offset <= task.blob.size) else {
            return Ok(None);
        };
        task.progress.event(TransferEvent::Started {
            digest: task.blob.digest,
            resumed: offset,
            total: task.blob.size,
        });
        Ok(Some(Session {
            location: task.location(&request.url, &response)?,
            offset,
            chunk: broken.chunk,
        }))
    }
}

impl<'t> Task<'t> {
    fn request(&self, method: Method, url: Url) -> Request<'t> {
        Request::new(self.endpoint, self.repository, Action::Push, method, url)
    }

    fn location(&self, from: &Url, response: &Response) -> Result<Url, PackError> {
        header(response, HeaderName::from_static("location").as_str())
            .and_then(|location| self.endpoint.follow(from, &location))
            .ok_or_else(|| {
                let text = "an upload without an address that can be used";
                wrong_answer(self.endpoint, text)
            })
    }

    async fn refused(&self, response: Response) -> Failure {
        refused(self.endpoint, &self.blob.digest.to_string(), response).await
    }

    /// An upload that the registry has forgotten, or has elsewhere than we think, is begun again.
    async fn piece_refused(
        &self,
        session: &mut Option<Session>,
        status: StatusCode,
        response: Response,
    ) -> Failure {
        let failure = self.refused(response).await;
        match status {
            StatusCode::NOT_FOUND | StatusCode::RANGE_NOT_SATISFIABLE => {
                *session = None;
                Failure {
                    error: failure.error,
                    retry: Retry::Soon,
                }
            }
            _ => failure,
        }
    }

    fn lost(&self) -> PackError {
        wrong_answer(self.endpoint, "an upload that it does not know")
    }
}

/// Reads `0-99` as a hundred bytes. Registries write `0-0` for none.
fn range_end(response: &Response) -> Option<u64> {
    let text = header(response, "range")?;
    let (start, end) = text.trim_start_matches("bytes=").split_once('-')?;
    match (start.trim(), end.trim().parse::<u64>().ok()?) {
        ("0", 0) => Some(0),
        ("0", end) => end.checked_add(1),
        _ => None,
    }
}
