//! Markdown in pieces: a code block that is cut is closed, and opened again in the next piece (R51).

use super::fences::{Fence, fence_at, fences};
use super::plain::last_break;
use super::units::{LF, cut, is_blank, last_line_end, skip_blanks, skip_line_ends};
use chitin_contract::{FenceOpenings, FenceWraps, OutboundRules};

/// Cuts Markdown: outside of code like plain text, inside of it at line ends.
pub(crate) fn fenced(units: &[u16], limit: usize, rules: &OutboundRules) -> Vec<Vec<u16>> {
    if units.is_empty() {
        return Vec::new();
    }
    if limit == 0 || units.len() <= limit {
        return vec![units.to_vec()];
    }
    let fences = fences(units, rules.fence_ends);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut reopened: Option<&Fence> = None;
    while start < units.len() {
        let mut piece = opening(reopened, limit, rules);
        let room = limit.saturating_sub(piece.len()).max(1);
        if units.len() - start <= room {
            piece.extend_from_slice(&units[start..]);
            pieces.push(piece);
            break;
        }
        let window = Window {
            units,
            fences: &fences,
            start,
            room,
            limit,
            resumed: !piece.is_empty(),
            rules,
        };
        let found = window.cut();
        piece.extend_from_slice(&units[start..found.at]);
        reopened = found.reopened;
        if let Some(fence) = found.closed {
            if piece.last() != Some(&LF) {
                piece.push(LF);
            }
            piece.extend_from_slice(&fence.close_line);
        }
        pieces.push(piece);
        start = found.next;
    }
    pieces
}

fn opening(reopened: Option<&Fence>, limit: usize, rules: &OutboundRules) -> Vec<u16> {
    let line = reopened.and_then(|fence| fence.reopening(limit, rules.fence_wraps));
    let mut opening = line.map(<[u16]>::to_vec).unwrap_or_default();
    if line.is_some() {
        opening.push(LF);
    }
    opening
}

/// What is looked at to find one cut.
struct Window<'a> {
    units: &'a [u16],
    fences: &'a [Fence],
    start: usize,
    /// How many units may be taken.
    room: usize,
    limit: usize,
    /// Whether the piece begins with an opening line.
    resumed: bool,
    rules: &'a OutboundRules,
}

/// A cut, and what it does to a code block.
struct Found<'a> {
    at: usize,
    next: usize,
    closed: Option<&'a Fence>,
    reopened: Option<&'a Fence>,
}

impl<'a> Window<'a> {
    fn cut(&self) -> Found<'a> {
        let end = self.start + self.room;
        let preferred = last_break(self.units, self.start, end, self.fences);
        let at = self.whole(end, preferred);
        match (fence_at(self.fences, at), self.rules.fence_wraps) {
            (None, _) => self.outside(at),
            (Some(fence), FenceWraps::WholeLine) => self.inside_whole_line(fence),
            (Some(fence), FenceWraps::Fitting) => self.inside_fitting(fence),
        }
    }

    fn whole(&self, max_end: usize, preferred: Option<usize>) -> usize {
        cut(self.units, self.start, max_end, preferred, self.rules.cuts)
    }

    fn outside(&self, at: usize) -> Found<'a> {
        let next = match self.rules.fence_wraps {
            FenceWraps::WholeLine => {
                let separator = self.units.get(at).copied().is_some_and(is_blank);
                skip_line_ends(self.units, at + usize::from(separator))
            }
            FenceWraps::Fitting => {
                let next = skip_blanks(self.units, at, 1, self.rules.cuts);
                let behind = skip_blanks(self.units, next, 1, self.rules.cuts);
                if self.units.get(next) == Some(&LF) && behind > next {
                    skip_line_ends(self.units, behind)
                } else {
                    next
                }
            }
        };
        Found {
            at,
            next,
            closed: None,
            reopened: None,
        }
    }

    /// Returns the last line of the block that ends early enough for a closing line.
    fn line_end_in(&self, fence: &Fence, least: usize, most: usize) -> Option<usize> {
        let mut end = most.max(self.start + 1);
        while let Some(line_end) = last_line_end(self.units, self.start, end) {
            let at = line_end + 1;
            if at < least {
                return None;
            }
            if fence_at(self.fences, at).is_some_and(|found| found.start == fence.start) {
                return Some(at);
            }
            end = line_end;
        }
        None
    }

    fn inside_whole_line(&self, fence: &'a Fence) -> Found<'a> {
        let (close, end) = (fence.close_line.len(), self.start + self.room);
        let (with_line_end, behind_line_end) =
            (end.saturating_sub(close + 1), end.saturating_sub(close));
        let least = (fence.start + fence.open_line.len() + 2)
            .max(self.start + 1)
            .min(self.units.len());
        let at = if with_line_end <= self.start {
            end
        } else if let Some(at) = self.line_end_in(fence, least, behind_line_end) {
            at
        } else if least > behind_line_end {
            end
        } else {
            with_line_end.max(least)
        };
        let at = self.whole(at, None);
        let Some(split) = fence_at(self.fences, at).filter(|found| found.start == fence.start)
        else {
            return self.outside(at);
        };
        let separator = self.units.get(at).copied().is_some_and(is_blank);
        Found {
            at,
            next: at + usize::from(separator),
            closed: Some(split),
            reopened: Some(split),
        }
    }

    fn inside_fitting(&self, fence: &'a Fence) -> Found<'a> {
        let (close, end) = (fence.close_line.len(), self.start + self.room);
        let hard = |reopened| {
            let at = self.whole(end, None);
            Found {
                at,
                next: at,
                closed: None,
                reopened,
            }
        };
        if fence
            .reopening(self.limit, self.rules.fence_wraps)
            .is_none()
        {
            return hard(None);
        }
        let (with_line_end, behind_line_end) =
            (end.saturating_sub(close + 1), end.saturating_sub(close));
        let least = if self.resumed {
            self.start + 1
        } else {
            (fence.start + fence.open_line.len() + 2).max(self.start + 1)
        }
        .min(self.units.len());
        let at = match self.line_end_in(fence, least, behind_line_end) {
            Some(at) => self.whole(behind_line_end, Some(at)),
            None if least >= behind_line_end => {
                let whole = self.rules.fence_openings == FenceOpenings::Whole;
                if whole && fence.start > self.start {
                    return self.outside(fence.start);
                }
                return hard(Some(fence));
            }
            None => self.whole(with_line_end, None),
        };
        let split = fence_at(self.fences, at).filter(|found| found.start == fence.start);
        Found {
            at,
            next: at,
            closed: split,
            reopened: split,
        }
    }
}
