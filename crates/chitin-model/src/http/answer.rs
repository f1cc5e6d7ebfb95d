//! An answer while it comes in.

use super::endpoint::ModelTimeouts;
use super::secrets::Secrets;
use super::{reason, timed_out};
use crate::error::ModelError;
use crate::model::{EventStream, Tee};
use crate::stream::StreamEvent;
use crate::wire::Decoder;
use chitin_protocol::message::StopReason;
use futures_util::stream;
use reqwest::Response;
use std::collections::VecDeque;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long to wait for what stands behind the end of an answer, which mostly is there already.
const REST: Duration = Duration::from_millis(25);

/// An answer while it comes in. Dropping it closes the connection.
pub(super) struct ResponseStream {
    /// Nothing, once the answer is over: then the connection is closed, or kept for the next request.
    response: Option<Response>,
    decoder: Box<dyn Decoder>,
    provider: String,
    timeouts: ModelTimeouts,
    tee: Option<Tee>,
    secrets: Secrets,
    ready: VecDeque<StreamEvent>,
    /// What ends the answer when all that is ready was passed on.
    failure: Option<ModelError>,
    has_received: bool,
    has_begun: bool,
}

impl ResponseStream {
    pub(super) fn new(
        response: Response,
        decoder: Box<dyn Decoder>,
        provider: &str,
        timeouts: ModelTimeouts,
        tee: Option<Tee>,
        secrets: Secrets,
    ) -> Self {
        Self {
            response: Some(response),
            decoder,
            provider: provider.to_owned(),
            timeouts,
            tee,
            secrets,
            ready: VecDeque::new(),
            failure: None,
            has_received: false,
            has_begun: false,
        }
    }

    pub(super) fn into_stream(self, cancel: CancellationToken) -> EventStream {
        Box::pin(stream::unfold(
            (self, cancel),
            async |(mut answer, cancel)| {
                let event = answer.next(&cancel).await?;
                Some((event, (answer, cancel)))
            },
        ))
    }

    async fn next(
        &mut self,
        cancel: &CancellationToken,
    ) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(self.pass_on(event).await));
            }
            if let Some(failure) = self.failure.take() {
                return Some(self.end(failure));
            }
            self.response.as_ref()?;
            tokio::select! {
                biased;
                () = cancel.cancelled() => self.failure = Some(ModelError::Cancelled),
                () = self.receive() => {}
            }
        }
    }

    /// Waits for some bytes and decodes them. Nothing is lost when it is dropped while it waits.
    async fn receive(&mut self) {
        let Some(response) = &mut self.response else {
            return;
        };
        let time = if self.has_received {
            self.timeouts.idle
        } else {
            self.timeouts.first_byte
        };
        let chunk = tokio::time::timeout(time, response.chunk()).await;
        let mut out = Vec::new();
        let decoded = match chunk {
            Err(_) => Err(timed_out(&self.provider, time)),
            Ok(Err(error)) => Err(ModelError::Unreachable {
                provider: self.provider.clone(),
                message: format!("the connection broke: {}", reason(error)),
            }),
            Ok(Ok(Some(bytes))) => {
                self.has_received = true;
                if let Some(tee) = &self.tee {
                    (tee.0)(&bytes);
                }
                // The decoder bounds how much is taken in all.
                self.decoder.feed(&bytes, &mut out)
            }
            // Whoever answers nothing at all was cut off; asking again may help.
            Ok(Ok(None)) if !self.has_received => Err(ModelError::Unreachable {
                provider: self.provider.clone(),
                message: "the answer is empty".to_owned(),
            }),
            Ok(Ok(None)) => self.decoder.finish(&mut out).and_then(|()| {
                if out.iter().any(is_last) {
                    Ok(())
                } else {
                    Err(self.malformed("the answer ended before it was complete"))
                }
            }),
        };
        self.ready.extend(out);
        self.failure = decoded.err();
    }

    fn malformed(&self, message: &str) -> ModelError {
        ModelError::Malformed {
            provider: self.provider.clone(),
            message: message.to_owned(),
        }
    }

    async fn pass_on(&mut self, mut event: StreamEvent) -> StreamEvent {
        self.has_begun = true;
        if let StreamEvent::Failed(message) = &mut event
            && let Some(text) = &mut message.error_message
        {
            self.secrets.hide(text);
        }
        if matches!(event, StreamEvent::Done(_)) {
            // It is no loss when the rest does not come in time: then the connection is closed.
            let _ = tokio::time::timeout(REST, self.read_rest()).await;
        }
        if is_last(&event) {
            self.close();
        }
        event
    }

    /// Reads what stands behind the end of the answer. Only a connection that was read to its end is used again.
    async fn read_rest(&mut self) {
        let Some(response) = &mut self.response else {
            return;
        };
        while let Ok(Some(bytes)) = response.chunk().await {
            if let Some(tee) = &self.tee {
                (tee.0)(&bytes);
            }
        }
    }

    /// Ends in an error: with what had come, if something had.
    fn end(&mut self, failure: ModelError) -> Result<StreamEvent, ModelError> {
        self.close();
        if !self.has_begun {
            return Err(self.secrets.hide_in(failure));
        }
        let mut event = self.decoder.abort();
        if let StreamEvent::Failed(message) = &mut event {
            match failure {
                ModelError::Cancelled => {}
                failure => {
                    message.stop_reason = Some(StopReason::Error);
                    let mut text = failure.to_string();
                    self.secrets.hide(&mut text);
                    message.error_message = Some(text);
                }
            }
        }
        Ok(event)
    }

    fn close(&mut self) {
        self.response = None;
        self.ready.clear();
        self.failure = None;
    }
}

const fn is_last(event: &StreamEvent) -> bool {
    matches!(event, StreamEvent::Done(_) | StreamEvent::Failed(_))
}
