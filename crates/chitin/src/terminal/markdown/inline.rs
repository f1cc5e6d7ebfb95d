//! Spans within a line: code, stress, links. A mark is hidden only once its other half has come; one that stays alone is
//! text. Every decision depends on the characters alone, never on the pieces in which they came.

use super::style::Style;
use std::collections::VecDeque;

/// A span that is longer than this many characters is taken for text, so that no text waits for long.
const LONGEST_SPAN: usize = 600;
/// Spans deeper than this are text.
const DEEPEST: usize = 6;

/// Takes the characters of a line and hands them on with their style.
#[derive(Debug)]
pub(super) struct Inline {
    style: Style,
    depth: usize,
    /// The last character that was handed on.
    previous: char,
    /// A backslash came last: the next character is no mark.
    escaped: bool,
    held: Vec<char>,
    open: Option<Open>,
    /// Characters to look at again.
    queue: VecDeque<char>,
}

/// A span whose end has not come.
#[derive(Debug, Clone, Copy)]
struct Open {
    mark: char,
    /// How many marks begin it; final once `body` is set.
    length: usize,
    body: bool,
    /// How many marks came last.
    run: usize,
    /// The last character that was no mark.
    last: char,
    /// Within stress: whether code has begun.
    code: bool,
    part: Part,
    /// How many brackets are open.
    brackets: usize,
}

/// Where in a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Words,
    Between,
    Address,
}

/// What is known of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Wait,
    /// It is none.
    Text,
    /// It ended before the character that came last.
    EndedBefore,
    /// It ended with the character that came last.
    Ended,
}

type Emit<'a> = &'a mut dyn FnMut(char, Style);

impl Inline {
    pub(super) const fn new(style: Style) -> Self {
        Self {
            style,
            depth: 0,
            previous: ' ',
            escaped: false,
            held: Vec::new(),
            open: None,
            queue: VecDeque::new(),
        }
    }

    /// Takes the next character of the line.
    pub(super) fn push(&mut self, c: char, emit: Emit<'_>) {
        self.queue.push_back(c);
        while let Some(c) = self.queue.pop_front() {
            self.step(c, emit);
        }
    }

    /// The line is over: what is held is decided.
    pub(super) fn end(&mut self, emit: Emit<'_>) {
        while let Some(open) = self.open.take() {
            let closed = match open.mark {
                '[' => false,
                _ => open.body && open.closes(' '),
            };
            if closed {
                let held = std::mem::take(&mut self.held);
                self.span(&open, &held, emit);
            } else {
                self.give_up(&open, emit);
            }
            while let Some(c) = self.queue.pop_front() {
                self.step(c, emit);
            }
        }
        self.previous = ' ';
        self.escaped = false;
    }

    fn step(&mut self, c: char, emit: Emit<'_>) {
        let Some(mut open) = self.open.take() else {
            if !std::mem::take(&mut self.escaped) && self.may_open(c) {
                self.held.push(c);
                self.open = Some(Open::new(c));
            } else {
                self.escaped = c == '\\' && self.previous != '\\';
                self.hand_on(c, self.style, emit);
            }
            return;
        };
        self.held.push(c);
        match open.advance(c, self.previous) {
            Verdict::Wait if self.held.len() > LONGEST_SPAN => self.give_up(&open, emit),
            Verdict::Wait => self.open = Some(open),
            Verdict::Text => self.give_up(&open, emit),
            Verdict::EndedBefore => {
                self.held.pop();
                let held = std::mem::take(&mut self.held);
                self.span(&open, &held, emit);
                self.queue.push_front(c);
            }
            Verdict::Ended => {
                let held = std::mem::take(&mut self.held);
                self.span(&open, &held, emit);
            }
        }
    }

    fn may_open(&self, c: char) -> bool {
        self.depth < DEEPEST
            && match c {
                '`' | '*' | '~' => self.previous != c,
                '_' => self.previous != c && !self.previous.is_alphanumeric(),
                '[' => true,
                _ => false,
            }
    }

    fn hand_on(&mut self, c: char, style: Style, emit: Emit<'_>) {
        self.previous = c;
        emit(c, style);
    }

    /// The marks are text; what follows them is looked at again.
    fn give_up(&mut self, open: &Open, emit: Emit<'_>) {
        let held = std::mem::take(&mut self.held);
        let (marks, rest) = held.split_at(open.length.min(held.len()));
        for c in marks {
            self.hand_on(*c, self.style, emit);
        }
        for c in rest.iter().rev() {
            self.queue.push_front(*c);
        }
    }

    fn span(&mut self, open: &Open, held: &[char], emit: Emit<'_>) {
        let inner = |style| Self {
            depth: self.depth + 1,
            ..Self::new(self.style.over(style))
        };
        let render = |mut inner: Self, text: &[char], emit: Emit<'_>| {
            for c in text {
                inner.push(*c, emit);
            }
            inner.end(emit);
        };
        match open.mark {
            '`' => {
                let style = self.style.over(Style::CODE);
                for c in unpadded(&held[open.length..held.len() - open.length]) {
                    emit(*c, style);
                }
            }
            '[' => {
                let (words, address) = halves(held);
                render(inner(Style::UNDERLINED), words, emit);
                if words != address {
                    let dim = self.style.over(Style::DIM);
                    emit(' ', dim);
                    emit('(', dim);
                    for c in address {
                        emit(*c, dim);
                    }
                    emit(')', dim);
                }
            }
            mark => {
                let style = match (mark, open.length) {
                    ('~', _) => Style::STRUCK,
                    (_, 1) => Style::ITALIC,
                    (_, 2) => Style::BOLD,
                    (_, _) => Style::BOLD.over(Style::ITALIC),
                };
                render(
                    inner(style),
                    &held[open.length..held.len() - open.length],
                    emit,
                );
            }
        }
        self.previous = held.last().copied().unwrap_or(' ');
    }
}

impl Open {
    const fn new(mark: char) -> Self {
        Self {
            mark,
            length: 1,
            body: mark == '[',
            run: 0,
            last: ' ',
            code: false,
            part: Part::Words,
            brackets: 1,
        }
    }

    /// Looks at the next character; `before` is the one before the span.
    fn advance(&mut self, c: char, before: char) -> Verdict {
        match self.mark {
            '[' => return self.advance_link(c),
            _ if self.body => {}
            mark if c == mark => {
                self.length += 1;
                let most = if mark == '`' { LONGEST_SPAN } else { 3 };
                return if self.length > most {
                    Verdict::Text
                } else {
                    Verdict::Wait
                };
            }
            '`' => self.body = true,
            mark => {
                let lone = mark == '~' && self.length != 2
                    || mark == '*' && self.length == 1 && before.is_ascii_alphanumeric();
                if lone || c.is_whitespace() {
                    return Verdict::Text;
                }
                self.body = true;
            }
        }
        if self.closes(c) {
            return Verdict::EndedBefore;
        }
        let is_mark = c == self.mark && !self.code && self.last != '\\';
        if is_mark || (self.mark == '`' && c == '`') {
            self.run += 1;
            return Verdict::Wait;
        }
        self.run = 0;
        if c == '`' {
            self.code = !self.code;
        }
        self.last = c;
        Verdict::Wait
    }

    /// Says whether the marks that came last end the span, given the character that follows them.
    fn closes(&self, next: char) -> bool {
        if self.run == 0 || next == self.mark {
            return false;
        }
        match self.mark {
            '`' => self.run == self.length,
            mark => {
                let enough =
                    self.run == self.length || mark != '~' && self.run == 3 && self.length < 3;
                enough && !self.last.is_whitespace() && (mark != '_' || !next.is_alphanumeric())
            }
        }
    }

    fn advance_link(&mut self, c: char) -> Verdict {
        match (self.part, c) {
            (Part::Words, '[') | (Part::Address, '(') => self.brackets += 1,
            (Part::Words, ']') => {
                self.brackets -= 1;
                if self.brackets == 0 {
                    self.part = Part::Between;
                }
            }
            (Part::Between, '(') => {
                self.part = Part::Address;
                self.brackets = 1;
            }
            (Part::Between, _) => return Verdict::Text,
            (Part::Address, ')') => {
                self.brackets -= 1;
                if self.brackets == 0 {
                    return Verdict::Ended;
                }
            }
            (Part::Words | Part::Address, _) => {}
        }
        Verdict::Wait
    }
}

/// Takes away the space on both sides that sets a mark in code apart from the marks around it.
fn unpadded(text: &[char]) -> &[char] {
    match text {
        [' ', inner @ .., ' '] if inner.iter().any(|c| *c != ' ') => inner,
        _ => text,
    }
}

/// Parts a link into its words and its address.
fn halves(held: &[char]) -> (&[char], &[char]) {
    let mut brackets = 0_usize;
    for (at, c) in held.iter().enumerate() {
        match c {
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        if brackets == 0 {
            return (&held[1..at], &held[at + 2..held.len() - 1]);
        }
    }
    (held, &[])
}
