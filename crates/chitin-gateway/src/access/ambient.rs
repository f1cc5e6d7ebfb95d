//! What was said where we listen and not to us: kept in mind, little of it, until we are spoken to there.

use super::quote::{cut, record};
use super::settings::Section;
use super::{AccessControl, lock, plain};
use crate::intake::Noticed;
use crate::surface::{Address, PastMessage};
use chitin_protocol::agent_id::normalize_account_id;
use std::collections::{HashMap, VecDeque};

/// How many places are kept in mind.
pub(super) const MOST_PLACES: usize = 500;
/// How much of one message is kept, in bytes.
pub(super) const MOST_OF_ONE: usize = 2 * 1024;
/// How much is kept altogether, in bytes.
const MOST_BYTES: usize = 16 << 20;
/// What a message takes besides its words, in bytes.
const EACH: usize = 256;

/// What the record is called in its marks.
const MARKER: &str = "ROOM_HISTORY";
/// Says what it is.
const INTRO: &str = "What was said here since you were last spoken to, the newest last.";

/// What was overheard, by place.
#[derive(Debug, Default)]
pub(super) struct Overheard {
    places: HashMap<String, Said>,
    bytes: usize,
    /// Counts messages, so that the place that was silent longest is known.
    count: u64,
}

/// What was overheard at a place.
#[derive(Debug, Default)]
struct Said {
    messages: VecDeque<(u64, PastMessage)>,
    last: u64,
}

impl Overheard {
    /// Keeps a message in mind; the oldest go. The same message twice is one.
    pub(super) fn keep(&mut self, place: String, mut said: PastMessage, limit: usize) {
        if limit == 0 || said.text.trim().is_empty() {
            return;
        }
        said.text.truncate(cut(&said.text, MOST_OF_ONE).len());
        self.count += 1;
        let number = self.count;
        let room = self.places.entry(place).or_default();
        let known = |(_, past): &(u64, PastMessage)| past.message_id == said.message_id;
        if !said.message_id.is_empty() && room.messages.iter().any(known) {
            return;
        }
        self.bytes += size(&said);
        room.last = number;
        room.messages.push_back((number, said));
        while room.messages.len() > limit
            && let Some((_, gone)) = room.messages.pop_front()
        {
            self.bytes -= size(&gone);
        }
        while self.places.len() > MOST_PLACES || self.bytes > MOST_BYTES {
            let oldest = self.places.iter().min_by_key(|(_, said)| said.last);
            let Some(oldest) = oldest.map(|(place, _)| place.clone()) else {
                return;
            };
            self.forget(&oldest, u64::MAX);
        }
    }

    /// Returns what was overheard at a place, the newest last, and how far that goes.
    pub(super) fn at(&self, place: &str) -> (Vec<PastMessage>, u64) {
        let Some(said) = self.places.get(place) else {
            return (Vec::new(), 0);
        };
        let messages = said.messages.iter().map(|(_, past)| past.clone());
        (messages.collect(), said.last)
    }

    /// Forgets what was overheard at a place, as far as it was told.
    pub(super) fn forget(&mut self, place: &str, until: u64) {
        let Some(said) = self.places.get_mut(place) else {
            return;
        };
        while let Some((number, _)) = said.messages.front()
            && *number <= until
            && let Some((_, gone)) = said.messages.pop_front()
        {
            self.bytes -= size(&gone);
        }
        if said.messages.is_empty() {
            self.places.remove(place);
        }
    }
}

/// Returns about how much memory a message takes.
fn size(past: &PastMessage) -> usize {
    let parts = [
        Some(&past.message_id),
        past.sender.as_ref(),
        past.at.as_ref(),
        Some(&past.text),
    ];
    EACH + parts.into_iter().flatten().map(String::len).sum::<usize>()
}

impl AccessControl {
    /// Keeps in mind what was not said to us.
    pub(crate) fn overhear(&self, noticed: &Noticed) {
        let incoming = &noticed.incoming;
        let Some((place, section)) = self.place(noticed) else {
            return;
        };
        let said = PastMessage {
            message_id: incoming.message_id.clone().unwrap_or_default(),
            sender: incoming
                .sender_name
                .clone()
                .or_else(|| incoming.inbound.sender_id.clone()),
            own: false,
            text: incoming.text.clone(),
            at: Some(self.clock.now()),
        };
        lock(&self.overheard).keep(place, said, section.history_limit());
    }

    /// Returns what was overheard where a message was written, marked as others' words, and how far that goes.
    pub(crate) fn overheard(&self, noticed: &Noticed) -> (Option<String>, u64) {
        let Some((place, _)) = self.place(noticed) else {
            return (None, 0);
        };
        let (mut said, until) = lock(&self.overheard).at(&place);
        let own = noticed.incoming.message_id.as_deref().unwrap_or_default();
        said.retain(|past| own.is_empty() || past.message_id != own);
        (record(&said, INTRO, MARKER), until)
    }

    /// Forgets what was overheard, as far as it was told.
    pub(crate) fn forget_overheard(&self, noticed: &Noticed, until: u64) {
        if let Some((place, _)) = self.place(noticed) {
            lock(&self.overheard).forget(&place, until);
        }
    }

    /// Returns the name of the place of a message, and what is said of its network.
    fn place(&self, noticed: &Noticed) -> Option<(String, Section<'_>)> {
        let inbound = &noticed.incoming.inbound;
        let account = normalize_account_id(inbound.account_id.as_deref().unwrap_or_default());
        let section = Section::of(&self.config, &plain(&inbound.channel), &account);
        Some((format!("{account} {}", Address::of(inbound)?), section))
    }
}
