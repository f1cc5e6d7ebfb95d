//! What a request carries: bytes that are there, or a piece of a blob that is read while it is sent.

use bytes::Bytes;
use chitin_guard::Reader;
use chitin_pack::Digest;
use chitin_pack::store::Store;
use futures_util::stream;
use reqwest::Body;
use std::io::{self, Read};
use std::sync::Arc;

/// How much of a blob is in memory at once.
const PIECE_BYTES: u64 = 128 * 1024;

/// Can be sent more than once.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    /// Bytes.
    Known(Bytes),
    /// A piece of a blob.
    Stored {
        store: Arc<Store>,
        digest: Digest,
        offset: u64,
        length: u64,
    },
}

impl Payload {
    pub(crate) const fn empty() -> Self {
        Self::Known(Bytes::new())
    }

    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Known(bytes) => bytes.len() as u64,
            Self::Stored { length, .. } => *length,
        }
    }

    /// Makes the body of one request.
    pub(super) fn body(&self) -> Body {
        match self {
            Self::Known(bytes) => Body::from(bytes.clone()),
            Self::Stored {
                store,
                digest,
                offset,
                length,
            } => {
                let open = Reading {
                    store: Arc::clone(store),
                    digest: *digest,
                    offset: *offset,
                    left: *length,
                    reader: None,
                };
                Body::wrap_stream(stream::try_unfold(open, Reading::next))
            }
        }
    }
}

/// A piece while it is read.
struct Reading {
    store: Arc<Store>,
    digest: Digest,
    offset: u64,
    left: u64,
    reader: Option<Reader>,
}

impl Reading {
    async fn next(self) -> io::Result<Option<(Bytes, Self)>> {
        if self.left == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(move || self.read());
        read.await.map_err(io::Error::other)?.map(Some)
    }

    fn read(mut self) -> io::Result<(Bytes, Self)> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => self
                .store
                .reader_at(&self.digest, self.offset)
                .map_err(io::Error::other)?,
        };
        let wanted = self.left.min(PIECE_BYTES);
        let mut bytes = vec![0; usize::try_from(wanted).unwrap_or_default()];
        reader.read_exact(&mut bytes)?;
        self.left -= wanted;
        self.reader = Some(reader);
        Ok((bytes.into(), self))
    }
}
