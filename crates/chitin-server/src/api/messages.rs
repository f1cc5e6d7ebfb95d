//! A message for an agent.

use super::earlier;
use crate::answer::Caller;
use crate::body::{Body, events, json, parse, read};
use crate::error::{ApiError, short};
use crate::feed::{Feed, FinishedBefore, StreamEvent, Until, frame};
use crate::follow::{self, End, Waited};
use crate::forward;
use crate::images;
use crate::shared::Shared;
use chitin_gateway::queue::{QueueWish, mode};
use chitin_gateway::route::Inbound;
use chitin_gateway::{
    Accepted, DelayedJob, EarlierJob, IncomingMessage as Said, JobOutcome, JobPlacement, Topic,
};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Request, Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The longest name that a client may give a message, in bytes.
const LONGEST_KEY: usize = 256;

/// A message, as a client sends it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct SendMessage {
    /// The message. It may be empty if there are images.
    text: String,
    /// Up to 16 images.
    images: Vec<SentImage>,
    /// The agent; by default the bindings decide.
    agent: Option<String>,
    /// The session; by default derived from `from`, and without `from` the agent's main session.
    session: Option<String>,
    /// Where it comes from, and where replies go. Without it, replies are only events.
    from: Option<Inbound>,
    /// The sender's name.
    sender_name: Option<String>,
    /// The model, as `provider/name`.
    model: Option<String>,
    /// What happens to it if a turn is running.
    queue: Option<QueueOption>,
    /// Whether to respond when the turn has finished, or is delayed by an outage.
    wait: bool,
    /// For how many seconds the turn is tried again if the machine or the model fails; by default `server.retrySeconds`. 0 is not at all.
    retry_seconds: Option<u64>,
}

/// An image of a message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SentImage {
    /// Its bytes, in base 64.
    data: String,
    /// Its media type, such as `image/png`.
    mime_type: String,
}

/// What happens to a message if a turn is running: a queue mode, or more.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum QueueOption {
    /// The queue mode: `steer`, `followup`, `collect` or `interrupt`.
    Mode(String),
    /// The queue mode and its settings.
    More(QueueOptions),
}

/// How a message is queued.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct QueueOptions {
    /// The queue mode: `steer`, `followup`, `collect` or `interrupt`.
    mode: Option<String>,
    /// How long to wait for more messages, in milliseconds.
    debounce_ms: Option<u64>,
    /// How many messages wait at most.
    cap: Option<u32>,
    /// Which message is dropped when there are more: `old`, `new` or `summarize`.
    drop: Option<String>,
}

/// A message that was accepted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReceivedMessage {
    /// What became of it first.
    #[serde(flatten)]
    accepted: Accepted,
    /// Why its turn is delayed, and when it is tried again. Send the message again under its key to ask for the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    delayed: Option<DelayedJob>,
}

/// A message whose turn has finished.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SentMessage {
    /// What became of it first.
    #[serde(flatten)]
    accepted: Accepted,
    /// How its turn ended.
    #[serde(flatten)]
    outcome: JobOutcome,
}

/// What a client wants to hear.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// That the message is taken in.
    Receipt,
    /// How its turn ends.
    End,
    /// Everything until then.
    Events,
}

/// Takes a message in.
pub(crate) async fn send(
    shared: Arc<Shared>,
    caller: Caller,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let (head, body) = request.into_parts();
    let whole = read(&head.headers, body, &shared).await?;
    let message: SendMessage = parse(&whole.bytes)?;
    let wants = match wants_events(&head.headers) {
        true => Wants::Events,
        false if message.wait => Wants::End,
        false => Wants::Receipt,
    };
    let said = message.said(&shared, key(&head.headers)?)?;
    let job = said.job_id.clone().unwrap_or_default();
    if wants == Wants::Receipt {
        let accepted = shared.accept(said).await;
        if is_next_ones(&shared, &accepted) {
            return forward::read(&shared, &caller, head, whole.bytes).await;
        }
        let accepted = accepted?;
        return match earlier::find(&shared, &accepted).await? {
            EarlierJob::Ended(ended) => Ok(done(accepted, ended.outcome)),
            EarlierJob::Open(_) | EarlierJob::Unknown => {
                let delayed = shared.gateway.delay_of(&accepted.job_id);
                Ok(json(
                    StatusCode::ACCEPTED,
                    &ReceivedMessage { accepted, delayed },
                ))
            }
        };
    }
    let room = shared.stream()?;
    let mut subscription = shared.gateway.subscribe(Topic::Job(job));
    let accepted = shared.accept(said).await;
    if is_next_ones(&shared, &accepted) {
        return forward::read(&shared, &caller, head, whole.bytes).await;
    }
    drop(whole);
    let accepted = accepted?;
    let mut name = accepted.job_id.clone();
    match earlier::find(&shared, &accepted).await? {
        EarlierJob::Ended(ended) => return Ok(known(accepted, ended.outcome, wants)),
        EarlierJob::Unknown if accepted.place == JobPlacement::Known => {
            return Ok(json(StatusCode::ACCEPTED, &accepted));
        }
        // Another job may do its work by now.
        EarlierJob::Open(other) if other != accepted.job_id => {
            subscription = shared.gateway.subscribe(Topic::Job(other.clone()));
            if let EarlierJob::Ended(ended) = shared.gateway.earlier(&other).await {
                return Ok(known(accepted, ended.outcome, wants));
            }
            name = other;
        }
        EarlierJob::Open(_) | EarlierJob::Unknown => {}
    }
    if wants == Wants::Events {
        let feed = Feed::new(&shared, subscription, Until::JobEnds, room);
        return Ok(events(feed.stream()));
    }
    let phase = shared.phase.clone();
    match follow::end(&shared.gateway, &name, &mut subscription, phase).await {
        Ok(Waited::End(End::Finished(outcome))) => Ok(done(accepted, outcome)),
        Ok(Waited::End(End::Dropped(reason))) => Err(follow::dropped(&reason)),
        Ok(Waited::Delayed(delay)) => Ok(delayed(&shared, accepted, delay)),
        // The next process of the server goes on with it, and says how it ended when it is asked under the same key.
        Err(_) if shared.gateway.has_left() => Ok(later(&accepted)),
        Err(problem) => Err(problem),
    }
}

/// Tells whether the next process of the server has to answer: only that one takes messages in, and knows how earlier ones ended.
fn is_next_ones(shared: &Shared, accepted: &Result<Accepted, ApiError>) -> bool {
    match accepted {
        Ok(accepted) => accepted.place == JobPlacement::Known && shared.gateway.has_left(),
        Err(problem) => problem.is_restarting(),
    }
}

/// Answers for a message whose turn goes on after this process.
fn later(accepted: &Accepted) -> Response<Body> {
    let mut response = json(StatusCode::ACCEPTED, accepted);
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from(1_u64));
    response
}

/// Answers for a message that was handed in before and whose turn is over.
fn known(accepted: Accepted, outcome: JobOutcome, wants: Wants) -> Response<Body> {
    if wants != Wants::Events {
        return done(accepted, outcome);
    }
    let finished = FinishedBefore::new(accepted, outcome);
    let event = frame(None, "finished", &StreamEvent::FinishedBefore(finished));
    events(Box::pin(futures_util::stream::iter([event])))
}

/// Answers for a message whose turn is tried again later: whoever asks again under its key gets the outcome.
fn delayed(shared: &Shared, accepted: Accepted, delay: DelayedJob) -> Response<Body> {
    let now = shared.gateway.parts().clock.now_ms();
    let wait = u64::try_from(delay.next_ms - now).unwrap_or_default();
    let received = ReceivedMessage {
        accepted,
        delayed: Some(delay),
    };
    let mut response = json(StatusCode::ACCEPTED, &received);
    let seconds = HeaderValue::from(wait.div_ceil(1000).max(1));
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

fn done(accepted: Accepted, outcome: JobOutcome) -> Response<Body> {
    json(StatusCode::OK, &SentMessage { accepted, outcome })
}

fn wants_events(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).into_iter();
    let mut values = values.filter_map(|value| value.to_str().ok());
    values.any(|value| {
        let kinds = value.split(',').filter_map(|kind| kind.split(';').next());
        kinds
            .map(str::trim)
            .any(|kind| kind.eq_ignore_ascii_case("text/event-stream"))
    })
}

/// Reads the name that a client gives its message, so that it can send it again.
fn key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let value = value.to_str().unwrap_or_default();
    check_key(value).map(Some)
}

/// Checks the name that a client gives its message.
pub(crate) fn check_key(key: &str) -> Result<&str, ApiError> {
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(ApiError::bad(format!(
            "The name of a message has 1 to {LONGEST_KEY} characters."
        )));
    }
    Ok(key)
}

impl SendMessage {
    /// Makes of it what the gateway takes. Its job has a name beforehand, so that nothing of it is missed.
    pub(crate) fn said(self, shared: &Shared, key: Option<&str>) -> Result<Said, ApiError> {
        let inbound = self.from.unwrap_or_default();
        let channel = match inbound.channel.trim() {
            "" => crate::WebSurface::ID.to_owned(),
            _ => inbound.channel.clone(),
        };
        let images = self.images.iter();
        let images = images.map(|image| images::checked(&image.mime_type, &image.data));
        Ok(Said {
            inbound: Inbound { channel, ..inbound },
            via: Some(crate::WebSurface::ID.to_owned()),
            text: self.text,
            images: images.collect::<Result<_, _>>()?,
            message_id: None,
            sender_name: self.sender_name,
            is_owner: true,
            agent: self.agent,
            session: self.session,
            model: self.model,
            queue: self.queue.map_or(Ok(QueueWish::default()), |queue| {
                queue.wish(
                    shared
                        .gateway
                        .parts()
                        .contract
                        .runtime
                        .dispatch
                        .queue
                        .old_words,
                )
            })?,
            job_id: Some(match key {
                Some(key) => job_of(key),
                None => shared.gateway.new_job_id(),
            }),
            retry_ms: self
                .retry_seconds
                .map(|seconds| seconds.saturating_mul(1000)),
            ..Said::default()
        })
    }
}

/// Returns the name of the job of a message that its client named: always the same one.
fn job_of(key: &str) -> String {
    format!("k-{}", hex::encode(&Sha256::digest(key)[..16]))
}

impl QueueOption {
    fn wish(self, old_words: chitin_contract::OldQueueWords) -> Result<QueueWish, ApiError> {
        let wish = match self {
            Self::Mode(mode) => QueueOptions {
                mode: Some(mode),
                ..QueueOptions::default()
            },
            Self::More(wish) => wish,
        };
        let known = |what: &str, word: &str| {
            let word = short(word);
            ApiError::bad(format!("`{word}` is not a valid {what} of a queue.")).param("queue")
        };
        let mode = wish.mode.map(|word| {
            let mode = mode::parse(&word, old_words);
            mode.ok_or_else(|| known("mode", &word))
        });
        let drop = wish.drop.map(|word| {
            let policy = mode::parse_drop(&word);
            policy.ok_or_else(|| known("drop policy", &word))
        });
        Ok(QueueWish {
            mode: mode.transpose()?,
            debounce_ms: wish.debounce_ms,
            cap: wish.cap,
            drop_policy: drop.transpose()?,
        })
    }
}
