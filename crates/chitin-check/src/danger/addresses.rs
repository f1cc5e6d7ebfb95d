//! Addresses: hosts that look like others or have no name, files that are to be run, queries that take data along.

use super::{Danger, outflow, report};
use crate::commands::feeds_interpreter;
use crate::finding::Findings;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;
use std::ops::Range;

/// More addresses than this in one text are not looked at.
const MAX_ADDRESSES: usize = 5_000;

/// No address is longer.
const MAX_ADDRESS: usize = 2_048;

/// Endings of programs that people start by hand.
const PROGRAMS: &[&str] = &[
    ".dmg",
    ".pkg",
    ".exe",
    ".msi",
    ".scr",
    ".bat",
    ".apk",
    ".appimage",
    ".jar",
];

/// Hosts where anybody leaves text that may change at any time.
const PASTES: &[&str] = &[
    "glot.io",
    "rentry.co",
    "rentry.org",
    "hastebin",
    "ghostbin",
    "dpaste",
    "termbin.com",
    "ix.io",
    "0x0.st",
    "transfer.sh",
    "controlc.com",
];

/// How many lines belong to one act of sending.
const LINES_TOGETHER: usize = 12;

/// Reports addresses; `sent` has the lines on which something is said to be sent already.
pub(super) fn check(subject: &Subject<'_>, mut sent: Vec<usize>, findings: &mut Findings) {
    let mut is_new = |at: usize| {
        let line = subject.lines.of(at);
        let known = sent
            .iter()
            .any(|known| known.abs_diff(line) <= LINES_TOGETHER);
        sent.push(line);
        !known
    };
    for at in memchr::memmem::find_iter(subject.lower.as_bytes(), b"://").take(MAX_ADDRESSES) {
        let rest = subject.small(at + 3..at + 3 + MAX_ADDRESS);
        let end = rest.find(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | '<' | '|' | ';')
        });
        let address = &rest[..end.unwrap_or(rest.len())];
        let host = address
            .split(['/', ':', '?', '#'])
            .next()
            .unwrap_or_default();
        let span = at + 3..at + 3 + address.len();
        if subject.is_described(at) {
            continue;
        }
        if let Some(danger) = outflow::judge(subject, host, &span)
            && is_new(at)
        {
            report(subject, danger, findings);
        } else if let Some(danger) = judge(subject, host, address, span) {
            report(subject, danger, findings);
        }
    }
    for (host, span) in outflow::connections(subject) {
        let danger = outflow::judge(subject, host, &span);
        if let Some(danger) = danger.filter(|_| is_new(span.start)) {
            report(subject, danger, findings);
        }
    }
}

fn judge(subject: &Subject<'_>, host: &str, address: &str, span: Range<usize>) -> Option<Danger> {
    if host.is_empty() {
        return None;
    }
    let around = |before: usize, after: usize| {
        subject.small(span.start.saturating_sub(before)..span.end + after)
    };
    if mixes_scripts(host) {
        return Some(Danger::new(
            &rules::ADDRESS,
            span,
            "has letters of two scripts in its name, so that it looks like another",
        ));
    }
    if host.contains("xn--")
        && has(
            around(160, 160),
            &[
                "sign in", "signin", "log in", "login", "password", "pay", "token", "wallet",
            ],
        )
    {
        return Some(Danger::new(
            &rules::ADDRESS,
            span,
            "is written so that its real letters do not show",
        ));
    }
    if is_public_number(host)
        && has(
            around(100, 100),
            &[
                "wget", "curl -o", "curl -l", "curl -s", "curl -f", "download", "| sh", "| bash",
                "tar x", "chmod",
            ],
        )
        && has(
            around(100, 160),
            &[
                "./", "run ", "start", "| sh", "| bash", "/tmp/", "chmod", "execute", " -o",
                "install",
            ],
        )
    {
        return Some(Danger::new(
            &rules::ADDRESS,
            span,
            "is a download from a number instead of a name",
        ));
    }
    let command = subject.command_around(span.start);
    let line = subject.small(command.clone());
    if line.contains('|')
        && feeds_interpreter(line.get(span.end - command.start..).unwrap_or_default())
        && !has(line, &["curl", "wget", "echo ", "irm", "iwr", "invoke-"])
    {
        let span = span.start..command.end;
        return Some(Danger::new(
            &rules::DOWNLOAD_AND_RUN,
            span,
            "is downloaded and run",
        ));
    }
    let path = address.split(['?', '#']).next().unwrap_or(address);
    if subject.is_markdown() && PROGRAMS.iter().any(|end| path.ends_with(end)) {
        let text = subject.small(subject.paragraph_around(span.start));
        let forced = has(
            text,
            &[
                "before you",
                "first",
                "needs",
                "must",
                "won't work",
                "not work",
                "no command works",
                "without the",
                "prerequisite",
                "important",
                "do not continue",
                "fails with",
                "required",
            ],
        );
        let run = has(
            text,
            &[
                "run it",
                "run http",
                "and run",
                "open it",
                "start it",
                "install it",
                "install the",
                "administrator",
                "double-click",
                "execute",
                "launch",
            ],
        );
        if forced && run {
            return Some(Danger::new(
                &rules::PREREQUISITE,
                span,
                "is a program that somebody is to download and run first",
            ));
        }
    }
    let paste = host.split('.').any(|label| label.starts_with("paste"))
        || has(host, PASTES)
        || (host.starts_with("gist.") && path.contains("/raw"));
    if paste
        && has(
            around(160, 120),
            &[
                "copy", "run it", "terminal", "execute", "curl", "wget", "| sh", "| bash", "<(",
                "paste it",
            ],
        )
    {
        return Some(Danger::new(
            &rules::PREREQUISITE,
            span,
            "is text that anybody may change, and is to be run",
        ));
    }
    if takes_data(subject, address, &span) {
        return Some(Danger::new(
            &rules::EXFILTRATION_IMAGE,
            span,
            "is an address that takes data along",
        ));
    }
    None
}

/// Tells whether a label of a host has Latin letters beside Cyrillic or Greek ones, or full-width forms.
fn mixes_scripts(host: &str) -> bool {
    if host.is_ascii() {
        return false;
    }
    host.split('.').any(|label| {
        let latin = label.chars().any(|c| c.is_ascii_alphabetic());
        let other = label
            .chars()
            .any(|c| matches!(c, '\u{370}'..='\u{52f}' | '\u{13a0}'..='\u{13ff}'));
        let wide = label.chars().any(|c| matches!(c, '\u{ff00}'..='\u{ff5e}'));
        (latin && other) || wide
    })
}

/// Tells whether a host is a number that is not of a private network, in any notation.
fn is_public_number(host: &str) -> bool {
    if host.starts_with("0x") || (host.len() >= 8 && host.bytes().all(|b| b.is_ascii_digit())) {
        return true;
    }
    let parts: Vec<u8> = host
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect();
    let dots = host.bytes().filter(|&b| b == b'.').count();
    let [a, b, _, _] = parts[..] else {
        return false;
    };
    let private = matches!(
        (a, b),
        (0 | 10 | 127, _) | (192, 168) | (172, 16..=31) | (169, 254)
    );
    dots == 3 && !private
}

/// Tells whether an address ends where data goes in, and the text says which.
fn takes_data(subject: &Subject<'_>, address: &str, span: &Range<usize>) -> bool {
    let Some((_, query)) = address.split_once('?') else {
        return false;
    };
    let open = query.ends_with('=') || has(query, &["=base64", "=data", "=secret", "=encoded"]);
    if !open || !subject.is_markdown() {
        return false;
    }
    let text = subject.small(subject.paragraph_around(span.start));
    has(text, &["encoded", "append", "add ", "followed by"])
        && has(
            text,
            &[
                "last message",
                "conversation",
                "api key",
                "secret",
                "memory",
                "cookies",
                "password",
                "the user said",
                "credentials",
            ],
        )
}
