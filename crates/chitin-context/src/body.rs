//! The text of one file on its way into the prompt: a few pieces, cut and measured without copying.

use crate::fragment::{FragmentPiece, FragmentSource, Size, Text};
use chitin_contract::PairRule;
use chitin_protocol::text::{utf16_len, utf16_prefix, utf16_suffix};
use std::ops::Range;

/// A text in pieces, with its length as the contract counts it.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// The pieces, none of them empty.
    pub pieces: Vec<FragmentPiece>,
    /// The length in UTF-16 units, halves of lost characters included.
    pub units: usize,
}

impl Body {
    /// Makes a body of one piece.
    pub fn of(piece: FragmentPiece) -> Self {
        let mut body = Self::default();
        body.push(piece);
        body
    }

    /// Appends a piece, unless it is empty.
    pub fn push(&mut self, piece: FragmentPiece) {
        let text = piece.text.as_str();
        if !text.is_empty() {
            self.units += utf16_len(text);
            self.pieces.push(piece);
        }
    }

    /// Appends another body.
    pub fn append(&mut self, other: Self) {
        self.units += other.units;
        self.pieces.extend(other.pieces);
    }

    /// Tells whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the length in bytes.
    pub fn bytes(&self) -> usize {
        self.pieces
            .iter()
            .map(|piece| piece.text.as_str().len())
            .sum()
    }

    /// Returns both lengths.
    pub fn size(&self) -> Size {
        Size {
            units: self.units,
            bytes: self.bytes(),
        }
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect()
    }

    /// Returns the first `units`. A character that the cut would halve is lost; the rule says whether its half counts.
    #[must_use]
    pub fn head(&self, units: usize, pairs: PairRule) -> Self {
        let mut head = Self::default();
        for piece in &self.pieces {
            if head.units >= units {
                break;
            }
            let text = piece.text.as_str();
            let kept = utf16_prefix(text, units - head.units).len();
            head.push(piece.part(0..kept));
            if kept < text.len() {
                break;
            }
        }
        head.count_half(units.min(self.units), pairs);
        head
    }

    /// Returns the last `units`, by the same rule.
    #[must_use]
    pub fn tail(&self, units: usize, pairs: PairRule) -> Self {
        let mut tail = Self::default();
        for piece in self.pieces.iter().rev() {
            if tail.units >= units {
                break;
            }
            let text = piece.text.as_str();
            let kept = utf16_suffix(text, units - tail.units).len();
            tail.push(piece.part(text.len() - kept..text.len()));
            if kept < text.len() {
                break;
            }
        }
        tail.pieces.reverse();
        tail.count_half(units.min(self.units), pairs);
        tail
    }

    fn count_half(&mut self, intended: usize, pairs: PairRule) {
        match pairs {
            PairRule::HalfCounts => self.units = intended,
            PairRule::LeftOut => {}
        }
    }

    /// Cuts to a budget: what does not fit ends in an ellipsis when there is room for one (W26).
    #[must_use]
    pub fn clamped(self, budget: usize, pairs: PairRule) -> Self {
        if self.units <= budget {
            return self;
        }
        if budget <= 3 {
            return self.head(budget, pairs);
        }
        let mut clamped = self.head(budget - 1, pairs);
        clamped.push(FragmentPiece::ours("…"));
        clamped
    }

    /// Keeps only these byte ranges of the text, which are in order and do not overlap.
    #[must_use]
    pub fn keeping(&self, ranges: &[Range<usize>]) -> Self {
        let mut kept = Self::default();
        let mut offset = 0;
        let mut ranges = ranges.iter().peekable();
        for piece in &self.pieces {
            let length = piece.text.as_str().len();
            let end = offset + length;
            while let Some(range) = ranges.peek() {
                let (from, to) = (range.start.max(offset), range.end.min(end));
                if from < to {
                    kept.push(piece.part(from - offset..to - offset));
                }
                if range.end > end {
                    break;
                }
                ranges.next();
            }
            offset = end;
        }
        kept
    }
}

impl FragmentPiece {
    /// Returns a byte range of the piece, with its source narrowed to match.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let whole = self.text.as_str();
        if range == (0..whole.len()) {
            return self.clone();
        }
        let text = match &self.text {
            Text::Fixed(text) => Text::Fixed(text.get(range.clone()).unwrap_or_default()),
            Text::Shared(text) => Text::Shared(text.get(range.clone()).unwrap_or_default().into()),
            Text::Slice { content, start, .. } => Text::Slice {
                content: content.clone(),
                start: start + range.start,
                end: start + range.end,
            },
        };
        let source = match self.source {
            FragmentSource::File { start, .. } => FragmentSource::File {
                start: start + range.start,
                end: start + range.end,
            },
            FragmentSource::Ours | FragmentSource::Given | FragmentSource::Rewritten { .. } => {
                self.source
            }
        };
        Self { text, source }
    }
}
