//! For callers that are no tasks: a thread that fills an index waits for its vectors.

use super::RemoteEmbedder;
use crate::error::ModelError;
use std::sync::{Arc, mpsc};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Embeds from a thread that may wait. The work is done on a runtime, which must be driven by other threads than the one that waits.
#[derive(Debug, Clone)]
pub struct BlockingEmbedder {
    embedder: Arc<RemoteEmbedder>,
    runtime: Handle,
    cancel: CancellationToken,
}

impl BlockingEmbedder {
    /// Makes a handle. Cancelling the token ends what is under way and refuses what comes after.
    pub const fn new(
        embedder: Arc<RemoteEmbedder>,
        runtime: Handle,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            embedder,
            runtime,
            cancel,
        }
    }

    /// Returns the embedder behind it.
    pub fn embedder(&self) -> &RemoteEmbedder {
        &self.embedder
    }

    /// Returns one vector per text, as [`RemoteEmbedder::embed`] does. A runtime that ends meanwhile counts as cancelled.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let (embedder, cancel) = (Arc::clone(&self.embedder), self.cancel.clone());
        let (send, receive) = mpsc::sync_channel(1);
        // Waiting on a channel is fine anywhere; waiting on the runtime itself would be a panic inside one of its tasks.
        self.runtime.spawn(async move {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            // Nobody waits any more when this fails.
            let _ = send.send(embedder.embed(&texts, &cancel).await);
        });
        receive.recv().unwrap_or(Err(ModelError::Cancelled))
    }
}
