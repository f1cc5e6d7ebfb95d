//! What was said where we listen and not to us: kept in mind, little of it, until we are spoken to there.

use super::record::cut;
use crate::surface::Past;
use std::collections::{HashMap, VecDeque};

/// How many places are kept in mind.
pub(super) const MOST_PLACES: usize = 500;
/// How much of one message is kept, in bytes.
pub(super) const MOST_OF_ONE: usize = 2 * 1024;
/// How much is kept altogether, in bytes.
const MOST_BYTES: usize = 16 << 20;
/// What a message takes besides its words, in bytes.
const EACH: usize = 256;

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
    messages: VecDeque<(u64, Past)>,
    last: u64,
}

impl Overheard {
    /// Keeps a message in mind; the oldest go. The same message twice is one.
    pub(super) fn keep(&mut self, place: String, mut said: Past, limit: usize) {
        if limit == 0 || said.text.trim().is_empty() {
            return;
        }
        said.text.truncate(cut(&said.text, MOST_OF_ONE).len());
        self.count += 1;
        let number = self.count;
        let room = self.places.entry(place).or_default();
        let known = |(_, past): &(u64, Past)| past.message_id == said.message_id;
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
    pub(super) fn at(&self, place: &str) -> (Vec<Past>, u64) {
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
fn size(past: &Past) -> usize {
    let parts = [
        Some(&past.message_id),
        past.sender.as_ref(),
        past.at.as_ref(),
        Some(&past.text),
    ];
    EACH + parts.into_iter().flatten().map(String::len).sum::<usize>()
}
