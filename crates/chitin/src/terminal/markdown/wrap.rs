//! Puts characters on lines no wider than the terminal, word by word.

use super::style::Style;
use std::collections::VecDeque;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A column fewer than this for the text, and lines are left to the terminal.
const LEAST_ROOM: usize = 16;
/// Where tabs stop.
const TAB: usize = 4;

/// Something that stands before the text of every line, such as the bar of a quotation.
#[derive(Debug, Clone, Default)]
pub(super) struct Margin {
    pub(super) text: String,
    pub(super) style: Style,
}

/// Lays characters out. What it has written is never touched again.
#[derive(Debug)]
pub(super) struct Wrap {
    width: Option<usize>,
    colour: bool,
    /// The style that the terminal is in.
    style: Style,
    /// The column that comes next.
    column: usize,
    /// Whether something other than the margin is on this line.
    begun: bool,
    /// Stands before every further line.
    margin: Margin,
    /// Spaces that are written only if a word follows on the same line.
    spaces: VecDeque<Style>,
    /// A word that is not at its end yet.
    word: Vec<(char, Style)>,
    word_text: String,
    /// The word did not fit any line: the rest of it follows as it comes.
    overlong: bool,
    /// Lines of this kind are not broken.
    rigid: bool,
}

impl Wrap {
    pub(super) fn new(width: Option<usize>, colour: bool) -> Self {
        Self {
            width: width.filter(|width| *width >= LEAST_ROOM),
            colour,
            style: Style::PLAIN,
            column: 0,
            begun: false,
            margin: Margin::default(),
            spaces: VecDeque::new(),
            word: Vec::new(),
            word_text: String::new(),
            overlong: false,
            rigid: false,
        }
    }

    pub(super) const fn width(&self) -> Option<usize> {
        self.width
    }

    /// Begins a line: `first` stands before its text, `further` before that of the lines that it is broken into.
    pub(super) fn begin(&mut self, first: &Margin, further: Margin, out: &mut String) {
        self.margin = further;
        self.rigid = false;
        self.write(&first.text, first.style, out);
        self.begun = false;
    }

    /// Begins a line that is left as long as it is.
    pub(super) fn begin_rigid(&mut self, first: &Margin, out: &mut String) {
        self.begin(first, Margin::default(), out);
        self.rigid = true;
    }

    /// Takes the next character of the line.
    pub(super) fn put(&mut self, c: char, style: Style, out: &mut String) {
        let Some(width) = self.width else {
            self.write_char(c, style, out);
            return;
        };
        if c == '\t' {
            let at = self.column + self.spaces.len() + self.word_text.width();
            for _ in 0..TAB - at % TAB {
                self.put(' ', style, out);
            }
            return;
        }
        if self.rigid {
            self.write_char(c, style, out);
            return;
        }
        if c == ' ' {
            self.place_word(width, out);
            self.spaces.push_back(style);
            return;
        }
        if self.overlong {
            self.write_char(c, style, out);
            return;
        }
        if let Some((last, _)) = self.word.last()
            && may_part(*last, c)
        {
            self.place_word(width, out);
        }
        self.word.push((c, style));
        self.word_text.push(c);
        let room = width.saturating_sub(self.margin.text.width());
        if self.word_text.width() > room.max(1) {
            self.place_word(width, out);
            self.overlong = true;
        }
    }

    /// Ends the line.
    pub(super) fn end(&mut self, out: &mut String) {
        self.flush(out);
        self.switch(Style::PLAIN, out);
        out.push('\n');
        self.column = 0;
        self.begun = false;
    }

    /// Writes the word that is being held, as if it ended here.
    pub(super) fn flush(&mut self, out: &mut String) {
        if let Some(width) = self.width {
            self.place_word(width, out);
        }
        self.spaces.clear();
    }

    /// Goes back to the terminal's own style.
    pub(super) fn rest(&mut self, out: &mut String) {
        self.switch(Style::PLAIN, out);
    }

    fn place_word(&mut self, width: usize, out: &mut String) {
        self.overlong = false;
        if self.word.is_empty() {
            return;
        }
        let needed = self.spaces.len() + self.word_text.width();
        if self.begun && self.column + needed > width {
            self.spaces.clear();
            self.switch(Style::PLAIN, out);
            out.push('\n');
            self.column = 0;
            let margin = std::mem::take(&mut self.margin);
            self.write(&margin.text, margin.style, out);
            self.margin = margin;
        }
        while let Some(style) = self.spaces.pop_front() {
            self.write_char(' ', style, out);
        }
        for (c, style) in std::mem::take(&mut self.word) {
            self.write_char(c, style, out);
        }
        self.word_text.clear();
        self.begun = true;
    }

    fn write(&mut self, text: &str, style: Style, out: &mut String) {
        for c in text.chars() {
            self.write_char(c, style, out);
        }
    }

    fn write_char(&mut self, c: char, style: Style, out: &mut String) {
        self.switch(style, out);
        out.push(c);
        self.column += c.width().unwrap_or(0);
        self.begun = true;
    }

    fn switch(&mut self, style: Style, out: &mut String) {
        if self.colour {
            style.switch(self.style, out);
            self.style = style;
        }
    }
}

/// Says whether a line may end between two characters that no space parts: scripts without spaces allow it, but not
/// before a mark that closes something.
fn may_part(before: char, after: char) -> bool {
    let closes = |c: char| {
        matches!(
            c,
            '、' | '。'
                | '，'
                | '．'
                | '：'
                | '；'
                | '？'
                | '！'
                | '）'
                | '」'
                | '』'
                | '】'
                | '》'
                | '〉'
                | '”'
                | '’'
                | 'ー'
                | '々'
                | '…'
        )
    };
    let opens = |c: char| matches!(c, '（' | '「' | '『' | '【' | '《' | '〈' | '“' | '‘');
    let unspaced = |c: char| matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}');
    (unspaced(before) && !opens(before) && (unspaced(after) || after.is_ascii_alphanumeric())
        || unspaced(after) && !opens(before) && before.is_ascii_alphanumeric())
        && !closes(after)
}
