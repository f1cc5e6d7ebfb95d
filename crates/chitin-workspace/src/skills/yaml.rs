//! Front matter as YAML: events of the parser become values, within limits.

use super::compat::code;
use super::yaml_codes::{self, Scene};
use super::yaml_value::Yaml;
use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Deeper than this no honest front matter goes.
const MAX_DEPTH: usize = 64;
/// How many values a block may hold, those that aliases repeat included.
const MAX_NODES: usize = 20_000;
/// How many keys the block itself may hold.
const MAX_KEYS: usize = 1_000;
/// How many bytes all keys that are collections may have. Each holds the keys in it as quoted text, so that the backslashes of one
/// within another double from level to level.
const MAX_COLLECTION_KEYS: usize = 64 * 1024;
/// How many aliases a block may use.
const MAX_ALIASES: usize = 100;

/// Why a block is not a YAML mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlError {
    /// A code that the recorded releases use.
    pub(super) code: &'static str,
    /// The line of the block, counted from one.
    pub(super) line: usize,
    /// The column, counted from one.
    pub(super) column: usize,
    /// What is wrong, in words.
    pub(super) message: String,
    /// The line that a repair may look at; `None` when the trouble has no line of its own.
    pub(super) repair_line: Option<usize>,
}

/// Reads a block as one YAML mapping.
pub(super) fn parse_mapping(block: &str) -> Result<Vec<(String, Yaml)>, YamlError> {
    let text = indent_closers(block);
    let mut builder = Builder::new(block);
    let options = granit_parser::options! {
        strict_indentation: true,
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    for next in Parser::new_from_str_with_options(&text, options) {
        match next {
            Ok((event, span)) => builder.take(event, &span)?,
            Err(error) => {
                let marker = error.marker();
                let scene = Scene {
                    block,
                    line: marker.line(),
                    column: marker.col(),
                    last_line: builder.last_line,
                };
                return Err(yaml_codes::classify(&error, &scene));
            }
        }
    }
    match builder.root {
        Some(Yaml::Map(entries)) if entries.len() > MAX_KEYS => Err(YamlError {
            code: code::EXCEPTION,
            line: 1,
            column: 1,
            message: format!("the block has more than {MAX_KEYS} keys"),
            repair_line: None,
        }),
        Some(Yaml::Map(entries)) => Ok(entries),
        _ => Err(YamlError {
            code: code::INVALID_ROOT,
            line: 1,
            column: 1,
            message: "the block is not a mapping of keys to values".to_owned(),
            repair_line: None,
        }),
    }
}

/// Moves a lone closing bracket in the first column one to the right.
///
/// The specification wants it deeper than its parent; the recorded releases only warn, and many files are written so.
fn indent_closers(block: &str) -> Cow<'_, str> {
    let closes = |line: &str| line.starts_with(['}', ']']);
    let lone = |line: &str| {
        let rest = line.get(1..).unwrap_or_default().trim_start();
        closes(line) && (rest.is_empty() || rest.starts_with('#'))
    };
    if !block.lines().any(closes) {
        return Cow::Borrowed(block);
    }
    let lines: Vec<&str> = block.split('\n').collect();
    let mut out = String::with_capacity(block.len() + 8);
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if lone(line) && !lines.get(at + 1).is_some_and(|next| closes(next)) {
            out.push(' ');
        }
        out.push_str(line);
    }
    Cow::Owned(out)
}

/// A collection that is still open.
struct Frame {
    kind: FrameKind,
    anchor: usize,
    block: bool,
    column: usize,
}

enum FrameKind {
    List(Vec<Yaml>),
    Map {
        entries: Vec<(String, Yaml)>,
        seen: HashSet<(u8, String)>,
        /// Whether some key is not text, so that two keys may have one spelling.
        mixed: bool,
        pending: Option<(String, usize)>,
    },
}

struct Builder<'a> {
    block: &'a str,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Yaml>,
    root: Option<Yaml>,
    documents: usize,
    nodes: usize,
    aliases: usize,
    /// How many bytes the keys have that are collections.
    collection_keys: usize,
    last_line: usize,
}

impl<'a> Builder<'a> {
    fn new(block: &'a str) -> Self {
        Self {
            block,
            stack: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            documents: 0,
            nodes: 0,
            aliases: 0,
            collection_keys: 0,
            last_line: 1,
        }
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(error(
                        code::MULTIPLE_DOCUMENTS,
                        span,
                        "a second document begins here",
                    ));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.last_line = span.start.line();
                let empty = span.start.index() == span.end.index();
                let text = if empty { "" } else { &*text };
                let value = scalar(text, style, tag.as_deref());
                self.remember(anchor, &value);
                self.put(value, span)?;
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(FrameKind::List(Vec::new()), style, anchor, span)?;
            }
            Event::MappingStart(style, anchor, _) => {
                let kind = FrameKind::Map {
                    entries: Vec::new(),
                    seen: HashSet::new(),
                    mixed: false,
                    pending: None,
                };
                self.open(kind, style, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(frame) = self.stack.pop() {
                    let value = match frame.kind {
                        FrameKind::List(items) => Yaml::List(items),
                        FrameKind::Map { entries, .. } => Yaml::Map(entries),
                    };
                    self.remember(frame.anchor, &value);
                    self.put(value, span)?;
                }
            }
            Event::Alias(anchor) => {
                self.last_line = span.start.line();
                self.aliases += 1;
                let value = self.anchors.get(&anchor).cloned().unwrap_or(Yaml::Null);
                self.nodes += weight(&value, MAX_NODES);
                if self.aliases > MAX_ALIASES || self.nodes > MAX_NODES {
                    return Err(error(code::EXCEPTION, span, "too many aliases"));
                }
                self.put(value, span)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn open(
        &mut self,
        kind: FrameKind,
        style: StructureStyle,
        anchor: usize,
        span: &Span,
    ) -> Result<(), YamlError> {
        let column = span.start.col();
        let block = style == StructureStyle::Block;
        if block && self.indented_by_tab(span) {
            return Err(error(code::TAB_AS_INDENT, span, "a tab indents this line"));
        }
        if !block && let Some(multiline) = self.stands_as_key(span) {
            let code = if multiline {
                code::MULTILINE_IMPLICIT_KEY
            } else {
                code::MISSING_CHAR
            };
            return Err(error(
                code,
                span,
                "the value must stand further right than its key",
            ));
        }
        self.last_line = span.start.line();
        self.stack.push(Frame {
            kind,
            anchor,
            block,
            column,
        });
        Ok(())
    }

    /// Tells whether a tab is part of the blank space before a block collection.
    fn indented_by_tab(&self, span: &Span) -> bool {
        let line = self.block.lines().nth(span.start.line().saturating_sub(1));
        line.is_some_and(|line| {
            let blank: String = line.chars().take(span.start.col()).collect();
            blank.contains('\t') && blank.trim().is_empty()
        })
    }

    /// Tells whether a flow collection begins in its key's own column, where it would be a key itself; if so, whether it
    /// spans lines.
    fn stands_as_key(&self, span: &Span) -> Option<bool> {
        let frame = self.stack.last().filter(|frame| frame.block)?;
        let FrameKind::Map {
            pending: Some((_, line)),
            ..
        } = &frame.kind
        else {
            return None;
        };
        let as_key = span.start.line() != *line && span.start.col() <= frame.column;
        as_key.then(|| {
            let line = self.block.lines().nth(span.start.line().saturating_sub(1));
            let text = line.unwrap_or_default();
            let count = |c: [char; 2]| text.matches(c).count();
            count(['{', '[']) > count(['}', ']'])
        })
    }

    fn remember(&mut self, anchor: usize, value: &Yaml) {
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
    }

    fn put(&mut self, value: Yaml, span: &Span) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(error(code::EXCEPTION, span, "too many values"));
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        match &mut frame.kind {
            FrameKind::List(items) => items.push(value),
            FrameKind::Map {
                entries,
                seen,
                mixed,
                pending,
            } => match pending.take() {
                None => {
                    let identity = key_identity(&value);
                    *mixed |= !matches!(value, Yaml::Text(_));
                    let is_collection = matches!(value, Yaml::List(_) | Yaml::Map(_));
                    let key = value.into_key();
                    self.collection_keys += if is_collection { key.len() } else { 0 };
                    if self.collection_keys > MAX_COLLECTION_KEYS {
                        return Err(error(code::EXCEPTION, span, "the keys are too long"));
                    }
                    if let Some(identity) = identity
                        && !seen.insert((identity, key.clone()))
                    {
                        let message = format!("the key `{key}` is given twice");
                        return Err(error(code::DUPLICATE_KEY, span, &message));
                    }
                    *pending = Some((key, span.start.line()));
                }
                Some((key, _)) => {
                    // `1` and `"1"` are two keys in YAML and one in an object: the later value stays, in the first place.
                    let same = |(known, _): &&mut (String, Yaml)| *mixed && *known == key;
                    match entries.iter_mut().find(same) {
                        Some(entry) => entry.1 = value,
                        None => entries.push((key, value)),
                    }
                }
            },
        }
        Ok(())
    }
}

/// Returns what kind of key a value is; keys of one kind with the same text are the same. Collections never are.
fn key_identity(value: &Yaml) -> Option<u8> {
    match value {
        Yaml::Null => Some(0),
        Yaml::Bool(_) => Some(1),
        Yaml::Number(number) => (!number.is_nan()).then_some(2),
        Yaml::Text(_) => Some(3),
        Yaml::List(_) | Yaml::Map(_) => None,
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Yaml {
    match (tag, style) {
        (Some(tag), _) => match tag.core_suffix() {
            Some(suffix) => Yaml::tagged(text, suffix),
            None => Yaml::Text(text.to_owned()),
        },
        (None, ScalarStyle::Plain) => Yaml::plain(text),
        (None, _) => Yaml::Text(text.to_owned()),
    }
}

/// Counts the values in a value, up to a bound.
fn weight(value: &Yaml, bound: usize) -> usize {
    let mut count = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        count += 1;
        if count > bound {
            break;
        }
        match value {
            Yaml::List(items) => open.extend(items),
            Yaml::Map(entries) => open.extend(entries.iter().map(|(_, value)| value)),
            Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) => {}
        }
    }
    count
}

fn error(code: &'static str, span: &Span, message: &str) -> YamlError {
    YamlError {
        code,
        line: span.start.line(),
        column: span.start.col() + 1,
        message: message.to_owned(),
        repair_line: Some(span.start.line()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_keys_end_before_the_memory_does() {
        let nested = |levels: usize| parse_mapping(&format!("{}:\n", "? ".repeat(levels)));
        assert!(nested(8).is_ok());
        let error = nested(50).expect_err("it would take petabytes");
        assert_eq!(error.code, code::EXCEPTION);
    }
}
