//! Looking at every vector, one after the other.

use super::VectorIndex;
use super::compact::{Compact, dot, inverse_length, signs_of, widened};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// How many candidates of a look at the signs are looked at in full.
const PROMISING: usize = 512;

/// Vectors one after the other in memory.
#[derive(Debug)]
pub struct Scan {
    dimensions: usize,
    max_bytes: usize,
    ids: Vec<i64>,
    groups: Vec<i64>,
    kept: Kept,
}

/// What is kept of each vector.
#[derive(Debug)]
enum Kept {
    /// All of it, and one over its length.
    Whole { rows: Vec<i8>, inverses: Vec<f32> },
    /// The signs of its numbers.
    Signs(Vec<u64>),
}

impl Default for Scan {
    fn default() -> Self {
        Self::with_room(Self::MAX_BYTES)
    }
}

impl Scan {
    /// How much memory whole vectors may take before only signs are kept.
    pub const MAX_BYTES: usize = 32 << 20;

    /// Makes an empty one that keeps whole vectors while they fit into so many bytes.
    pub const fn with_room(max_bytes: usize) -> Self {
        Self {
            dimensions: 0,
            max_bytes,
            ids: Vec::new(),
            groups: Vec::new(),
            kept: Kept::Whole {
                rows: Vec::new(),
                inverses: Vec::new(),
            },
        }
    }

    /// Says how many vectors will come, so that room is made once.
    pub fn expect(&mut self, count: usize, dimensions: usize) {
        let bytes = count.saturating_mul(dimensions);
        if self.ids.is_empty() && bytes > self.max_bytes {
            self.kept = Kept::Signs(Vec::with_capacity(
                count.saturating_mul(dimensions.div_ceil(64)),
            ));
        } else if let Kept::Whole { rows, inverses } = &mut self.kept {
            rows.reserve_exact(bytes.min(self.max_bytes));
            inverses.reserve_exact(count);
        }
        self.ids.reserve_exact(count);
        self.groups.reserve_exact(count);
    }

    fn words(&self) -> usize {
        self.dimensions.div_ceil(64)
    }

    fn shrink_to_signs(&mut self) {
        if let Kept::Whole { rows, .. } = &self.kept {
            let signs = rows
                .chunks_exact(self.dimensions.max(1))
                .flat_map(signs_of)
                .collect();
            self.kept = Kept::Signs(signs);
        }
    }

    fn by_bytes(
        &self,
        rows: &[i8],
        inverses: &[f32],
        query: &Compact,
        limit: usize,
        allowed: &dyn Fn(i64) -> bool,
    ) -> Vec<(i64, f32)> {
        let wide = widened(query.numbers());
        let inverse = inverse_length(query.numbers());
        let mut best = Best::new(limit);
        for (place, row) in rows.chunks_exact(self.dimensions).enumerate() {
            let near = dot(&wide, row) * inverse * inverses[place];
            // Whether a group is allowed is asked last: few vectors get this far.
            if best.would_take(near, self.ids[place]) && allowed(self.groups[place]) {
                best.take(near, self.ids[place]);
            }
        }
        best.sorted()
    }

    fn by_signs(
        &self,
        signs: &[u64],
        query: &Compact,
        limit: usize,
        allowed: &dyn Fn(i64) -> bool,
        exact: &mut dyn FnMut(i64) -> Option<Compact>,
    ) -> Vec<(i64, f32)> {
        let asked: Vec<u64> = query.signs().collect();
        let mut promising = Best::new(PROMISING.max(limit));
        for (place, row) in signs.chunks_exact(self.words()).enumerate() {
            let differ: u32 = asked
                .iter()
                .zip(row)
                .map(|(a, b)| (a ^ b).count_ones())
                .sum();
            let near = -as_number(differ);
            if promising.would_take(near, self.ids[place]) && allowed(self.groups[place]) {
                promising.take(near, self.ids[place]);
            }
        }
        let mut best = Best::new(limit);
        for (id, _) in promising.sorted() {
            if let Some(vector) = exact(id) {
                best.take(query.cosine(&vector), id);
            }
        }
        best.sorted()
    }
}

impl VectorIndex for Scan {
    fn put(&mut self, id: i64, group: i64, vector: &Compact) -> bool {
        let numbers = vector.numbers();
        if self.dimensions == 0 {
            self.dimensions = numbers.len();
        }
        if numbers.len() != self.dimensions {
            return false;
        }
        if let Kept::Whole { rows, .. } = &self.kept
            && rows.len() + numbers.len() > self.max_bytes
        {
            self.shrink_to_signs();
        }
        match &mut self.kept {
            Kept::Whole { rows, inverses } => {
                rows.extend_from_slice(numbers);
                inverses.push(inverse_length(numbers));
            }
            Kept::Signs(signs) => signs.extend(vector.signs()),
        }
        self.ids.push(id);
        self.groups.push(group);
        true
    }

    fn retain(&mut self, keep: &dyn Fn(i64) -> bool) {
        let kept: Vec<usize> = (0..self.ids.len())
            .filter(|place| keep(self.ids[*place]))
            .collect();
        let (dimensions, words) = (self.dimensions, self.words());
        match &mut self.kept {
            Kept::Whole { rows, inverses } => {
                pick(rows, dimensions, &kept);
                pick(inverses, 1, &kept);
            }
            Kept::Signs(signs) => pick(signs, words, &kept),
        }
        pick(&mut self.ids, 1, &kept);
        pick(&mut self.groups, 1, &kept);
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn nearest(
        &self,
        query: &Compact,
        limit: usize,
        allowed: &dyn Fn(i64) -> bool,
        exact: &mut dyn FnMut(i64) -> Option<Compact>,
    ) -> Vec<(i64, f32)> {
        if query.numbers().len() != self.dimensions || limit == 0 {
            return Vec::new();
        }
        match &self.kept {
            Kept::Whole { rows, inverses } => self.by_bytes(rows, inverses, query, limit, allowed),
            Kept::Signs(signs) => self.by_signs(signs, query, limit, allowed, exact),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "at most as many as a vector has numbers"
)]
fn as_number(count: u32) -> f32 {
    count as f32
}

/// Keeps the rows at these places, which ascend, in their order.
fn pick<T: Copy>(rows: &mut Vec<T>, width: usize, places: &[usize]) {
    for (to, from) in places.iter().enumerate() {
        rows.copy_within(from * width..(from + 1) * width, to * width);
    }
    rows.truncate(places.len() * width);
}

/// The best so far, the worst of them on top.
struct Best {
    limit: usize,
    heap: BinaryHeap<Candidate>,
}

struct Candidate {
    near: f32,
    id: i64,
}

impl Candidate {
    /// Larger is worse: less near, then the later id.
    fn order(&self, other: &Self) -> Ordering {
        other
            .near
            .total_cmp(&self.near)
            .then(self.id.cmp(&other.id))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(other)
    }
}

impl Best {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::with_capacity(limit.min(4096) + 1),
        }
    }

    fn would_take(&self, near: f32, id: i64) -> bool {
        self.heap.len() < self.limit
            || self
                .heap
                .peek()
                .is_some_and(|worst| Candidate { near, id } < *worst)
    }

    fn take(&mut self, near: f32, id: i64) {
        if self.limit > 0 && self.would_take(near, id) {
            self.heap.push(Candidate { near, id });
            if self.heap.len() > self.limit {
                self.heap.pop();
            }
        }
    }

    fn sorted(self) -> Vec<(i64, f32)> {
        let best = self.heap.into_sorted_vec();
        best.into_iter()
            .map(|candidate| (candidate.id, candidate.near))
            .collect()
    }
}
