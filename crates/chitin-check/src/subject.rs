//! One text under check, with everything that several rules need to know of it.

use super::allow::{self, Allow};
use super::finding::Location;
use super::lines::{Code, Lines};
use super::phrases::{self, Hit};
use super::secrets::{self, Secret};
use std::ops::Range;

/// How far around a place its line is looked at; it bounds the work on hostile text.
const NEAR: usize = 400;

/// What a file is to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// Loaded by the contract.
    Bootstrap,
    /// Below `memory/`.
    Memory,
    /// A `SKILL.md`.
    Skill,
    /// Another file of a skill.
    SkillFile,
    /// An extension file such as `CHANNELS.md`, or any other text at the top of the workspace.
    Other,
}

impl FileRole {
    /// Guesses the role from a path relative to the workspace.
    pub fn of(path: &str) -> Self {
        let below = |folder: &str| path.starts_with(folder);
        if below("skills/") || below(".agents/skills/") {
            if path.ends_with("/SKILL.md") {
                Self::Skill
            } else {
                Self::SkillFile
            }
        } else if below("memory/") {
            Self::Memory
        } else if !path.contains('/') && super::names::is_known(path) {
            Self::Bootstrap
        } else {
            Self::Other
        }
    }

    pub(crate) const fn is_skill(self) -> bool {
        match self {
            Self::Skill | Self::SkillFile => true,
            Self::Bootstrap | Self::Memory | Self::Other => false,
        }
    }
}

/// One text under check.
pub(crate) struct Subject<'a> {
    pub(crate) path: &'a str,
    pub(crate) role: FileRole,
    pub(crate) text: &'a str,
    /// The text with ASCII letters made small; offsets are the same.
    pub(crate) lower: String,
    /// The phrases that were found in it, in order.
    pub(crate) hits: Vec<Hit>,
    /// The bytes on disk where they are not valid UTF-8.
    pub(crate) invalid: Option<&'a [u8]>,
    pub(crate) lines: Lines,
    pub(crate) code: Code,
    pub(crate) secrets: Vec<Secret>,
    pub(crate) allows: Vec<Allow>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        path: &'a str,
        role: FileRole,
        text: &'a str,
        invalid: Option<&'a [u8]>,
    ) -> Self {
        let lines = Lines::new(text);
        let is_markdown = has_extension(path, "md");
        let code = if is_markdown {
            Code::new(text, &lines)
        } else {
            Code::default()
        };
        let lower = text.to_ascii_lowercase();
        Self {
            path,
            role,
            text,
            invalid,
            hits: phrases::scan(&lower),
            lower,
            allows: allow::find(text, &lines),
            secrets: secrets::scan(text),
            lines,
            code,
        }
    }

    pub(crate) fn is_markdown(&self) -> bool {
        has_extension(self.path, "md")
    }

    /// Turns bytes into lines and columns.
    pub(crate) fn place(&self, span: Range<usize>) -> Location {
        let (line, column) = self.position(span.start);
        let (end_line, end_column) = self.position(span.end);
        Location {
            line,
            column,
            end_line,
            end_column,
            start: span.start,
            end: span.end,
        }
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let offset = floor_boundary(self.text, offset.min(self.text.len()));
        let line = self.lines.of(offset);
        let start = self.lines.range(line).start;
        (line + 1, self.text[start..offset].chars().count() + 1)
    }

    /// Returns the small-lettered part of a line that lies within a few hundred bytes of an offset.
    pub(crate) fn near(&self, offset: usize) -> &str {
        let line = self.lines.range(self.lines.of(offset));
        let start = floor_boundary(&self.lower, offset.saturating_sub(NEAR)).max(line.start);
        let end = floor_boundary(&self.lower, offset + NEAR).min(line.end);
        self.lower.get(start..end).unwrap_or_default()
    }

    /// Returns the beginning of a zero-based line in small letters, trimmed.
    pub(crate) fn beginning_of(&self, line: usize) -> &str {
        let line = self.lines.range(line);
        let end = floor_boundary(&self.lower, line.end.min(line.start + NEAR));
        self.lower.get(line.start..end).unwrap_or_default().trim()
    }

    /// Quotes a part of the text for a message: one line, bounded, without secrets and without anything invisible.
    pub(crate) fn excerpt(&self, span: Range<usize>) -> String {
        const MAX: usize = 60;
        let mut quoted = String::new();
        let mut shown = 0;
        let mut at = floor_boundary(self.text, span.start);
        let end = floor_boundary(self.text, span.end.min(self.text.len()));
        let mut pending_space = false;
        while at < end {
            if let Some(secret) = self.secret_over(at) {
                quoted.push_str(&secret.shown);
                shown += secret.shown.chars().count();
                at = secret.span.end;
                continue;
            }
            let Some(c) = self.text[at..].chars().next() else {
                break;
            };
            at += c.len_utf8();
            if c.is_whitespace() || c.is_control() || c == '`' {
                pending_space = c.is_whitespace() || pending_space;
                continue;
            }
            if super::injection::is_invisible(c) {
                continue;
            }
            if shown >= MAX {
                quoted.push('…');
                break;
            }
            if std::mem::take(&mut pending_space) && !quoted.is_empty() {
                quoted.push(' ');
                shown += 1;
            }
            quoted.push(c);
            shown += 1;
        }
        quoted
    }

    fn secret_over(&self, offset: usize) -> Option<&Secret> {
        let after = self
            .secrets
            .partition_point(|secret| secret.span.start <= offset);
        let secret = self.secrets.get(after.checked_sub(1)?)?;
        secret.span.contains(&offset).then_some(secret)
    }

    /// Takes the secrets of this text out of a message, whichever way they came in.
    pub(crate) fn scrub(&self, message: &mut String) {
        for secret in &self.secrets {
            let Some(hidden) = self.text.get(secret.span.clone()) else {
                continue;
            };
            if message.contains(hidden) {
                *message = message.replace(hidden, &secret.shown);
            }
        }
    }

    /// Returns the reason of the comment that lets a code pass on a one-based line; without a line, anywhere.
    pub(crate) fn allowed(&self, code: &str, line: Option<usize>) -> Option<String> {
        let allow = self.allows.iter().find(|allow| {
            allow.codes.iter().any(|c| c.eq_ignore_ascii_case(code))
                && line.is_none_or(|line| allow.line == line || allow.line + 1 == line)
        })?;
        let mut reason = allow.reason.clone();
        self.scrub(&mut reason);
        Some(reason)
    }
}

/// Tells whether a name ends in `.extension`, in any case of letters.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, found)| found.eq_ignore_ascii_case(extension))
}

/// Returns where the word begins that ends at `end`, at most a few hundred bytes back.
pub(crate) fn word_start(text: &str, end: usize, is_word: impl Fn(char) -> bool) -> usize {
    let from = floor_boundary(text, end.saturating_sub(NEAR));
    from + text[from..end].trim_end_matches(is_word).len()
}

/// Returns the last character boundary at or before the offset.
pub(crate) fn floor_boundary(text: &str, offset: usize) -> usize {
    text.floor_char_boundary(offset)
}
