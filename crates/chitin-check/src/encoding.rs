//! The form of the text: encoding, marks, line ends.

use super::finding::{Draft, Findings, Fix};
use super::rules;
use super::subject::Subject;

/// Reports what is odd about the bytes of a text.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if let Some(bytes) = subject.invalid {
        invalid_utf8(subject, bytes, findings);
    }
    if subject.text.starts_with('\u{feff}') {
        let draft = Draft::new(
            &rules::BYTE_ORDER_MARK,
            "The file starts with a byte order mark.",
        )
        .fix(Fix::StripByteOrderMark);
        findings.at(subject, 0..3, draft);
    }
    let bytes = subject.text.as_bytes();
    if let Some(first) = memchr::memchr(0, bytes) {
        let count = memchr::memchr_iter(0, bytes).count();
        let message = if count == 1 {
            "Found one NUL character.".to_owned()
        } else {
            format!("Found {count} NUL characters; this is the first.")
        };
        findings.at(
            subject,
            first..first + 1,
            Draft::new(&rules::NUL_BYTES, message),
        );
    }
    let returns = memchr::memmem::find_iter(bytes, b"\r\n").count();
    if returns > 0 {
        let message = format!("{returns} lines end in CRLF.");
        findings.whole(subject, Draft::new(&rules::CARRIAGE_RETURNS, message));
    }
}

fn invalid_utf8(subject: &Subject<'_>, bytes: &[u8], findings: &mut Findings) {
    let Err(error) = std::str::from_utf8(bytes) else {
        return;
    };
    let at = error.valid_up_to();
    let value = bytes.get(at).copied().unwrap_or(0);
    let count = bytes
        .utf8_chunks()
        .filter(|c| !c.invalid().is_empty())
        .count();
    let more = match count {
        0 | 1 => "",
        2 => ", nor is one more place",
        _ => ", nor are more places further on",
    };
    let message = format!("The byte `0x{value:02x}` at offset {at} is not UTF-8{more}.");
    // Up to here text and bytes are the same; U+FFFD stands for what follows.
    findings.at(
        subject,
        at..at + 3,
        Draft::new(&rules::INVALID_UTF8, message),
    );
}
