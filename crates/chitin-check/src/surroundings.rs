//! What stands around a place: its command, its paragraph, and whether it is only spoken of.

use super::subject::{Subject, floor_boundary};
use std::ops::Range;

/// No command is longer.
pub(crate) const MAX_COMMAND: usize = 2_000;

/// No paragraph is looked at further than this in either direction.
const MAX_PARAGRAPH: usize = 500;

/// How many lines of a program belong together.
const LINES_TOGETHER: usize = 12;

/// No group of lines is looked at further than this in either direction.
const MAX_TOGETHER: usize = 900;

/// How far up a list is followed to the line that introduces it.
const MAX_LOOKBACK: usize = 24;

/// Words of lines that describe attacks instead of carrying them out.
const DESCRIBING: &[&str] = &[
    "red flag",
    "malicious",
    "malware",
    "suspicious",
    "attack",
    "dangerous",
    "reject",
    "refuse",
    "beware",
    "look for",
    "looks for",
    "watch for",
    "watch out",
    "signs",
    "injection",
    "phishing",
    "never",
    "warn",
    "avoid",
    "do not run",
    "don't run",
    "do not use",
    "detect",
    "vulnerab",
    "forbidden",
    "blocked",
    "block list",
    "blocklist",
    "insecure",
    "unsafe",
    "scan for",
    "scans for",
    "checks for",
    "risk",
    "threat",
    "anti-pattern",
];

impl Subject<'_> {
    /// Returns the small letters of a range, cut to whole characters.
    pub(crate) fn small(&self, range: Range<usize>) -> &str {
        let start = floor_boundary(&self.lower, range.start.min(self.lower.len()));
        let end = floor_boundary(&self.lower, range.end.min(self.lower.len()));
        self.lower.get(start..end).unwrap_or_default()
    }

    /// Returns the command that holds a place: its code span, or its line and those that a backslash ties to it.
    pub(crate) fn command_around(&self, at: usize) -> Range<usize> {
        if let Some(span) = self.code.span_around(at) {
            let text = &self.lower[span.clone()];
            let start = span.end - text.trim_start_matches('`').len();
            let end = span.start + text.trim_end_matches('`').len();
            if start <= at && at < end && end - start <= MAX_COMMAND {
                return start..end;
            }
        }
        let number = self.lines.of(at);
        let line = self.lines.range(number);
        let mut end = line.end;
        let mut next = number + 1;
        while next < self.lines.count()
            && self.lower[line.start..end].trim_end().ends_with('\\')
            && end - line.start < MAX_COMMAND
        {
            end = self.lines.range(next).end;
            next += 1;
        }
        let start = floor_boundary(&self.lower, at.saturating_sub(MAX_COMMAND)).max(line.start);
        let end = floor_boundary(&self.lower, end.min(at + MAX_COMMAND));
        let trimmed = self.lower[at..end].trim_end().len();
        start..at + trimmed
    }

    /// Returns the paragraph of prose that holds a place.
    pub(crate) fn paragraph_around(&self, at: usize) -> Range<usize> {
        let from = floor_boundary(&self.lower, at.saturating_sub(MAX_PARAGRAPH));
        let to = floor_boundary(&self.lower, self.lower.len().min(at + MAX_PARAGRAPH));
        let start = self.lower[from..at]
            .rfind("\n\n")
            .map_or(from, |found| from + found + 2);
        let end = self.lower[at..to]
            .find("\n\n")
            .map_or(to, |found| at + found);
        start..end
    }

    /// Returns the lines of a program around a place: those of its code block, or of its file.
    pub(crate) fn program_around(&self, at: usize) -> Option<Range<usize>> {
        let whole = if self.is_markdown() {
            self.code.block_around(at)?
        } else {
            0..self.lower.len()
        };
        let number = self.lines.of(at);
        let first = self
            .lines
            .range(number.saturating_sub(LINES_TOGETHER))
            .start;
        let last = self
            .lines
            .range((number + LINES_TOGETHER).min(self.lines.count() - 1))
            .end;
        let start = first.max(whole.start).max(at.saturating_sub(MAX_TOGETHER));
        let end = last.min(whole.end).min(at + MAX_TOGETHER);
        Some(floor_boundary(&self.lower, start)..floor_boundary(&self.lower, end))
    }

    /// Tells whether a place is prose.
    pub(crate) fn is_prose(&self, at: usize) -> bool {
        self.is_markdown() && !self.code.is_code(at)
    }

    /// Tells whether a place is spoken of as something bad: in prose or a code span, on a line, below a line that introduces its
    /// list, or below a heading that says so.
    pub(crate) fn is_described(&self, at: usize) -> bool {
        let describes = |line: &str| DESCRIBING.iter().any(|word| line.contains(word));
        if !self.is_markdown() {
            // A scanner's list of patterns.
            let line = self.near(at);
            return line.contains("grep") || line.contains("pattern") || line.contains("regex");
        }
        if self.code.block_around(at).is_some() {
            return false;
        }
        let line = self.lines.range(self.lines.of(at));
        let before = self.small(line.start.max(at.saturating_sub(200))..at);
        let sentence = before.rsplit(". ").next().unwrap_or(before);
        if describes(sentence) || (before.trim_start().starts_with('|') && describes(self.near(at)))
        {
            return true;
        }
        let mut above = self.lines.of(at);
        for _ in 0..MAX_LOOKBACK {
            let Some(next) = above.checked_sub(1) else {
                return false;
            };
            above = next;
            let text = self.beginning_of(above);
            if text.starts_with('#') || text.ends_with(':') || text.ends_with(":**") {
                return describes(text);
            }
        }
        false
    }
}

/// Tells whether a text has one of the words.
pub(crate) fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}
