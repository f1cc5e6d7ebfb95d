//! What a message says of the place that it comes from.

use chitin_protocol::agent_id::normalize_account_id;
use chitin_protocol::session_key::ChatType;
use chitin_protocol::text::trim_js;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a message says of the place that it comes from (R11).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Inbound {
    /// The channel, such as `discord`.
    pub channel: String,
    /// The account on the channel that got it; none is `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// The person, group or channel that it was written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// The channel above, when it was written in a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_peer: Option<Peer>,
    /// The guild.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guild_id: Option<String>,
    /// The team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The roles of the sender in the guild.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub member_role_ids: Vec<String>,
    /// The thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_id: Option<String>,
}

/// A person, group or channel.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Peer {
    /// The kind of chat.
    pub kind: ChatType,
    /// The id on the channel.
    pub id: String,
}

impl Inbound {
    /// Returns the same with spellings made one: the channel and account in lower case, ids without blanks around them,
    /// and what is blank left out.
    #[must_use]
    pub fn normalized(&self) -> Self {
        let id = |text: &Option<String>| {
            let text = trim_js(text.as_deref()?);
            (!text.is_empty()).then(|| text.to_owned())
        };
        let peer = |peer: &Option<Peer>| {
            let peer = peer.as_ref()?;
            Some(Peer {
                kind: peer.kind,
                id: trim_js(&peer.id).to_owned(),
            })
        };
        Self {
            channel: trim_js(&self.channel).to_lowercase(),
            account_id: Some(normalize_account_id(
                self.account_id.as_deref().unwrap_or_default(),
            )),
            peer: peer(&self.peer),
            parent_peer: peer(&self.parent_peer).filter(|parent| !parent.id.is_empty()),
            guild_id: id(&self.guild_id),
            team_id: id(&self.team_id),
            member_role_ids: self.member_role_ids.clone(),
            thread_id: id(&self.thread_id),
            sender_id: id(&self.sender_id),
        }
    }

    /// Returns the account; `default` when none is named.
    pub(super) fn account(&self) -> &str {
        self.account_id
            .as_deref()
            .unwrap_or(chitin_protocol::agent_id::DEFAULT_ACCOUNT)
    }
}
