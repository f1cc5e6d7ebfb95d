//! The digest of rules: when the operating rules are cut, their most binding lines are kept apart (W29).

use super::cut::share;
use crate::body::Body;
use crate::compat::{POLICY_DIGEST, kept_with_digest, read_for_more, rules_omitted};
use crate::fragment::{FragmentPiece, FragmentSource, Text};
use chitin_contract::{DigestLines, PairRule};
use chitin_protocol::text::{is_js_whitespace, trim_js, utf16_len, utf16_prefix};
use std::ops::Range;

/// How long one line of a digest may be, in units.
const LINE_UNITS: usize = 240;

/// Words that make a line a rule, and a rule a binding one.
const BINDING: [&str; 11] = [
    "agents.md",
    "scoped",
    "required",
    "must",
    "never",
    "do not",
    "before subtree",
    "read scoped",
    "security",
    "secret",
    "credential",
];
/// Words that make a line a rule.
const RULES: [&str; 8] = [
    "owner",
    "test",
    "validation",
    "command",
    "commit",
    "push",
    "github",
    "pr",
];
/// The same for scripts without spaces between words.
const BINDING_SIGNS: [&str; 7] = ["🔴", "禁止", "嚴禁", "不得", "絕不", "絕對不", "切勿"];
const RULE_SIGNS: [&str; 4] = ["必須", "務必", "一律", "紅線"];

/// A line that may go into the digest.
struct Candidate {
    text: String,
    units: usize,
    binding: bool,
    /// The bytes of the embedded text that it was made of.
    range: Range<usize>,
}

/// Cuts the operating rules to `limit`: head, digest and tail.
pub(super) fn with_digest(
    text: &Body,
    name: &str,
    limit: usize,
    pairs: PairRule,
    lines: DigestLines,
) -> Body {
    let whole = text.text();
    let candidates = candidates(&whole, lines);
    let (mut head, mut tail) = (share(limit, 0.45), share(limit, 0.15));
    let mut room = share(limit, 0.35);
    loop {
        let picked = pick(&candidates, room);
        // Without any room the digest says nothing of what it leaves out either.
        let candidates = if room > 0 { &candidates[..] } else { &[] };
        let body = assemble(text, name, head, tail, candidates, &picked, pairs);
        if body.units <= limit {
            return body;
        }
        let over = body.units - limit;
        if tail > 0 {
            tail = tail.saturating_sub(over);
        } else if head > 1 {
            head = head.saturating_sub(over).max(1);
        } else if room > 0 {
            room = room.saturating_sub(over);
        } else {
            // Not even the markers fit: no cut falls inside a character here.
            return body.head(limit, PairRule::LeftOut);
        }
    }
}

fn assemble(
    text: &Body,
    name: &str,
    head: usize,
    tail: usize,
    candidates: &[Candidate],
    picked: &[usize],
    pairs: PairRule,
) -> Body {
    let mut digest = Body::default();
    for &at in picked {
        let candidate = &candidates[at];
        if !digest.is_empty() {
            digest.push(FragmentPiece::ours("\n"));
        }
        digest.push(rewritten(text, candidate));
    }
    let omitted = candidates.len() - picked.len();
    let digest_units = digest.units;
    let mut parts = vec![
        text.head(head, pairs),
        Body::of(FragmentPiece::made(read_for_more(name))),
    ];
    if !digest.is_empty() {
        parts.push(Body::of(FragmentPiece::ours(POLICY_DIGEST)));
        parts.push(digest);
    }
    if omitted > 0 {
        parts.push(Body::of(FragmentPiece::made(rules_omitted(omitted))));
    }
    parts.push(Body::of(FragmentPiece::made(kept_with_digest(
        name,
        head,
        digest_units,
        tail,
        text.units,
    ))));
    parts.push(text.tail(tail, pairs));
    let mut joined = Body::default();
    for part in parts {
        if part.is_empty() {
            continue;
        }
        if !joined.is_empty() {
            joined.push(FragmentPiece::ours("\n"));
        }
        joined.append(part);
    }
    joined
}

/// Makes the piece of a line, with the bytes of the file that it was made of.
fn rewritten(text: &Body, candidate: &Candidate) -> FragmentPiece {
    let source = match text.pieces.first().map(|piece| piece.source) {
        // What stands behind the file's own text is a marker of ours.
        Some(FragmentSource::File { start, end }) if start + candidate.range.end <= end => {
            FragmentSource::Rewritten {
                start: start + candidate.range.start,
                end: start + candidate.range.end,
            }
        }
        Some(
            FragmentSource::File { .. }
            | FragmentSource::Ours
            | FragmentSource::Given
            | FragmentSource::Rewritten { .. },
        )
        | None => FragmentSource::Ours,
    };
    FragmentPiece {
        text: Text::Shared(candidate.text.as_str().into()),
        source,
    }
}

/// Picks what fits into `room`: binding lines first, then the others; the result is in the order of the text.
fn pick(candidates: &[Candidate], room: usize) -> Vec<usize> {
    let mut picked = Vec::new();
    let mut used = 0;
    for binding in [true, false] {
        for (at, candidate) in candidates.iter().enumerate() {
            if candidate.binding != binding {
                continue;
            }
            let cost = candidate.units + usize::from(!picked.is_empty());
            if used + cost <= room {
                used += cost;
                picked.push(at);
            }
        }
    }
    picked.sort_unstable();
    picked
}

fn candidates(text: &str, lines: DigestLines) -> Vec<Candidate> {
    let lead = lines == DigestLines::WithLead;
    let mut found = Vec::new();
    let mut before: Option<(String, usize)> = None;
    let mut offset = 0;
    for line in text.split('\n') {
        let start = offset;
        offset += line.len() + 1;
        let end = start + line.len();
        let tidy = tidied(line.strip_suffix('\r').unwrap_or(line));
        if tidy.is_empty() || lead && (tidy.starts_with("```") || tidy.starts_with("~~~")) {
            before = None;
            continue;
        }
        let binding = has_word(&tidy, &BINDING) || lead && has_sign(&tidy, &BINDING_SIGNS);
        let is_rule = binding || has_word(&tidy, &RULES) || lead && has_sign(&tidy, &RULE_SIGNS);
        if !is_rule && !is_structure(&tidy) {
            before = lead.then_some((tidy, start));
            continue;
        }
        let (text, from) = match before.take() {
            Some((prose, from)) => (format!("{prose}\n{tidy}"), from),
            None => (tidy, start),
        };
        found.push(Candidate {
            units: utf16_len(&text),
            text,
            binding,
            range: from..end,
        });
    }
    found
}

/// Trims a line, makes each run of blanks one, and bounds its length.
fn tidied(line: &str) -> String {
    let mut tidy = String::with_capacity(line.len().min(4 * LINE_UNITS));
    for word in trim_js(line)
        .split(is_js_whitespace)
        .filter(|word| !word.is_empty())
    {
        if !tidy.is_empty() {
            tidy.push(' ');
        }
        tidy.push_str(word);
    }
    if utf16_len(&tidy) > LINE_UNITS {
        let kept = utf16_prefix(&tidy, LINE_UNITS - 1).len();
        tidy.truncate(kept);
        tidy.push('…');
    }
    tidy
}

/// Tells whether a line is a heading, a bullet or a numbered line.
fn is_structure(line: &str) -> bool {
    let bytes = line.as_bytes();
    let hashes = bytes.iter().take_while(|byte| **byte == b'#').count();
    if (1..=6).contains(&hashes) {
        return bytes.get(hashes) == Some(&b' ');
    }
    if matches!(bytes.first(), Some(b'-' | b'*' | b'+')) {
        return bytes.get(1) == Some(&b' ');
    }
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    digits > 0
        && matches!(bytes.get(digits), Some(b'.' | b')'))
        && bytes.get(digits + 1) == Some(&b' ')
}

/// Tells whether one of the words stands in the line as a whole word, in any letter case.
fn has_word(line: &str, words: &[&str]) -> bool {
    let bytes = line.as_bytes();
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    words.iter().any(|word| {
        bytes.windows(word.len()).enumerate().any(|(at, window)| {
            window.eq_ignore_ascii_case(word.as_bytes())
                && !is_word(at.checked_sub(1).and_then(|before| bytes.get(before)))
                && !is_word(bytes.get(at + word.len()))
        })
    })
}

fn has_sign(line: &str, signs: &[&str]) -> bool {
    signs.iter().any(|sign| line.contains(sign))
}
