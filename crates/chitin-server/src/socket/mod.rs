//! The same over a WebSocket: messages in, happenings out.

mod command;
mod listening;
mod written;

pub(crate) use written::Written;

use crate::answer::Caller;
use crate::api::{self, SendMessage};
use crate::auth::{self, PROTOCOL, protocols};
use crate::body::{Body, LONGEST_QUOTE};
use crate::error::{ApiError, at_most};
use crate::feed::FinishedBefore;
use crate::follow::End;
use crate::login::{self, Who};
use crate::phase::Phase;
use crate::shared::Shared;
use chitin_gateway::{EarlierJob, ListenerEvent, Topic};
use command::{SocketBody, SocketTopic};
pub(crate) use command::{SocketCommand, SocketMessage};
use futures_util::{SinkExt, StreamExt};
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper::{HeaderMap, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use listening::Listening;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// The buffers of one socket, in bytes.
const BUFFER: usize = 4 << 10;

/// Turns a request into a WebSocket.
pub(crate) fn upgrade(
    shared: Arc<Shared>,
    caller: Caller,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let accept = accept(request.headers())?;
    let room = shared.stream()?;
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if protocols(request.headers()).any(|protocol| protocol == PROTOCOL) {
        let protocol = HeaderValue::from_static(PROTOCOL);
        headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    let asked = request.headers();
    let login = auth::cookie(asked, login::COOKIE).filter(|_| !auth::has_token(asked));
    let login = login.map(|name| shared.logins.who(name));
    let upgrading = hyper::upgrade::on(&mut request);
    let tasks = shared.tasks.clone();
    let cut = shared.cut.clone();
    tasks.spawn(async move {
        if let Ok(upgraded) = upgrading.await {
            let serving = Box::pin(serve(shared, caller, login, upgraded, room));
            tokio::select! {
                () = serving => {}
                () = cut.cancelled() => {}
            }
        }
    });
    Ok(response)
}

/// Checks that a client wants a WebSocket, and says what its key is answered with.
fn accept(headers: &HeaderMap) -> Result<HeaderValue, ApiError> {
    let says = |name: HeaderName, word: &str| {
        let values = headers.get_all(name).into_iter();
        let mut words = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        words.any(|one| one.trim().eq_ignore_ascii_case(word))
    };
    if !says(UPGRADE, "websocket") || !says(CONNECTION, "upgrade") {
        return Err(ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "no_websocket",
            "This endpoint is a WebSocket.",
        ));
    }
    if !says(SEC_WEBSOCKET_VERSION, "13") {
        return Err(ApiError::bad("Only version 13 of WebSockets is spoken."));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY);
    let accept = key.map(|key| derive_accept_key(key.as_bytes()));
    accept
        .and_then(|accept| HeaderValue::try_from(accept).ok())
        .ok_or_else(|| ApiError::bad("The request has no `Sec-WebSocket-Key`."))
}

async fn serve(
    shared: Arc<Shared>,
    caller: Caller,
    login: Option<Who>,
    upgraded: Upgraded,
    room: OwnedSemaphorePermit,
) {
    let config = WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(shared.limits.body.max(4 << 20))
        .max_message_size(Some(shared.limits.body))
        .max_frame_size(Some(shared.limits.body));
    let io = TokioIo::new(upgraded);
    let socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
    let mut phase = shared.phase.clone();
    phase.mark_unchanged();
    let mut talk = Talk {
        socket,
        phase,
        listening: Listening::default(),
        shared,
        caller,
        login,
        next: None,
        _room: room,
    };
    // Whatever ended it, the other side hears that it is over, if it still listens.
    let close = talk.run().await;
    let _ = talk.socket.close(close).await;
}

/// One client on its socket.
struct Talk {
    socket: WebSocketStream<TokioIo<Upgraded>>,
    phase: watch::Receiver<Phase>,
    listening: Listening,
    shared: Arc<Shared>,
    caller: Caller,
    /// Who opened it, if not with the token.
    login: Option<Who>,
    /// What is said right after the reply.
    next: Option<SocketMessage<'static>>,
    _room: OwnedSemaphorePermit,
}

/// What the next thing is.
enum Next {
    Came(Option<Message>),
    Heard(Topic, ListenerEvent),
    Tick,
    Phase,
}

impl Talk {
    /// Talks until either side ends it; says what is said at the end. A client that takes nothing of what it is sent makes
    /// a write fail, which ends it too: in between, it misses happenings, and nobody waits for it.
    async fn run(&mut self) -> Option<CloseFrame> {
        let keep_alive = self.shared.limits.keep_alive;
        let mut ticks = interval(keep_alive);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
        let mut last = Instant::now();
        loop {
            let next = tokio::select! {
                came = self.socket.next() => Next::Came(came.and_then(Result::ok)),
                Some((topic, heard)) = self.listening.streams.next() => Next::Heard(topic, heard),
                _ = ticks.tick() => Next::Tick,
                _ = self.phase.changed() => Next::Phase,
            };
            let written = match next {
                Next::Came(None | Some(Message::Close(_))) => return None,
                Next::Came(Some(Message::Text(text))) => {
                    last = Instant::now();
                    let reply = self.reply(text.as_str()).await;
                    let mut said = self.say(&reply).await;
                    if let Some(next) = self.next.take().filter(|_| said.is_some()) {
                        said = self.say(&next).await;
                    }
                    said
                }
                Next::Came(Some(Message::Binary(_))) => {
                    return Some(farewell(CloseCode::Unsupported, "messages are text"));
                }
                Next::Came(Some(_)) => {
                    last = Instant::now();
                    // What tungstenite answers by itself, it writes now.
                    self.socket.flush().await.ok()
                }
                Next::Heard(topic, heard) => self.tell(&topic, &heard).await,
                Next::Tick if last.elapsed() > keep_alive * 2 => {
                    return Some(farewell(CloseCode::Policy, "no ping was answered"));
                }
                Next::Tick if self.is_logged_out() => {
                    return Some(farewell(CloseCode::Policy, "you are logged out"));
                }
                Next::Tick => self.send(Message::Ping(Bytes::new())).await,
                Next::Phase => {
                    let phase = *self.phase.borrow_and_update();
                    match phase {
                        Phase::Open => Some(()),
                        Phase::Moved => {
                            self.tell_the_rest().await;
                            let _ = self.say(&SocketBody::Draining.into()).await;
                            return Some(farewell(CloseCode::Restart, "the server restarts"));
                        }
                        Phase::Draining => self.say(&SocketBody::Draining.into()).await,
                        Phase::Closed => {
                            self.tell_the_rest().await;
                            return Some(farewell(CloseCode::Away, "the server is shutting down"));
                        }
                    }
                }
            };
            written?;
        }
    }

    fn is_logged_out(&self) -> bool {
        let login = self.login.as_ref();
        login.is_some_and(|who| !self.shared.logins.stays(who, self.shared.now()))
    }

    async fn send(&mut self, message: Message) -> Option<()> {
        self.socket.send(message).await.ok()
    }

    async fn say(&mut self, message: &SocketMessage<'_>) -> Option<()> {
        let text = self.shared.attached.json(message);
        self.send(Message::text(text)).await
    }

    async fn tell(&mut self, topic: &Topic, heard: &ListenerEvent) -> Option<()> {
        match heard {
            ListenerEvent::Missed(count) => {
                self.say(&SocketBody::Missed { count: *count }.into()).await
            }
            ListenerEvent::Happening(happening) => {
                if matches!(topic, Topic::Job(_)) && End::of(&happening.what).is_some() {
                    self.listening.forget(topic);
                }
                if !self.listening.is_new(happening.seq) {
                    return Some(());
                }
                let text = self.shared.written.of(happening, &self.shared.attached);
                self.send(Message::Text(text)).await
            }
        }
    }

    /// Tells what happened before the end and was not told yet.
    async fn tell_the_rest(&mut self) {
        use futures_util::FutureExt;
        while let Some(Some((topic, heard))) = self.listening.streams.next().now_or_never() {
            if self.tell(&topic, &heard).await.is_none() {
                return;
            }
        }
    }

    /// Does what a client asks for, and says what came of it.
    async fn reply(&mut self, text: &str) -> SocketMessage<'static> {
        if let Err(problem) = self.shared.count_request(self.caller.address) {
            return refused(&Value::Null, &problem);
        }
        let command = match serde_json::from_str::<SocketCommand>(text) {
            Ok(command) => command,
            Err(error) => {
                let error = at_most(&error.to_string(), LONGEST_QUOTE);
                let message = format!("Could not parse the message: {error}.");
                return refused(&Value::Null, &ApiError::bad(message));
            }
        };
        let (id, done) = match command {
            SocketCommand::Message {
                id,
                idempotency_key,
                message,
            } => (id, self.message(*message, idempotency_key).await),
            SocketCommand::Subscribe { id, topic, answers } => (id, self.subscribe(topic, answers)),
            SocketCommand::Unsubscribe { id, topic } => {
                let topic = self.topic(topic);
                let done = topic.map(|topic| {
                    self.listening.forget(&topic);
                    SocketBody::Unsubscribed
                });
                (id, done)
            }
            SocketCommand::Stop { id, session } => {
                let key = api::key(&self.shared, &session);
                let done = key.map(|key| {
                    let stopped = self.shared.gateway.stop(&key);
                    SocketBody::Stopped {
                        session_key: key,
                        stopped,
                    }
                });
                (id, done)
            }
            SocketCommand::Ping { id } => (id, Ok(SocketBody::Pong)),
        };
        match done {
            Ok(body) => SocketMessage {
                body,
                id: Some(id).filter(|id| !id.is_null()),
            },
            Err(problem) => refused(&id, &problem),
        }
    }

    async fn message(
        &mut self,
        message: SendMessage,
        key: Option<String>,
    ) -> Result<SocketBody<'static>, ApiError> {
        if !self.shared.is_open() {
            return Err(ApiError::closing());
        }
        let key = key.as_deref().map(api::check_key).transpose()?;
        let said = message.said(&self.shared, key)?;
        let topic = Topic::Job(said.job_id.clone().unwrap_or_default());
        self.listen(&topic)?;
        let accepted = match self.shared.accept(said).await {
            Ok(accepted) => accepted,
            Err(problem) => {
                self.listening.forget(&topic);
                return Err(problem);
            }
        };
        let found = api::earlier(&self.shared, &accepted).await;
        match found.unwrap_or(EarlierJob::Unknown) {
            EarlierJob::Open(name) if name != accepted.job_id => {
                self.listening.forget(&topic);
                self.listen(&Topic::Job(name))?;
            }
            EarlierJob::Open(_) => {}
            EarlierJob::Ended(ended) => {
                self.listening.forget(&topic);
                let finished = FinishedBefore::new(accepted.clone(), ended.outcome);
                self.next = Some(SocketBody::FinishedBefore(finished).into());
            }
            EarlierJob::Unknown => self.listening.forget(&topic),
        }
        Ok(SocketBody::Accepted(accepted))
    }

    fn subscribe(
        &mut self,
        wanted: SocketTopic,
        answers: bool,
    ) -> Result<SocketBody<'static>, ApiError> {
        let topic = self.topic(wanted)?;
        self.listen(&topic)?;
        if let Topic::Job(job) = &topic
            && !self.shared.gateway.is_open(job)
        {
            self.listening.forget(&topic);
            return Err(ApiError::missing("There is no such open job."));
        }
        if answers {
            let answering = self.shared.gateway.answers_approvals(topic.clone());
            self.listening.answer(topic, answering);
        }
        Ok(SocketBody::Subscribed)
    }

    fn topic(&self, wanted: SocketTopic) -> Result<Topic, ApiError> {
        match (wanted.session, wanted.job, wanted.all) {
            (Some(session), None, false) => Ok(Topic::Session(api::key(&self.shared, &session)?)),
            (None, Some(job), false) => Ok(Topic::Job(job)),
            (None, None, true) => Ok(Topic::All),
            _ => Err(ApiError::bad(
                "One of `session`, `job` and `all` is needed.",
            )),
        }
    }

    fn listen(&mut self, topic: &Topic) -> Result<(), ApiError> {
        let most = self.shared.limits.topics;
        if self.listening.topics.contains_key(topic) {
            return Ok(());
        }
        if self.listening.topics.len() >= most {
            let message = format!("A socket listens to {most} topics at most.");
            return Err(ApiError::too_many("too_many_topics", message, 1));
        }
        let subscription = self.shared.gateway.subscribe(topic.clone());
        self.listening.add(topic, subscription);
        Ok(())
    }
}

fn refused(id: &Value, problem: &ApiError) -> SocketMessage<'static> {
    let error = problem.details();
    SocketMessage {
        body: SocketBody::Error { error },
        id: Some(id.clone()).filter(|id| !id.is_null()),
    }
}

fn farewell(code: CloseCode, reason: &'static str) -> CloseFrame {
    CloseFrame {
        code,
        reason: reason.into(),
    }
}
