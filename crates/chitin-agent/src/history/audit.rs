//! Whether a summary says what it must (C37).

use crate::compat::SUMMARY_SECTIONS;
use chitin_contract::SummaryRules;
use chitin_protocol::text::{trim_js, utf16_len};
use serde::Serialize;
use std::collections::HashSet;

/// What a summary is checked against.
#[derive(Debug, Clone, Copy)]
pub struct Audit<'a> {
    /// Identifiers that it must repeat exactly.
    pub identifiers: &'a [String],
    /// What the user asked for last.
    pub latest_ask: Option<&'a str>,
    /// Whether identifiers are looked for.
    pub policy: IdentifierPolicy,
}

/// Whether identifiers are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifierPolicy {
    /// Each one must be there.
    Strict,
    /// They are not looked for.
    Off,
}

/// What a check of a summary found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Whether nothing is missing.
    pub ok: bool,
    /// What is missing.
    pub reasons: Vec<String>,
}

/// How many missing identifiers are named.
const NAMED: usize = 3;
/// How many words of the last ask are looked for.
const ASK_WORDS: usize = 12;
/// From so many words on, two must be there.
const TWO_WORDS_FROM: usize = 3;

/// Checks a summary: sections, identifiers, and the user's last ask.
pub fn audit(summary: &str, against: Audit<'_>) -> Findings {
    let lines: HashSet<&str> = summary.split('\n').map(trim_js).collect();
    let mut reasons: Vec<String> = SUMMARY_SECTIONS
        .iter()
        .filter(|section| !lines.contains(**section))
        .map(|section| format!("missing_section:{section}"))
        .collect();
    if against.policy == IdentifierPolicy::Strict {
        let missing = against
            .identifiers
            .iter()
            .filter(|one| !names(summary, one));
        let missing: Vec<&str> = missing.take(NAMED).map(String::as_str).collect();
        if !missing.is_empty() {
            reasons.push(format!("missing_identifiers:{}", missing.join(",")));
        }
    }
    if against
        .latest_ask
        .is_some_and(|ask| !reflects(summary, ask))
    {
        reasons.push("latest_user_ask_not_reflected".to_owned());
    }
    Findings {
        ok: reasons.is_empty(),
        reasons,
    }
}

fn is_hex(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn names(summary: &str, identifier: &str) -> bool {
    if is_hex(identifier) {
        return summary.to_uppercase().contains(&identifier.to_uppercase());
    }
    summary.contains(identifier)
}

/// Tells whether a summary has enough of the words of an ask.
fn reflects(summary: &str, ask: &str) -> bool {
    let mut asked: Vec<String> = Vec::new();
    for word in meaningful_words(ask) {
        if asked.len() < ASK_WORDS && !asked.contains(&word) {
            asked.push(word);
        }
    }
    if asked.is_empty() {
        return true;
    }
    let said: HashSet<String> = words(summary).collect();
    let found = asked.iter().filter(|word| said.contains(*word)).count();
    found >= if asked.len() >= TWO_WORDS_FROM { 2 } else { 1 }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Returns the words that carry meaning; if there are none, all of them.
fn meaningful_words(text: &str) -> Vec<String> {
    let all: Vec<String> = words(text).collect();
    let some: Vec<String> = all
        .iter()
        .filter(|word| utf16_len(word) > 1 && !FILLERS.contains(&word.as_str()))
        .cloned()
        .collect();
    if some.is_empty() { all } else { some }
}

/// Words that say nothing about what is asked for.
const FILLERS: &[&str] = &[
    "a", "about", "after", "again", "all", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "but", "by", "can", "could", "did", "do", "does", "for", "from", "had",
    "has", "have", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "let", "may", "me", "might", "must", "my", "no", "not", "now", "of", "on", "or",
    "our", "please", "she", "should", "so", "some", "such", "that", "the", "their", "them", "then",
    "there", "these", "they", "thing", "things", "this", "those", "to", "us", "was", "we", "were",
    "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// Finds identifiers that a summary must repeat: long hexadecimal numbers, addresses, paths, hosts with a port, long
/// numbers.
pub fn identifiers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(char::is_whitespace) {
        let word = word.trim_start_matches(['(', '"', '\'', '`', '[', '{', '<']);
        let word = word.trim_end_matches([
            ')', ']', '}', '"', '\'', '`', ',', ';', ':', '.', '!', '?', '<', '>',
        ]);
        if word.len() < 4 || !is_identifier(word) {
            continue;
        }
        let word = if is_hex(word) {
            word.to_uppercase()
        } else {
            word.to_owned()
        };
        if !found.contains(&word) {
            found.push(word);
        }
        if found.len() == SummaryRules::IDENTIFIERS {
            break;
        }
    }
    found
}

fn is_identifier(word: &str) -> bool {
    let number = word.len() >= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    let address = word.starts_with("http://") || word.starts_with("https://");
    let path = word.starts_with('/') && word[1..].contains('/') && !word.starts_with("//");
    let drive = word.as_bytes().get(1..3) == Some(b":\\");
    let port = word.rsplit_once(':').is_some_and(|(host, port)| {
        host.contains('.')
            && (1..=5).contains(&port.len())
            && port.bytes().all(|b| b.is_ascii_digit())
    });
    is_hex(word) || number || address || path || drive || port
}
