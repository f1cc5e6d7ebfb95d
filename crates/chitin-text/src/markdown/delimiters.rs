//! Pairs of markers: `*`, `_` and `~~`.

use super::inline::Event;
use crate::marked::Style;
use chitin_protocol::text::is_js_whitespace;

/// A run of markers.
#[derive(Debug, Clone)]
pub(super) struct Delimiter {
    marker: u8,
    /// How many markers there were.
    length: usize,
    /// How many are not paired.
    pub left: usize,
    opens: bool,
    closes: bool,
    opened: Vec<Style>,
    closed: Vec<Style>,
    gone: bool,
}

impl Delimiter {
    pub(super) fn new(
        marker: u8,
        length: usize,
        before: Option<char>,
        after: Option<char>,
        cjk: bool,
    ) -> Self {
        let before = before.unwrap_or(' ');
        let after = after.unwrap_or(' ');
        let (blank_before, blank_after) = (is_space(before), is_space(after));
        // An older reader sees halves of characters beyond the first plane, which are no signs.
        let mark = |character| (cjk || character < '\u{10000}') && is_mark(character);
        let (mark_before, mark_after) = (mark(before), mark(after));
        let wide = cjk && (is_wide(before) || is_wide(after)) && !blank_before && !blank_after;
        let left = !blank_after && (!mark_after || blank_before || mark_before || wide);
        let right = !blank_before && (!mark_before || blank_after || mark_after || wide);
        let splits = marker != b'_';
        Self {
            marker,
            length: if marker == b'~' { 0 } else { length },
            left: length,
            opens: left && (splits || !right || mark_before),
            closes: right && (splits || !left || mark_after),
            opened: Vec::new(),
            closed: Vec::new(),
            gone: false,
        }
    }

    /// Tells whether two runs may not be paired because of their lengths.
    fn clashes(&self, closer: &Self) -> bool {
        (self.closes || closer.opens)
            && (self.length + closer.length).is_multiple_of(3)
            && !(self.length.is_multiple_of(3) && closer.length.is_multiple_of(3))
    }

    /// Returns which closers look for an opener in vain together.
    fn kind(&self) -> usize {
        let marker = match self.marker {
            b'*' => 0,
            b'_' => 1,
            _ => 2,
        };
        (marker * 2 + usize::from(self.opens)) * 3 + self.length % 3
    }
}

fn is_space(character: char) -> bool {
    is_js_whitespace(character) && character != '\u{feff}'
}

fn is_mark(character: char) -> bool {
    character.is_ascii_punctuation()
        || super::is_punctuation(character)
        || super::is_symbol(character)
}

/// Tells whether a character is Chinese, Japanese or Korean, or as wide as one and no emoji.
fn is_wide(character: char) -> bool {
    matches!(
        u32::from(character),
        0x1100..=0x11ff
            | 0x2e80..=0x303e
            | 0x3041..=0x33ff
            | 0x3400..=0x4dbf
            | 0x4e00..=0x9fff
            | 0xa000..=0xa4cf
            | 0xa960..=0xa97f
            | 0xac00..=0xd7ff
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xffef
            | 0x1b000..=0x1b2ff
            | 0x1f200..=0x1f2ff
            | 0x20000..=0x3fffd
    )
}

/// All runs of markers in some words.
#[derive(Debug, Default)]
pub(super) struct Delimiters(Vec<Delimiter>);

impl Delimiters {
    pub(super) fn push(&mut self, delimiter: Delimiter) -> usize {
        self.0.push(delimiter);
        self.0.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the runs from a place on out of the game.
    pub(super) fn forget(&mut self, from: usize) {
        for delimiter in &mut self.0[from..] {
            delimiter.gone = true;
        }
    }

    /// Pairs the runs from a place on, then takes them out of the game.
    pub(super) fn pair(&mut self, from: usize) {
        // Runs that may still open, the last on top; what closers of a kind need not look below.
        let mut openers: Vec<usize> = Vec::new();
        let mut bottoms = [0; 18];
        for closer in from..self.0.len() {
            if self.0[closer].gone {
                continue;
            }
            while self.0[closer].closes && self.0[closer].left > 0 {
                let kind = self.0[closer].kind();
                let bottom = bottoms[kind].min(openers.len());
                let found = openers[bottom..].iter().rposition(|&opener| {
                    let opener = &self.0[opener];
                    opener.marker == self.0[closer].marker && !opener.clashes(&self.0[closer])
                });
                let Some(found) = found.map(|at| bottom + at) else {
                    bottoms[kind] = openers.len();
                    break;
                };
                let opener = openers[found];
                openers.truncate(found + 1);
                for bottom in &mut bottoms {
                    *bottom = (*bottom).min(openers.len());
                }
                self.join(opener, closer);
                if self.0[opener].left == 0 {
                    openers.pop();
                }
            }
            if self.0[closer].opens && self.0[closer].left > 0 {
                openers.push(closer);
            }
        }
        self.forget(from);
    }

    fn join(&mut self, opener: usize, closer: usize) {
        let both = self.0[opener].left.min(self.0[closer].left);
        let (style, used) = match (self.0[closer].marker, both) {
            (b'~', _) => (Style::Strikethrough, 2),
            (_, 0 | 1) => (Style::Italic, 1),
            (_, _) => (Style::Bold, 2),
        };
        self.0[opener].opened.push(style);
        self.0[closer].closed.push(style);
        self.0[opener].left = self.0[opener].left.saturating_sub(used);
        self.0[closer].left = self.0[closer].left.saturating_sub(used);
    }

    /// Returns what became of a run: what it closes, what is left of it, what it opens.
    pub(super) fn events(&self, place: usize) -> Vec<Event> {
        let delimiter = &self.0[place];
        let closed = delimiter.closed.iter().map(|&style| Event::Close(style));
        let left = char::from(delimiter.marker)
            .to_string()
            .repeat(delimiter.left);
        let opened = delimiter.opened.iter().rev();
        closed
            .chain([Event::Text(left)])
            .chain(opened.map(|&style| Event::Open(style)))
            .collect()
    }
}
