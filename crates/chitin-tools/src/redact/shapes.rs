//! Shapes that keys of well-known services have.
//!
//! All of them stand within one line, except blocks of private keys, which are followed line by line. A stream holds back the
//! last line until it ends; a line that does not end is cut where no key can be.

use super::MARKER;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::{LazyLock, OnceLock};

/// A line that is longer is not waited for.
const LONGEST_LINE: usize = 16 * 1024;

/// So much of a cut line is looked at again with what follows; no key takes more bytes to be recognised.
const OVERLAP: usize = 512;

/// A block of a private key that does not end after so many lines is none.
const LONGEST_BLOCK_LINES: usize = 200;

/// The group `mixed` and the group `header` count only with a digit in them, which tells them from words.
const SHAPES: [&str; 9] = [
    // OpenAI, Anthropic and those who follow them; Stripe.
    r"\b(?<mixed>(?:sk|rk)[-_][A-Za-z0-9_-]{20,})",
    // GitHub, GitLab, npm, Hugging Face.
    r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36,}|hf_[A-Za-z0-9]{30,})",
    // Slack.
    r"\b(?:xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
    // Amazon, Google.
    r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}\b|AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,})",
    // JSON web tokens.
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    // age.
    r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}",
    // Bots of Telegram.
    r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    // Headers.
    r"\b(?i:bearer|authorization:[ \t]*basic)[ \t]+(?<header>[A-Za-z0-9._~+/=-]{16,})",
    // Passwords in addresses.
    r"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@\[\]]{0,200}:(?<password>[^/\s@]{3,200})@",
];

// All of these are constant; a test compiles them. Without them the exact values are still taken out.
static KEYS: OnceLock<Option<Regex>> = OnceLock::new();
static BLOCK_BEGINS: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"));
static BLOCK_ENDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"));

/// Compiles a shape over bytes: keys are ASCII, and classes of all the world's letters, two hundred times over, would cost
/// megabytes. What is found begins and ends beside ASCII, so it never splits a character.
fn compiled(shape: &str) -> Option<Regex> {
    RegexBuilder::new(shape).unicode(false).build().ok()
}

/// Takes keys out of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct ShapeStream {
    /// The line so far.
    held: String,
    /// The line so far ends inside a key whose marker is out: what continues it goes.
    in_key: bool,
    /// How many lines of a private key were left out, while in one; its marker is out.
    block: Option<usize>,
}

impl ShapeStream {
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = self.whole_lines(text, &mut out);
        while let Some(at) = rest.find('\n') {
            self.held.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let line = std::mem::take(&mut self.held);
            self.line(&line, &mut out);
            self.end_of_line(&mut out);
        }
        self.held.push_str(rest);
        if self.held.len() > LONGEST_LINE {
            self.cut(&mut out);
        }
        out
    }

    /// Gives out lines that are all there at once, where no private key is about: no other key goes over the end of a line.
    /// Returns what is left.
    fn whole_lines<'t>(&mut self, text: &'t str, out: &mut String) -> &'t str {
        let Some(last) = text.rfind('\n') else {
            return text;
        };
        let (lines, rest) = text.split_at(last + 1);
        if self.in_key || self.block.is_some() {
            return text;
        }
        let held = std::mem::take(&mut self.held);
        let joined;
        let lines = if held.is_empty() {
            lines
        } else {
            joined = held + lines;
            &joined
        };
        if find(&BLOCK_BEGINS, lines).is_some() {
            // What was held goes back; the lines are taken one by one.
            let length = lines.len() - (last + 1);
            lines[..length].clone_into(&mut self.held);
            return text;
        }
        keys(lines, out);
        rest
    }

    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        let line = std::mem::take(&mut self.held);
        self.line(&line, &mut out);
        out
    }

    /// Gives out a line that is all there.
    fn line(&mut self, line: &str, out: &mut String) {
        let mut rest = line;
        if std::mem::take(&mut self.in_key) {
            rest = rest.trim_start_matches(is_key_character);
        }
        loop {
            if self.block.is_some() {
                let Some(end) = find(&BLOCK_ENDS, rest) else {
                    return;
                };
                rest = &rest[end.1..];
                self.block = None;
            }
            let Some(begin) = find(&BLOCK_BEGINS, rest) else {
                keys(rest, out);
                return;
            };
            keys(&rest[..begin.0], out);
            out.push_str(MARKER);
            rest = &rest[begin.1..];
            self.block = Some(0);
        }
    }

    fn end_of_line(&mut self, out: &mut String) {
        self.block = match self.block {
            Some(lines) if lines < LONGEST_BLOCK_LINES => Some(lines + 1),
            Some(_) | None => {
                out.push('\n');
                None
            }
        };
    }

    /// Gives out the beginning of a line whose end may never come.
    fn cut(&mut self, out: &mut String) {
        let mut until = self.held.len() - OVERLAP;
        while !self.held.is_char_boundary(until) {
            until -= 1;
        }
        if self.in_key {
            // While a key goes on there is nothing to look at again.
            let rest = self.held.trim_start_matches(is_key_character);
            let gone = self.held.len() - rest.len();
            self.in_key = rest.is_empty();
            self.held.drain(..gone);
            return;
        }
        // A key may reach over the cut, and a block may begin or end there.
        let edge = [
            find(&BLOCK_BEGINS, &self.held),
            find(&BLOCK_ENDS, &self.held),
        ]
        .into_iter()
        .flatten()
        .chain(places(&self.held))
        .find(|(start, end)| *start < until && *end > until);
        let (until, in_key) = match edge {
            Some((_, end)) => (end, end == self.held.len()),
            None => (until, false),
        };
        let rest = self.held.split_off(until);
        let line = std::mem::replace(&mut self.held, rest);
        self.line(&line, out);
        self.in_key = in_key && self.block.is_none();
    }
}

fn find(regex: &LazyLock<Option<Regex>>, text: &str) -> Option<(usize, usize)> {
    // Where there is no such line, nothing is compiled either.
    if !text.contains("-----") {
        return None;
    }
    let found = LazyLock::force(regex).as_ref()?.find(text.as_bytes())?;
    Some((found.start(), found.end()))
}

/// What every shape holds, in small letters. Most text has none of it, and needs no expressions, which take their time to compile.
const MARKS: [&str; 25] = [
    "sk-",
    "sk_",
    "rk-",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "npm_",
    "hf_",
    "xox",
    "xapp-",
    "akia",
    "asia",
    "aiza",
    "ya29.",
    "eyj",
    "age-secret-key-",
    "bearer",
    "authorization:",
    ":aa",
    "://",
];
/// A longer text is worth the expressions.
const LONGEST_LOOKED_AT: usize = 32 * 1024;

/// Tells whether a text may hold a key.
fn may_hold(text: &str) -> bool {
    let mut starts = text.bytes().enumerate();
    starts.any(|(at, byte)| {
        let first = byte.to_ascii_lowercase();
        let rest = &text.as_bytes()[at..];
        MARKS.iter().any(|mark| {
            mark.as_bytes()[0] == first
                && rest
                    .get(..mark.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
        })
    })
}

/// Gives out a text without the keys in it.
fn keys(text: &str, out: &mut String) {
    let mut at = 0;
    for (start, end) in places(text) {
        out.push_str(&text[at..start]);
        out.push_str(MARKER);
        at = end;
    }
    out.push_str(&text[at..]);
}

/// Finds the keys in a text, in order.
fn places(text: &str) -> Vec<(usize, usize)> {
    let keys = match KEYS.get() {
        Some(keys) => keys,
        None if text.len() < LONGEST_LOOKED_AT && !may_hold(text) => return Vec::new(),
        None => KEYS.get_or_init(|| compiled(&SHAPES.join("|"))),
    };
    let Some(regex) = keys else {
        return Vec::new();
    };
    // Most text has none; the search for the whole match is many times cheaper than that for its groups.
    if !regex.is_match(text.as_bytes()) {
        return Vec::new();
    }
    regex
        .captures_iter(text.as_bytes())
        .filter_map(|captures| {
            let mixed = captures.name("mixed").or_else(|| captures.name("header"));
            let looks_random = mixed.is_none_or(|m| m.as_bytes().iter().any(u8::is_ascii_digit));
            let place = mixed
                .or_else(|| captures.name("password"))
                .or_else(|| captures.get(0))?;
            looks_random.then(|| (place.start(), place.end()))
        })
        .collect()
}

const fn is_key_character(c: char) -> bool {
    matches!(c, 'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' | '.' | '~' | '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BEGINS, BLOCK_ENDS, SHAPES, compiled};

    #[test]
    fn every_shape_compiles() {
        assert!(compiled(&SHAPES.join("|")).is_some());
        assert!(BLOCK_BEGINS.is_some() && BLOCK_ENDS.is_some());
    }
}
