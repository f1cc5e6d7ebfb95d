//! Making connections: what is asked for, where a session goes on, which way it goes.

use super::relay::{Relay, To};
use super::{EventTransport, Listening};
use crate::account::Account;
use crate::compat::GATEWAY_URL;
use crate::settings::Url;
use futures_util::StreamExt;
use secrecy::ExposeSecret;
use std::borrow::Cow;
use std::time::Duration;
use twilight_gateway::{
    CloseFrame, Config, ConfigBuilder, Intents, Message, Session, Shard, ShardId, ShardState,
};

/// How long a connection may take to close.
const CLOSING: Duration = Duration::from_secs(2);

/// One connection after the other, all of them made alike.
pub(super) struct ShardConnection {
    pub(super) shard: Shard,
    config: Config,
    relay: Option<Relay>,
}

impl ShardConnection {
    /// Makes a connection that goes on where an earlier run was, if there was one.
    pub(super) async fn new(
        listening: &Listening<'_>,
        way: &EventTransport,
        url: Option<String>,
    ) -> Result<Self, String> {
        let account = listening.account;
        let relay = match &way.own_tls {
            Some(tls) => Some(Relay::open(tls.clone()).await?),
            None => None,
        };
        let token = account.rest.token().expose_secret().to_owned();
        let mut config = ConfigBuilder::new(token, intents(account));
        let url = url.or_else(|| relay.as_ref().map(|_| GATEWAY_URL.to_owned()));
        if let Some(url) = url {
            config = config.proxy_url(by_way(relay.as_ref(), To::Begin, &url).unwrap_or(url));
        }
        let config = config.build();
        let point = listening.progress.recall(account);
        let point = point.filter(|point| Url::read(&point.resume_url, "wss", "ws").is_ok());
        let earlier = point.map(|point| {
            let session = Session::new(point.sequence, point.session_id);
            (session, Some(point.resume_url))
        });
        Ok(Self {
            shard: shard(&config, relay.as_ref(), earlier),
            config,
            relay,
        })
    }

    /// Sees to it that what comes after a break goes by the relay too: by itself the library would connect straight to where Discord says
    /// that the session goes on.
    pub(super) fn broke(&mut self) {
        if self.relay.is_none() || self.shard.state() == ShardState::FatallyClosed {
            return;
        }
        let session = self.shard.session().cloned();
        let url = self.resume_url().map(Cow::into_owned);
        let earlier = session.map(|session| (session, url));
        self.shard = shard(&self.config, self.relay.as_ref(), earlier);
    }

    /// Returns where the session can go on.
    pub(super) fn resume_url(&self) -> Option<Cow<'_, str>> {
        let url = self.shard.resume_url()?;
        Some(match &self.relay {
            Some(relay) => relay.behind(url),
            None => Cow::Borrowed(url),
        })
    }

    /// Says why Discord cannot be reached, as far as that is known.
    pub(super) fn unreachable(&self) -> String {
        match self.relay.as_ref().and_then(Relay::problem) {
            Some(problem) => format!("Discord cannot be reached: {problem}."),
            None => "Discord cannot be reached.".to_owned(),
        }
    }

    /// Says goodbye; until later, if somebody remembers.
    pub(super) async fn close(mut self, is_kept: bool) {
        self.shard.close(if is_kept {
            CloseFrame::RESUME
        } else {
            CloseFrame::NORMAL
        });
        let closing = async {
            while let Some(Ok(message)) = self.shard.next().await {
                if matches!(message, Message::Close(_)) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(CLOSING, closing).await;
    }
}

/// Makes a connection, which goes on with a session if there is one; where no address is known, that is where sessions begin.
fn shard(
    config: &Config,
    relay: Option<&Relay>,
    earlier: Option<(Session, Option<String>)>,
) -> Shard {
    let mut config = ConfigBuilder::from(config.clone());
    if let Some((session, url)) = earlier {
        config = config.session(session);
        if let Some(url) = url {
            config = config.resume_url(by_way(relay, To::Resume, &url).unwrap_or(url));
        }
    }
    Shard::with_config(ShardId::ONE, config.build())
}

fn by_way(relay: Option<&Relay>, to: To, url: &str) -> Option<String> {
    let url = Url::read(url, "wss", "ws").ok()?;
    Some(relay?.way(to, url))
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
