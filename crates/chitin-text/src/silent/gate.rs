//! Words of a stream, held back as long as they could mean "say nothing" (R71).

use super::{
    behind_token, is_envelope, is_silent_answer, spoken, starts_with_token, strip_leading,
};
use crate::compat::NO_REPLY;
use chitin_contract::{OutboundRules, Silence};
use chitin_protocol::text::{is_js_whitespace, trim_js};

/// How much is held back at most. What is longer is no silence that a model would write.
const MOST_HELD: usize = 1024;

/// Takes the deltas of an answer and gives what may be shown. What was shown, put together, is what [`spoken`] says of the
/// whole: no token is ever seen, not even for a moment, and no word is lost.
#[derive(Debug)]
pub struct SilentGate {
    rules: OutboundRules,
    /// What came and was neither shown nor dropped.
    held: String,
    /// Whether it is decided what the answer begins with.
    open: bool,
    /// Whether something was shown.
    shown: bool,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateEnding {
    /// What is still to be shown.
    pub rest: String,
    /// Whether nothing was shown and nothing is to be: the answer means "say nothing".
    pub silent: bool,
}

impl SilentGate {
    /// Begins with an answer.
    pub fn new(rules: OutboundRules) -> Self {
        Self {
            rules,
            held: String::new(),
            open: false,
            shown: false,
        }
    }

    /// Takes a delta; returns what may be shown of what came so far and was not shown yet.
    pub fn push(&mut self, delta: &str) -> String {
        self.held.push_str(delta);
        if !self.open && !self.begin() {
            return String::new();
        }
        self.show()
    }

    /// Decides what the answer begins with. Tells whether that is decided.
    fn begin(&mut self) -> bool {
        if self.held.len() <= MOST_HELD && may_be_silent(&self.held, &self.rules) {
            return false;
        }
        let begun = if starts_with_token(&self.held, &self.rules) {
            strip_leading_only(&self.held)
        } else {
            self.held.trim_start_matches(is_js_whitespace)
        };
        self.held = begun.to_owned();
        if self.held.is_empty() {
            return false;
        }
        self.open = true;
        true
    }

    fn show(&mut self) -> String {
        let end = if self.held.len() > MOST_HELD {
            let from = self.held.len() - MOST_HELD;
            let from = (from..=self.held.len()).find(|&at| self.held.is_char_boundary(at));
            let from = from.unwrap_or(self.held.len());
            from + shown_end(&self.held[from..])
        } else {
            shown_end(&self.held)
        };
        self.shown |= end > 0;
        let rest = self.held.split_off(end);
        std::mem::replace(&mut self.held, rest)
    }

    /// Ends the answer.
    pub fn finish(self) -> GateEnding {
        if !self.open {
            let rest = spoken(&self.held, &self.rules).unwrap_or_default();
            let silent = is_silent_answer(&self.held, &self.rules) || rest.is_empty();
            return GateEnding {
                rest: if silent { String::new() } else { rest },
                silent,
            };
        }
        let rest = end_of(&self.held, &self.rules);
        GateEnding {
            silent: !self.shown && rest.is_empty(),
            rest,
        }
    }
}

/// Takes tokens off the beginning and leaves the end as it is.
fn strip_leading_only(text: &str) -> &str {
    let stripped = strip_leading(text);
    let start = stripped.as_ptr() as usize - text.as_ptr() as usize;
    &text[start..]
}

/// Returns the end of an answer without blanks and tokens. What came before is shown already.
fn end_of(held: &str, rules: &OutboundRules) -> String {
    // Something stands before what is held, so that a token at its beginning is parted from it only by what is held.
    const SHOWN: &str = ".";
    let whole = format!("{SHOWN}{held}");
    let said = super::strip_trailing(&whole, rules);
    said.strip_prefix(SHOWN).unwrap_or_default().to_owned()
}

/// Returns how much of a text may be shown: all but an end that could become blanks, asterisks and tokens.
fn shown_end(text: &str) -> usize {
    let mut end = text.len();
    loop {
        let word = text[..end]
            .rfind(|character| is_js_whitespace(character) || character == '*')
            .map_or(0, |at| {
                at + text[at..].chars().next().map_or(1, char::len_utf8)
            });
        let last = &text[word..end];
        let token = last.eq_ignore_ascii_case(NO_REPLY);
        let could_be = NO_REPLY.len() >= last.len()
            && NO_REPLY
                .get(..last.len())
                .is_some_and(|begun| begun.eq_ignore_ascii_case(last));
        // Only a whole token may have something behind it.
        let allowed = if end == text.len() { could_be } else { token };
        if !allowed {
            return end;
        }
        let before = text[..word].trim_end_matches(|c| is_js_whitespace(c) || c == '*');
        if before.is_empty() || before.len() == end {
            return before.len();
        }
        end = before.len();
    }
}

/// Tells whether more words could make a text silent, or show that its first token is to be taken off.
fn may_be_silent(text: &str, rules: &OutboundRules) -> bool {
    let begun = text.trim_start_matches(is_js_whitespace);
    if begun.is_empty() || may_be_envelope(begun) {
        return true;
    }
    match rules.silence {
        Silence::Exact => may_be_tokens(begun, rules),
        Silence::Lenient => {
            let marked = begun.trim_start_matches(super::is_punctuation);
            let marked = marked.trim_start_matches(is_js_whitespace);
            may_be_tokens(begun, rules) || marked.is_empty() || may_be_tokens(marked, rules)
        }
    }
}

fn may_be_tokens(text: &str, rules: &OutboundRules) -> bool {
    let mut rest = text;
    loop {
        if let Some(behind) = behind_token(rest) {
            let next = behind.trim_start_matches(is_js_whitespace);
            if next.is_empty() {
                return true;
            }
            if rules.silence == Silence::Lenient
                && next
                    .chars()
                    .all(|c| super::is_punctuation(c) || is_js_whitespace(c))
            {
                return true;
            }
            rest = next;
            continue;
        }
        return rest.len() < NO_REPLY.len()
            && NO_REPLY
                .get(..rest.len())
                .is_some_and(|begun| begun.eq_ignore_ascii_case(rest));
    }
}

/// Tells whether a text is the beginning of an object that asks for silence, or of the token as a string.
fn may_be_envelope(text: &str) -> bool {
    if is_envelope(text) {
        return true;
    }
    let mut rest = text;
    for part in ["{", "\"action\"", ":", "\"", NO_REPLY, "\"", "}"] {
        rest = rest.trim_start_matches(is_js_whitespace);
        if rest.len() < part.len() {
            return part.starts_with(rest);
        }
        match rest.strip_prefix(part) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    trim_js(rest).is_empty()
}
