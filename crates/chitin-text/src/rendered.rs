//! Marked text in pieces that are short enough once they are written (R55, R56).

use super::marked::{Marked, Markup, Parts, Style};
use super::plain::plain_ranges;
use super::units::{LF, all_blank, cut, is_blank, whole_graphemes};
use chitin_contract::{Cuts, NoRoom, OutboundRules, Splitting};
use std::ops::Range;

/// Adding a character may make what is written shorter, by a name that is a file's no longer. So far ahead is looked.
const LOOK_AHEAD: usize = 16;

/// What writes a marked text.
pub(crate) trait Writer {
    /// Writes a piece as it is sent.
    fn write(&self, marked: &Marked) -> String;
}

impl<M: Markup> Writer for M {
    fn write(&self, marked: &Marked) -> String {
        marked.write(self)
    }
}

/// A piece: the ranges of the text that it holds, and what they are written as.
struct Written {
    ranges: Vec<Range<usize>>,
    marked: Marked,
    body: String,
}

/// Cuts a marked text so that no piece is longer than the limit when it is written. Returns the texts and what is written.
pub(crate) fn rendered(
    marked: &Marked,
    limit: usize,
    rules: &OutboundRules,
    writer: &impl Writer,
) -> Vec<(Vec<u16>, String)> {
    let splitter = Splitter {
        parts: Parts::new(marked),
        text: &marked.text,
        code: code(marked),
        limit: limit.max(1),
        rules,
        writer,
    };
    splitter.chunks()
}

/// Returns where code is, in order.
fn code(marked: &Marked) -> Vec<Range<usize>> {
    let is_code = |style| matches!(style, Style::Code | Style::CodeBlock);
    let spans = marked.spans.iter();
    spans
        .filter(|span| is_code(span.style))
        .map(|span| span.start..span.end)
        .collect()
}

struct Splitter<'a, W> {
    parts: Parts<'a>,
    text: &'a [u16],
    code: Vec<Range<usize>>,
    limit: usize,
    rules: &'a OutboundRules,
    writer: &'a W,
}

impl<W: Writer> Splitter<'_, W> {
    fn chunks(&self) -> Vec<(Vec<u16>, String)> {
        let whole = 0..self.text.len();
        let mut pending = match self.rules.markdown.splitting {
            Splitting::DropBlanks => plain_ranges(self.text, self.limit, self.rules.cuts),
            Splitting::KeepBlanks => self.keep_blanks(&whole, self.limit),
        };
        pending.reverse();
        let mut done = Vec::new();
        while let Some(range) = pending.pop() {
            let written = self.write(vec![range.clone()]);
            if self.fits(&written) {
                done.push(written);
                continue;
            }
            let mut split = if range.len() > 1 {
                self.split(&range)
            } else {
                Vec::new()
            };
            if split.len() <= 1 {
                match self.rules.markdown.no_room {
                    NoRoom::TooLong => done.push(written),
                    NoRoom::WithoutMarkup => done.extend(self.bare(&range)),
                }
                continue;
            }
            split.reverse();
            pending.extend(split);
        }
        let joined = self.join_blanks(done);
        joined
            .into_iter()
            .map(|piece| (piece.marked.text, piece.body))
            .collect()
    }

    fn write(&self, ranges: Vec<Range<usize>>) -> Written {
        let marked = self.parts.take(&ranges);
        let body = self.writer.write(&marked);
        Written {
            ranges,
            marked,
            body,
        }
    }

    fn fits(&self, written: &Written) -> bool {
        chitin_protocol::text::utf16_len(&written.body) <= self.limit
    }

    /// Cuts a range whose writing is too long.
    fn split(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let length = self.longest(range);
        if length == 0 {
            return vec![range.clone()];
        }
        let parts = self.keep_blanks(range, length);
        let first_fits = parts
            .first()
            .is_some_and(|first| self.fits(&self.write(vec![first.clone()])));
        if first_fits {
            return parts;
        }
        let at = range.start + length;
        vec![range.start..at, at..range.end]
    }

    /// Returns how much of a range can be written within the limit; nothing, if not even its first character can.
    fn longest(&self, range: &Range<usize>) -> usize {
        let whole = |length: usize| {
            let end = cut(&self.text[range.clone()], 0, length, None, self.rules.cuts);
            end.min(range.len())
        };
        let short = |length: usize| {
            let end = range.start + whole(length);
            let part = range.start..end;
            self.fits(&self.write(vec![part]))
        };
        let (mut low, mut high) = (0, range.len() - 1);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if short(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let names = [u16::from(b'.'), u16::from(b'<')];
        if self.text[range.clone()]
            .iter()
            .any(|unit| names.contains(unit))
        {
            let ahead = low + 1..range.len().min(low + 1 + LOOK_AHEAD);
            low = ahead.rev().find(|&length| short(length)).unwrap_or(low);
        }
        if low == 0 { 0 } else { whole(low) }
    }

    /// Returns a range that no markup leaves room for, without any: its text, in pieces.
    fn bare(&self, range: &Range<usize>) -> Vec<Written> {
        let bare = |range: Range<usize>| {
            let marked = Marked {
                text: self.text[range.clone()].to_vec(),
                ..Marked::default()
            };
            let body = self.writer.write(&marked);
            Written {
                ranges: vec![range],
                marked,
                body,
            }
        };
        let mut pieces = Vec::new();
        let mut start = range.start;
        while start < range.end {
            let mut end = range.end.min(start + self.limit);
            loop {
                end = cut(self.text, start, end, None, Cuts::Characters).min(range.end);
                let piece = bare(start..end);
                let least = cut(self.text, start, start + 1, None, Cuts::Characters);
                if self.fits(&piece) || end <= least {
                    pieces.push(piece);
                    break;
                }
                end = start + (end - start) / 2;
                end = end.max(start + 1);
            }
            start = end;
        }
        pieces
    }

    /// Cuts a range so that every character stays.
    fn keep_blanks(&self, range: &Range<usize>, limit: usize) -> Vec<Range<usize>> {
        if range.is_empty() {
            return Vec::new();
        }
        let limit = limit.max(1);
        if range.len() <= limit {
            return vec![range.clone()];
        }
        let text = &self.text[..range.end];
        let mut parts = Vec::new();
        let mut start = range.start;
        while start < range.end {
            let most = range.end.min(start + limit);
            let mut wanted = preferred(text, start, most);
            if self.rules.markdown.splitting == Splitting::KeepBlanks {
                wanted = self.in_code(text, start, most, wanted, limit);
            }
            let end = match self.rules.cuts {
                Cuts::Characters => super::units::whole_character(text, start, wanted),
                Cuts::Graphemes => cut(text, start, most, Some(wanted), Cuts::Graphemes),
            };
            let end = end.clamp(start + 1, range.end);
            parts.push(start..end);
            start = end;
        }
        parts
    }

    /// Moves a cut in code so that no piece begins or ends in blanks of it, if that can be.
    fn in_code(
        &self,
        text: &[u16],
        start: usize,
        most: usize,
        wanted: usize,
        limit: usize,
    ) -> usize {
        let after = self.code.partition_point(|code| code.end <= wanted);
        let inside = self.code.get(after).is_some_and(|code| code.start < wanted);
        if !inside {
            return wanted;
        }
        let blank = |at: usize| text.get(at).copied().is_some_and(is_blank);
        let mut end = most;
        while end > start && (blank(end - 1) || blank(end)) {
            end -= 1;
        }
        let end = if end > start {
            whole_graphemes(text, start, end, end)
        } else {
            start
        };
        let next_most = text.len().min(end + limit);
        let mut words = most;
        while words < next_most && blank(words) {
            words += 1;
        }
        let next_end = whole_graphemes(text, end, next_most, next_most);
        if end > start && next_end > words {
            end
        } else {
            wanted
        }
    }

    /// Puts pieces of nothing but blanks to their neighbours; what finds no room goes.
    fn join_blanks(&self, pieces: Vec<Written>) -> Vec<Written> {
        let mut joined: Vec<Written> = Vec::with_capacity(pieces.len());
        let mut rest = pieces.into_iter().peekable();
        let mut carried: Option<Written> = None;
        while let Some(piece) = carried.take().or_else(|| rest.next()) {
            if !all_blank(&piece.marked.text) {
                joined.push(piece);
                continue;
            }
            if let Some(last) = joined.last()
                && let Some(with_last) = self.together(&last.ranges, &piece.ranges)
            {
                joined.pop();
                joined.push(with_last);
                continue;
            }
            let with_next = rest
                .peek()
                .and_then(|next| self.together(&piece.ranges, &next.ranges));
            if let Some(with_next) = with_next {
                rest.next();
                carried = Some(with_next);
                continue;
            }
            let marked = !piece.marked.spans.is_empty() || !piece.marked.links.is_empty();
            if self.rules.markdown.splitting == Splitting::KeepBlanks && marked {
                joined.push(piece);
            }
        }
        joined
    }

    fn together(&self, left: &[Range<usize>], right: &[Range<usize>]) -> Option<Written> {
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(left.len() + right.len());
        for range in left.iter().chain(right) {
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range.clone()),
            }
        }
        Some(self.write(ranges)).filter(|written| self.fits(written))
    }
}

/// Returns where a text breaks well without losing a character: behind a line end, else behind a blank; outside of
/// parentheses if that can be.
fn preferred(text: &[u16], start: usize, most: usize) -> usize {
    if most >= text.len() {
        return text.len();
    }
    let (mut outside, mut anywhere) = (Ends::default(), Ends::default());
    let (mut depth, mut words, mut run) = (0usize, false, start);
    for at in start..most {
        match text[at] {
            0x28 => {
                words = true;
                depth += 1;
            }
            0x29 if depth > 0 => {
                words = true;
                depth -= 1;
            }
            unit if !is_blank(unit) => words = true,
            _ if !words => {}
            LF => {
                anywhere.line = Some(at + 1);
                if depth == 0 {
                    outside.line = Some(at + 1);
                }
            }
            _ => {
                if at == start || !is_blank(text[at - 1]) {
                    run = at;
                }
                anywhere.blank = Some((at + 1, run));
                if depth == 0 {
                    outside.blank = Some((at + 1, run));
                }
            }
        }
    }
    let behind_blank = |(end, run): (usize, usize)| {
        // Blanks stay together, with what follows them.
        let goes_on = text.get(end).copied().is_some_and(is_blank);
        if goes_on && run > start { run } else { end }
    };
    outside
        .line
        .or(outside.blank.map(behind_blank))
        .or(anywhere.line)
        .or(anywhere.blank.map(behind_blank))
        .unwrap_or(most)
}

#[derive(Default)]
struct Ends {
    line: Option<usize>,
    /// Behind a blank, and where the run of blanks begins.
    blank: Option<(usize, usize)>,
}
