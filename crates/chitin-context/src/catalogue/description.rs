//! Descriptions with runs of white space collapsed, cut to a length (S55, S59).

use super::compat::CUT_MARK;
use super::escape::{escaped_char_units, push_char};
use chitin_protocol::text::is_js_whitespace;
use std::ops::RangeInclusive;

/// Yields the characters of a text with white space collapsed to single spaces and none at the ends. A space comes
/// together with the character after it, so whatever was taken so far never ends in one.
fn collapsed(text: &str) -> impl Iterator<Item = (bool, char)> {
    let mut space = false;
    let mut started = false;
    text.chars().filter_map(move |c| {
        // Most characters are plain letters, and asking that is quicker.
        if !c.is_ascii_graphic() && is_js_whitespace(c) {
            space = started;
            return None;
        }
        started = true;
        Some((std::mem::take(&mut space), c))
    })
}

/// Appends a description, collapsed, cut to at most `limit` UTF-16 units and escaped.
pub(super) fn push_cut(out: &mut String, text: &str, limit: usize) {
    let room = limit.saturating_sub(CUT_MARK.len());
    let mut cut_at = out.len();
    let mut units = 0;
    for (space, c) in collapsed(text) {
        units += usize::from(space) + c.len_utf16();
        if units > limit {
            out.truncate(cut_at);
            out.push_str(CUT_MARK);
            return;
        }
        if space {
            out.push(' ');
        }
        push_char(out, c);
        if units <= room {
            cut_at = out.len();
        }
    }
}

/// Tells whether anything is left of a description once it is collapsed.
pub(super) fn is_blank(text: &str) -> bool {
    collapsed(text).next().is_none()
}

/// The lengths of many descriptions together, for every limit in a range at once.
///
/// Each description is walked once and no further than the largest limit, so that trying a limit is a look-up.
pub(super) struct CutLengths {
    limits: RangeInclusive<usize>,
    sums: Vec<usize>,
    /// The escaped length of what fits into so many units; kept between descriptions for its room.
    fitting: Vec<usize>,
}

impl CutLengths {
    pub(super) fn new(limits: RangeInclusive<usize>) -> Self {
        let count = limits.clone().count();
        Self {
            fitting: vec![0; limits.end() + 1],
            sums: vec![0; count],
            limits,
        }
    }

    /// Counts a description, with `line` units around it.
    pub(super) fn add(&mut self, text: &str, line: usize) {
        let (shortest, longest) = (*self.limits.start(), *self.limits.end());
        let (mut units, mut escaped) = (0, 0);
        for (space, c) in collapsed(text) {
            let before = units;
            units += usize::from(space) + c.len_utf16();
            if units > longest {
                self.fitting[before + 1..].fill(escaped);
                break;
            }
            // Lengths between two characters hold no more than the first of them.
            if units > before + 1 {
                self.fitting[before + 1..units].fill(escaped);
            }
            escaped += usize::from(space) + escaped_char_units(c);
            self.fitting[units] = escaped;
        }
        let mark = CUT_MARK.len();
        let cut = units.saturating_sub(shortest).min(self.sums.len());
        let (shortened, whole) = self.sums.split_at_mut(cut);
        for (sum, fitting) in shortened
            .iter_mut()
            .zip(&self.fitting[shortest.saturating_sub(mark)..])
        {
            *sum += line + fitting + mark;
        }
        for sum in whole {
            *sum += line + escaped;
        }
    }

    /// Returns the largest limit under which all descriptions together are at most `room` units long.
    pub(super) fn largest_within(&self, room: usize) -> Option<(usize, usize)> {
        // A larger limit never makes them shorter.
        let count = self.sums.partition_point(|sum| *sum <= room);
        let at = count.checked_sub(1)?;
        Some((self.limits.start() + at, self.sums[at]))
    }

    /// Returns the length of all descriptions together under a limit of the range.
    pub(super) fn under(&self, limit: usize) -> usize {
        let at = limit.clamp(*self.limits.start(), *self.limits.end()) - self.limits.start();
        self.sums[at]
    }
}

#[cfg(test)]
#[path = "description_tests.rs"]
mod tests;
