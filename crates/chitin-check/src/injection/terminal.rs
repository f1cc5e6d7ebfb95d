//! Characters that a terminal obeys, and text that a page does not show.

use crate::finding::{Draft, Findings};
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;

/// More places than this are not reported in one text.
const MAX_REPORTED: usize = 20;

pub(super) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    control_characters(subject, findings);
    concealing_escapes(subject, findings);
    if subject.is_markdown() {
        hidden_elements(subject, findings);
    }
}

/// Reports the first control character of each line.
fn control_characters(subject: &Subject<'_>, findings: &mut Findings) {
    let bytes = subject.text.as_bytes();
    let mut last_line = None;
    let low = memchr::memchr3_iter(0x1b, 0x08, 0x7f, bytes);
    // Text that was encoded twice has such characters behind others that are not ASCII; a terminal does not read it so.
    let high = memchr::memchr_iter(0xc2, bytes).filter(|&at| {
        matches!(bytes.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9f))
            && at
                .checked_sub(1)
                .is_none_or(|before| bytes[before].is_ascii())
            && bytes.get(at + 2).is_none_or(u8::is_ascii)
    });
    let mut reported = 0;
    for at in low.chain(high) {
        let line = subject.lines.of(at);
        if last_line == Some(line) || reported == MAX_REPORTED {
            continue;
        }
        last_line = Some(line);
        reported += 1;
        let Some(c) = subject.text[at..].chars().next() else {
            continue;
        };
        let message = format!(
            "Found a control character (U+{:04X}) that a terminal obeys.",
            u32::from(c)
        );
        findings.at(
            subject,
            at..at + c.len_utf8(),
            Draft::new(&rules::TERMINAL_CONTROLS, message),
        );
    }
}

/// Reports escapes in programs and commands that make what follows invisible.
fn concealing_escapes(subject: &Subject<'_>, findings: &mut Findings) {
    for at in memchr::memmem::find_iter(subject.lower.as_bytes(), b"[8m").take(MAX_REPORTED) {
        let before = subject.small(at.saturating_sub(6)..at);
        if ["\\033", "\\e", "\\x1b", "\\u001b", "\\u{1b}"]
            .iter()
            .any(|escape| before.ends_with(escape))
        {
            let message = "An escape makes text invisible on a terminal.";
            findings.at(
                subject,
                at..at + 3,
                Draft::new(&rules::TERMINAL_CONTROLS, message),
            );
        }
    }
}

/// Reports HTML elements with text that a page does not show.
fn hidden_elements(subject: &Subject<'_>, findings: &mut Findings) {
    let mut reported = 0;
    for at in memchr::memchr_iter(b'<', subject.lower.as_bytes()).take(20_000) {
        if reported == MAX_REPORTED {
            return;
        }
        if subject
            .lower
            .as_bytes()
            .get(at + 1)
            .is_none_or(|byte| !byte.is_ascii_alphabetic())
        {
            continue;
        }
        let tag = subject.small(at..at + 300);
        let Some((tag, rest)) = tag.split_once('>') else {
            continue;
        };
        if !tag.contains([':', ' ']) {
            continue;
        }
        let hides = has(
            tag,
            &[
                "display:none",
                "display: none",
                "visibility:hidden",
                "visibility: hidden",
                "font-size:0",
                "font-size: 0",
                "opacity:0;",
                "opacity: 0;",
                "opacity:0\"",
                "color:white",
                "color:#fff",
            ],
        ) || tag.ends_with(" hidden");
        let text = rest.split('<').next().unwrap_or(rest).trim();
        if hides && text.len() >= 12 && !subject.code.is_code(at) {
            reported += 1;
            let quoted = subject.excerpt(at + tag.len() + 1..at + tag.len() + 1 + text.len() + 2);
            let message = format!("A page does not show this text: `{quoted}`.");
            findings.at(
                subject,
                at..at + tag.len() + 1,
                Draft::new(&rules::HIDDEN_ELEMENT, message),
            );
        }
    }
}
