//! Phrases of prompt injection, and files that are to be read and obeyed by themselves.

use super::comments::comments;
use super::wording;
use crate::finding::{Draft, Findings};
use crate::names;
use crate::phrases::{Hit, Meaning};
use crate::rules;
use crate::subject::{FileRole, Subject, word_start};

/// Words of lines that warn of such phrases instead of using them.
const WARNING_WORDS: &[&str] = &[
    "injection",
    "jailbreak",
    "untrusted",
    "suspicious",
    "malicious",
    "red flag",
    "attack",
    "beware",
    "watch for",
    "watch out",
    "refuse",
    "reject",
    "such as",
    "e.g.",
    "for example",
    "never follow",
    "not follow",
    "never obey",
    "tries to",
    "try to",
    "trying to",
    "attempt",
    "asks you",
    "ask you",
    "asking you",
    "tells you",
    "tell you",
    "telling you",
    "says",
    "saying",
    "claims",
    "claiming",
    "if someone",
    "if anyone",
    "instructs you",
    "phrases like",
    "text like",
    "messages like",
];

/// How far up a list is followed to the line that introduces it.
const MAX_LOOKBACK: usize = 16;

pub(super) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let mut hidden = None;
    let mut last = None;
    for hit in &subject.hits {
        let rule = match hit.meaning {
            Meaning::Override | Meaning::Conceal => &rules::INJECTION_PHRASE,
            Meaning::AutoRead => &rules::AUTO_READ,
            Meaning::Sign(sign) if wording::is_injection(subject, hit, sign) => {
                &rules::INJECTION_PHRASE
            }
            Meaning::Sign(_)
            | Meaning::Order
            | Meaning::ProtectionOff
            | Meaning::Fetch
            | Meaning::Decode
            | Meaning::RunText
            | Meaning::Paste
            | Meaning::Password
            | Meaning::FillIn
            | Meaning::Todo => continue,
        };
        // What stands in a comment was reported with the comment.
        let hidden = hidden.get_or_insert_with(|| comments(subject));
        let after = hidden.partition_point(|comment| comment.end <= hit.span.start);
        let in_comment = subject.is_markdown()
            && hidden
                .get(after)
                .is_some_and(|comment| comment.start <= hit.span.start);
        if in_comment
            || is_quoted(subject, hit)
            || is_warning(subject, hit)
            || is_harmless(subject, hit)
        {
            continue;
        }
        let line = subject.lines.of(hit.span.start);
        if last.replace((rule.code, line)) == Some((rule.code, line)) {
            continue;
        }
        let quoted = subject.excerpt(hit.span.clone());
        let message = match hit.meaning {
            Meaning::AutoRead => {
                format!("`{quoted}` is typical of text that makes a file persistent.")
            }
            _ => format!("`{quoted}` is a prompt injection phrase."),
        };
        findings.at(subject, hit.span.clone(), Draft::new(rule, message));
    }
    if matches!(subject.role, FileRole::Skill | FileRole::Memory) {
        standing_orders(subject, findings);
    }
}

/// `secretly` is a word like others unless something is done secretly.
fn is_harmless(subject: &Subject<'_>, hit: &Hit) -> bool {
    let phrase = &subject.lower[hit.span.clone()];
    if phrase.ends_with("tell the user") || phrase.ends_with("tell your human") {
        // Not telling somebody to do something, or how, is another matter.
        let rest = subject.small(hit.span.end..hit.span.end + 12);
        return [" to ", " how ", " what to "]
            .iter()
            .any(|words| rest.starts_with(words));
    }
    if phrase != "secretly" {
        return false;
    }
    let rest = subject.lower[hit.span.end..].trim_start();
    ![
        "send",
        "run",
        "execute",
        "upload",
        "copy",
        "post",
        "forward",
        "read",
        "install",
        "store",
        "exfiltrate",
    ]
    .iter()
    .any(|verb| rest.starts_with(verb))
}

fn is_quoted(subject: &Subject<'_>, hit: &Hit) -> bool {
    let before = subject.text[..hit.span.start].chars().next_back();
    subject.code.is_code(hit.span.start)
        || before.is_some_and(|c| matches!(c, '"' | '\'' | '“' | '‘' | '«' | '„' | '`'))
}

/// Tells whether the line, the line that introduces its list, or the heading above warns of such phrases.
fn is_warning(subject: &Subject<'_>, hit: &Hit) -> bool {
    let warns = |line: &str| WARNING_WORDS.iter().any(|word| line.contains(word));
    let number = subject.lines.of(hit.span.start);
    if warns(subject.near(hit.span.start)) {
        return true;
    }
    let mut above = number;
    for _ in 0..MAX_LOOKBACK {
        let Some(next) = above.checked_sub(1) else {
            return false;
        };
        above = next;
        let text = subject.beginning_of(above);
        if text.starts_with('#') || text.ends_with(':') || text.ends_with(":**") {
            return warns(text);
        }
    }
    false
}

/// In skills and memory: a line that has an unusual file read at every start.
fn standing_orders(subject: &Subject<'_>, findings: &mut Findings) {
    const TIMES: &[&str] = &[
        "every session",
        "each session",
        "every startup",
        "each startup",
        "every start-up",
        "on every start",
        "after every compaction",
        "after each compaction",
        "every heartbeat",
    ];
    for at in memchr::memmem::find_iter(subject.lower.as_bytes(), b".md") {
        let line = subject.near(at);
        if !line.contains("read") || !TIMES.iter().any(|time| line.contains(time)) {
            continue;
        }
        let start = word_start(subject.text, at, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.')
        });
        let name = &subject.text[start..at + 3];
        let base = name.rsplit('/').next().unwrap_or(name);
        let usual = names::is_known(base)
            || name.contains("memory/")
            || base.eq_ignore_ascii_case("SKILL.md");
        if usual
            || is_warning(
                subject,
                &Hit {
                    meaning: Meaning::AutoRead,
                    span: start..at + 3,
                },
            )
        {
            continue;
        }
        let quoted = subject.excerpt(start..at + 3);
        let message = format!("`{quoted}` is to be read at every start, by order of this file.");
        findings.at(
            subject,
            start..at + 3,
            Draft::new(&rules::AUTO_READ, message),
        );
    }
}
