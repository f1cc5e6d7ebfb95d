//! What a configuration says of a room: guilds and their channels, channels, groups.

use super::allowlist::{ANYBODY, AllowedPeople, Naming, Person, same};
use super::settings::{RoomPolicy, Section};
use crate::intake::Noticed;
use chitin_protocol::session_key::ChatType;
use serde_json::Value;

/// What is said of a room.
#[derive(Debug, Clone, Default)]
pub(super) struct Room<'a> {
    /// What decides who is heard, the narrowest first.
    pub(super) access: Vec<&'a Value>,
    /// What may say something of tools, the narrowest first.
    pub(super) tools: Vec<&'a Value>,
    /// Who may speak where nothing says it.
    others: Others,
}

/// Who may speak in a room whose settings do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Others {
    /// Everybody there: whoever listed the room meant the people in it.
    #[default]
    Everybody,
    /// Those who may write to us alone.
    Acquainted,
}

/// An entry of a map under its own name, and that for all.
#[derive(Debug, Clone, Copy, Default)]
struct Entries<'a> {
    own: Option<&'a Value>,
    any: Option<&'a Value>,
}

impl<'a> Entries<'a> {
    /// Finds the entry of something: by its id, otherwise by one of its names.
    fn find(map: &'a Value, id: &str, names: &[String]) -> Self {
        let Some(map) = map.as_object() else {
            return Self::default();
        };
        let by_id = map.iter().find(|(key, _)| same(bare(key), id));
        let by_name = || {
            let slugs: Vec<String> = names.iter().map(|name| slug(name)).collect();
            map.iter().find(|(key, _)| {
                let key = slug(bare(key));
                !key.is_empty() && slugs.contains(&key)
            })
        };
        let own = by_id.or_else(by_name).map(|(_, value)| value);
        Self {
            own: own.filter(|value| !value.is_null()),
            any: map.get(ANYBODY).filter(|value| !value.is_null()),
        }
    }

    /// Returns the one that holds: an own entry takes the place of that for all.
    fn holds(self) -> Option<&'a Value> {
        self.own.or(self.any)
    }

    fn both(self) -> impl Iterator<Item = &'a Value> {
        self.own.into_iter().chain(self.any)
    }
}

impl<'a> Room<'a> {
    /// Finds what is said of the room of a message. Messages in a thread belong to the room above it.
    pub(super) fn find(
        section: &Section<'a>,
        noticed: &Noticed,
        policy: &RoomPolicy,
    ) -> Result<Self, String> {
        match policy {
            RoomPolicy::Disabled => return Err("rooms are disabled (`groupPolicy`)".to_owned()),
            RoomPolicy::Odd(odd) => {
                return Err(format!("`groupPolicy` has the unknown value `{odd}`"));
            }
            RoomPolicy::Open | RoomPolicy::Allowlist => {}
        }
        let room = Self::look_up(section, noticed);
        if room.access.iter().any(|entry| is_off(entry)) {
            return Err("the room is disabled".to_owned());
        }
        match policy {
            RoomPolicy::Allowlist => room.listed(section, noticed),
            RoomPolicy::Open | RoomPolicy::Disabled | RoomPolicy::Odd(_) => match kind(noticed) {
                ChatType::Group if section.said("groups").is_null() => {
                    room.listed(section, noticed)
                }
                _ => Ok(room),
            },
        }
    }

    /// Finds what is said of the room, whether it is listed or not.
    pub(super) fn look_up(section: &Section<'a>, noticed: &Noticed) -> Self {
        let inbound = &noticed.incoming.inbound;
        let id = room_id(noticed);
        let names = &noticed.room_names;
        if let Some(guild_id) = &inbound.guild_id {
            let guild = Entries::find(section.said("guilds"), guild_id, &noticed.guild_names);
            let in_guild = |guild: &'a Value| Entries::find(&guild["channels"], id, names);
            let room = guild.holds().map(in_guild).unwrap_or_default();
            return Self {
                access: room.holds().into_iter().chain(guild.holds()).collect(),
                tools: guild
                    .both()
                    .flat_map(|guild| in_guild(guild).both())
                    .chain(guild.both())
                    .collect(),
                others: Others::Everybody,
            };
        }
        let map = match kind(noticed) {
            ChatType::Group => section.said("groups"),
            ChatType::Channel | ChatType::Direct => section.said("channels"),
        };
        let room = Entries::find(map, id, names);
        Self {
            access: room.holds().into_iter().collect(),
            tools: room.both().collect(),
            others: match kind(noticed) {
                ChatType::Group => Others::Acquainted,
                ChatType::Channel | ChatType::Direct => Others::Everybody,
            },
        }
    }

    /// Tells whether the room is listed, and why not.
    fn listed(self, section: &Section<'a>, noticed: &Noticed) -> Result<Self, String> {
        let inbound = &noticed.incoming.inbound;
        let id = room_id(noticed);
        if let Some(guild_id) = &inbound.guild_id {
            let guild = Entries::find(section.said("guilds"), guild_id, &noticed.guild_names);
            let Some(guild) = guild.holds() else {
                return Err("the guild is not listed (`guilds`)".to_owned());
            };
            let narrowed = guild["channels"]
                .as_object()
                .is_some_and(|map| !map.is_empty());
            let room = Entries::find(&guild["channels"], id, &noticed.room_names);
            return match room.holds() {
                None if narrowed => {
                    Err("the room is not listed (`channels` of the guild)".to_owned())
                }
                Some(_) | None => Ok(self),
            };
        }
        match kind(noticed) {
            ChatType::Group if section.said("groups").is_null() => {
                if section.said_in_dm("groupEnabled") != &Value::Bool(true) {
                    let reason = "group DMs are not enabled (`dm.groupEnabled`)";
                    return Err(reason.to_owned());
                }
                let listed = AllowedPeople::read(section.said_in_dm("groupChannels"));
                let named = |list: &AllowedPeople| {
                    list.names(place(id, &noticed.room_names), Naming::Names)
                };
                match listed {
                    Some(list) if !named(&list) => {
                        Err("the conversation is not listed (`dm.groupChannels`)".to_owned())
                    }
                    Some(_) | None => Ok(self),
                }
            }
            ChatType::Group if self.access.is_empty() => {
                Err("the group is not listed (`groups`)".to_owned())
            }
            ChatType::Channel | ChatType::Direct if self.access.is_empty() => {
                Err("the room is not listed (`channels`)".to_owned())
            }
            ChatType::Group | ChatType::Channel | ChatType::Direct => Ok(self),
        }
    }

    /// Tells whether somebody may speak there. `acquainted` says whether they may write to us alone.
    pub(super) fn hears(
        &self,
        section: &Section<'_>,
        noticed: &Noticed,
        person: Person<'_>,
        acquainted: impl FnOnce() -> Result<bool, String>,
    ) -> Result<bool, String> {
        let naming = section.naming();
        let roles = &noticed.incoming.inbound.member_role_ids;
        for entry in &self.access {
            let users = AllowedPeople::read(&entry["users"])
                .or_else(|| AllowedPeople::read(&entry["allowFrom"]));
            let listed_roles = AllowedPeople::read(&entry["roles"]);
            if users.is_none() && listed_roles.is_none() {
                continue;
            }
            return Ok(users.is_some_and(|users| users.names(person, naming))
                || listed_roles.is_some_and(|listed| listed.holds_role(roles)));
        }
        match (section.group_allow_from(), self.others) {
            (Some(list), _) => Ok(list.names(person, naming)),
            (None, Others::Everybody) => Ok(true),
            (None, Others::Acquainted) => acquainted(),
        }
    }

    /// Tells whether we must be addressed there to be meant.
    pub(super) fn wants_address(&self, section: &Section<'_>) -> bool {
        let own = self.access.iter().map(|entry| &entry["requireMention"]);
        let mut said = own
            .chain([section.said("requireMention")])
            .filter_map(Value::as_bool);
        said.next().unwrap_or(true)
    }

    /// Returns what is said of programs.
    pub(super) fn allow_bots(&self, section: &Section<'a>) -> &'a Value {
        let own = self.access.iter().map(|entry| &entry["allowBots"]);
        let mut said = own.filter(|value| !value.is_null());
        said.next().unwrap_or_else(|| section.said("allowBots"))
    }
}

/// Returns the kind of place that a message was written in.
pub(super) fn kind(noticed: &Noticed) -> ChatType {
    let inbound = &noticed.incoming.inbound;
    let peer = inbound.parent_peer.as_ref().or(inbound.peer.as_ref());
    peer.map_or(ChatType::Direct, |peer| peer.kind)
}

/// Returns the room of a message: that above a thread, or the one that it was written in.
fn room_id(noticed: &Noticed) -> &str {
    let inbound = &noticed.incoming.inbound;
    let peer = inbound.parent_peer.as_ref().or(inbound.peer.as_ref());
    peer.map_or("", |peer| peer.id.as_str())
}

/// A room as a list of rooms may name it.
fn place<'a>(id: &'a str, names: &'a [String]) -> Person<'a> {
    Person {
        channel: "channel",
        id,
        shown: None,
        names,
    }
}

fn is_off(entry: &Value) -> bool {
    entry["enabled"] == false || entry["allow"] == false
}

/// Takes off what the id of a room may be written with.
fn bare(key: &str) -> &str {
    let key = key.trim();
    let key = key.strip_prefix("channel:").unwrap_or(key);
    let mention = key.strip_prefix("<#").and_then(|key| key.strip_suffix('>'));
    mention.unwrap_or(key).trim_start_matches('#')
}

/// Writes a name of a room in one way: small letters and digits, one dash between words.
fn slug(name: &str) -> String {
    let lower = name.trim().trim_start_matches('#').to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}
