//! Lines in, chunks out.

use super::heading::Headings;
use super::{Chunk, ChunkOptions, weight};
use chitin_contract::{ChunkOverlap, ChunkRules, HeavyLines};
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

/// How many characters are taken for one token.
const UNITS_PER_TOKEN: usize = 4;

/// No chunk is smaller than this, whatever is asked for.
const SMALLEST_BUDGET: usize = 32;

/// A line, or a part of one.
#[derive(Debug, Clone)]
struct Part {
    line: u32,
    /// Where it is in the text.
    place: Range<usize>,
    /// What it counts, with the end of its line.
    cost: usize,
    heading: Option<Rc<str>>,
}

struct Packer<'t, 'r> {
    text: &'t str,
    rules: &'r ChunkRules,
    budget: usize,
    overlap: usize,
    /// A part's size when a line is cut in steps.
    step: usize,
    parts: Vec<Part>,
    cost: usize,
    chunks: Vec<Chunk<'t>>,
}

/// Cuts a text whose first line has this number.
pub(super) fn pack<'t>(
    text: &'t str,
    first_line: u32,
    options: ChunkOptions,
    rules: &ChunkRules,
    mut headings: Option<&mut Headings>,
) -> Vec<Chunk<'t>> {
    let mut packer = Packer {
        text,
        rules,
        budget: SMALLEST_BUDGET.max(options.tokens.saturating_mul(UNITS_PER_TOKEN)),
        overlap: options.overlap.saturating_mul(UNITS_PER_TOKEN),
        step: options.tokens.max(1),
        parts: Vec::new(),
        cost: 0,
        chunks: Vec::new(),
    };
    let mut start = 0;
    let mut number = first_line;
    for line in text.split('\n') {
        let heading = headings
            .as_deref_mut()
            .and_then(|headings| headings.above(line));
        packer.line(number, start, line, heading.as_ref());
        start += line.len() + 1;
        number = number.saturating_add(1);
    }
    packer.emit();
    packer.chunks
}

impl<'t> Packer<'t, '_> {
    /// Takes in a line that begins at this place, in parts if it is larger than a chunk.
    fn line(&mut self, number: u32, start: usize, line: &'t str, heading: Option<&Rc<str>>) {
        let mut rest = line;
        let mut at = start;
        loop {
            let piece = weight::units_prefix(rest, self.budget);
            let weighs = weight::of_text(piece, self.rules.weights);
            if weighs <= self.budget {
                self.part(number, at, piece.len(), weighs, heading);
            } else {
                self.heavy(number, at, piece, heading);
            }
            rest = &rest[piece.len()..];
            at += piece.len();
            if rest.is_empty() {
                return;
            }
        }
    }

    /// Takes in a piece that weighs more than a chunk, in parts.
    fn heavy(&mut self, number: u32, start: usize, piece: &str, heading: Option<&Rc<str>>) {
        let mut rest = piece;
        let mut at = start;
        while !rest.is_empty() {
            let part = match self.rules.heavy_lines {
                HeavyLines::Steps => weight::step(rest, self.step),
                HeavyLines::Weight => weight::prefix(rest, self.budget, self.rules.weights),
            };
            let weighs = weight::of_text(part, self.rules.weights);
            self.part(number, at, part.len(), weighs, heading);
            rest = &rest[part.len()..];
            at += part.len();
        }
    }

    fn part(
        &mut self,
        line: u32,
        start: usize,
        bytes: usize,
        weighs: usize,
        heading: Option<&Rc<str>>,
    ) {
        let cost = weighs + 1;
        if !self.parts.is_empty() && self.cost + cost > self.budget {
            self.emit();
            self.carry(cost);
        }
        self.cost += cost;
        self.parts.push(Part {
            line,
            place: start..start + bytes,
            cost,
            heading: heading.cloned(),
        });
    }

    /// Makes a chunk of what there is.
    fn emit(&mut self) {
        let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) else {
            return;
        };
        // Whole lines, one after the other, are a view of the text.
        let is_view = self
            .parts
            .windows(2)
            .all(|pair| pair[0].place.end + 1 == pair[1].place.start);
        let text = if is_view {
            Cow::Borrowed(&self.text[first.place.start..last.place.end])
        } else {
            let parts: Vec<&str> = self
                .parts
                .iter()
                .map(|part| &self.text[part.place.clone()])
                .collect();
            Cow::Owned(parts.join("\n"))
        };
        self.chunks.push(Chunk {
            start_line: first.line,
            end_line: last.line,
            text,
            entry: None,
            heading: first.heading.as_deref().map(str::to_owned),
        });
    }

    /// Leaves of the parts what stands in the next chunk too, whose next part costs this much.
    fn carry(&mut self, next: usize) {
        let mut sum = 0;
        let mut from = self.parts.len();
        match self.rules.overlap {
            ChunkOverlap::Enough => {
                while from > 0 && sum < self.overlap {
                    from -= 1;
                    sum += self.parts[from].cost;
                }
            }
            ChunkOverlap::Fitting => {
                let room = self.overlap.min(self.budget.saturating_sub(next));
                while from > 0 && sum + self.parts[from - 1].cost <= room {
                    from -= 1;
                    sum += self.parts[from].cost;
                }
                if from == self.parts.len() {
                    return self.carry_end(room);
                }
            }
        }
        self.parts.drain(..from);
        self.cost = sum;
    }

    /// Leaves the end of the last part, as much as there is room for.
    fn carry_end(&mut self, room: usize) {
        let last = self.parts.pop();
        self.parts.clear();
        self.cost = 0;
        let (Some(mut last), Some(room)) = (last, room.checked_sub(1)) else {
            return;
        };
        let end = weight::suffix(&self.text[last.place.clone()], room, self.rules.weights);
        if end.is_empty() {
            return;
        }
        last.place.start = last.place.end - end.len();
        last.cost = weight::of_text(end, self.rules.weights) + 1;
        self.cost = last.cost;
        self.parts.push(last);
    }
}
