//! A message in OpenAI's shape, and its answer.

use super::models;
use super::reply::{Heading, Heard, well};
use super::request::ChatRequest;
use super::stream::Pieces;
use super::words::{Memory, words};
use crate::answer::Caller;
use crate::api;
use crate::body::{Body, events, json, read};
use crate::compat;
use crate::error::{ApiError, ErrorFormat};
use crate::follow::{self, End};
use crate::forward;
use crate::shared::Shared;
use chitin_gateway::queue::{QueueMode, QueueWish};
use chitin_gateway::route::Inbound;
use chitin_gateway::{
    Gateway, IncomingMessage as Said, ListenerEvent as Told, ReplyDelivery, Topic,
};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Request, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;

/// The longest name of a session or its owner, in bytes.
const LONGEST_NAME: usize = 512;
/// How long a stream waits for the first word before it begins without one. What goes wrong until then has a status.
const FIRST_WORD: Duration = Duration::from_secs(5);

/// The session of a request.
struct Session {
    key: String,
    agent: String,
    memory: Memory,
    /// Whether nobody else can ever ask for it.
    nameless: bool,
}

/// Stops a turn whose only listener went away.
pub(super) struct StopWhenGone(Option<(Gateway, String)>);

impl StopWhenGone {
    /// The turn is over.
    pub(super) fn done(&mut self) {
        self.0 = None;
    }
}

impl Drop for StopWhenGone {
    fn drop(&mut self) {
        if let Some((gateway, key)) = self.0.take() {
            gateway.stop(&key);
        }
    }
}

/// Says something to an agent and answers with what it says.
pub(crate) async fn complete(
    shared: Arc<Shared>,
    caller: Caller,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let (parts, body) = request.into_parts();
    let whole = read(&parts.headers, body, &shared).await?;
    let request = ChatRequest::parse(&whole.bytes)?;
    let session = session(&shared, &parts.headers, &request).await?;
    let room = shared.stream()?;
    let job = shared.gateway.new_job_id();
    let mut subscription = shared.gateway.subscribe(Topic::Job(job.clone()));
    let heading = Heading {
        id: format!("chatcmpl-{job}"),
        created: shared.gateway.parts().clock.now_ms() / 1000,
        model: request.model.clone(),
    };
    let (stream, include_usage) = (request.stream, request.include_usage);
    let said = said(request, &session, job);
    match shared.accept(said).await {
        Err(problem) if problem.is_restarting() => {
            return forward::read(&shared, &caller, parts, whole.bytes).await;
        }
        accepted => accepted?,
    };
    drop(whole);
    let mut guard = StopWhenGone(
        session
            .nameless
            .then(|| (shared.gateway.clone(), session.key)),
    );
    let mut phase = shared.phase.clone();
    if stream {
        let mut pieces = Pieces::new(&shared, subscription, heading, include_usage, guard, room);
        let first = tokio::time::timeout(FIRST_WORD, pieces.prepare());
        if let Ok(Err(problem)) = first.await {
            return Ok(failed(&problem));
        }
        return Ok(events(pieces.stream()));
    }
    let mut heard = Heard::new(shared.gateway.parts().contract.runtime.outbound);
    let end = loop {
        let Told::Happening(happening) = follow::next(&mut subscription, &mut phase).await? else {
            heard.missed();
            continue;
        };
        heard.note(&happening.what);
        if let Some(end) = End::of(&happening.what) {
            break end;
        }
    };
    guard.done();
    match well(end) {
        Ok(outcome) => Ok(json(StatusCode::OK, &heard.whole(&heading, &outcome))),
        Err(problem) => Ok(failed(&problem)),
    }
}

/// Says that a turn did not go well. The agent tried again where that could help; a client need not.
fn failed(problem: &ApiError) -> Response<Body> {
    let mut response = problem.response(ErrorFormat::OpenAi);
    let never = HeaderValue::from_static("false");
    response.headers_mut().insert("x-should-retry", never);
    response
}

/// Finds the session: one that the client names, one of the client's user, or a new one.
async fn session(
    shared: &Shared,
    headers: &HeaderMap,
    request: &ChatRequest,
) -> Result<Session, ApiError> {
    let agent = models::agent(&shared.gateway, &request.model)?;
    let named = match headers.get("x-session-key") {
        Some(key) => Some(key.to_str().unwrap_or_default().to_owned()),
        None => request
            .user
            .as_ref()
            .map(|user| format!("agent:{agent}:{}:{}", compat::OPENAI_USER, user.trim())),
    };
    let Some(named) = named else {
        let name = shared.gateway.new_job_id();
        return Ok(Session {
            key: format!("agent:{agent}:{}:{name}", compat::OPENAI),
            agent,
            memory: Memory::Fresh,
            nameless: true,
        });
    };
    if named.trim().is_empty() || named.len() > LONGEST_NAME || named.contains(char::is_control) {
        let message =
            format!("The name of a session has 1 to {LONGEST_NAME} characters that can be seen.");
        return Err(ApiError::bad(message).param("user"));
    }
    let key = api::session_key(&shared.gateway, &named, &agent)?;
    let owner = api::agent_of(&shared.gateway, &key)?;
    if owner != agent {
        let message = format!("The session `{key}` is not one of `{agent}`.");
        return Err(ApiError::bad(message).hint(format!("Ask for the model `chitin/{owner}`.")));
    }
    let wanted = key.clone();
    let known = shared.blocking(move |gateway| {
        let store = gateway.parts().host.store(&owner)?;
        Ok(store.find(&wanted)?.is_some())
    });
    Ok(Session {
        memory: if known.await? {
            Memory::Remembers
        } else {
            Memory::Fresh
        },
        key,
        agent,
        nameless: false,
    })
}

fn said(request: ChatRequest, session: &Session, job: String) -> Said {
    Said {
        inbound: Inbound {
            channel: crate::WebSurface::ID.to_owned(),
            sender_id: request.user.clone(),
            ..Inbound::default()
        },
        text: words(&request, session.memory),
        images: request.images,
        is_owner: true,
        agent: Some(session.agent.clone()),
        session: Some(session.key.clone()),
        // Every request has an answer of its own.
        queue: QueueWish {
            mode: Some(QueueMode::Followup),
            debounce_ms: Some(0),
            ..QueueWish::default()
        },
        answer: ReplyDelivery::Nowhere,
        job_id: Some(job),
        // Nobody can ask for the answer later.
        retry_ms: Some(0),
        ..Said::default()
    }
}
