//! Words on their way, in blocks (R57): enough for a message, ended where a reader pauses.

use super::fences::{Fence, fence_at, fences_from};
use super::paragraphs::break_at;
use super::settings::{BlockChunking, BreakPreference};
use super::units::{
    LF, all_blank, is_blank, skip_line_ends, text as to_text, units, whole_character,
};
use chitin_contract::{FenceEnds, FenceWraps, OutboundRules, StreamWords};

/// Takes words as they come and gives blocks of them. Holds no more than one block and what was added last.
#[derive(Debug)]
pub struct BlockStream {
    chunking: BlockChunking,
    rules: OutboundRules,
    buffer: Vec<u16>,
    /// The line that opens a code block again, with its line end.
    prefix: Vec<u16>,
    at_line_start: bool,
}

/// A break in what is looked at, and the code block that it cuts.
struct Break<'a> {
    at: usize,
    fence: Option<&'a Fence>,
}

impl Break<'_> {
    fn outside(at: usize) -> Self {
        Self { at, fence: None }
    }
}

impl BlockStream {
    /// Begins a stream.
    pub fn new(chunking: BlockChunking, rules: OutboundRules) -> Self {
        Self {
            chunking,
            rules,
            buffer: Vec::new(),
            prefix: Vec::new(),
            at_line_start: true,
        }
    }

    /// Adds words.
    pub fn push(&mut self, delta: &str) {
        self.buffer.extend(delta.encode_utf16());
    }

    /// Returns what was added and not given yet.
    pub fn buffered(&self) -> String {
        if self.buffer.is_empty() {
            return String::new();
        }
        to_text(&self.source())
    }

    /// Forgets what was added and not given yet.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.prefix.clear();
        self.at_line_start = true;
    }

    fn source(&self) -> Vec<u16> {
        [self.prefix.as_slice(), &self.buffer].concat()
    }

    /// Returns the blocks that are ready; all that is left, when forced.
    pub fn drain(&mut self, force: bool) -> Vec<String> {
        let (min, max) = (self.min(), self.max());
        let length = self.prefix.len() + self.buffer.len();
        if self.buffer.is_empty() || (length < min && !force) {
            return Vec::new();
        }
        let mut source = self.source();
        let whole = self.rules.fence_wraps == FenceWraps::WholeLine || self.prefix.is_empty();
        if force && length <= max && whole {
            self.clear();
            return if all_blank(&source) {
                Vec::new()
            } else {
                vec![to_text(&source)]
            };
        }
        let line_start = !self.prefix.is_empty()
            || self.at_line_start
            || self.rules.fence_wraps == FenceWraps::WholeLine;
        let fences = self.shortened(&mut source, line_start);
        let mut run = Run {
            stream: self,
            source: &source,
            fences: &fences,
            force,
            start: 0,
            reopened: None,
            blocks: Vec::new(),
        };
        run.skip_resumed();
        run.blocks();
        let (start, reopened, blocks) = (run.start, run.reopened, run.blocks);
        let prefix = reopened
            .and_then(|fence| fence.reopening(max, self.rules.fence_wraps))
            .map_or_else(Vec::new, |line| [line, &[LF]].concat());
        let start = if prefix.is_empty() {
            skip_line_ends(&source, start)
        } else {
            start
        };
        if start == 0 {
            return blocks;
        }
        self.at_line_start = source.get(start - 1) == Some(&LF);
        self.prefix = prefix;
        self.buffer = source.split_off(start.min(source.len()));
        if self.buffer.is_empty() {
            self.prefix.clear();
        }
        blocks
    }

    fn min(&self) -> usize {
        self.chunking.min_chars.max(1)
    }

    fn max(&self) -> usize {
        self.chunking.max_chars.max(self.min())
    }

    /// Finds the code blocks. The name of a language that leaves no room for code in a block goes.
    fn shortened(&self, source: &mut Vec<u16>, line_start: bool) -> Vec<Fence> {
        let max = self.max();
        let mut fences = fences_from(source, self.rules.fence_ends, line_start);
        if self.rules.fence_wraps == FenceWraps::WholeLine {
            return fences;
        }
        let mut gone = 0;
        for fence in &mut fences {
            fence.start -= gone;
            fence.end -= gone;
            let Some(line) = fence.reopening(max, FenceWraps::Fitting) else {
                continue;
            };
            let less = fence.open_line.len() - line.len();
            if less > 0 && fence.end - fence.start > max {
                let keep = fence.start + line.len();
                source.drain(keep..keep + less);
                fence.open_line = fence.close_line.clone();
                fence.end -= less;
                gone += less;
            }
        }
        fences
    }
}

/// One draining.
struct Run<'a> {
    stream: &'a BlockStream,
    source: &'a [u16],
    fences: &'a [Fence],
    force: bool,
    start: usize,
    reopened: Option<&'a Fence>,
    blocks: Vec<String>,
}

impl<'a> Run<'a> {
    /// Leaves out a block that was opened again for nothing but its closing line.
    fn skip_resumed(&mut self) {
        let prefix = self.stream.prefix.len();
        let fitting = self.stream.rules.fence_wraps == FenceWraps::Fitting;
        if let Some(fence) = self.fences.first().filter(|_| prefix > 0 && fitting)
            && let Some(close) = self.closing_line(fence)
            && close >= prefix
            && all_blank(&self.source[prefix..close])
        {
            self.start = skip_line_ends(self.source, fence.end);
        }
    }

    fn blocks(&mut self) {
        let (min, max) = (self.stream.min(), self.stream.max());
        let rules = &self.stream.rules;
        let flush = self.stream.chunking.flush_on_paragraph;
        while self.start < self.source.len() {
            let opening = self
                .reopened
                .and_then(|fence| fence.reopening(max, rules.fence_wraps))
                .map_or_else(Vec::new, |line| [line, &[LF]].concat());
            let left = opening.len() + self.source.len() - self.start;
            if !self.force && left < min {
                break;
            }
            if flush && !self.force {
                if let Some((end, next)) = self.paragraph_end(min)
                    && end - self.start <= max.saturating_sub(opening.len()).max(1)
                {
                    self.give(opening, end);
                    self.start = skip_line_ends(self.source, next);
                    self.reopened = None;
                    continue;
                }
                if left < max {
                    break;
                }
            }
            let least = if self.force { 1 } else { min };
            let found = if self.force && left <= max {
                self.preferred(self.source.len(), 1, First)
            } else {
                let room = match rules.fence_wraps {
                    FenceWraps::WholeLine => max,
                    FenceWraps::Fitting => max.saturating_sub(opening.len()).max(1),
                };
                self.last_in(room, least)
            };
            let Some(found) = found else {
                if self.force {
                    self.give(opening, self.source.len());
                    self.start = self.source.len();
                    self.reopened = None;
                }
                break;
            };
            self.take(opening, &found);
            let opening = self
                .reopened
                .and_then(|fence| fence.reopening(max, rules.fence_wraps))
                .map_or(0, |line| line.len() + 1);
            let left = opening + self.source.len() - self.start;
            if !self.force && (left < min || (left < max && !flush)) {
                break;
            }
        }
    }

    fn give(&mut self, mut block: Vec<u16>, end: usize) {
        block.extend_from_slice(&self.source[self.start..end]);
        if !all_blank(&block) {
            self.blocks.push(to_text(&block));
        }
    }

    fn take(&mut self, mut block: Vec<u16>, found: &Break<'a>) {
        block.extend_from_slice(&self.source[self.start..found.at]);
        if all_blank(&block) {
            self.start = skip_line_ends(self.source, found.at);
            self.reopened = None;
            return;
        }
        let wraps = self.stream.rules.fence_wraps;
        self.reopened = None;
        self.start = found.at;
        if let Some(fence) = found.fence {
            if block.last() != Some(&LF) {
                block.push(LF);
            }
            block.extend_from_slice(&fence.close_line);
            match wraps {
                FenceWraps::WholeLine => {
                    block.push(LF);
                    self.reopened = Some(fence);
                }
                FenceWraps::Fitting if self.closing_line(fence) == Some(found.at) => {
                    self.start = skip_line_ends(self.source, fence.end);
                }
                FenceWraps::Fitting => self.reopened = Some(fence),
            }
        } else {
            let separator = self.source.get(found.at).copied().is_some_and(is_blank);
            self.start = skip_line_ends(self.source, found.at + usize::from(separator));
        }
        self.blocks.push(to_text(&block));
    }

    /// Returns where the first paragraph ends that is long enough, and where the next begins.
    fn paragraph_end(&self, least: usize) -> Option<(usize, usize)> {
        let mut at = self.start;
        while at < self.source.len() {
            if let Some(end) = break_at(self.source, at) {
                if at - self.start >= least && fence_at(self.fences, at).is_none() {
                    return Some((at, end));
                }
                at = end;
            } else {
                at += 1;
            }
        }
        None
    }

    /// Returns the last good break in the room, or where the text must be cut.
    fn last_in(&self, room: usize, least: usize) -> Option<Break<'a>> {
        let length = self.source.len() - self.start;
        if length < least {
            return None;
        }
        let end = self.start + room.min(length);
        if let Some(found) = self.preferred(end, least, Last) {
            return Some(found);
        }
        let lines = self.stream.chunking.break_preference == BreakPreference::Newline;
        let patient = lines || self.stream.rules.stream_words == StreamWords::WhenFull;
        if patient && length < room {
            return None;
        }
        let blank = (self.start + least..end)
            .rev()
            .find(|&at| is_blank(self.source[at]) && fence_at(self.fences, at).is_none());
        if let Some(at) = blank {
            return Some(Break::outside(at));
        }
        if length < room {
            return None;
        }
        let at = whole_character(self.source, self.start, self.start + room);
        Some(match self.stream.rules.fence_wraps {
            FenceWraps::WholeLine => self.cut_whole_line(at, room, least),
            FenceWraps::Fitting => self.cut_fitting(at, room, least),
        })
    }

    fn cut_whole_line(&self, at: usize, room: usize, least: usize) -> Break<'a> {
        let Some(fence) = fence_at(self.fences, at) else {
            return Break::outside(at);
        };
        let last_line = super::units::last_line_end(self.source, self.start, fence.end)
            .map(|line_end| line_end + 1)
            .filter(|&line| self.start + least <= line && line < self.start + room);
        Break {
            at: last_line.unwrap_or(at),
            fence: Some(fence),
        }
    }

    fn cut_fitting(&self, at: usize, room: usize, least: usize) -> Break<'a> {
        let unclosed = self.unclosed().filter(|fence| fence.end == at);
        let Some(fence) = fence_at(self.fences, at).or(unclosed) else {
            return Break::outside(at);
        };
        if fence
            .reopening(self.stream.max(), FenceWraps::Fitting)
            .is_none()
        {
            return Break::outside(at);
        }
        let close = fence.close_line.len() + 1;
        let most = self.start + room.saturating_sub(close).max(1);
        let most = whole_character(self.source, self.start, most);
        let closing = self
            .closing_line(fence)
            .filter(|&line| self.start + least <= line && line <= most);
        Break {
            at: closing.unwrap_or(most),
            fence: Some(fence),
        }
    }

    fn unclosed(&self) -> Option<&'a Fence> {
        self.fences.last().filter(|fence| !fence.closed)
    }

    /// Returns where the closing line of a block begins.
    fn closing_line(&self, fence: &Fence) -> Option<usize> {
        let line_end = super::units::last_line_end(self.source, self.start, fence.end)?;
        fence.closed.then_some(line_end + 1)
    }

    /// Returns a break by preference: between paragraphs, then lines, then sentences.
    fn preferred(&self, end: usize, least: usize, which: Which) -> Option<Break<'a>> {
        if end - self.start < least {
            return None;
        }
        let preference = self.stream.chunking.break_preference;
        let from = self.start + least;
        let safe = |&at: &usize| fence_at(self.fences, at).is_none();
        let line_end = |&at: &usize| self.source[at] == LF;
        let found = match preference {
            BreakPreference::Paragraph => self
                .paragraph(from, end, which)
                .or_else(|| which.of(from..end, |at| line_end(at) && safe(at)))
                .or_else(|| self.sentence(from, end)),
            BreakPreference::Newline => which.of(from..end, |at| line_end(at) && safe(at)),
            BreakPreference::Sentence => self.sentence(from, end),
        };
        found.map(Break::outside)
    }

    /// Returns a break at a blank line: at its first line end if that is late enough and outside of code, else at its second.
    fn paragraph(&self, from: usize, end: usize, which: Which) -> Option<usize> {
        let pair = |at: usize| self.source[at] == LF && self.source.get(at + 1) == Some(&LF);
        let usable = |at: &usize| *at >= from && *at < end && fence_at(self.fences, *at).is_none();
        let choose = |at: usize| [at, at + 1].into_iter().find(usable);
        match which {
            First => {
                let mut at = self.start;
                while at + 1 < end {
                    if pair(at) {
                        if let Some(found) = choose(at) {
                            return Some(found);
                        }
                        at += 1;
                    }
                    at += 1;
                }
                None
            }
            Last => (from..end.saturating_sub(1))
                .rev()
                .filter(|&at| pair(at))
                .find_map(choose),
        }
    }

    /// Returns the end of the last sentence.
    fn sentence(&self, from: usize, end: usize) -> Option<usize> {
        let open_end = match self.stream.rules.fence_ends {
            FenceEnds::AnyMarker => None,
            FenceEnds::BareMarker => self.unclosed().map(|fence| fence.end),
        };
        (from..end)
            .rev()
            .find(|&at| {
                matches!(self.source[at], 0x21 | 0x2e | 0x3f)
                    && (at + 1 == end || is_blank(self.source[at + 1]))
                    && Some(at + 1) != open_end
                    && fence_at(self.fences, at + 1).is_none()
            })
            .map(|at| at + 1)
    }
}

/// Which of several breaks is wanted.
#[derive(Debug, Clone, Copy)]
enum Which {
    First,
    Last,
}
use Which::{First, Last};

impl Which {
    fn of(
        self,
        mut places: std::ops::Range<usize>,
        wanted: impl Fn(&usize) -> bool,
    ) -> Option<usize> {
        match self {
            First => places.find(wanted),
            Last => places.rev().find(wanted),
        }
    }
}

/// Returns the blocks of a whole text, as a stream would give them.
pub fn blocks(text: &str, chunking: BlockChunking, rules: &OutboundRules) -> Vec<String> {
    let mut stream = BlockStream::new(chunking, *rules);
    stream.buffer = units(text);
    stream.drain(true)
}
