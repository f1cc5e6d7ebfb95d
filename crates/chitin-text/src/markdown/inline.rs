//! Words of Markdown: emphasis, code, links, breaks.

use super::delimiters::{Delimiter, Delimiters};
use super::entity::entity;
use super::html::HtmlTags;
use super::linkify::length_at_start;
use super::reference::{References, blanks, destination, is_allowed, normalized, title};
use crate::marked::Style;
use std::collections::HashMap;

/// What words are made of, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Text(String),
    /// Text that was escaped: no link begins in it.
    Escaped(String),
    /// A tag of HTML.
    Tag(String),
    Code(String),
    Break,
    Open(Style),
    Close(Style),
    LinkOpen {
        href: String,
        /// Whether it was found in words, without markup.
        found: bool,
    },
    LinkClose,
}

/// What is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// Whether `<https://…>` is a link.
    pub autolinks: bool,
    /// Whether addresses with a scheme are links, whatever markers they hold.
    pub bare_links: bool,
    /// Whether a tag of HTML is one piece of text.
    pub html_tags: bool,
    /// Whether emphasis may stand against Chinese, Japanese and Korean characters.
    pub cjk: bool,
}

/// Reads the words of a block.
pub(super) fn events(source: &str, references: &References, reading: Reading) -> Vec<Event> {
    let mut reader = Reader {
        source,
        at: 0,
        nodes: Vec::new(),
        delimiters: Delimiters::default(),
        brackets: Vec::new(),
        ticks: None,
        tags: HtmlTags::default(),
        references,
        reading,
    };
    reader.read();
    reader.events()
}

/// A part of the words, before emphasis is paired.
enum Node {
    Event(Event),
    /// A run of markers, by its place among the delimiters.
    Markers(usize),
    /// An opening bracket, which may become a link.
    Bracket(&'static str),
}

/// An opening bracket.
struct Bracket {
    node: usize,
    /// Where the words behind it begin.
    start: usize,
    /// How many delimiters stood before it.
    delimiters: usize,
    image: bool,
    active: bool,
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    nodes: Vec<Node>,
    delimiters: Delimiters,
    brackets: Vec<Bracket>,
    /// Where runs of backticks begin, by their length.
    ticks: Option<HashMap<usize, Vec<usize>>>,
    tags: HtmlTags,
    references: &'a References,
    reading: Reading,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(byte) = self.source.as_bytes().get(self.at).copied() {
            match byte {
                b'\n' => self.line_end(),
                b'\\' => self.escape(),
                b'`' => self.ticks(),
                b'*' | b'_' | b'~' => self.markers(byte),
                b'[' => self.open_bracket(false),
                b'!' if self.rest().starts_with("![") => self.open_bracket(true),
                b']' => self.close_bracket(),
                b'<' => self.angle(),
                b'&' => self.entity(),
                b':' if self.reading.bare_links && self.address() => {}
                _ => self.plain(),
            }
        }
        self.delimiters.pair(0);
    }

    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn push(&mut self, event: Event) {
        self.nodes.push(Node::Event(event));
    }

    fn text(&mut self, text: &str) {
        if let Some(Node::Event(Event::Text(last))) = self.nodes.last_mut() {
            last.push_str(text);
        } else {
            self.push(Event::Text(text.to_owned()));
        }
    }

    /// Takes so many bytes as they are.
    fn take(&mut self, length: usize) {
        let end = self.at + length;
        let taken = self.source[self.at..end].to_owned();
        self.text(&taken);
        self.at = end;
    }

    fn plain(&mut self) {
        let special = ['\n', '\\', '`', '*', '_', '~', '[', '!', ']', '<', '&', ':'];
        let first = self.rest().chars().next().map_or(1, char::len_utf8);
        let length = self.rest()[first..].find(special);
        self.take(length.map_or(self.rest().len(), |length| first + length));
    }

    fn line_end(&mut self) {
        if let Some(Node::Event(Event::Text(last))) = self.nodes.last_mut() {
            last.truncate(last.trim_end_matches(' ').len());
        }
        self.push(Event::Break);
        self.at += 1;
        self.skip_blanks();
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    fn escape(&mut self) {
        match self.rest()[1..].chars().next() {
            Some('\n') => {
                self.push(Event::Break);
                self.at += 2;
                self.skip_blanks();
            }
            Some(escaped) if escaped.is_ascii_punctuation() => {
                self.push(Event::Escaped(escaped.to_string()));
                self.at += 2;
            }
            _ => self.take(1),
        }
    }

    fn entity(&mut self) {
        match entity(self.rest()) {
            Some((character, length)) => {
                self.push(Event::Escaped(character));
                self.at += length;
            }
            None => self.take(1),
        }
    }

    fn ticks(&mut self) {
        let length = run(self.rest(), b'`');
        let source = self.source;
        let runs = self.ticks.get_or_insert_with(|| tick_runs(source));
        let start = self.at + length;
        let close = runs.get(&length).and_then(|places| {
            let next = places.partition_point(|&place| place < start);
            places.get(next).copied()
        });
        let Some(close) = close else {
            self.take(length);
            return;
        };
        let code = source[start..close].replace('\n', " ");
        let padded = code.len() > 2 && code.starts_with(' ') && code.ends_with(' ');
        let code = if padded {
            code[1..code.len() - 1].to_owned()
        } else {
            code
        };
        self.push(Event::Code(code));
        self.at = close + length;
    }

    fn markers(&mut self, marker: u8) {
        let length = run(self.rest(), marker);
        let before = self.source[..self.at].chars().next_back();
        let after = self.source[self.at + length..].chars().next();
        let delimiter = Delimiter::new(marker, length, before, after, self.reading.cjk);
        if marker == b'~' {
            if length % 2 == 1 {
                self.text("~");
            }
            if length < 2 {
                self.at += length;
                return;
            }
            for _ in 0..length / 2 {
                let mut pair = delimiter.clone();
                pair.left = 2;
                self.delimit(pair);
            }
        } else {
            self.delimit(delimiter);
        }
        self.at += length;
    }

    fn delimit(&mut self, delimiter: Delimiter) {
        let place = self.delimiters.push(delimiter);
        self.nodes.push(Node::Markers(place));
    }

    fn angle(&mut self) {
        if self.reading.autolinks
            && let Some((href, shown, length)) = autolink(self.rest())
        {
            self.push(Event::LinkOpen { href, found: false });
            self.push(Event::Text(shown));
            self.push(Event::LinkClose);
            self.at += length;
            return;
        }
        let tag = if self.reading.html_tags {
            self.tags.length(self.source, self.at)
        } else {
            None
        };
        if let Some(length) = tag {
            self.push(Event::Tag(self.rest()[..length].to_owned()));
            self.at += length;
        } else {
            self.take(1);
        }
    }

    /// Reads an address whose scheme was just read.
    fn address(&mut self) -> bool {
        if !self.rest().starts_with("://") {
            return false;
        }
        let Some(Node::Event(Event::Text(last))) = self.nodes.last_mut() else {
            return false;
        };
        let part = |c: char| c.is_ascii_alphanumeric() || ".+-".contains(c);
        let scheme = last.len() - last.trim_end_matches(part).len();
        let start = self.at - scheme;
        if scheme == 0 || !self.source[start..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            return false;
        }
        let Some(length) = length_at_start(&self.source[start..]) else {
            return false;
        };
        let address = self.source[start..start + length].trim_end_matches('*');
        let href = normalized(address);
        if address.len() <= scheme || !is_allowed(&href) {
            return false;
        }
        last.truncate(last.len() - scheme);
        self.at = start + address.len();
        let shown = address.to_owned();
        self.push(Event::LinkOpen { href, found: true });
        self.push(Event::Text(shown));
        self.push(Event::LinkClose);
        true
    }

    fn open_bracket(&mut self, image: bool) {
        let bracket = if image { "![" } else { "[" };
        let node = self.nodes.len();
        self.nodes.push(Node::Bracket(bracket));
        self.at += bracket.len();
        self.brackets.push(Bracket {
            node,
            start: self.at,
            delimiters: self.delimiters.len(),
            image,
            active: true,
        });
    }

    fn close_bracket(&mut self) {
        let Some(bracket) = self.brackets.pop() else {
            self.bracket_text();
            return;
        };
        let label = &self.source[bracket.start..self.at];
        let target = bracket.active.then(|| self.target(label)).flatten();
        let Some((href, end)) = target else {
            self.bracket_text();
            return;
        };
        self.at = end;
        if bracket.image {
            let alternative = label.to_owned();
            self.delimiters.forget(bracket.delimiters);
            self.nodes.truncate(bracket.node);
            self.push(Event::Text(alternative));
            return;
        }
        self.delimiters.pair(bracket.delimiters);
        self.unlink(bracket.node + 1);
        self.nodes[bracket.node] = Node::Event(Event::LinkOpen { href, found: false });
        self.push(Event::LinkClose);
        // There are no links in links.
        for outer in &mut self.brackets {
            outer.active &= outer.image;
        }
    }

    /// Takes addresses in the label of a link for words.
    fn unlink(&mut self, from: usize) {
        let found = |node: &Node| {
            matches!(
                node,
                Node::Event(Event::LinkOpen { found: true, .. } | Event::LinkClose)
            )
        };
        if self.nodes[from..].iter().any(found) {
            let mut label = self.nodes.split_off(from);
            label.retain(|node| !found(node));
            self.nodes.append(&mut label);
        }
    }

    fn bracket_text(&mut self) {
        self.take(1);
    }

    /// Returns where a link leads whose label ends here, and where the link ends.
    fn target(&self, label: &str) -> Option<(String, usize)> {
        let behind = self.at + 1;
        let rest = &self.source[behind..];
        if rest.starts_with('(')
            && let Some((href, length)) = inline_target(rest)
        {
            return Some((href, behind + length));
        }
        if let Some(inner) = rest.strip_prefix('[')
            && let Some(length) = inner.find(['[', ']'])
            && inner.as_bytes()[length] == b']'
        {
            let named = &inner[..length];
            let named = if named.is_empty() { label } else { named };
            let href = self.references.get(named)?;
            return Some((href.to_owned(), behind + length + 2));
        }
        let href = self.references.get(label)?;
        Some((href.to_owned(), behind))
    }

    fn events(self) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            match node {
                Node::Event(event) => push(&mut events, event),
                Node::Markers(place) => {
                    for event in self.delimiters.events(place) {
                        push(&mut events, event);
                    }
                }
                Node::Bracket(bracket) => push(&mut events, Event::Text(bracket.to_owned())),
            }
        }
        events
    }
}

/// Adds an event; text is joined to text.
pub(super) fn push(events: &mut Vec<Event>, event: Event) {
    match (events.last_mut(), event) {
        (_, Event::Text(text)) if text.is_empty() => {}
        (Some(Event::Text(last)), Event::Text(text)) => last.push_str(&text),
        (_, event) => events.push(event),
    }
}

fn run(text: &str, marker: u8) -> usize {
    text.bytes().take_while(|&byte| byte == marker).count()
}

fn tick_runs(source: &str) -> HashMap<usize, Vec<usize>> {
    let mut runs: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut at = 0;
    while let Some(next) = source[at..].find('`') {
        at += next;
        let length = run(&source[at..], b'`');
        runs.entry(length).or_default().push(at);
        at += length;
    }
    runs
}

/// Reads `(destination "title")`.
fn inline_target(text: &str) -> Option<(String, usize)> {
    let mut at = 1 + blanks(&text[1..]);
    let mut href = String::new();
    if let Some((found, length)) = destination(&text[at..]) {
        let found = normalized(&found);
        if is_allowed(&found) {
            href = found;
            at += length;
        }
        let parted = blanks(&text[at..]);
        at += parted;
        if parted > 0
            && let Some(length) = title(&text[at..])
        {
            at += length;
            at += blanks(text.get(at..)?);
        }
    }
    (text.as_bytes().get(at) == Some(&b')')).then_some((href, at + 1))
}

/// Reads `<https://…>` or `<name@host>`: where it leads, what is shown, its length.
fn autolink(text: &str) -> Option<(String, String, usize)> {
    let inner = text.strip_prefix('<')?;
    let length = inner.find(|c: char| c == '<' || c == '>' || c.is_ascii_control() || c == ' ')?;
    if inner.as_bytes()[length] != b'>' {
        return None;
    }
    let address = &inner[..length];
    let scheme = address.find(':').filter(|&at| {
        let name = &address[..at];
        (2..=32).contains(&at)
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
    });
    let href = match scheme {
        Some(_) => normalized(address),
        None if is_address(address) => normalized(&format!("mailto:{address}")),
        None => return None,
    };
    is_allowed(&href).then(|| (href, address.to_owned(), length + 2))
}

fn is_address(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else {
        return false;
    };
    let name_byte = |b: u8| b.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&b);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    !name.is_empty() && name.bytes().all(name_byte) && host.split('.').all(label)
}
