//! Markdown for a terminal, while it comes: takes text in any pieces and writes each word once, as soon as it is known how
//! it looks. Without colours the text stays as the model wrote it; without a width no line is broken.

mod inline;
mod line;
mod style;
mod wrap;

#[cfg(test)]
mod markdown_tests;

use super::tame::Tamer;
use inline::Inline;
use line::{Head, LineKind, Whole, classify, closes};
use style::Style;
use wrap::{Margin, Wrap};

/// How long a line across is at most.
const RULE: usize = 40;

/// What a renderer needs to know of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// How many columns there are; none, and no line is broken.
    pub(crate) width: Option<usize>,
    /// Whether marks become colours and styles.
    pub(crate) colour: bool,
}

/// Renders one answer. All pieces of it, put together, are written the same however they were cut.
#[derive(Debug)]
pub(crate) struct Markdown {
    look: Look,
    base: Style,
    tamer: Tamer,
    wrap: Wrap,
    place: Place,
    /// The beginning of a line whose kind is not known yet.
    head: String,
    fence: Option<(char, usize)>,
    inline: Inline,
    /// Whether the last thing written ended a line.
    fresh: bool,
}

/// Where in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before it is known what kind of line it is.
    Head,
    /// In text with spans.
    Spans,
    /// In text that is left as it is.
    Raw(Style),
}

impl Markdown {
    pub(crate) fn new(look: Look) -> Self {
        Self {
            look,
            base: Style::PLAIN,
            tamer: Tamer::default(),
            wrap: Wrap::new(look.width, look.colour),
            place: Place::Head,
            head: String::new(),
            fence: None,
            inline: Inline::new(Style::PLAIN),
            fresh: true,
        }
    }

    /// Returns a renderer whose text may be passed over.
    pub(crate) fn dimmed(look: Look) -> Self {
        Self {
            base: Style::DIM,
            ..Self::new(look)
        }
    }

    /// Takes some more text and writes what is certain.
    pub(crate) fn push(&mut self, text: &str, out: &mut String) {
        let before = out.len();
        let mut tamer = std::mem::take(&mut self.tamer);
        tamer.push(text, |c| self.take(c, out));
        self.tamer = tamer;
        self.note_fresh(before, out);
    }

    /// Writes what was held back. The next text begins anew; a line that was begun is not ended.
    pub(crate) fn finish(&mut self, out: &mut String) {
        let before = out.len();
        let mut tamer = std::mem::take(&mut self.tamer);
        tamer.finish(|c| self.take(c, out));
        self.close_line(out);
        self.wrap.flush(out);
        self.wrap.rest(out);
        self.note_fresh(before, out);
        *self = Self {
            base: self.base,
            fresh: self.fresh,
            ..Self::new(self.look)
        };
    }

    /// Says whether nothing stands on the line that comes next.
    pub(crate) const fn is_at_line_start(&self) -> bool {
        self.fresh
    }

    fn note_fresh(&mut self, before: usize, out: &str) {
        if out.len() > before {
            self.fresh = out.ends_with('\n');
        }
    }

    fn take(&mut self, c: char, out: &mut String) {
        if c == '\n' {
            if self.fence.is_some() && self.place == Place::Head && self.head.is_empty() {
                self.code_line("", out);
            }
            self.close_line(out);
            self.wrap.end(out);
            self.place = Place::Head;
            return;
        }
        match self.place {
            Place::Head => {
                self.head.push(c);
                self.try_head(Whole::NotYet, out);
            }
            Place::Spans => self.spans(c, out),
            Place::Raw(style) => self.wrap.put(c, style, out),
        }
    }

    /// Writes all of the line but its end.
    fn close_line(&mut self, out: &mut String) {
        match self.place {
            Place::Head if self.head.is_empty() => {}
            Place::Head => {
                self.try_head(Whole::Yes, out);
                self.end_spans(out);
            }
            Place::Spans => self.end_spans(out),
            Place::Raw(_) => {}
        }
    }

    fn try_head(&mut self, whole: Whole, out: &mut String) {
        if let Some((mark, length)) = self.fence {
            if let Some(closes) = closes(&self.head, mark, length, whole) {
                let head = std::mem::take(&mut self.head);
                if closes {
                    self.end_code(&head, out);
                } else {
                    self.code_line(&head, out);
                }
            }
        } else if let Some(head) = classify(&self.head, whole) {
            let text = std::mem::take(&mut self.head);
            self.begin_line(&head, &text, out);
        }
    }

    fn end_code(&mut self, text: &str, out: &mut String) {
        self.fence = None;
        let shown = if self.look.colour { "└─" } else { text };
        self.raw(shown, Style::DIM, out);
    }

    fn code_line(&mut self, text: &str, out: &mut String) {
        let bar = Margin {
            text: if self.look.colour { "│ " } else { "" }.to_owned(),
            style: Style::DIM,
        };
        self.wrap.begin_rigid(&bar, out);
        let style = self.base.over(Style::CODE);
        self.place = Place::Raw(style);
        for c in text.chars() {
            self.wrap.put(c, style, out);
        }
    }

    /// Writes the beginning of a line that is left as long as it is.
    fn raw(&mut self, text: &str, style: Style, out: &mut String) {
        self.wrap.begin_rigid(&Margin::default(), out);
        let style = self.base.over(style);
        self.place = Place::Raw(style);
        for c in text.chars() {
            self.wrap.put(c, style, out);
        }
    }

    fn begin_line(&mut self, head: &Head, text: &str, out: &mut String) {
        let colour = self.look.colour;
        let (indent, mark) = (&text[..head.indent], &text[head.indent..head.taken]);
        let (shown, style, repeated) = match head.kind {
            LineKind::Fence(sign, length) => {
                self.fence = Some((sign, length));
                let shown = format!("{indent}┌─ {}", text[head.taken..].trim());
                let shown = if colour { shown.trim_end() } else { text };
                self.raw(shown, Style::DIM, out);
                return;
            }
            LineKind::Rule => {
                let line = "─".repeat(self.wrap.width().map_or(RULE, |width| width.min(RULE)));
                self.raw(if colour { &line } else { text }, Style::DIM, out);
                return;
            }
            LineKind::Table => {
                self.raw(text, Style::PLAIN, out);
                return;
            }
            LineKind::Text => (String::new(), Style::PLAIN, false),
            LineKind::Heading(1) => (String::new(), Style::BOLD.over(Style::UNDERLINED), false),
            LineKind::Heading(_) => (String::new(), Style::BOLD, false),
            LineKind::Quote(depth) => ("▌ ".repeat(depth), Style::ITALIC, true),
            LineKind::Bullet => ("• ".to_owned(), Style::PLAIN, false),
            LineKind::Number => (mark.to_owned(), Style::PLAIN, false),
        };
        let shown = if colour { shown } else { mark.to_owned() };
        let indent = match self.look.width {
            Some(_) => indent.replace('\t', "    "),
            None => indent.to_owned(),
        };
        let first = format!("{indent}{shown}");
        let further = if repeated && colour {
            first.clone()
        } else {
            " ".repeat(first.chars().count())
        };
        let margin = |text| Margin {
            text,
            style: self.base.over(Style::DIM),
        };
        let (first, further) = (margin(first), self.narrow(margin(further)));
        self.wrap.begin(&first, further, out);
        let style = self.base.over(style);
        self.inline = Inline::new(style);
        self.place = if colour {
            Place::Spans
        } else {
            Place::Raw(style)
        };
        for c in text[head.taken..].chars() {
            match self.place {
                Place::Spans => self.spans(c, out),
                Place::Head | Place::Raw(_) => self.wrap.put(c, style, out),
            }
        }
    }

    /// A margin that leaves no room for text is none.
    fn narrow(&self, margin: Margin) -> Margin {
        let room = self.wrap.width().unwrap_or(usize::MAX);
        if margin.text.chars().count() > room / 2 {
            return Margin::default();
        }
        margin
    }

    fn spans(&mut self, c: char, out: &mut String) {
        let (inline, wrap) = (&mut self.inline, &mut self.wrap);
        inline.push(c, &mut |c, style| wrap.put(c, style, out));
    }

    fn end_spans(&mut self, out: &mut String) {
        let (inline, wrap) = (&mut self.inline, &mut self.wrap);
        inline.end(&mut |c, style| wrap.put(c, style, out));
    }
}
