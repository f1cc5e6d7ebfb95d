//! The most frequent words of a source, and no more.

use super::super::layout::MOST_DIMENSIONS;
use super::super::spelling::as_one_word;
use super::ConvertError;
use std::collections::{BinaryHeap, HashMap};

/// A number in a vector is not larger; real ones are around 1.
const LARGEST: f32 = 1e4;

/// The most frequent words so far, with their vectors.
pub(super) struct Kept {
    most: usize,
    dimensions: usize,
    /// The slot of each word.
    slots: HashMap<String, u32>,
    /// The word and the rank in each slot.
    entries: Vec<(String, u32)>,
    vectors: Vec<f32>,
    /// The slots by rank, the rarest word first. What became more frequent since is found out when it is taken.
    rarest: BinaryHeap<(u32, u32)>,
}

impl Kept {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            dimensions: 0,
            slots: HashMap::new(),
            entries: Vec::new(),
            vectors: Vec::new(),
            rarest: BinaryHeap::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.most
    }

    pub(super) const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Says how many numbers each vector has.
    pub(super) fn set_dimensions(&mut self, dimensions: usize) -> Result<(), ConvertError> {
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            return Err(ConvertError::input(
                "the first vector",
                format!("vectors have 1 to {MOST_DIMENSIONS} numbers, and not {dimensions}"),
            ));
        }
        self.dimensions = dimensions;
        Ok(())
    }

    /// Offers a word. It is kept if a text can have it, nothing else is written like it, and it is not too rare.
    pub(super) fn offer(
        &mut self,
        name: &str,
        rank: u32,
        vector: &[f32],
    ) -> Result<(), ConvertError> {
        let usable = |number: &f32| number.is_finite() && number.abs() <= LARGEST;
        if vector.len() != self.dimensions || !vector.iter().all(usable) {
            return Err(ConvertError::input(
                format!("the word `{}`", name.chars().take(40).collect::<String>()),
                format!("{} usable numbers should follow it", self.dimensions),
            ));
        }
        let Some(word) = as_one_word(name) else {
            return Ok(());
        };
        if let Some(&slot) = self.slots.get(&word) {
            // The same word in capitals and without: the more frequent spelling is the one that is meant.
            if self
                .entries
                .get(slot as usize)
                .is_some_and(|(_, known)| rank < *known)
            {
                self.put(slot, word, rank, vector);
            }
        } else if !self.is_full() {
            let slot = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
            self.entries.push((word.clone(), rank));
            self.vectors.extend_from_slice(vector);
            self.slots.insert(word, slot);
            self.rarest.push((rank, slot));
        } else if let Some(slot) = self.rarest_slot(rank) {
            if let Some((old, _)) = self.entries.get(slot as usize) {
                self.slots.remove(old);
            }
            self.slots.insert(word.clone(), slot);
            self.put(slot, word, rank, vector);
        }
        Ok(())
    }

    /// Returns the slot of the rarest word, if that is rarer than `rank`.
    fn rarest_slot(&mut self, rank: u32) -> Option<u32> {
        while let Some(&(known, slot)) = self.rarest.peek() {
            let is_current = self.entries.get(slot as usize)?.1 == known;
            if is_current && known <= rank {
                return None;
            }
            self.rarest.pop();
            if is_current {
                return Some(slot);
            }
        }
        None
    }

    fn put(&mut self, slot: u32, word: String, rank: u32, vector: &[f32]) {
        let at = slot as usize;
        if let Some(entry) = self.entries.get_mut(at) {
            *entry = (word, rank);
        }
        if let Some(row) = self.vectors.chunks_exact_mut(self.dimensions).nth(at) {
            row.copy_from_slice(vector);
        }
        self.rarest.push((rank, slot));
    }

    /// Returns each word with its rank and its vector, in the order of their bytes.
    pub(super) fn in_order(&self) -> Vec<(&str, u32, &[f32])> {
        let rows = self.vectors.chunks_exact(self.dimensions.max(1));
        let mut all: Vec<_> = self
            .entries
            .iter()
            .zip(rows)
            .map(|((word, rank), row)| (word.as_str(), *rank, row))
            .collect();
        all.sort_unstable_by_key(|(word, ..)| *word);
        all
    }
}
