//! Plain text in pieces (R50).

use super::fences::{Fence, fence_at};
use super::units::{cut, is_blank, skip_blanks, trim_end};
use chitin_contract::Cuts;
use std::ops::Range;

const OPEN_PARENTHESIS: u16 = b'(' as u16;
const CLOSE_PARENTHESIS: u16 = b')' as u16;

/// Cuts a plain text: at the last line end that fits, else at the last blank, else where it must be. Blanks at a cut go.
pub(crate) fn plain(units: &[u16], limit: usize, cuts: Cuts) -> Vec<Vec<u16>> {
    plain_ranges(units, limit, cuts)
        .into_iter()
        .map(|range| units[range].to_vec())
        .collect()
}

/// Returns the same as ranges of the text.
pub(crate) fn plain_ranges(units: &[u16], limit: usize, cuts: Cuts) -> Vec<Range<usize>> {
    if units.is_empty() {
        return Vec::new();
    }
    if limit == 0 || units.len() <= limit {
        return std::iter::once(0..units.len()).collect();
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    while units.len() - start > limit {
        let rest = &units[start..];
        let preferred = last_break(rest, 0, limit, &[]);
        let end = cut(rest, 0, limit, preferred, cuts);
        let words = trim_end(rest, end, cuts);
        if words > 0 {
            pieces.push(start..start + words);
        }
        start += skip_blanks(rest, end, usize::MAX, cuts);
    }
    let rest = &units[start..];
    let last = match cuts {
        Cuts::Characters => rest.len(),
        Cuts::Graphemes => trim_end(rest, rest.len(), cuts),
    };
    if last > 0 {
        pieces.push(start..start + last);
    }
    pieces
}

/// Returns the last place in a window where a text breaks well: at a line end, else at a blank; never in parentheses, in
/// code or at the very beginning.
pub(crate) fn last_break(
    units: &[u16],
    start: usize,
    end: usize,
    fences: &[Fence],
) -> Option<usize> {
    let (mut line_end, mut blank, mut depth) = (None, None, 0usize);
    let mut at = start;
    while at < end {
        if let Some(fence) = fence_at(fences, at) {
            at = fence.end;
            continue;
        }
        match units[at] {
            OPEN_PARENTHESIS => depth += 1,
            CLOSE_PARENTHESIS if depth > 0 => depth -= 1,
            unit if depth == 0 && at > start && is_blank(unit) => {
                let last = if unit == super::units::LF {
                    &mut line_end
                } else {
                    &mut blank
                };
                *last = Some(at);
            }
            _ => {}
        }
        at += 1;
    }
    line_end.or(blank)
}
