//! Asking: one model or a list of them, again and again within bounds, until one begins to answer.

use crate::error::ModelError;
use crate::model::{EventStream, Model, Prepared};
use crate::request::Request;
use crate::retry::RetryPolicy;
use crate::stream::StreamEvent;
use futures_util::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Looks on while models are asked. Implemented by the agent, which logs what is sent and tells people of retries.
pub trait Watch: Send {
    /// Fits the request to a model before it is prepared, such as how long its answer may be. The model's name is set already.
    fn fit<'a>(&mut self, model: &dyn Model, request: Request<'a>) -> Request<'a> {
        let _ = model;
        request
    }

    /// A request is about to be sent: these very bytes. `attempt` counts all tries of the call, from 1. Whatever of the
    /// answer shall be kept raw can be asked for here, by setting the tee.
    fn sending(&mut self, model: &dyn Model, attempt: u32, prepared: &mut Prepared) {
        let _ = (model, attempt, prepared);
    }

    /// A try failed and another one follows.
    fn retrying(&mut self, retry: &Retry) {
        let _ = retry;
    }
}

/// Does not look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// A try that failed, and what comes next.
#[derive(Debug, Clone)]
pub struct Retry {
    /// Which try comes next, from 2.
    pub attempt: u32,
    /// How long to wait first.
    pub wait: Duration,
    /// What went wrong.
    pub error: ModelError,
    /// The model that failed, as `provider/name`.
    pub failed: String,
    /// The model that is asked next, as `provider/name`.
    pub model: String,
}

/// An answer that has begun.
pub struct Answered {
    /// The model that answers.
    pub model: Arc<dyn Model>,
    /// Which try this was, from 1.
    pub attempt: u32,
    /// The SHA-256 of the body that was sent.
    pub digest: String,
    /// The answer, from its first step on.
    pub events: EventStream,
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered")
            .field("model", &id(&*self.model))
            .field("attempt", &self.attempt)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

/// Models that are tried in turn. The first is the one that the user wants.
#[derive(Clone)]
pub struct Failover {
    models: Vec<Arc<dyn Model>>,
    policy: RetryPolicy,
}

impl fmt::Debug for Failover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.models.iter().map(|model| id(&**model)).collect();
        f.debug_struct("Failover")
            .field("models", &names)
            .field("policy", &self.policy)
            .finish()
    }
}

/// What a try came to.
enum Tried {
    Answered(EventStream),
    Failed(ModelError),
}

impl Failover {
    /// Makes a list of a first model and those that stand in for it.
    pub fn new(first: Arc<dyn Model>, others: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        Self {
            models: std::iter::once(first).chain(others).collect(),
            policy: RetryPolicy::default(),
        }
    }

    /// Sets how often and when models are asked again.
    #[must_use]
    pub fn with_policy(mut self, policy: RetryPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Returns the models in their order.
    pub fn models(&self) -> &[Arc<dyn Model>] {
        &self.models
    }

    /// Returns the first model.
    pub fn first(&self) -> &Arc<dyn Model> {
        &self.models[0]
    }

    /// Asks until a model begins to answer, and returns that answer. Once a step of an answer is there, nobody is asked again: an
    /// answer that breaks off later ends in [`StreamEvent::Failed`].
    ///
    /// A model is asked again after a transient error, as the policy says. The next model is asked when that did not help, or
    /// when the key is not taken or the model not known. The error is that of the last try.
    ///
    /// Dropping the future closes the connection and asks nobody else.
    pub async fn ask(
        &self,
        request: &Request<'_>,
        cancel: &CancellationToken,
        watch: &mut dyn Watch,
    ) -> Result<Answered, ModelError> {
        let mut attempt = 0;
        let mut models = self.models.iter().peekable();
        let mut last = ModelError::Unbuildable("there is no model to ask".to_owned());
        while let Some(model) = models.next() {
            for tried in 1.. {
                attempt += 1;
                let request = watch.fit(
                    &**model,
                    Request {
                        model: model.name(),
                        ..*request
                    },
                );
                let mut prepared = model.prepare(&request)?;
                watch.sending(&**model, attempt, &mut prepared);
                let digest = prepared.digest.clone();
                let error = match try_once(&**model, prepared, cancel).await {
                    Tried::Answered(events) => {
                        return Ok(Answered {
                            model: Arc::clone(model),
                            attempt,
                            digest,
                            events,
                        });
                    }
                    Tried::Failed(error) => error,
                };
                let again = self.policy.wait(tried, &error);
                let (wait, next) = match (again, models.peek()) {
                    (Some(wait), _) => (wait, model),
                    (None, Some(next)) if error.others_may_help() => (Duration::ZERO, *next),
                    (None, _) => return Err(error),
                };
                watch.retrying(&Retry {
                    attempt: attempt + 1,
                    wait,
                    error: error.clone(),
                    failed: id(&**model),
                    model: id(&**next),
                });
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Err(ModelError::Cancelled),
                    () = tokio::time::sleep(wait) => {}
                }
                last = error;
                if again.is_none() {
                    break;
                }
            }
        }
        Err(last)
    }
}

/// Sends a request and waits for the first step of the answer.
async fn try_once(model: &dyn Model, prepared: Prepared, cancel: &CancellationToken) -> Tried {
    let mut events = match model.send(prepared, cancel.clone()).await {
        Ok(events) => events,
        Err(error) => return Tried::Failed(error),
    };
    match events.next().await {
        Some(Ok(StreamEvent::Failed(message))) if message.content.blocks().is_empty() => {
            let said = message.error_message.unwrap_or_default();
            Tried::Failed(in_place_of_an_answer(model.provider(), said))
        }
        Some(Ok(first)) => Tried::Answered(stream::iter([Ok(first)]).chain(events).boxed()),
        Some(Err(error)) => Tried::Failed(error),
        None => Tried::Failed(ModelError::Malformed {
            provider: model.provider().to_owned(),
            message: "the answer is empty".to_owned(),
        }),
    }
}

/// Some providers say `200` and then send an error and nothing else. What kind it is, only its words tell.
fn in_place_of_an_answer(provider: &str, message: String) -> ModelError {
    let words = message.to_lowercase();
    let may_pass = [
        "overload",
        "rate limit",
        "rate_limit",
        "timeout",
        "timed out",
        "try again",
    ]
    .into_iter()
    .chain(["unavailable", "internal", "capacity", "temporar"])
    .any(|word| words.contains(word));
    let provider = provider.to_owned();
    if may_pass {
        ModelError::Upstream {
            provider,
            status: 200,
            message,
            retry_after: None,
        }
    } else {
        ModelError::Rejected {
            provider,
            status: 200,
            message,
        }
    }
}

/// Returns a model's full name.
fn id(model: &dyn Model) -> String {
    format!("{}/{}", model.provider(), model.name())
}
