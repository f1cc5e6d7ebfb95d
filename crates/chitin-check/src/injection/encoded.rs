//! Long encoded blocks in prose.

use crate::base64;
use crate::finding::{Draft, Findings, Severity};
use crate::rules;
use crate::subject::{Subject, word_start};
use std::ops::Range;

/// Shorter runs are identifiers, hashes and signatures.
const MIN_RUN: usize = 120;

pub(super) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if !subject.is_markdown() {
        return;
    }
    let bytes = subject.text.as_bytes();
    // A run that long holds one of every MIN_RUN bytes, so most of the text need not be looked at.
    let mut probe = MIN_RUN - 1;
    while probe < bytes.len() {
        let run = run_around(bytes, probe);
        probe = run.end.max(probe) + MIN_RUN;
        if run.len() < MIN_RUN || !is_block(subject, &run) {
            continue;
        }
        let decoded = base64::decode(&subject.text[run.clone()]);
        let (what, severity) = if decoded.is_some_and(|bytes| is_text(&bytes)) {
            ("decodes to text", Severity::Warning)
        } else {
            ("does not decode to plain text", Severity::Info)
        };
        let message = format!("A block of {} encoded characters {what}.", run.len());
        findings.at(
            subject,
            run,
            Draft::new(&rules::ENCODED_TEXT, message).severity(severity),
        );
    }
}

fn run_around(bytes: &[u8], at: usize) -> Range<usize> {
    let is_letter = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let before = bytes[..at].iter().rev().take_while(is_letter).count();
    let after = bytes[at..].iter().take_while(is_letter).count();
    at - before..at + after
}

fn is_block(subject: &Subject<'_>, run: &Range<usize>) -> bool {
    let text = &subject.text[run.clone()];
    let mixed = text.bytes().any(|b| b.is_ascii_lowercase())
        && text.bytes().any(|b| b.is_ascii_uppercase())
        && text.bytes().any(|b| b.is_ascii_digit());
    // Many slashes are a path.
    let path = text.bytes().filter(|&b| b == b'/').count() * 10 > text.len();
    let start = word_start(subject.text, run.start, |c| !c.is_whitespace());
    let before = &subject.text[start..run.start];
    let address = before.contains("://") || before.contains("base64,") || before.contains("data:");
    let after = subject
        .secrets
        .partition_point(|secret| secret.span.end <= run.start);
    let secret = subject
        .secrets
        .get(after)
        .is_some_and(|secret| secret.span.start < run.end);
    mixed && !path && !address && !secret && !subject.code.is_code(run.start)
}

fn is_text(bytes: &[u8]) -> bool {
    let printable = bytes
        .iter()
        .filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
        .count();
    !bytes.is_empty() && printable * 100 >= bytes.len() * 95
}
