//! Puts the lines of a section together, piece by piece, so that each keeps its source.

use crate::fragment::{CacheClass, Fragment, FragmentPiece, FragmentRole};
use std::borrow::Cow;
use std::sync::Arc;

/// How long a value in a line may be, in characters.
const MAX_VALUE: usize = 1024;

/// The lines of a section.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pieces: Vec<FragmentPiece>,
}

impl Lines {
    /// Begins a line.
    pub(super) fn line(&mut self) -> &mut Self {
        if !self.pieces.is_empty() {
            self.pieces.push(FragmentPiece::ours("\n"));
        }
        self
    }

    /// Goes on with words of ours.
    pub(super) fn ours(&mut self, text: &'static str) -> &mut Self {
        self.pieces.push(FragmentPiece::ours(text));
        self
    }

    /// Goes on with a value that was handed in and must stay on its line.
    pub(super) fn value(&mut self, value: &Arc<str>) -> &mut Self {
        let text = match one_line(value) {
            Cow::Borrowed(text) if text.len() == value.len() => Arc::clone(value),
            text => Arc::from(text),
        };
        self.pieces.push(FragmentPiece::given(text));
        self
    }

    /// Goes on with a text that was handed in and may have lines of its own.
    pub(super) fn text(&mut self, text: &Arc<str>) -> &mut Self {
        let trimmed = text.trim();
        let text = if trimmed.len() == text.len() {
            Arc::clone(text)
        } else {
            Arc::from(trimmed)
        };
        self.pieces.push(FragmentPiece::given(text));
        self
    }

    /// Makes the fragment; there is none without lines.
    pub(super) fn into_fragment(
        self,
        key: &'static str,
        role: FragmentRole,
        cache: CacheClass,
    ) -> Option<Fragment> {
        if self.pieces.is_empty() {
            return None;
        }
        Some(Fragment {
            role,
            ..Fragment::section(key, cache, self.pieces)
        })
    }
}

/// Returns a value without line breaks and without characters that are not seen, so that it cannot pose as a heading,
/// and no longer than a line should be.
pub(super) fn one_line(value: &str) -> Cow<'_, str> {
    let value = value.trim();
    let short = value.len() <= MAX_VALUE;
    if short && !value.chars().any(is_unseen) {
        return Cow::Borrowed(value);
    }
    let mut seen = value.chars().filter(|&char| !is_unseen(char));
    let mut text: String = seen.by_ref().take(MAX_VALUE).collect();
    if seen.next().is_some() {
        text.push('…');
    }
    Cow::Owned(text)
}

/// Returns whether a character breaks the line, is not shown, or turns the direction of what follows.
fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
