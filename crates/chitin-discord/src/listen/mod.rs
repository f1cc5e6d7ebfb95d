//! Hearing: a connection that is kept, events that come over it, messages that are handed in.
//!
//! `twilight-gateway` keeps one connection: it identifies, sends heartbeats, resumes what broke and waits longer each time that
//! connecting fails. Here is what remains: whether it is worth connecting at all, what an end means, and that nothing that goes wrong
//! in one event or one message takes the others with it.

mod attached;
mod end;
mod events;
mod hear;
mod lanes;

use crate::account::Account;
use crate::rest::Why;
use crate::settings::Url;
use chitin_gateway::Gateway;
use chitin_gateway::surface::Connection;
use end::End;
use events::Heard;
use futures_util::{FutureExt, StreamExt};
use lanes::Lanes;
use secrecy::ExposeSecret;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use twilight_gateway::error::ReceiveMessageErrorType;
use twilight_gateway::{CloseFrame, ConfigBuilder, Intents, Message, Shard, ShardId};

/// How long to wait before the second try.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How long a connection may take to close.
const CLOSING: Duration = Duration::from_secs(2);

/// Keeps one account connected and hands in what it hears, until it is told to end or nothing can help.
pub(crate) async fn run(
    account: Arc<Account>,
    gateway_url: Option<String>,
    gateway: Gateway,
    cancel: CancellationToken,
) {
    let lanes = Lanes::begin(&account, &gateway, &cancel);
    let mut wait = FIRST_WAIT;
    let mut reason = None;
    loop {
        account.standing.set(Connection::Connecting { reason });
        let end = tokio::select! {
            end = once(&account, gateway_url.as_deref(), &lanes, &cancel) => end,
            () = cancel.cancelled() => End::Told,
        };
        match end {
            End::Told => {
                account.standing.set(Connection::Idle);
                break;
            }
            End::Failed { reason, hint } => {
                let said = hint.as_deref().unwrap_or_default();
                account.tell(&format!("{reason} {said}"));
                account.standing.set(Connection::Failed { reason, hint });
                break;
            }
            End::Broken { reason: why } => {
                account.tell(&format!("{why} It is tried again."));
                reason = Some(why.clone());
                account
                    .standing
                    .set(Connection::Connecting { reason: Some(why) });
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = cancel.cancelled() => {}
                }
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    }
    lanes.end().await;
}

/// Connects once, and listens until that ends. A mistake in the library below ends it too, and nothing else.
async fn once(
    account: &Arc<Account>,
    gateway_url: Option<&str>,
    lanes: &Lanes,
    cancel: &CancellationToken,
) -> End {
    let url = match (place(account).await, gateway_url) {
        (Err(end), _) => return end,
        (Ok(_), Some(url)) => Some(url.to_owned()),
        (Ok(url), None) => url,
    };
    let listening = AssertUnwindSafe(listen(account, url, lanes, cancel)).catch_unwind();
    listening.await.unwrap_or_else(|_| End::Broken {
        reason: "The connection ended in a way that it never should.".to_owned(),
    })
}

/// Asks where to connect. A token that is not taken is found out here, before it counts as a failed connection.
async fn place(account: &Account) -> Result<Option<String>, End> {
    match account.rest.get("gateway/bot").await {
        Ok(told) => {
            if told["session_start_limit"]["remaining"].as_u64() == Some(0) {
                let reason = "Discord lets this bot connect no more today.".to_owned();
                return Err(End::Broken { reason });
            }
            let url = told["url"]
                .as_str()
                .and_then(|url| Url::read(url, "wss", "ws").ok());
            Ok(url.map(|url| url.to_string()))
        }
        Err(fault) if fault.why == Why::Status(401) => Err(End::token()),
        Err(fault) => Err(End::Broken {
            reason: chitin_gateway::SurfaceError::from(fault).message,
        }),
    }
}

async fn listen(
    account: &Arc<Account>,
    url: Option<String>,
    lanes: &Lanes,
    cancel: &CancellationToken,
) -> End {
    let token = account.rest.token().expose_secret().to_owned();
    let mut config = ConfigBuilder::new(token, intents(account));
    if let Some(url) = url {
        config = config.proxy_url(url);
    }
    let mut shard = Shard::with_config(ShardId::ONE, config.build());
    let mut closed = None;
    let mut told = false;
    loop {
        let next = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                close(shard).await;
                return End::Told;
            }
            next = shard.next() => next,
        };
        match next {
            None => return End::of(closed),
            Some(Ok(Message::Close(frame))) => {
                closed = frame.map(|frame| frame.code);
                let reason = Some("The connection broke.".to_owned());
                account.standing.set(Connection::Connecting { reason });
            }
            Some(Ok(Message::Text(text))) => match events::read(account, &text) {
                Heard::Connected => {
                    told = false;
                    account.standing.set(Connection::Connected);
                }
                Heard::Message(message) => lanes.put(message, cancel).await,
                Heard::Nothing => {}
            },
            Some(Err(error)) => match error.kind() {
                ReceiveMessageErrorType::Reconnect => {
                    let reason = "Discord cannot be reached.".to_owned();
                    if !std::mem::replace(&mut told, true) {
                        account.tell(&format!("{reason} It is tried again."));
                    }
                    let reason = Some(reason);
                    account.standing.set(Connection::Connecting { reason });
                }
                _ => events::unreadable(account),
            },
        }
    }
}

/// Says goodbye.
async fn close(mut shard: Shard) {
    shard.close(CloseFrame::NORMAL);
    let closing = async {
        while let Some(Ok(message)) = shard.next().await {
            if matches!(message, Message::Close(_)) {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(CLOSING, closing).await;
}

/// Says what events are wanted.
fn intents(account: &Account) -> Intents {
    let wished = account.settings.intents;
    let mut intents = Intents::GUILDS | Intents::GUILD_MESSAGES | Intents::DIRECT_MESSAGES;
    intents.set(Intents::MESSAGE_CONTENT, wished.message_content);
    intents.set(Intents::GUILD_MEMBERS, wished.guild_members);
    intents.set(Intents::GUILD_PRESENCES, wished.presence);
    intents
}
