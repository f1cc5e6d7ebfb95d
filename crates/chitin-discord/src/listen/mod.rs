//! Hearing: a connection that is kept, events that come over it, messages that are handed in.
//!
//! `twilight-gateway` keeps one connection: it identifies, sends heartbeats, resumes what broke and waits longer each time that
//! connecting fails. Here is what remains: whether it is worth connecting at all, what an end means, and that nothing that goes wrong
//! in one event or one message takes the others with it.

mod attached;
mod end;
mod progress;
mod receive;
mod relay;
mod shard;

use crate::account::Account;
use crate::intake::{self, EventOutcome};
use crate::positions::PositionStore;
use crate::rest::{Fault, Why};
use crate::settings::Url;
use crate::wire;
use chitin_gateway::Gateway;
use chitin_gateway::queue::SerialQueues;
use chitin_gateway::surface::Connection;
use end::ConnectionEnd;
use futures_util::{FutureExt, StreamExt};
use progress::{Number, Progress};
use rustls::ClientConfig;
use shard::ShardConnection;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use twilight_gateway::Message;
use twilight_gateway::error::ReceiveMessageErrorType;

/// How long to wait before the second try.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How many messages are taken in at once.
const AT_ONCE: usize = 8;
/// How many wait in all. When there is no room nothing more is read, and Discord keeps what comes.
const MOST_WAITING: usize = 2_048;
/// How long what waits may take at the end.
const ENDING: Duration = Duration::from_secs(5);

/// Which way events come.
pub(crate) struct EventTransport {
    /// Where they come from in place of Discord.
    pub(crate) gateway_url: Option<String>,
    /// TLS with authorities of the user's own, where there are any.
    pub(crate) own_tls: Option<Arc<ClientConfig>>,
}

/// Keeps one account connected and hands in what it hears, until it is told to end or nothing can help.
pub(crate) async fn run(
    account: Arc<Account>,
    way: EventTransport,
    gateway: Gateway,
    memory: Arc<PositionStore>,
    cancel: CancellationToken,
) {
    let progress = Arc::new(Progress::new(&memory, way.gateway_url.as_deref()));
    let queues = SerialQueues::new(MOST_WAITING, AT_ONCE);
    let listening = Listening {
        account: &account,
        gateway: &gateway,
        way,
        queues: &queues,
        progress: &progress,
        cancel: &cancel,
    };
    tokio::select! {
        () = listening.on() => {}
        () = progress.keep_on(&account) => {}
    }
    queues.end(ENDING).await;
    progress.keep(&account).await;
}

/// One account that listens.
struct Listening<'a> {
    account: &'a Arc<Account>,
    gateway: &'a Gateway,
    way: EventTransport,
    queues: &'a Arc<SerialQueues>,
    progress: &'a Arc<Progress>,
    cancel: &'a CancellationToken,
}

impl Listening<'_> {
    /// Listens, connection after connection.
    async fn on(&self) {
        let account = self.account;
        let mut wait = FIRST_WAIT;
        let mut reason = None;
        loop {
            account.ears.standing.set(Connection::Connecting { reason });
            match self.once().await {
                ConnectionEnd::Told => {
                    account.ears.standing.set(Connection::Idle);
                    return;
                }
                ConnectionEnd::Failed { reason, hint } => {
                    let said = hint.as_deref().unwrap_or_default();
                    account.tell(&format!("{reason} {said}"));
                    account
                        .ears
                        .standing
                        .set(Connection::Failed { reason, hint });
                    return;
                }
                ConnectionEnd::Broken { reason: why } => {
                    account.tell(&format!("{why} It is tried again."));
                    reason = Some(why.clone());
                    account
                        .ears
                        .standing
                        .set(Connection::Connecting { reason: Some(why) });
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = self.cancel.cancelled() => {}
                    }
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
        }
    }

    /// Connects once, and listens until that ends. A mistake in the library below ends it too, and nothing else.
    async fn once(&self) -> ConnectionEnd {
        let place = tokio::select! {
            place = place(self.account) => place,
            () = self.cancel.cancelled() => return ConnectionEnd::Told,
        };
        let url = match place {
            Err(end) => return end,
            Ok(url) => self.way.gateway_url.clone().or(url),
        };
        let listening = AssertUnwindSafe(self.listen(url)).catch_unwind();
        listening.await.unwrap_or_else(|_| ConnectionEnd::Broken {
            reason: "The connection ended in a way that it never should.".to_owned(),
        })
    }

    /// Puts a message behind the others of its channel. Those of other channels need not wait for it, nor the heartbeats.
    async fn take_in(&self, number: Number, message: Box<wire::Message>) {
        let (account, gateway) = (Arc::clone(self.account), self.gateway.clone());
        let (progress, cancel) = (Arc::clone(self.progress), self.cancel.clone());
        let channel = message.channel_id.to_string();
        let job = async move {
            if receive::hear(&account, &gateway, &cancel, &message).await {
                progress.done(number);
            }
        };
        tokio::select! {
            () = self.queues.push(&channel, job.boxed()) => {}
            () = self.cancel.cancelled() => {}
        }
    }

    async fn listen(&self, url: Option<String>) -> ConnectionEnd {
        let account = self.account;
        let mut line = match ShardConnection::new(self, &self.way, url).await {
            Ok(line) => line,
            Err(reason) => return ConnectionEnd::Broken { reason },
        };
        let mut closed = None;
        let mut told = false;
        loop {
            let next = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    line.close(self.progress.is_kept()).await;
                    return ConnectionEnd::Told;
                }
                next = line.shard.next() => next,
            };
            match next {
                None => return ConnectionEnd::of(closed),
                Some(Ok(Message::Close(frame))) => {
                    closed = frame.map(|frame| frame.code);
                    let reason = Some("The connection broke.".to_owned());
                    account.ears.standing.set(Connection::Connecting { reason });
                    line.broke();
                }
                Some(Ok(Message::Text(text))) => {
                    let read = intake::read(&account.ears, &text);
                    if read.odd {
                        unreadable(account);
                    }
                    let heard = read.heard;
                    let is_message = matches!(heard, EventOutcome::Message(_));
                    let (session, url) = (line.shard.session(), line.resume_url());
                    let number = self.progress.heard(session, url.as_deref(), is_message);
                    match heard {
                        EventOutcome::Connected => {
                            told = false;
                            account.ears.standing.set(Connection::Connected);
                        }
                        EventOutcome::Message(message) => {
                            self.take_in(number, message).await;
                        }
                        EventOutcome::Nothing => {}
                    }
                }
                Some(Err(error)) => match error.kind() {
                    ReceiveMessageErrorType::Reconnect => {
                        let reason = line.unreachable();
                        if !std::mem::replace(&mut told, true) {
                            account.tell(&format!("{reason} It is tried again."));
                        }
                        let reason = Some(reason);
                        account.ears.standing.set(Connection::Connecting { reason });
                    }
                    _ => unreadable(account),
                },
            }
        }
    }
}

/// Asks where to connect. A token that is not taken is found out here, before it counts as a failed connection.
async fn place(account: &Account) -> Result<Option<String>, ConnectionEnd> {
    let broken = |fault: Fault| match fault.why {
        Why::Status(401) => ConnectionEnd::token(),
        _ => ConnectionEnd::Broken {
            reason: chitin_gateway::SurfaceError::from(fault).message,
        },
    };
    // Where a session goes on, nobody says who we are.
    account.me().await.map_err(broken)?;
    match account.rest.get("gateway/bot").await {
        Ok(told) => {
            if told["session_start_limit"]["remaining"].as_u64() == Some(0) {
                let reason = "Discord lets this bot connect no more today.".to_owned();
                return Err(ConnectionEnd::Broken { reason });
            }
            let url = told["url"]
                .as_str()
                .and_then(|url| Url::read(url, "wss", "ws").ok());
            Ok(url.map(|url| url.to_string()))
        }
        Err(fault) => Err(broken(fault)),
    }
}

/// Counts an event that cannot be read. It is said rarely: whoever sends such events must not fill the log.
fn unreadable(account: &Account) {
    let count = account.unreadable.fetch_add(1, Ordering::Relaxed) + 1;
    if count.is_power_of_two() {
        account.tell(&format!(
            "an event cannot be read and is left out; there were {count} such events so far"
        ));
    }
}
