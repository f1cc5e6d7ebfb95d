//! Text as UTF-16 units, which is what surfaces and releases count, and where it may be cut.

use chitin_contract::Cuts;
use chitin_protocol::text::is_js_whitespace;
use unicode_segmentation::UnicodeSegmentation;

/// How far back the beginning of a grapheme is looked for. Longer ones are cut between characters.
const LOOK_BACK: usize = 128;

/// How far ahead the end of a grapheme is looked for.
const LOOK_AHEAD: usize = 32;

/// The first unit that can take part in a grapheme of more than one character; CR LF aside.
const FIRST_JOINING: u16 = 0x300;

pub(crate) const LF: u16 = b'\n' as u16;
pub(crate) const CR: u16 = b'\r' as u16;
pub(crate) const SPACE: u16 = b' ' as u16;
pub(crate) const TAB: u16 = b'\t' as u16;

/// Returns the units of a text.
pub(crate) fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// Returns the text of units. Nothing is lost: no cut of ours parts a surrogate pair.
pub(crate) fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

/// Tells whether a unit is white space.
pub(crate) fn is_blank(unit: u16) -> bool {
    if unit < 0x80 {
        return matches!(unit, 9..=13 | 32);
    }
    char::from_u32(u32::from(unit)).is_some_and(is_js_whitespace)
}

/// Tells whether there is nothing but white space.
pub(crate) fn all_blank(units: &[u16]) -> bool {
    units.iter().all(|&unit| is_blank(unit))
}

const fn is_high(unit: u16) -> bool {
    0xd800 <= unit && unit <= 0xdbff
}

const fn is_low(unit: u16) -> bool {
    0xdc00 <= unit && unit <= 0xdfff
}

/// Tells whether a surrogate pair lies across `index`.
pub(crate) fn parts_pair(units: &[u16], index: usize) -> bool {
    index > 0
        && units
            .get(index - 1..=index)
            .is_some_and(|pair| is_high(pair[0]) && is_low(pair[1]))
}

/// Moves a cut out of a character: before it, or behind it when nothing would be left before it.
pub(crate) fn whole_character(units: &[u16], start: usize, end: usize) -> usize {
    if end <= start || !parts_pair(units, end) {
        end
    } else if end - 1 > start {
        end - 1
    } else {
        end + 1
    }
}

/// Returns where the grapheme begins that `index` lies in; `index` itself when it lies between two.
fn grapheme_start(units: &[u16], index: usize) -> usize {
    if index == 0 || index >= units.len() {
        return index;
    }
    let (before, after) = (units[index - 1], units[index]);
    if before < FIRST_JOINING && after < FIRST_JOINING {
        return index - usize::from(before == CR && after == LF);
    }
    let mut from = index.saturating_sub(LOOK_BACK);
    from -= usize::from(parts_pair(units, from));
    let mut to = (index + LOOK_AHEAD).min(units.len());
    to -= usize::from(parts_pair(units, to));
    let mut at = from;
    for grapheme in text(&units[from..to]).graphemes(true) {
        let next = at + grapheme.encode_utf16().count();
        if next > index {
            return at;
        }
        at = next;
    }
    index
}

/// Returns where the grapheme that begins at `start` ends.
fn grapheme_end(units: &[u16], start: usize) -> usize {
    let Some(&first) = units.get(start) else {
        return start;
    };
    match units.get(start + 1) {
        None => start + 1,
        Some(&next) if first < FIRST_JOINING && next < FIRST_JOINING => {
            start + 1 + usize::from(first == CR && next == LF)
        }
        Some(_) => {
            let mut to = (start + LOOK_AHEAD).min(units.len());
            to -= usize::from(parts_pair(units, to));
            let ahead = text(&units[start..to]);
            let length = ahead.graphemes(true).next().unwrap_or_default();
            start + length.encode_utf16().count().max(1)
        }
    }
}

/// Returns a cut behind `start` and not behind `max_end`, at the preferred place if that can be. A character that is longer
/// than what is allowed is not cut.
pub(crate) fn cut(
    units: &[u16],
    start: usize,
    max_end: usize,
    preferred: Option<usize>,
    cuts: Cuts,
) -> usize {
    let hard = max_end.min(units.len());
    if hard <= start {
        return start;
    }
    let wanted = preferred
        .filter(|&end| start < end && end <= hard)
        .unwrap_or(hard);
    match cuts {
        Cuts::Characters => whole_character(units, start, wanted),
        Cuts::Graphemes => {
            let end = whole_graphemes(units, start, hard, wanted);
            if end > start {
                end
            } else {
                whole_character(units, start, hard)
            }
        }
    }
}

/// Returns the same, or `start` when no whole grapheme fits.
pub(crate) fn whole_graphemes(units: &[u16], start: usize, hard: usize, wanted: usize) -> usize {
    if wanted == units.len() {
        return wanted;
    }
    let end = grapheme_start(units, wanted);
    if end <= start && wanted < hard {
        grapheme_start(units, hard)
    } else {
        end
    }
}

/// Returns the end of the white space that begins at `start`, of at most `most` characters.
pub(crate) fn skip_blanks(units: &[u16], start: usize, most: usize, cuts: Cuts) -> usize {
    let mut at = start;
    for _ in 0..most {
        if !units.get(at).copied().is_some_and(is_blank) {
            break;
        }
        let end = match cuts {
            Cuts::Characters => at + 1,
            Cuts::Graphemes => grapheme_end(units, at),
        };
        if !all_blank(&units[at..end]) {
            break;
        }
        at = end;
    }
    at
}

/// Returns the end without the white space before it.
pub(crate) fn trim_end(units: &[u16], end: usize, cuts: Cuts) -> usize {
    let mut at = end;
    while at > 0 && is_blank(units[at - 1]) {
        let start = match cuts {
            Cuts::Characters => at - 1,
            Cuts::Graphemes => grapheme_start(units, at - 1),
        };
        // What joins a blank that stays, or a mark behind it, stays with it.
        if !all_blank(&units[start..at]) || joined(units, at, cuts) {
            break;
        }
        at = start;
    }
    at
}

/// Tells whether a grapheme lies across `index`.
fn joined(units: &[u16], index: usize, cuts: Cuts) -> bool {
    cuts == Cuts::Graphemes && index < units.len() && grapheme_start(units, index) < index
}

/// Returns the index of the last line end in a range.
pub(crate) fn last_line_end(units: &[u16], start: usize, end: usize) -> Option<usize> {
    let end = end.min(units.len());
    let window = units.get(start..end)?;
    window
        .iter()
        .rposition(|&unit| unit == LF)
        .map(|at| start + at)
}

/// Returns the first index at or behind `start` that holds no line end.
pub(crate) fn skip_line_ends(units: &[u16], start: usize) -> usize {
    let rest = units.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|&&unit| unit == LF).count()
}
