//! Blocks of Markdown: paragraphs, headings, code, quotations and lists, by the rules of CommonMark.

use super::lines::{Line, Lines, tab_width};
use super::reference::{References, definition};
use std::ops::Range;

/// Containers in containers in containers: what is deeper is a paragraph.
const DEEPEST: usize = 60;

/// The most lines of one definition of a link.
const DEFINITION_LINES: usize = 16;

/// What blocks are made of, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Words(String),
    ParagraphEnd {
        /// Whether it is the only thing of an item in a list without blank lines.
        tight: bool,
        /// How deep it stands.
        level: usize,
    },
    HeadingStart,
    HeadingEnd,
    Code {
        text: String,
        language: Option<String>,
        lines: Range<usize>,
    },
    Rule,
    QuoteStart,
    QuoteEnd,
    ListStart {
        /// The first number, if items are numbered.
        first: Option<u64>,
        level: usize,
    },
    ListEnd,
    ItemStart,
    ItemEnd,
}

/// Reads the blocks of a source with line ends of one kind.
pub(super) fn blocks(source: &str) -> (Vec<Token>, References) {
    let lines = Lines::new(source);
    let count = lines.lines.len();
    let mut reader = Reader {
        lines,
        last: count,
        indent: 0,
        list_indent: None,
        parent: Parent::Root,
        level: 0,
        line: 0,
        tight: false,
        tokens: Vec::new(),
        references: References::default(),
    };
    reader.read(0, count);
    (reader.tokens, reader.references)
}

/// What a line is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parent {
    Root,
    Paragraph,
    Quote,
    List,
}

struct Reader<'a> {
    lines: Lines<'a>,
    /// Where the container ends.
    last: usize,
    /// How far the container is indented.
    indent: isize,
    list_indent: Option<isize>,
    parent: Parent,
    level: usize,
    line: usize,
    tight: bool,
    tokens: Vec<Token>,
    references: References,
}

impl Reader<'_> {
    fn read(&mut self, start: usize, end: usize) {
        let mut line = start;
        let mut blank_lines = false;
        while line < end {
            while line < end && self.lines.is_empty(line) {
                line += 1;
            }
            self.line = line;
            if line >= end || self.lines.lines[line].indent < self.indent {
                break;
            }
            let deep = self.level >= DEEPEST;
            let read = self.code(line, end)
                || self.fence(line, end)
                || (!deep && self.quote(line, end))
                || self.rule(line)
                || (!deep && self.list(line, end))
                || self.reference(line)
                || self.heading(line);
            if !read {
                self.paragraph(line);
            }
            self.tight = !blank_lines;
            if self.lines.is_empty(self.line - 1) {
                blank_lines = true;
            }
            line = self.line;
            if line < end && self.lines.is_empty(line) {
                blank_lines = true;
                line += 1;
                self.line = line;
            }
        }
    }

    /// Returns how far a line is indented in its container.
    fn depth(&self, line: usize) -> isize {
        self.lines.lines[line].indent - self.indent
    }

    /// Tells whether a line begins something that ends what is open.
    fn ends(&self, parent: Parent, line: usize) -> bool {
        self.is_fence(line).is_some()
            || self.is_quote(line)
            || self.is_rule(line)
            || (parent != Parent::List && (self.begins_list(line) || self.is_heading(line)))
    }

    fn code(&mut self, start: usize, end: usize) -> bool {
        if self.depth(start) < 4 {
            return false;
        }
        let (mut line, mut last) = (start + 1, start + 1);
        while line < end {
            if self.lines.is_empty(line) {
                line += 1;
            } else if self.depth(line) >= 4 {
                line += 1;
                last = line;
            } else {
                break;
            }
        }
        self.line = last;
        let indent = (4 + self.indent).max(0).cast_unsigned();
        self.tokens.push(Token::Code {
            text: self.lines.get(start, last, indent) + "\n",
            language: None,
            lines: start..last,
        });
        true
    }

    /// Returns the character and the length of a marker that opens fenced code.
    fn is_fence(&self, line: usize) -> Option<(u8, usize)> {
        let words = self.lines.words(line);
        let marker = words
            .bytes()
            .next()
            .filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = words.bytes().take_while(|&byte| byte == marker).count();
        let named = marker == b'`' && words[length..].contains('`');
        (self.depth(line) < 4 && length >= 3 && !named).then_some((marker, length))
    }

    fn fence(&mut self, start: usize, end: usize) -> bool {
        let Some((marker, length)) = self.is_fence(start) else {
            return false;
        };
        let mut line = start + 1;
        let mut closed = false;
        while line < end {
            let words = self.lines.words(line);
            if !words.is_empty() && self.depth(line) < 0 {
                break;
            }
            let markers = words.bytes().take_while(|&byte| byte == marker).count();
            let bare = words[markers..]
                .bytes()
                .all(|byte| matches!(byte, b' ' | b'\t'));
            if markers >= length && bare && self.depth(line) < 4 {
                closed = true;
                break;
            }
            line += 1;
        }
        let indent = self.lines.lines[start].indent.max(0).cast_unsigned();
        let mut text = self.lines.get(start + 1, line, indent);
        if line > start + 1 {
            text.push('\n');
        }
        let info = super::entity::unescape(&self.lines.words(start)[length..]);
        let language = info.split_whitespace().next().map(str::to_owned);
        self.line = line + usize::from(closed);
        self.tokens.push(Token::Code {
            text,
            language,
            lines: start..self.line,
        });
        true
    }

    fn is_rule(&self, line: usize) -> bool {
        let words = self.lines.words(line);
        let Some(marker) = words.bytes().next() else {
            return false;
        };
        let mut markers = 0;
        for byte in words.bytes() {
            match byte {
                byte if byte == marker => markers += 1,
                b' ' | b'\t' => {}
                _ => return false,
            }
        }
        matches!(marker, b'*' | b'-' | b'_') && markers >= 3 && self.depth(line) < 4
    }

    fn rule(&mut self, line: usize) -> bool {
        if !self.is_rule(line) {
            return false;
        }
        self.line = line + 1;
        self.tokens.push(Token::Rule);
        true
    }

    fn is_heading(&self, line: usize) -> bool {
        let words = self.lines.words(line);
        let marks = words.bytes().take_while(|&byte| byte == b'#').count();
        let parted = matches!(words.as_bytes().get(marks), None | Some(b' ' | b'\t'));
        (1..=6).contains(&marks) && parted && self.depth(line) < 4
    }

    fn heading(&mut self, line: usize) -> bool {
        if !self.is_heading(line) {
            return false;
        }
        let blanks = [' ', '\t'];
        let words = self.lines.words(line).trim_start_matches('#');
        let words = words.trim_end_matches(blanks);
        let unmarked = words.trim_end_matches('#');
        let closed = unmarked.is_empty() || unmarked.ends_with(blanks);
        let words = if closed { unmarked } else { words };
        self.line = line + 1;
        self.push_heading(words.trim().to_owned());
        true
    }

    fn push_heading(&mut self, words: String) {
        let heading = [Token::HeadingStart, Token::Words(words), Token::HeadingEnd];
        self.tokens.extend(heading);
    }

    /// Returns where the paragraph ends that begins at a line, and whether the line there makes it a heading.
    fn paragraph_end(&self, start: usize, last: usize) -> (usize, bool) {
        let mut line = start + 1;
        while line < last && !self.lines.is_empty(line) {
            if self.depth(line) <= 3 {
                if self.depth(line) >= 0 && self.underlines(line) {
                    return (line, true);
                }
                if self.lines.lines[line].indent >= 0 && self.ends(Parent::Paragraph, line) {
                    break;
                }
            }
            line += 1;
        }
        (line, false)
    }

    /// Tells whether a line underlines a heading.
    fn underlines(&self, line: usize) -> bool {
        let words = self.lines.words(line);
        let unmarked = match words.bytes().next() {
            Some(b'=') => words.trim_start_matches('='),
            Some(b'-') => words.trim_start_matches('-'),
            _ => return false,
        };
        unmarked.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    fn paragraph(&mut self, start: usize) {
        let parent = std::mem::replace(&mut self.parent, Parent::Paragraph);
        let (end, underlined) = self.paragraph_end(start, self.last);
        self.parent = parent;
        let underlined = underlined && self.depth(start) < 4;
        let words = self.lines.get(start, end, self.columns());
        let words = words.trim().to_owned();
        self.line = end + usize::from(underlined);
        if underlined {
            self.push_heading(words);
        } else {
            self.tokens.push(Token::Words(words));
            self.tokens.push(Token::ParagraphEnd {
                tight: false,
                level: self.level,
            });
        }
    }

    fn columns(&self) -> usize {
        self.indent.max(0).cast_unsigned()
    }

    /// Reads definitions of links. They are not shown.
    fn reference(&mut self, start: usize) -> bool {
        if self.depth(start) >= 4 || !self.lines.words(start).starts_with('[') {
            return false;
        }
        let parent = std::mem::replace(&mut self.parent, Parent::Paragraph);
        let (end, _) = self.paragraph_end(start, self.last.min(start + DEFINITION_LINES));
        self.parent = parent;
        let words = self.lines.get(start, end, self.columns());
        let Some((label, href, length)) = definition(words.trim()) else {
            return false;
        };
        self.references.define(&label, href);
        let lead = words.len() - words.trim_start().len();
        let taken = words[..lead + length].matches('\n').count();
        self.line = start + taken + 1;
        true
    }

    fn is_quote(&self, line: usize) -> bool {
        self.depth(line) < 4 && self.lines.words(line).starts_with('>')
    }

    fn quote(&mut self, start: usize, end: usize) -> bool {
        if !self.is_quote(start) {
            return false;
        }
        let mut changed: Vec<Line> = Vec::new();
        let parent = std::mem::replace(&mut self.parent, Parent::Quote);
        let last = self.last;
        let mut blank = false;
        let mut line = start;
        while line < end && !self.lines.is_empty(line) {
            let old = self.lines.lines[line];
            if self.lines.words(line).starts_with('>') && old.indent >= self.indent {
                changed.push(old);
                self.lines.lines[line] = self.quoted(old);
                blank = self.lines.lines[line].is_empty();
            } else if blank {
                break;
            } else if self.ends(Parent::Quote, line) {
                // A paragraph of the quotation must not go on behind this line.
                self.last = line;
                if self.indent != 0 {
                    changed.push(old);
                    self.lines.lines[line].indent -= self.indent;
                }
                break;
            } else {
                changed.push(old);
                self.lines.lines[line].indent = -1;
            }
            line += 1;
        }
        let indent = std::mem::replace(&mut self.indent, 0);
        self.tokens.push(Token::QuoteStart);
        self.level += 1;
        self.read(start, line);
        self.level -= 1;
        self.tokens.push(Token::QuoteEnd);
        self.last = last;
        self.parent = parent;
        self.indent = indent;
        for (line, old) in self.lines.lines[start..].iter_mut().zip(changed) {
            *line = old;
        }
        true
    }

    /// Returns a line without the marker of a quotation.
    fn quoted(&self, old: Line) -> Line {
        let mut at = old.text() + 1;
        let mut first = (old.indent + 1).cast_unsigned();
        let mut parted = true;
        let mut half_tab = false;
        match self.lines.byte(at) {
            Some(b' ') if at < old.end => {
                at += 1;
                first += 1;
            }
            Some(b'\t') if at < old.end => {
                if (old.taken + first) % 4 == 3 {
                    at += 1;
                    first += 1;
                } else {
                    half_tab = true;
                }
            }
            _ => parted = false,
        }
        let start = at;
        let mut column = first;
        while at < old.end {
            match self.lines.byte(at) {
                Some(b'\t') => column += tab_width(column + old.taken + usize::from(half_tab)),
                Some(b' ') => column += 1,
                _ => break,
            }
            at += 1;
        }
        Line {
            start,
            end: old.end,
            shift: at - start,
            indent: (column - first).cast_signed(),
            taken: (old.indent + 1).cast_unsigned() + usize::from(parted),
        }
    }

    /// Returns the length of an item's marker and its number.
    fn marker(&self, line: usize) -> Option<(usize, Option<u64>)> {
        let words = self.lines.words(line).as_bytes();
        let parted = |length: usize| matches!(words.get(length), None | Some(b' ' | b'\t'));
        match words.first()? {
            b'*' | b'-' | b'+' if parted(1) => Some((1, None)),
            b'0'..=b'9' => {
                let digits = words
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                let ended = matches!(words.get(digits), Some(b'.' | b')'));
                let number = self.lines.words(line).get(..digits)?.parse().ok()?;
                (digits <= 9 && ended && parted(digits + 1)).then_some((digits + 1, Some(number)))
            }
            _ => None,
        }
    }

    /// Tells whether a line begins a list. One that ends a paragraph must have words, and begin with 1.
    fn begins_list(&self, line: usize) -> bool {
        let Some((length, number)) = self.marker(line) else {
            return false;
        };
        let indent = self.lines.lines[line].indent;
        let below = self
            .list_indent
            .is_some_and(|list| indent - list >= 4 && indent < self.indent);
        if self.depth(line) >= 4 || below {
            return false;
        }
        if self.parent == Parent::Paragraph && self.depth(line) >= 0 {
            let blank = self.lines.words(line)[length..].trim().is_empty();
            return !blank && number.is_none_or(|number| number == 1);
        }
        true
    }

    fn list(&mut self, start: usize, end: usize) -> bool {
        if !self.begins_list(start) {
            return false;
        }
        let Some((mut length, first)) = self.marker(start) else {
            return false;
        };
        let kind = self.lines.words(start).as_bytes()[length - 1];
        let opened = self.tokens.len();
        self.tokens.push(Token::ListStart {
            first,
            level: self.level,
        });
        let parent = std::mem::replace(&mut self.parent, Parent::List);
        let (mut tight, mut ended_blank) = (true, false);
        let mut line = start;
        self.level += 1;
        while line < end {
            self.item(line, end, length);
            if !self.tight || ended_blank {
                tight = false;
            }
            ended_blank = self.line - line > 1 && self.lines.is_empty(self.line - 1);
            line = self.line;
            if line >= end
                || self.depth(line) < 0
                || self.depth(line) >= 4
                || self.ends(Parent::List, line)
            {
                break;
            }
            let Some((next, _)) = self.marker(line) else {
                break;
            };
            if self.lines.words(line).as_bytes()[next - 1] != kind {
                break;
            }
            length = next;
        }
        self.level -= 1;
        self.tokens.push(Token::ListEnd);
        self.line = line;
        self.parent = parent;
        if tight {
            let level = self.level + 2;
            for token in &mut self.tokens[opened..] {
                if let Token::ParagraphEnd { tight, level: at } = token
                    && *at == level
                {
                    *tight = true;
                }
            }
        }
        true
    }

    fn item(&mut self, line: usize, end: usize, length: usize) {
        let old = self.lines.lines[line];
        let first = old.indent.max(0).cast_unsigned() + length;
        let (mut at, mut column) = (old.text() + length, first);
        while at < old.end {
            match self.lines.byte(at) {
                Some(b'\t') => column += tab_width(column + old.taken),
                Some(b' ') => column += 1,
                _ => break,
            }
            at += 1;
        }
        let blank = at >= old.end;
        let gap = if blank || column - first > 4 {
            1
        } else {
            column - first
        };
        self.tokens.push(Token::ItemStart);
        self.level += 1;
        // The list asks whether the item was tight; containers further out find out for themselves.
        self.tight = true;
        let list_indent = self.list_indent.replace(self.indent);
        let indent = std::mem::replace(&mut self.indent, (first + gap).cast_signed());
        self.lines.lines[line].shift = at - old.start;
        self.lines.lines[line].indent = column.cast_signed();
        if blank && self.lines.is_empty(line + 1) {
            self.line = (line + 2).min(end);
        } else {
            self.line = line;
            self.read(line, end);
        }
        self.indent = indent;
        self.list_indent = list_indent;
        self.lines.lines[line].shift = old.shift;
        self.lines.lines[line].indent = old.indent;
        self.level -= 1;
        self.tokens.push(Token::ItemEnd);
    }
}
