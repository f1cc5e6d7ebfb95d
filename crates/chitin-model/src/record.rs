//! A model that writes down what another one answers.

use crate::error::ModelError;
use crate::model::{EventStream, Model, Prepared};
use crate::normalise::{Normalised, normalise};
use crate::recording::{Exchange, Step, written};
use crate::request::{Api, ModelRequest};
use crate::stream::StreamEvent;
use chitin_guard::plain_file;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How many requests are remembered between preparing and sending.
const MOST_PREPARED: usize = 16;

/// A model that writes down what another one answers, for [`ReplayModel`](crate::ReplayModel). It sends exactly what the other one would
/// send. An answer that nobody waits for is not written down.
pub struct RecordModel {
    inner: Arc<dyn Model>,
    path: PathBuf,
    /// What was prepared, by the digest of its body.
    prepared: Mutex<VecDeque<(String, Normalised)>>,
}

impl std::fmt::Debug for RecordModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordModel")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl RecordModel {
    /// Records a model into a file; what is in the file stays.
    pub fn new(inner: Arc<dyn Model>, path: &Path) -> Self {
        Self {
            inner,
            path: path.to_path_buf(),
            prepared: Mutex::new(VecDeque::new()),
        }
    }

    fn remember(&self, digest: &str, normalised: Normalised) {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.retain(|(known, _)| known != digest);
        prepared.push_back((digest.to_owned(), normalised));
        if prepared.len() > MOST_PREPARED {
            prepared.pop_front();
        }
    }

    fn exchange(&self, digest: &str) -> Result<Exchange, ModelError> {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let found = prepared.iter().find(|(known, _)| known == digest);
        let Some((_, Normalised { key, request })) = found.cloned() else {
            return Err(ModelError::Unbuildable(
                "a request can be recorded only when this model prepared it".to_owned(),
            ));
        };
        Ok(Exchange {
            key,
            model: format!("{}/{}", self.inner.provider(), self.inner.name()),
            digest: digest.to_owned(),
            request,
            events: Vec::new(),
            error: None,
        })
    }
}

impl Model for RecordModel {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn api(&self) -> Api {
        self.inner.api()
    }

    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, ModelError> {
        let prepared = self.inner.prepare(request)?;
        self.remember(&prepared.digest, normalise(request));
        Ok(prepared)
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let mut exchange = self.exchange(&prepared.digest)?;
            match self.inner.send(prepared, cancel).await {
                Ok(events) => Ok(recorded(events, exchange, self.path.clone())),
                Err(ModelError::Cancelled) => Err(ModelError::Cancelled),
                Err(error) => {
                    exchange.error = Some(written(&error));
                    write(&self.path, &exchange)?;
                    Err(error)
                }
            }
        })
    }
}

/// Passes an answer on and writes it down before its last step is seen.
fn recorded(events: EventStream, exchange: Exchange, path: PathBuf) -> EventStream {
    let state = (events, exchange, path);
    stream::unfold(state, async |(mut events, mut exchange, path)| {
        let mut event = events.next().await?;
        let is_last = match &event {
            Ok(step) => {
                exchange.events.push(Step::from(step));
                matches!(step, StreamEvent::Done(_) | StreamEvent::Failed(_))
            }
            Err(ModelError::Cancelled) => false,
            Err(error) => {
                exchange.error = Some(written(error));
                true
            }
        };
        if is_last && let Err(error) = write(&path, &exchange) {
            event = Err(error);
        }
        Some((event, (events, exchange, path)))
    })
    .boxed()
}

fn write(path: &Path, exchange: &Exchange) -> Result<(), ModelError> {
    let line = serde_json::to_string(exchange)
        .map_err(|error| ModelError::Unscripted(format!("the recording is not JSON: {error}")))?;
    plain_file::append_line(path, &line).map_err(|error| ModelError::Unscripted(error.to_string()))
}
