//! How finished jobs ended: where in the file that stands, for a while and up to a bound.

use std::collections::{BTreeMap, HashMap};

/// How long, and how many, outcomes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutcomeLimits {
    /// How long, in milliseconds.
    pub keep_ms: i64,
    /// How many at most.
    pub most: usize,
    /// How many bytes at most.
    pub most_bytes: u64,
}

impl Default for OutcomeLimits {
    fn default() -> Self {
        Self {
            keep_ms: 24 * 60 * 60 * 1000,
            most: 50_000,
            most_bytes: 16 << 20,
        }
    }
}

/// A name, as a digest: small things that stay would keep the memory around them from going back.
pub(super) type Name = u128;

/// Where the outcome of a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Where its line begins.
    pub(super) offset: u64,
    /// How long the line is.
    pub(super) length: u64,
    /// How much of the line is its own.
    own: u64,
    /// When the job ended.
    pub(super) at: i64,
    age: u64,
}

/// Where outcomes stand.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    by_name: HashMap<Name, Place>,
    names: BTreeMap<u64, Name>,
    next: u64,
    bytes: u64,
    newest: i64,
    limits: OutcomeLimits,
}

impl Outcomes {
    pub(super) fn new(limits: OutcomeLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.limits);
    }

    /// Keeps an outcome, which is so much of its line; of too many the oldest go.
    pub(super) fn keep(&mut self, id: &str, at: i64, (offset, length): (u64, u64), own: u64) {
        let name = name(id);
        self.remove(name);
        let age = self.next;
        self.next += 1;
        let place = Place {
            offset,
            length,
            own,
            at,
            age,
        };
        self.by_name.insert(name, place);
        self.names.insert(age, name);
        self.bytes += own;
        self.newest = self.newest.max(at);
        while let Some((_, name)) = self.names.first_key_value() {
            let name = *name;
            let is_old = self
                .by_name
                .get(&name)
                .is_some_and(|place| !self.counts(place, self.newest));
            let is_full =
                self.by_name.len() > self.limits.most || self.bytes > self.limits.most_bytes;
            if !is_old && !is_full {
                return;
            }
            self.remove(name);
        }
    }

    /// A job of this name is open again.
    pub(super) fn forget(&mut self, id: &str) {
        self.remove(name(id));
    }

    /// Says where the outcome of a job stands, if it is kept at that time.
    pub(super) fn find(&self, id: &str, now_ms: i64) -> Option<Place> {
        let place = self.by_name.get(&name(id))?;
        self.counts(place, now_ms).then_some(*place)
    }

    /// Returns where all stand, oldest first.
    pub(super) fn places(&self) -> impl Iterator<Item = (Name, Place)> {
        self.names
            .values()
            .filter_map(|name| Some((*name, *self.by_name.get(name)?)))
    }

    /// Returns how many bytes of the file are outcomes, roughly.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Says where one stands in a new file.
    pub(super) fn moved(&mut self, name: Name, offset: u64, length: u64) {
        if let Some(place) = self.by_name.get_mut(&name) {
            self.bytes = self.bytes - place.own + length;
            (place.offset, place.length, place.own) = (offset, length, length);
        }
    }

    pub(super) fn remove(&mut self, name: Name) {
        if let Some(place) = self.by_name.remove(&name) {
            self.names.remove(&place.age);
            self.bytes -= place.own;
        }
    }

    const fn counts(&self, place: &Place, now_ms: i64) -> bool {
        place.at.saturating_add(self.limits.keep_ms) > now_ms
    }
}

/// Returns the digest of a name.
pub(super) fn name(id: &str) -> Name {
    let hash = blake3::hash(id.as_bytes());
    let half = hash.as_bytes().first_chunk::<16>();
    half.map_or(0, |half| u128::from_be_bytes(*half))
}
