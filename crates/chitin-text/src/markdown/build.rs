//! Text with marks, built of blocks and words.

use super::Dialect;
use super::block::Token;
use super::inline::{Event, Reading, events};
use super::linkify::linkify;
use super::reference::References;
use crate::marked::{Link, Marked, Span, Style};
use crate::units::{LF, trim_end};
use chitin_contract::{Cuts, Html, MarkdownRules, Spacing};

/// What a rule across the page is shown as.
const RULE: &str = "───\n\n";

struct List {
    /// The number of the next item, if items are numbered.
    next: Option<u64>,
    level: usize,
}

struct Builder<'a> {
    rules: MarkdownRules,
    dialect: Dialect,
    references: &'a References,
    marked: Marked,
    open: Vec<(Style, usize)>,
    links: Vec<Link>,
    lists: Vec<List>,
}

/// Builds the text of blocks.
pub(super) fn build(
    tokens: &[Token],
    references: &References,
    dialect: Dialect,
    rules: MarkdownRules,
) -> Marked {
    let mut builder = Builder {
        rules,
        dialect,
        references,
        marked: Marked::default(),
        open: Vec::new(),
        links: Vec::new(),
        lists: Vec::new(),
    };
    for token in tokens {
        builder.token(token);
    }
    builder.finish()
}

impl Builder<'_> {
    fn push(&mut self, text: &str) {
        self.marked.text.extend(text.encode_utf16());
    }

    fn end(&self) -> usize {
        self.marked.text.len()
    }

    fn ends_line(&self) -> bool {
        self.marked.text.last() == Some(&LF)
    }

    fn keeps_source(&self) -> bool {
        self.rules.spacing == Spacing::Source
    }

    fn token(&mut self, token: &Token) {
        match token {
            Token::Words(words) => self.words(words),
            Token::ParagraphEnd { tight, level } => {
                let apart = self
                    .lists
                    .last()
                    .is_none_or(|list| self.keeps_source() && !tight && *level == list.level + 2);
                if apart {
                    self.push("\n\n");
                }
            }
            Token::HeadingStart if self.dialect.bold_headings => self.open(Style::Bold),
            Token::HeadingStart => {}
            Token::HeadingEnd => {
                if self.dialect.bold_headings {
                    self.close(Style::Bold, 0);
                }
                if self.lists.is_empty() {
                    self.push("\n\n");
                }
            }
            Token::Code { text, language, .. } => self.code(text, language.as_deref()),
            Token::Rule => self.push(RULE),
            Token::QuoteStart => {
                self.push(self.dialect.quote_prefix);
                self.open(Style::Quote);
            }
            Token::QuoteEnd => {
                let parted = self.marked.text.ends_with(&[LF, LF]);
                let less = if self.keeps_source() && parted { 2 } else { 0 };
                self.close(Style::Quote, less);
            }
            Token::ListStart { first, level } => {
                let parted = self.keeps_source() && self.ends_line();
                if !self.lists.is_empty() && !parted {
                    self.push("\n");
                }
                self.lists.push(List {
                    next: *first,
                    level: *level,
                });
            }
            Token::ListEnd => {
                self.lists.pop();
                let parted = self.keeps_source() && self.marked.text.ends_with(&[LF, LF]);
                if self.lists.is_empty() && !parted {
                    self.push("\n");
                }
            }
            Token::ItemStart => self.item(),
            Token::ItemEnd => {
                if !self.ends_line() {
                    self.push("\n");
                }
            }
        }
    }

    fn item(&mut self) {
        let depth = self.lists.len().saturating_sub(1);
        let marker = match self.lists.last_mut().and_then(|list| list.next.as_mut()) {
            Some(next) => {
                let marker = format!("{next}. ");
                *next += 1;
                marker
            }
            None => "• ".to_owned(),
        };
        self.push(&format!("{}{marker}", "  ".repeat(depth)));
    }

    fn code(&mut self, text: &str, language: Option<&str>) {
        let start = self.end();
        self.push(text);
        if !text.ends_with('\n') {
            self.push("\n");
        }
        let end = self.end();
        let language = language.filter(|_| self.rules.languages);
        self.marked.spans.push(Span {
            start,
            end,
            style: Style::CodeBlock,
            language: language.map(Into::into),
        });
        if self.lists.is_empty() {
            self.push("\n");
        }
    }

    fn open(&mut self, style: Style) {
        self.open.push((style, self.end()));
    }

    fn close(&mut self, style: Style, less: usize) {
        if let Some(at) = self.open.iter().rposition(|(open, _)| *open == style) {
            let (_, start) = self.open.remove(at);
            self.mark(style, start, self.end() - less);
        }
    }

    fn mark(&mut self, style: Style, start: usize, end: usize) {
        if end > start {
            self.marked.spans.push(Span {
                start,
                end,
                style,
                language: None,
            });
        }
    }

    fn words(&mut self, words: &str) {
        let reading = Reading {
            autolinks: self.dialect.autolinks,
            bare_links: self.dialect.bare_links,
            html_tags: self.rules.html == Html::Tags,
            cjk: self.rules.cjk_emphasis,
        };
        let mut events = events(words, self.references, reading);
        if self.dialect.bare_links {
            events = linkify(events);
        }
        let mut spoilers = if self.dialect.spoilers {
            spoiler_marks(&events)
        } else {
            0
        };
        let mut hidden = false;
        let mut run = String::new();
        for event in events {
            match event {
                Event::Text(text) | Event::Escaped(text) => {
                    run.push_str(&text);
                    continue;
                }
                _ => self.text(&std::mem::take(&mut run), &mut spoilers, &mut hidden),
            }
            match event {
                Event::Text(_) | Event::Escaped(_) => {}
                Event::Tag(tag) => self.push(&tag),
                Event::Code(code) => {
                    let start = self.end();
                    self.push(&code);
                    self.mark(Style::Code, start, self.end());
                }
                Event::Break => self.push("\n"),
                Event::Open(style) => self.open(style),
                Event::Close(style) => self.close(style, 0),
                Event::LinkOpen { href, found } => self.links.push(Link {
                    start: self.end(),
                    end: self.end(),
                    href: href.trim().into(),
                    found,
                }),
                Event::LinkClose => self.link(),
            }
        }
        self.text(&run, &mut spoilers, &mut hidden);
    }

    fn link(&mut self) {
        let Some(mut link) = self.links.pop() else {
            return;
        };
        link.end = self.end();
        if !link.href.is_empty() {
            self.marked.links.push(link);
        }
    }

    /// Adds a run of text; so many of the marks of spoilers in it hide and show.
    fn text(&mut self, text: &str, spoilers: &mut usize, hidden: &mut bool) {
        let mut rest = text;
        while *spoilers > 0
            && let Some((before, behind)) = rest.split_once("||")
        {
            self.push(before);
            *spoilers -= 1;
            *hidden = !*hidden;
            if *hidden {
                self.open(Style::Spoiler);
            } else {
                self.close(Style::Spoiler, 0);
            }
            rest = behind;
        }
        self.push(rest);
    }

    fn finish(mut self) -> Marked {
        for (style, start) in std::mem::take(&mut self.open).into_iter().rev() {
            self.mark(style, start, self.end());
        }
        let text = &self.marked.text;
        let code = |span: &&Span| match span.style {
            Style::CodeBlock => true,
            Style::Code => self.rules.spacing == Spacing::Source,
            _ => false,
        };
        let code_end = self.marked.spans.iter().filter(code).map(|span| span.end);
        let end = trim_end(text, text.len(), Cuts::Characters).max(code_end.max().unwrap_or(0));
        self.marked.truncate(end);
        self.marked
    }
}

/// Returns how many marks of spoilers make pairs.
fn spoiler_marks(events: &[Event]) -> usize {
    let mut marks = 0;
    let mut run = String::new();
    for event in events {
        match event {
            Event::Text(text) | Event::Escaped(text) => run.push_str(text),
            _ => {
                marks += run.matches("||").count();
                run.clear();
            }
        }
    }
    marks += run.matches("||").count();
    marks - marks % 2
}
