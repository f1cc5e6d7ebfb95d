//! Front matter: where it ends, and whether it is any.

use super::finding::{Draft, Findings};
use super::rules;
use super::subject::Subject;
use std::ops::Range;

/// The front matter of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FrontMatter {
    /// The text does not begin with a fence.
    Absent,
    /// It begins with a fence, and there is no second one.
    Unclosed,
    /// There is a block.
    Closed {
        /// The lines between the fences.
        block: Range<usize>,
        /// Where the text goes on, blank lines skipped.
        body: usize,
    },
}

/// Splits a text. Only LF ends a line; a fence is `---` and blanks.
pub(crate) fn split(text: &str) -> FrontMatter {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let Some(first) = line_end(text, start) else {
        return FrontMatter::Absent;
    };
    if !is_fence(&text[start..first]) {
        return FrontMatter::Absent;
    }
    let mut at = first;
    while at < text.len() {
        let end = line_end(text, at).unwrap_or(text.len());
        if is_fence(&text[at..end]) {
            let mut body = end;
            while body < text.len() {
                let next = line_end(text, body).unwrap_or(text.len());
                if text[body..next]
                    .trim_end_matches([' ', '\t', '\r', '\n'])
                    .is_empty()
                {
                    body = next;
                } else {
                    break;
                }
            }
            return FrontMatter::Closed {
                block: first..at,
                body,
            };
        }
        at = end;
    }
    FrontMatter::Unclosed
}

fn line_end(text: &str, start: usize) -> Option<usize> {
    memchr::memchr(b'\n', &text.as_bytes()[start..]).map(|at| start + at + 1)
}

fn is_fence(line: &str) -> bool {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim_end_matches([' ', '\t']).is_empty())
}

/// Reports front matter that is not closed, or that is none.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if !subject.is_markdown() {
        return;
    }
    match split(subject.text) {
        FrontMatter::Absent => {}
        FrontMatter::Unclosed => {
            // A rule across the page is a fine way to begin; only fields make it front matter.
            let begins_with_field = subject
                .text
                .lines()
                .skip(1)
                .find(|line| !line.trim().is_empty())
                .is_some_and(|line| field(line).is_some());
            if begins_with_field {
                let end = subject.lines.range(0).end.min(subject.text.len());
                let message = "The front matter that starts here is never closed.";
                findings.at(
                    subject,
                    0..end,
                    Draft::new(&rules::UNCLOSED_FRONT_MATTER, message),
                );
            }
        }
        FrontMatter::Closed { block, .. } => odd_lines(subject, block, findings),
    }
}

fn odd_lines(subject: &Subject<'_>, block: Range<usize>, findings: &mut Findings) {
    let mut at = block.start;
    let mut in_block_value = false;
    while at < block.end {
        let end = line_end(subject.text, at)
            .unwrap_or(block.end)
            .min(block.end);
        let line = subject.text[at..end].trim_end();
        let problem = if line.is_empty() || line.starts_with('#') {
            None
        } else if line.starts_with('\t') && !in_block_value {
            Some("is indented with a tab, which YAML does not allow")
        } else if line.starts_with([' ', '-', '}', ']', '{', '[', '"']) {
            None
        } else {
            match field(line) {
                None => Some("is no `key: value`"),
                Some(value) => {
                    in_block_value = value.is_empty() || value.starts_with(['|', '>']);
                    has_loose_colon(value)
                        .then_some("has a value with `: ` in it that is not quoted")
                }
            }
        };
        if let Some(problem) = problem {
            let message = format!(
                "`{}` in the front matter {problem}.",
                subject.excerpt(at..end)
            );
            let span = at..at + line.len();
            findings.at(subject, span, Draft::new(&rules::ODD_FRONT_MATTER, message));
            // One mistake is enough to say that the block is not YAML.
            return;
        }
        at = end;
    }
}

/// Returns the value of a `key: value` line.
fn field(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    let plain = !key.is_empty()
        && key.len() <= 64
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '$'));
    let separated = value.is_empty() || value.starts_with([' ', '\t', '\r']);
    (plain && separated).then(|| value.trim())
}

fn has_loose_colon(value: &str) -> bool {
    let quoted = value.starts_with(['"', '\'', '{', '[', '|', '>', '&', '*', '!', '#']);
    let before_comment = value.split(" #").next().unwrap_or(value);
    !quoted && (before_comment.contains(": ") || before_comment.ends_with(':'))
}
