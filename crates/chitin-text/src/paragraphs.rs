//! Mode `newline`: a text is cut between its paragraphs (R52).

use super::fenced::fenced;
use super::fences::fences;
use super::plain::plain;
use super::units::{LF, SPACE, TAB, is_blank, trim_end};
use chitin_contract::{Cuts, OutboundRules, ParagraphBreaks, Paragraphs};
use std::ops::Range;

/// Cuts plain text between paragraphs; those that are too long, like plain text.
pub(crate) fn plain_paragraphs(text: &str, limit: usize, rules: &OutboundRules) -> Vec<Vec<u16>> {
    split(text, limit, rules)
        .into_iter()
        .flat_map(|paragraph| plain(&paragraph, limit, rules.cuts))
        .collect()
}

/// Cuts Markdown between paragraphs; those that are too long, like Markdown.
pub(crate) fn fenced_paragraphs(text: &str, limit: usize, rules: &OutboundRules) -> Vec<Vec<u16>> {
    let mut pieces = Vec::new();
    for paragraph in split(text, limit, rules) {
        if limit > 0 && paragraph.len() > limit && rules.paragraphs == Paragraphs::Packed {
            for part in behind_fences(&paragraph, rules) {
                pieces.extend(fenced(&paragraph[part], limit, rules));
            }
        } else {
            pieces.extend(fenced(&paragraph, limit, rules));
        }
    }
    pieces
}

/// Returns the paragraphs, or what is packed of them. What is too long stays whole.
fn split(text: &str, limit: usize, rules: &OutboundRules) -> Vec<Vec<u16>> {
    if text.is_empty() {
        return Vec::new();
    }
    if limit == 0 {
        return vec![super::units::units(text)];
    }
    let units = unix_lines(text, rules.paragraph_breaks);
    let breaks = breaks(&units);
    if breaks.is_empty() {
        return vec![units];
    }
    let code = code(text, &units, rules);
    let mut packing = Packing::default();
    let mut start = 0;
    let outside = breaks.into_iter().filter(|range| {
        let after = code.partition_point(|code| code.end <= range.start);
        code.get(after).is_none_or(|code| code.start >= range.start)
    });
    let mut separator = 0..0;
    for range in outside {
        packing.add(&units, start..range.start, separator, limit, rules);
        start = range.end;
        separator = range;
    }
    packing.add(&units, start..units.len(), separator, limit, rules);
    packing.finish()
}

/// Returns the ranges that no paragraph ends in.
fn code(text: &str, units: &[u16], rules: &OutboundRules) -> Vec<Range<usize>> {
    match rules.paragraph_breaks {
        ParagraphBreaks::OutsideFences => fences(units, rules.fence_ends)
            .into_iter()
            .map(|fence| fence.start..fence.end)
            .collect(),
        ParagraphBreaks::OutsideCode => {
            let _ = text;
            super::markdown::code_blocks(&super::units::text(units))
        }
    }
}

/// Paragraphs on their way into pieces.
#[derive(Default)]
struct Packing {
    done: Vec<Vec<u16>>,
    current: Vec<u16>,
}

impl Packing {
    fn add(
        &mut self,
        units: &[u16],
        range: Range<usize>,
        separator: Range<usize>,
        limit: usize,
        rules: &OutboundRules,
    ) {
        let part = &units[range];
        let paragraph = match rules.cuts {
            Cuts::Characters => &part[..trim_end(part, part.len(), Cuts::Characters)],
            Cuts::Graphemes => &part[..trim_end(part, part.len(), Cuts::Graphemes)],
        };
        if paragraph.iter().all(|&unit| is_blank(unit)) {
            return;
        }
        let together = self.current.len() + separator.len() + paragraph.len();
        match rules.paragraphs {
            Paragraphs::OneEach => self.done.push(paragraph.to_vec()),
            Paragraphs::Packed if self.current.is_empty() => self.begin(paragraph, limit),
            Paragraphs::Packed if together <= limit => {
                self.current.extend_from_slice(&units[separator]);
                self.current.extend_from_slice(paragraph);
            }
            Paragraphs::Packed => {
                self.done.push(std::mem::take(&mut self.current));
                self.begin(paragraph, limit);
            }
        }
    }

    fn begin(&mut self, paragraph: &[u16], limit: usize) {
        if paragraph.len() <= limit {
            self.current = paragraph.to_vec();
        } else {
            self.done.push(paragraph.to_vec());
        }
    }

    fn finish(mut self) -> Vec<Vec<u16>> {
        if !self.current.is_empty() {
            self.done.push(self.current);
        }
        self.done
    }
}

/// Returns the text with line ends of one kind.
fn unix_lines(text: &str, breaks: ParagraphBreaks) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, breaks) {
            ('\r', _) => {
                characters.next_if_eq(&'\n');
                units.push(LF);
            }
            ('\u{2028}', ParagraphBreaks::OutsideCode) => units.push(LF),
            ('\u{2029}', ParagraphBreaks::OutsideCode) => units.extend([LF, LF]),
            _ => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
        }
    }
    units
}

/// Returns the blank lines, with the line ends around them.
fn breaks(units: &[u16]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < units.len() {
        match break_at(units, at) {
            Some(end) => {
                found.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// Returns the end of the blank line that follows a line end.
pub(crate) fn break_at(units: &[u16], start: usize) -> Option<usize> {
    if units[start] != LF {
        return None;
    }
    let rest = &units[start + 1..];
    let blanks = rest
        .iter()
        .take_while(|&&unit| matches!(unit, SPACE | TAB))
        .count();
    let line_ends = rest[blanks..]
        .iter()
        .take_while(|&&unit| unit == LF)
        .count();
    (line_ends > 0).then(|| start + 1 + blanks + line_ends)
}

/// Cuts behind code blocks that are followed by a blank line and more text.
fn behind_fences(units: &[u16], rules: &OutboundRules) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for fence in fences(units, rules.fence_ends) {
        if fence.end >= units.len() {
            break;
        }
        if let Some(end) = break_at(units, fence.end)
            && !super::units::all_blank(&units[end..])
        {
            parts.push(start..fence.end);
            start = end;
        }
    }
    if start < units.len() {
        parts.push(start..units.len());
    }
    parts
}
