//! Conversations: one object of texts per line (B18).

use crate::adapter::text::{is_blank, lines};
use serde::Serialize;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// Who speaks.
    pub role: String,
    /// What is said.
    pub content: String,
    /// The tool call that this answers.
    pub tool_call_id: Option<String>,
}

impl ConversationMessage {
    /// Reads one line. A line without a role or without content is `None`.
    pub fn parse(line: &str) -> Option<Self> {
        if is_blank(line) {
            return None;
        }
        let (mut role, mut content, mut tool_call_id) = (None, None, None);
        let mut rest = line;
        while let Some((key, value, after)) = member(rest) {
            match key.as_str() {
                "role" => role = value.or(role),
                "content" => content = value.or(content),
                "toolCallId" => tool_call_id = value.or(tool_call_id),
                _ => {}
            }
            rest = after;
        }
        Some(Self {
            role: role?,
            content: content?,
            tool_call_id,
        })
    }

    /// Reads a whole file; lines that are no messages are skipped.
    pub fn parse_all(text: &str) -> Vec<Self> {
        lines(text).filter_map(Self::parse).collect()
    }

    /// Writes the line, with its line end.
    pub fn line(&self) -> String {
        let mut line = String::with_capacity(self.content.len() + 40);
        line.push_str("{\"role\":\"");
        escape(&self.role, &mut line);
        line.push_str("\",\"content\":\"");
        escape(&self.content, &mut line);
        line.push('"');
        if let Some(id) = &self.tool_call_id {
            line.push_str(",\"toolCallId\":\"");
            escape(id, &mut line);
            line.push('"');
        }
        line.push_str("}\n");
        line
    }
}

/// Finds the next member: its key, its value when that is a text, and what follows.
fn member(text: &str) -> Option<(String, Option<String>, &str)> {
    let (key, rest) = quoted(&text[text.find('"')?..])?;
    let rest = &rest[rest.find(':')? + 1..];
    let value = rest.trim_start();
    if value.starts_with('"') {
        let (value, rest) = quoted(value)?;
        return Some((key, Some(value), rest));
    }
    // A number, a truth value or nothing: not ours, up to the next comma.
    let rest = value.find(',').map_or("", |at| &value[at..]);
    Some((key, None, rest))
}

/// Reads a text in quotes. Five escapes are known; any other backslash stands for itself.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut characters = text.strip_prefix('"')?.chars();
    let mut value = String::new();
    loop {
        match characters.next()? {
            '"' => return Some((value, characters.as_str())),
            '\\' => match characters.next()? {
                c @ ('"' | '\\') => value.push(c),
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                c => value.extend(['\\', c]),
            },
            c => value.push(c),
        }
    }
}

fn escape(text: &str, line: &mut String) {
    for c in text.chars() {
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c => line.push(c),
        }
    }
}
