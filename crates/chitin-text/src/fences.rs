//! Fenced code: where it begins and ends. Everything that cuts text asks here.

use super::units::{CR, LF, SPACE, TAB};
use chitin_contract::{FenceEnds, FenceWraps};

/// Opening lines that are longer are repeated only while they take less than half of a piece: a text must not grow by what
/// is repeated.
const LONG_LINE: usize = 256;

/// A fenced code block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    /// Where its opening line begins.
    pub start: usize,
    /// Where its closing line ends, or the text.
    pub end: usize,
    /// Whether it is closed.
    pub closed: bool,
    /// The opening line, without its line end.
    pub open_line: Vec<u16>,
    /// The blanks before the marker, and the marker.
    pub close_line: Vec<u16>,
}

/// What a line that could open or close a block says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FenceLine {
    /// The character of the marker.
    pub character: u16,
    /// How many blanks stand before it.
    pub indent: usize,
    /// How many characters the marker has.
    pub length: usize,
    /// How much of the line counts: a CR at its end may not.
    pub width: usize,
    /// Whether nothing but blanks follows the marker.
    pub bare: bool,
}

/// Reads a line, without its line end, as a fence.
pub(crate) fn fence_line(line: &[u16], ends: FenceEnds) -> Option<FenceLine> {
    let indent = line.iter().take_while(|&&unit| unit == SPACE).count();
    let &character = line.get(indent)?;
    if indent > 3 || !matches!(character, 0x60 | 0x7e) {
        return None;
    }
    let length = line[indent..]
        .iter()
        .take_while(|&&unit| unit == character)
        .count();
    if length < 3 {
        return None;
    }
    let width = match (ends, line.last()) {
        (FenceEnds::BareMarker, Some(&CR)) => line.len() - 1,
        _ => line.len(),
    };
    let info = &line[indent + length..width];
    if info
        .iter()
        .any(|&unit| matches!(unit, CR | 0x2028 | 0x2029))
    {
        return None;
    }
    let bare = info.iter().all(|&unit| matches!(unit, SPACE | TAB));
    Some(FenceLine {
        character,
        indent,
        length,
        width,
        bare,
    })
}

impl FenceLine {
    /// Tells whether this line ends a block that was opened by another.
    pub(crate) fn closes(self, opening: Self, ends: FenceEnds) -> bool {
        self.character == opening.character
            && self.length >= opening.length
            && (ends == FenceEnds::AnyMarker || self.bare)
    }
}

/// Returns the code blocks of a text, in order.
pub(crate) fn fences(units: &[u16], ends: FenceEnds) -> Vec<Fence> {
    fences_from(units, ends, true)
}

/// Returns the same for a text whose first line may have begun earlier.
pub(crate) fn fences_from(units: &[u16], ends: FenceEnds, at_line_start: bool) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut open: Option<(usize, FenceLine)> = None;
    let mut start = 0;
    loop {
        let rest = &units[start..];
        let length = rest.iter().position(|&unit| unit == LF);
        let line = &rest[..length.unwrap_or(rest.len())];
        if (start > 0 || at_line_start)
            && let Some(fence) = fence_line(line, ends)
        {
            match open {
                None => open = Some((start, fence)),
                Some((from, opening)) if fence.closes(opening, ends) => {
                    found.push(block(units, from, opening, start + line.len(), true));
                    open = None;
                }
                Some(_) => {}
            }
        }
        match length {
            Some(length) => start += length + 1,
            None => break,
        }
    }
    if let Some((from, opening)) = open {
        found.push(block(units, from, opening, units.len(), false));
    }
    found
}

fn block(units: &[u16], start: usize, opening: FenceLine, end: usize, closed: bool) -> Fence {
    Fence {
        start,
        end,
        closed,
        open_line: units[start..start + opening.width].to_vec(),
        close_line: units[start..start + opening.indent + opening.length].to_vec(),
    }
}

/// Returns the block that a place lies in. Its very beginning and its end do not lie in it: a cut there is safe.
pub(crate) fn fence_at(fences: &[Fence], index: usize) -> Option<&Fence> {
    let after = fences.partition_point(|fence| fence.end <= index);
    fences.get(after).filter(|fence| fence.start < index)
}

impl Fence {
    /// Returns the line that opens the block again in the next piece, if there is room for it.
    pub(crate) fn reopening(&self, limit: usize, wraps: FenceWraps) -> Option<&[u16]> {
        let (open, bare) = (self.open_line.len(), self.close_line.len());
        let fits = match wraps {
            FenceWraps::WholeLine => open < limit,
            FenceWraps::Fitting => open + bare + 3 <= limit,
        };
        if fits && (open <= LONG_LINE || open <= limit / 2) {
            Some(&self.open_line)
        } else if bare * 2 + 3 <= limit {
            Some(&self.close_line)
        } else {
            None
        }
    }
}
