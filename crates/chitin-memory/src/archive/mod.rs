//! Text of past conversations, as it is indexed (M80).
//!
//! In: a transcript, line by line as it stands on the disk. Out: what people and agent said to each other, one line of text per
//! message or piece of it, and for each of them the line of the transcript that it comes from. Tool calls, their results and
//! thoughts stay out. No transcript, however damaged, makes any of it fail; what cannot be read is passed over.

mod compat;
mod envelope;
mod runtime_context;
mod upkeep;
mod wrap;

use chitin_contract::{ArchivePath, ArchiveRules, Upkeep};
use chitin_protocol::text::is_js_whitespace;
use serde_json::Value;
use std::borrow::Cow;

/// A longer line of a transcript is passed over.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// Of a longer transcript only the end is looked at.
const MAX_FILE: usize = 64 * 1024 * 1024;

/// Which conversation it is.
#[derive(Debug, Clone, Copy)]
pub struct ArchivedConversation<'a> {
    /// The agent's id.
    pub agent: &'a str,
    /// The name of the transcript's file.
    pub file_name: &'a str,
}

/// What a conversation says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionText {
    /// The name under which it is found.
    pub path: String,
    /// What was said, line by line, without a line end after the last.
    pub text: String,
    /// For every line of the text the line of the transcript that it comes from, counted from 1.
    pub line_map: Vec<usize>,
}

impl ArchivedConversation<'_> {
    /// Returns the name under which the conversation is found.
    pub fn path(&self, rules: &ArchiveRules) -> String {
        let (sessions, file) = (compat::SESSIONS, self.file_name);
        match rules.path {
            ArchivePath::Flat => format!("{sessions}/{file}"),
            ArchivePath::ByAgent => format!("{sessions}/{}/{file}", self.agent),
        }
    }
}

/// Makes text of a transcript. `redact` takes secrets out of one message whose white space is collapsed already.
pub fn session_text(
    conversation: ArchivedConversation<'_>,
    transcript: &[u8],
    rules: &ArchiveRules,
    redact: &dyn Fn(&str) -> Cow<'_, str>,
) -> SessionText {
    let mut said = SessionText {
        path: conversation.path(rules),
        ..SessionText::default()
    };
    let (skipped, transcript) = end_of(transcript);
    let mut muted = false;
    for (line, number) in transcript.split(|byte| *byte == b'\n').zip(skipped + 1..) {
        if !is_worth_reading(line) {
            continue;
        }
        let Some(record) = parse(line) else {
            continue;
        };
        if upkeep::is_dream(&record) {
            // The program writes a diary to itself.
            if rules.upkeep == Upkeep::LeftOut {
                said.text.clear();
                said.line_map.clear();
            }
            return said;
        }
        let Some(message) = Said::of(&record) else {
            continue;
        };
        if rules.upkeep == Upkeep::LeftOut {
            if message.speaker == Speaker::User {
                muted = upkeep::asks_memory(message.value);
            }
            if muted || upkeep::is_from_session(&message) {
                continue;
            }
        }
        if let Some(text) = message.words(rules) {
            said.add(message.speaker, &redact(&text), number);
        }
    }
    said
}

impl SessionText {
    fn add(&mut self, speaker: Speaker, text: &str, number: usize) {
        for piece in wrap::pieces(text, ArchiveRules::WRAP_AT) {
            if !self.line_map.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(speaker.label());
            self.text.push_str(piece);
            self.line_map.push(number);
        }
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    const fn label(self) -> &'static str {
        match self {
            Self::User => "User: ",
            Self::Assistant => "Assistant: ",
        }
    }
}

/// A message of the conversation.
struct Said<'a> {
    speaker: Speaker,
    value: &'a Value,
}

impl<'a> Said<'a> {
    fn of(record: &'a Value) -> Option<Self> {
        if record.get("type")?.as_str()? != "message" {
            return None;
        }
        let value = record.get("message")?;
        let speaker = match value.get("role")?.as_str()? {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            _ => return None,
        };
        Some(Self { speaker, value })
    }

    /// Returns what was said, if it is to be remembered, with its white space collapsed.
    fn words(&self, rules: &ArchiveRules) -> Option<String> {
        let raw = text_of(self.value.get("content")?)?;
        let opened = match self.speaker {
            Speaker::User => envelope::opened(&raw, rules.envelopes),
            Speaker::Assistant => raw,
        };
        let own = match rules.runtime_context {
            Upkeep::Kept => opened,
            Upkeep::LeftOut => runtime_context::without(opened),
        };
        let text = collapsed(&own);
        let is_upkeep = rules.upkeep == Upkeep::LeftOut && upkeep::is_upkeep(&text, self.speaker);
        (!text.is_empty() && !is_upkeep).then_some(text)
    }
}

/// Returns the text of a message's content: its text parts, each on a line of its own.
fn text_of(content: &Value) -> Option<Cow<'_, str>> {
    match content {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter(|part| part.get("type").and_then(Value::as_str) == Some("text"))
                .filter_map(|part| part.get("text")?.as_str())
                .collect();
            (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Makes one space of every run of white space, and none at the ends.
fn collapsed(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split(is_js_whitespace).filter(|word| !word.is_empty()) {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}

/// Returns the end of a transcript that is too long, from the beginning of a line on, and how many lines stand before it.
fn end_of(transcript: &[u8]) -> (usize, &[u8]) {
    let Some(start) = transcript.len().checked_sub(MAX_FILE).filter(|at| *at > 0) else {
        return (0, transcript);
    };
    let line_end = transcript[start..].iter().position(|byte| *byte == b'\n');
    let (before, rest) = match line_end {
        Some(at) => transcript.split_at(start + at + 1),
        None => (transcript, &[][..]),
    };
    let lines = before.split(|byte| *byte == b'\n').count() - 1;
    (lines, rest)
}

/// Tells whether a line can hold anything that is wanted, so that the others need not be parsed.
fn is_worth_reading(line: &[u8]) -> bool {
    line.len() <= MAX_LINE && line.contains(&b'{')
}

/// Parses a line. Programs that cut text in the middle of a pair leave half of it behind, which is no reason to pass over all
/// that the message says.
fn parse(line: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(line);
    serde_json::from_str(&text)
        .ok()
        .or_else(|| serde_json::from_str(&without_halves(&text)?).ok())
}

/// Puts the replacement character in the place of every escape that is half of a pair; nothing when there is none.
fn without_halves(text: &str) -> Option<String> {
    const ESCAPE: usize = 6;
    let unit = |at: usize| {
        let escape = text.get(at..at + ESCAPE)?;
        u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
    };
    let (mut whole, mut at, mut changed) = (String::with_capacity(text.len()), 0, false);
    while let Some(found) = text[at..].find('\\') {
        whole.push_str(&text[at..at + found]);
        at += found;
        let length = match (unit(at), unit(at + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                whole.push('\u{fffd}');
                changed = true;
                at += ESCAPE;
                continue;
            }
            (Some(_), _) => ESCAPE,
            // A backslash and what it escapes.
            (None, _) => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        whole.push_str(&text[at..at + length]);
        at += length;
    }
    whole.push_str(&text[at..]);
    changed.then_some(whole)
}
