//! The messages of one session that wait for their turn.

use super::batch::{Batch, Dropped};
use super::settings::QueueSettings;
use chitin_contract::DropPolicy;
use std::collections::VecDeque;

/// How many times the debounce a message waits at most, however many follow it.
const MOST_DEBOUNCES: u64 = 10;

/// Something that was said and can wait.
pub trait QueuedMessage {
    /// Returns the words.
    fn words(&self) -> &str;
}

impl QueuedMessage for String {
    fn words(&self) -> &str {
        self
    }
}

/// Messages that wait for their turn, in order; none is lost without being counted.
#[derive(Debug, Clone)]
pub struct PendingMessages<T> {
    items: VecDeque<(T, u64)>,
    dropped: Dropped,
    /// When the last message came, kept or not.
    last_ms: u64,
}

impl<T> Default for PendingMessages<T> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
            dropped: Dropped::default(),
            last_ms: 0,
        }
    }
}

impl<T: QueuedMessage> PendingMessages<T> {
    /// Tells whether a message that comes now may wait: there is room, or others make room for it.
    pub fn has_room(&self, settings: &QueueSettings) -> bool {
        match settings.drop_policy {
            DropPolicy::New => self.items.len() < settings.cap.max(1) as usize,
            DropPolicy::Old | DropPolicy::Summarize => true,
        }
    }

    /// Adds a message by the settings that hold now; they may change from message to message. Returns those that had to go: more
    /// than one only when the cap became smaller. Where the newest are turned away, ask [`Self::has_room`] before the message is
    /// accepted: one that was accepted is never turned away.
    #[must_use]
    pub fn push(&mut self, item: T, settings: &QueueSettings, now_ms: u64) -> Vec<T> {
        let cap = settings.cap.max(1) as usize;
        self.last_ms = self.last_ms.max(now_ms);
        let too_many = (self.items.len() + 1).saturating_sub(cap);
        let gone = match settings.drop_policy {
            DropPolicy::New => Vec::new(),
            policy @ (DropPolicy::Old | DropPolicy::Summarize) => self
                .items
                .drain(..too_many)
                .map(|(gone, _)| gone)
                .inspect(|gone| match policy {
                    DropPolicy::Summarize => self.dropped.note(gone.words(), cap),
                    DropPolicy::Old | DropPolicy::New => self.dropped.count(),
                })
                .collect(),
        };
        self.items.push_back((item, now_ms));
        gone
    }

    /// Returns how many messages wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Tells whether none waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns how many were let go since the last batch.
    pub fn dropped(&self) -> u64 {
        self.dropped.total()
    }

    /// Says how many milliseconds to wait for more; 0 is now, none when nothing waits.
    ///
    /// A full queue waits no longer, and no message waits longer than ten times the debounce because of others.
    pub fn wait_ms(&self, settings: &QueueSettings, now_ms: u64) -> Option<u64> {
        let (_, first_ms) = self.items.front()?;
        if self.items.len() >= settings.cap.max(1) as usize {
            return Some(0);
        }
        let quiet = self.last_ms.saturating_add(settings.debounce_ms);
        let longest = settings.debounce_ms.saturating_mul(MOST_DEBOUNCES);
        let ready = quiet.min(first_ms.saturating_add(longest));
        Some(ready.saturating_sub(now_ms))
    }

    /// Returns the messages that wait, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(item, _)| item)
    }

    /// Takes the oldest message; what was let go is told with it.
    pub fn take_one(&mut self) -> Option<Batch<T>> {
        let (item, _) = self.items.pop_front()?;
        Some(Batch::new(vec![item], std::mem::take(&mut self.dropped)))
    }

    /// Takes all messages.
    pub fn take_all(&mut self) -> Option<Batch<T>> {
        self.take_alike(|_, _| true)
    }

    /// Takes the oldest message and those right behind it that belong with it, such as from the same place.
    pub fn take_alike(&mut self, alike: impl Fn(&T, &T) -> bool) -> Option<Batch<T>> {
        let (first, _) = self.items.pop_front()?;
        let mut items = vec![first];
        while let Some((next, _)) = self.items.front()
            && alike(&items[0], next)
        {
            items.extend(self.items.pop_front().map(|(item, _)| item));
        }
        Some(Batch::new(items, std::mem::take(&mut self.dropped)))
    }

    /// Lets all go, as when a turn is broken off for good, and returns them.
    pub fn clear(&mut self) -> Vec<T> {
        self.dropped = Dropped::default();
        self.items.drain(..).map(|(item, _)| item).collect()
    }
}
