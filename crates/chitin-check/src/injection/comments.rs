//! Comments that give orders.

use super::orders::is_order;
use crate::finding::{Draft, Findings};
use crate::phrases::Meaning;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;
use std::ops::Range;

/// A comment that does not end within this many bytes is looked at no further.
const MAX_COMMENT: usize = 64 * 1024;

pub(super) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if !subject.is_markdown() {
        return;
    }
    for comment in comments(subject) {
        if gives_orders(subject, &comment) {
            let quoted = subject.excerpt(words_of(subject.text, &comment));
            let message = format!("A hidden comment contains instructions: `{quoted}`.");
            findings.at(
                subject,
                comment,
                Draft::new(&rules::COMMENT_COMMANDS, message),
            );
        }
    }
}

/// Returns the comments outside code.
pub(super) fn comments(subject: &Subject<'_>) -> Vec<Range<usize>> {
    let bytes = subject.text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    for start in memchr::memmem::find_iter(bytes, b"<!--") {
        let inside = found.last().is_some_and(|last| start < last.end);
        if inside || subject.code.is_code(start) {
            continue;
        }
        let limit = bytes.len().min(start + MAX_COMMENT);
        let end = memchr::memmem::find(&bytes[start..limit], b"-->")
            .map_or(limit, |length| start + length + 3);
        let end = crate::subject::floor_boundary(subject.text, end);
        found.push(start..end);
    }
    // `[//]: # (text)` is a link that nobody can follow, so no page shows it, whatever stands for the slashes.
    for mark in [b"]: #".as_slice(), b"]: <>"] {
        for at in memchr::memmem::find_iter(bytes, mark) {
            let line = subject.lines.range(subject.lines.of(at));
            let is_label = subject.text[line.start..at].starts_with('[');
            if is_label && !subject.code.is_code(at) {
                let start = (at + mark.len()).saturating_sub(4);
                found.push(start..line.end.min(start + MAX_COMMENT));
            }
        }
    }
    found.sort_by_key(|comment| comment.start);
    found
}

/// Returns what stands between the marks of a comment.
fn words_of(text: &str, comment: &Range<usize>) -> Range<usize> {
    let end = if text[comment.clone()].ends_with("-->") {
        comment.end - 3
    } else {
        comment.end
    };
    comment.start + 4..end.max(comment.start + 4)
}

/// Whom a comment speaks to, when it is not the reader of the source.
const AGENTS: &[&str] = &[
    "agent:",
    "assistant",
    "ai agent",
    "system:",
    "the model",
    "llm",
    "ai:",
];

/// What a comment wants of an agent.
const ORDERS: &[&str] = &[
    "must ",
    "forward",
    "send ",
    "include the",
    "upload",
    "before answering",
    "do not mention",
    "approve",
    "always ",
    "ignore ",
    "execute",
    "run ",
    "silently",
];

fn gives_orders(subject: &Subject<'_>, comment: &Range<usize>) -> bool {
    let text = &subject.lower[comment.clone()];
    if has(text, AGENTS) && has(text, ORDERS) {
        return true;
    }
    if is_order(&subject.lower[words_of(&subject.lower, comment)]) {
        return true;
    }
    let first = subject
        .hits
        .partition_point(|hit| hit.span.start < comment.start);
    subject.hits[first..]
        .iter()
        .take_while(|hit| hit.span.start < comment.end)
        .any(|hit| match hit.meaning {
            Meaning::Override | Meaning::Conceal | Meaning::Order | Meaning::AutoRead => true,
            // A command with an address is an order; the word alone may be a remark.
            Meaning::Fetch => subject
                .lower
                .get(hit.span.end..comment.end)
                .and_then(|rest| rest.get(..80.min(rest.len())))
                .is_some_and(|rest| rest.contains("http")),
            Meaning::Sign(_)
            | Meaning::ProtectionOff
            | Meaning::Decode
            | Meaning::RunText
            | Meaning::Paste
            | Meaning::Password
            | Meaning::FillIn
            | Meaning::Todo => false,
        })
}
