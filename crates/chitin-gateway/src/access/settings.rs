//! What a configuration says of who is heard on a network: for the network, and for one account of it over that.

use super::allowlist::{AllowedPeople, Naming};
use super::plain;
use crate::intake::Noticed;
use chitin_protocol::agent_id::normalize_account_id;
use serde_json::Value;

/// How many overheard messages of a place are kept, when nobody says.
const HISTORY: usize = 20;
/// The most that are kept, whatever a configuration says.
const MOST_HISTORY: usize = 200;

/// Who may write to us alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DirectPolicy {
    /// Who is listed or was let in by the owner; others may ask for that.
    Pairing,
    /// Who is listed or was let in.
    Allowlist,
    /// Everybody, if the list says so; otherwise who is listed.
    Open,
    /// Nobody.
    Disabled,
    /// Something that nobody knows, so nobody.
    Odd(String),
}

/// In which rooms we listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RoomPolicy {
    /// In all.
    Open,
    /// In those that are listed.
    Allowlist,
    /// In none.
    Disabled,
    /// Something that nobody knows, so in none.
    Odd(String),
}

/// What a configuration says of a network.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section<'a> {
    /// What it says of all networks.
    defaults: &'a Value,
    /// What it says of the network.
    root: &'a Value,
    /// What it says of the account.
    account: &'a Value,
    config: &'a Value,
}

impl<'a> Section<'a> {
    /// Finds what is said of the account that a message came to.
    pub(super) fn for_message(config: &'a Value, noticed: &Noticed) -> Self {
        let inbound = &noticed.incoming.inbound;
        let account = normalize_account_id(inbound.account_id.as_deref().unwrap_or_default());
        Self::of(config, &plain(&inbound.channel), &account)
    }

    /// Finds what is said of an account on a network, whose name is in lower case.
    pub(super) fn of(config: &'a Value, channel: &str, account: &str) -> Self {
        let channels = &config["channels"];
        let root = &channels[channel];
        let accounts = root["accounts"].as_object();
        let mut accounts = accounts.into_iter().flatten();
        let found = accounts.find(|(name, _)| normalize_account_id(name) == account);
        Self {
            defaults: &channels["defaults"],
            root,
            account: found.map_or(&Value::Null, |(_, value)| value),
            config,
        }
    }

    /// Returns what the account says, otherwise what the network says.
    pub(super) fn said(&self, name: &str) -> &'a Value {
        [&self.account[name], &self.root[name]]
            .into_iter()
            .find(|value| !value.is_null())
            .unwrap_or(&Value::Null)
    }

    /// The same for something that has an older place under `dm`.
    fn said_of_direct(&self, name: &str, old: &str) -> &'a Value {
        let places = [self.account, self.root].into_iter();
        let values = places.flat_map(|place| [&place[name], &place["dm"][old]]);
        let mut values = values.filter(|value| !value.is_null());
        values.next().unwrap_or(&Value::Null)
    }

    /// Tells whether it is switched off.
    pub(super) fn is_off(&self) -> bool {
        self.account["enabled"] == false || self.root["enabled"] == false
    }

    pub(super) fn direct_policy(&self) -> DirectPolicy {
        if self.said_in_dm("enabled") == &Value::Bool(false) {
            return DirectPolicy::Disabled;
        }
        match self.said_of_direct("dmPolicy", "policy") {
            Value::Null => DirectPolicy::Pairing,
            Value::String(said) => match said.trim() {
                "pairing" => DirectPolicy::Pairing,
                "allowlist" => DirectPolicy::Allowlist,
                "open" => DirectPolicy::Open,
                "disabled" => DirectPolicy::Disabled,
                odd => DirectPolicy::Odd(odd.to_owned()),
            },
            odd => DirectPolicy::Odd(odd.to_string()),
        }
    }

    pub(super) fn room_policy(&self) -> RoomPolicy {
        let said = match self.said("groupPolicy") {
            Value::Null => &self.defaults["groupPolicy"],
            said => said,
        };
        match said {
            Value::Null => RoomPolicy::Allowlist,
            Value::String(said) => match said.trim() {
                "open" => RoomPolicy::Open,
                "allowlist" => RoomPolicy::Allowlist,
                "disabled" => RoomPolicy::Disabled,
                odd => RoomPolicy::Odd(odd.to_owned()),
            },
            odd => RoomPolicy::Odd(odd.to_string()),
        }
    }

    /// Returns something of `dm`.
    pub(super) fn said_in_dm(&self, name: &str) -> &'a Value {
        let values = [&self.account["dm"][name], &self.root["dm"][name]].into_iter();
        let mut values = values.filter(|value| !value.is_null());
        values.next().unwrap_or(&Value::Null)
    }

    /// Returns who may write to us alone.
    pub(super) fn allow_from(&self) -> AllowedPeople {
        AllowedPeople::read(self.said_of_direct("allowFrom", "allowFrom")).unwrap_or_default()
    }

    /// Returns who may write in rooms, where nothing narrower is said.
    pub(super) fn group_allow_from(&self) -> Option<AllowedPeople> {
        AllowedPeople::read(self.said("groupAllowFrom"))
    }

    pub(super) fn naming(&self) -> Naming {
        match self.said("dangerouslyAllowNameMatching") {
            Value::Bool(true) => Naming::Names,
            _ => Naming::Ids,
        }
    }

    /// Returns how many overheard messages of a place are kept.
    pub(super) fn history_limit(&self) -> usize {
        let everywhere = &self.config["messages"]["groupChat"]["historyLimit"];
        let values = [self.said("historyLimit"), everywhere];
        let mut said = values.into_iter().filter_map(Value::as_u64);
        said.next().map_or(HISTORY, |limit| {
            usize::try_from(limit).map_or(MOST_HISTORY, |limit| limit.min(MOST_HISTORY))
        })
    }
}
