//! Whether a message is heard: the one decision that everything on a network has to pass.

use super::AccessControl;
use super::allowlist::{AllowedPeople, Naming, Person};
use super::rooms::{Room, kind};
use super::settings::{DirectPolicy, Section};
use crate::intake::{Addressed, Noticed};
use chitin_protocol::agent_id::normalize_account_id;
use chitin_protocol::session_key::ChatType;
use chitin_protocol::text::trim_js;
use serde_json::Value;

/// What becomes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessVerdict {
    /// It is heard.
    Heard {
        /// Whether the owner wrote it.
        owner: bool,
    },
    /// Its sender may speak there, and does not speak to us.
    Overheard,
    /// Its sender is not known and may ask to be let in.
    Unknown,
    /// It is not heard, and why.
    Refused(String),
}

impl AccessControl {
    /// Decides whether a message is heard. What it says of its sender's rights does not count.
    pub fn judge(&self, noticed: &Noticed) -> AccessVerdict {
        match self.try_judge(noticed) {
            Ok(verdict) => verdict,
            Err(reason) => AccessVerdict::Refused(reason),
        }
    }

    fn try_judge(&self, noticed: &Noticed) -> Result<AccessVerdict, String> {
        let inbound = &noticed.incoming.inbound;
        let channel = trim_js(&inbound.channel).to_lowercase();
        let account = normalize_account_id(inbound.account_id.as_deref().unwrap_or_default());
        let section = Section::of(&self.config, &channel, &account);
        if inbound.peer.is_none() {
            return Err("it does not say where it was posted".to_owned());
        }
        let id = inbound
            .sender_id
            .as_deref()
            .map(trim_js)
            .unwrap_or_default();
        if id.is_empty() {
            return Err("it does not say who wrote it".to_owned());
        }
        let person = Person {
            channel: &channel,
            id,
            shown: noticed.incoming.sender_name.as_deref(),
            names: &noticed.sender_names,
        };
        if section.is_off() {
            return Err("the channel is disabled (`enabled`)".to_owned());
        }
        let who = Who {
            trust: self,
            section,
            account: &account,
            person,
        };
        match kind(noticed) {
            ChatType::Direct => who.alone(noticed),
            ChatType::Group | ChatType::Channel => who.in_room(noticed),
        }
    }
}

/// Somebody on an account of a network.
struct Who<'a> {
    trust: &'a AccessControl,
    section: Section<'a>,
    account: &'a str,
    person: Person<'a>,
}

impl Who<'_> {
    /// Judges what somebody writes to us alone.
    fn alone(&self, noticed: &Noticed) -> Result<AccessVerdict, String> {
        if noticed.from_program && self.section.said("allowBots") != &Value::Bool(true) {
            return Err(PROGRAM.to_owned());
        }
        let policy = self.section.direct_policy();
        match &policy {
            DirectPolicy::Disabled => {
                return Err("direct messages are disabled (`dmPolicy`)".to_owned());
            }
            DirectPolicy::Odd(odd) => {
                return Err(format!("`dmPolicy` has the unknown value `{odd}`"));
            }
            DirectPolicy::Pairing | DirectPolicy::Allowlist | DirectPolicy::Open => {}
        }
        let listed = self
            .section
            .allow_from()
            .names(self.person, self.section.naming());
        if listed {
            let owner = self.is_owner();
            // A list that cannot be read makes nobody an owner, and shuts nobody out whom the configuration names.
            return Ok(AccessVerdict::Heard {
                owner: owner.unwrap_or(false),
            });
        }
        if self.is_owner()? {
            return Ok(AccessVerdict::Heard { owner: true });
        }
        match policy {
            DirectPolicy::Open => {
                Err("its sender is not in `allowFrom`, and `open` needs `*` in it".to_owned())
            }
            _ if self.is_paired()? => Ok(AccessVerdict::Heard { owner: false }),
            DirectPolicy::Pairing if !noticed.from_program => Ok(AccessVerdict::Unknown),
            _ => Err("its sender is not in the allowlist (`allowFrom`)".to_owned()),
        }
    }

    /// Judges what somebody writes where others are.
    fn in_room(&self, noticed: &Noticed) -> Result<AccessVerdict, String> {
        let section = &self.section;
        let room = Room::find(section, noticed, &section.room_policy())?;
        if noticed.from_program {
            let heard = match room.allow_bots(section) {
                Value::Bool(heard) => *heard,
                Value::String(said) => said == "mentions" && noticed.addressed != Addressed::No,
                _ => false,
            };
            if !heard {
                return Err(PROGRAM.to_owned());
            }
        }
        let acquainted = || {
            let listed = section.allow_from().names(self.person, section.naming());
            Ok(listed || self.is_paired()?)
        };
        let heard = room.hears(section, noticed, self.person, acquainted);
        let owner = self.is_owner();
        let heard = match (heard, &owner) {
            (Ok(true), _) | (_, Ok(true)) => true,
            (Ok(false), _) => false,
            (Err(reason), _) => return Err(reason),
        };
        if !heard {
            return Err("its sender is not in the allowlist of the room".to_owned());
        }
        if noticed.addressed == Addressed::No && room.wants_address(section) {
            return Ok(AccessVerdict::Overheard);
        }
        Ok(AccessVerdict::Heard {
            owner: owner.unwrap_or(false),
        })
    }

    /// Tells whether somebody owns the agent. A name never makes an owner, nor does a list of everybody.
    fn is_owner(&self) -> Result<bool, String> {
        let list = AllowedPeople::read(&self.trust.config["commands"]["ownerAllowFrom"]);
        if list.is_some_and(|list| list.names_exactly(self.person, Naming::Ids)) {
            return Ok(true);
        }
        let paired = self
            .trust
            .find_paired(self.person.channel, self.account, self.person.id);
        Ok(paired?.is_some_and(|paired| paired.owner))
    }

    fn is_paired(&self) -> Result<bool, String> {
        let paired = self
            .trust
            .find_paired(self.person.channel, self.account, self.person.id);
        Ok(paired?.is_some())
    }
}

/// Why programs are not heard.
const PROGRAM: &str = "its sender is a bot (`allowBots`)";
