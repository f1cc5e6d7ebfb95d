//! The body of a request, which tells when it has gone out.

use crate::model::Prepared;
use bytes::Bytes;
use http_body_util::Full;
use tokio_util::sync::CancellationToken;

/// Returns the body of a request. Its length is known, so it is sent with `Content-Length`.
pub(super) fn body(prepared: &Prepared) -> reqwest::Body {
    let bytes = prepared.body.clone();
    match &prepared.gone_out {
        None => bytes.into(),
        Some(gone_out) => {
            let watched = Bytes::from_owner(Watched {
                bytes,
                gone_out: gone_out.clone(),
            });
            reqwest::Body::wrap(Full::new(watched))
        }
    }
}

/// Bytes that the connection drops once it has written them.
struct Watched {
    bytes: Bytes,
    gone_out: CancellationToken,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.gone_out.cancel();
    }
}
