//! From a place to the channel that stands for it on Discord. A thread is a channel of its own.

use crate::account::Account;
use crate::compat::ID;
use crate::ids::Id;
use crate::rest::{Body, Method};
use crate::settings::DEFAULT;
use chitin_gateway::route::Peer;
use chitin_gateway::{Address, SurfaceError};
use chitin_protocol::session_key::ChatType;
use serde_json::json;

impl Account {
    /// Finds the channel of a place. A conversation with somebody is opened if need be; nobody sees that.
    pub(crate) async fn channel_of(&self, to: &Address) -> Result<Id, SurfaceError> {
        if let Some(thread) = to.thread_id.as_deref() {
            return id(thread, "thread");
        }
        match to.peer.kind {
            ChatType::Channel | ChatType::Group => id(&to.peer.id, "channel"),
            ChatType::Direct => self.direct(id(&to.peer.id, "person")?).await,
        }
    }

    async fn direct(&self, user: Id) -> Result<Id, SurfaceError> {
        if let Some(channel) = self.ears.rooms.direct_of(user) {
            return Ok(channel);
        }
        let body = Body::Json(json!({"recipient_id": user}));
        let opened = self
            .rest
            .call(Method::POST, "users/@me/channels", body)
            .await?;
        let channel = opened["id"].as_str().and_then(Id::parse);
        let channel =
            channel.ok_or_else(|| SurfaceError::soon("Discord opened no conversation."))?;
        self.ears.rooms.direct(user, channel);
        Ok(channel)
    }

    /// Finds the guild of a place.
    pub(crate) async fn guild_of(&self, to: &Address) -> Result<Id, SurfaceError> {
        let channel = self.channel_of(to).await?;
        let guild = self.room(channel).await?.guild_id;
        guild.ok_or_else(|| SurfaceError::never("This place is in no server."))
    }

    /// Makes the address of a thread. It is the one that messages from there have.
    pub(crate) fn thread_address(&self, thread: Id) -> Address {
        Address {
            channel: ID.to_owned(),
            account_id: self.address_id(),
            peer: Peer {
                kind: ChatType::Channel,
                id: thread.to_string(),
            },
            thread_id: Some(thread.to_string()),
        }
    }

    /// Returns the account as addresses name it; the usual one is not named.
    pub(crate) fn address_id(&self) -> Option<String> {
        (self.id != DEFAULT).then(|| self.id.clone())
    }
}

/// Reads an id that somebody gave.
pub(crate) fn id(text: &str, what: &str) -> Result<Id, SurfaceError> {
    Id::parse(text.trim()).ok_or_else(|| {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
        SurfaceError::never(format!(
            "`{shown}` is no id of a {what} on Discord. Ids there are long numbers."
        ))
    })
}
