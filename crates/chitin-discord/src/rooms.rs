//! What is known of channels, threads and guilds, so that a message can be placed without asking. Everything here can be asked for
//! again, so it is simply let go of when there is too much.

use crate::ids::Id;
use crate::wire::{Channel, Guild};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many channels are remembered.
const MOST_ROOMS: usize = 50_000;
/// How many guilds are remembered.
const MOST_GUILDS: usize = 5_000;
/// In how many channels it is remembered who spoke.
const MOST_SPOKEN: usize = 4_096;
/// How many people are remembered in each.
const MOST_SPEAKERS: usize = 32;

/// What is known of channels, threads and guilds.
#[derive(Debug, Default)]
pub(crate) struct Rooms(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    rooms: HashMap<Id, Channel>,
    guilds: HashMap<Id, GuildFacts>,
    speakers: HashMap<Id, VecDeque<Id>>,
    /// Conversations with one person, by the person.
    direct: HashMap<Id, Id>,
}

/// What is known of a guild.
#[derive(Debug, Default, Clone)]
struct GuildFacts {
    name: Option<String>,
    roles: HashMap<Id, String>,
    /// The role that Discord made for us.
    own_roles: Vec<Id>,
}

impl Rooms {
    /// Hears of a guild and everything in it.
    pub(crate) fn guild(&self, guild: Guild, me: Option<Id>) {
        let id = guild.id;
        for mut channel in guild.channels.into_iter().chain(guild.threads) {
            channel.guild_id = Some(id);
            self.channel(channel);
        }
        let own = |role: &crate::wire::Role| {
            let bot = role.tags.as_ref().and_then(|tags| tags.bot_id);
            bot.is_some() && bot == me
        };
        let facts = GuildFacts {
            name: guild.name,
            own_roles: guild
                .roles
                .iter()
                .filter(|role| own(role))
                .map(|role| role.id)
                .collect(),
            roles: guild
                .roles
                .into_iter()
                .map(|role| (role.id, role.name))
                .collect(),
        };
        self.look(|known| {
            if known.guilds.len() >= MOST_GUILDS {
                known.guilds.clear();
            }
            known.guilds.insert(id, facts);
        });
    }

    /// Hears of a channel or thread.
    pub(crate) fn channel(&self, mut channel: Channel) {
        self.look(|known| {
            if known.rooms.len() >= MOST_ROOMS {
                known.rooms.clear();
            }
            // Some events leave out what is known already.
            if let Some(before) = known.rooms.get(&channel.id) {
                channel.guild_id = channel.guild_id.or(before.guild_id);
                channel.owner_id = channel.owner_id.or(before.owner_id);
            }
            known.rooms.insert(channel.id, channel);
        });
    }

    /// Hears that a channel or thread is gone.
    pub(crate) fn gone(&self, id: Id) {
        self.look(|known| known.rooms.remove(&id));
    }

    pub(crate) fn get(&self, id: Id) -> Option<Channel> {
        self.look(|known| known.rooms.get(&id).cloned())
    }

    pub(crate) fn name(&self, id: Id) -> Option<String> {
        self.look(|known| known.rooms.get(&id).and_then(|room| room.name.clone()))
    }

    pub(crate) fn knows_guild(&self, id: Id) -> bool {
        self.look(|known| known.guilds.contains_key(&id))
    }

    pub(crate) fn guild_name(&self, id: Id) -> Option<String> {
        self.look(|known| known.guilds.get(&id).and_then(|guild| guild.name.clone()))
    }

    pub(crate) fn role_name(&self, guild: Option<Id>, role: Id) -> Option<String> {
        self.look(|known| known.guilds.get(&guild?)?.roles.get(&role).cloned())
    }

    /// Tells whether one of these roles is ours alone.
    pub(crate) fn is_own_role(&self, guild: Option<Id>, roles: &[Id]) -> bool {
        self.look(|known| {
            let facts = guild.and_then(|guild| known.guilds.get(&guild));
            facts.is_some_and(|facts| facts.own_roles.iter().any(|own| roles.contains(own)))
        })
    }

    /// Remembers who spoke in a channel.
    pub(crate) fn spoke(&self, channel: Id, user: Id) {
        self.look(|known| {
            if known.speakers.len() >= MOST_SPOKEN && !known.speakers.contains_key(&channel) {
                known.speakers.clear();
            }
            let speakers = known.speakers.entry(channel).or_default();
            speakers.retain(|speaker| *speaker != user);
            speakers.push_back(user);
            if speakers.len() > MOST_SPEAKERS {
                speakers.pop_front();
            }
        });
    }

    /// Tells whether somebody spoke in a channel lately.
    pub(crate) fn has_spoken(&self, channel: Id, user: Id) -> bool {
        self.look(|known| {
            let speakers = known.speakers.get(&channel);
            speakers.is_some_and(|speakers| speakers.contains(&user))
        })
    }

    /// Remembers the conversation with a person.
    pub(crate) fn direct(&self, user: Id, channel: Id) {
        self.look(|known| {
            if known.direct.len() >= MOST_ROOMS {
                known.direct.clear();
            }
            known.direct.insert(user, channel);
        });
    }

    pub(crate) fn direct_of(&self, user: Id) -> Option<Id> {
        self.look(|known| known.direct.get(&user).copied())
    }

    fn look<T>(&self, looking: impl FnOnce(&mut Known) -> T) -> T {
        looking(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
