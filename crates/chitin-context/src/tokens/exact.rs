//! Exact counts, with vocabularies that their makers have published.
//!
//! The vocabulary is unpacked on the first count, which takes a few tenths of a second; programs that only want to know
//! roughly should [estimate](super::estimate()).

use super::TokenEncoding;

/// How much text is given to the tokenizer at once.
///
/// It needs more than linear time and stack for a run of one kind of character, and gives up on a million blanks.
const WINDOW: usize = 32 * 1024;

/// A count, and whether it had to be forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// How many tokens there are.
    pub tokens: usize,
    /// How often a run without any safe place to cut had to be cut; each may add or hide a token or two.
    pub forced_cuts: usize,
}

/// Counts the tokens of a text.
///
/// Markers of the chat format count as plain text, since that is what they are in a prompt.
pub fn count(encoding: TokenEncoding, text: &str) -> usize {
    measure(encoding, text).tokens
}

/// Counts the tokens of a text, and says whether the count is exact for sure.
pub fn measure(encoding: TokenEncoding, text: &str) -> Measured {
    let tokenizer = match encoding {
        TokenEncoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
    };
    let mut measured = Measured {
        tokens: 0,
        forced_cuts: 0,
    };
    let mut rest = text;
    while !rest.is_empty() {
        let (at, forced) = cut(rest);
        let (part, after) = rest.split_at(at);
        measured.tokens += tokenizer.count_ordinary(part);
        measured.forced_cuts += usize::from(forced);
        rest = after;
    }
    measured
}

/// Returns where the next part ends, and whether a token may have been cut there.
fn cut(text: &str) -> (usize, bool) {
    if text.len() <= WINDOW {
        return (text.len(), false);
    }
    let bytes = text.as_bytes();
    let safe = (1..=WINDOW).rev().find(|&at| is_safe(bytes, at));
    safe.map_or_else(
        || (text.floor_char_boundary(WINDOW), true),
        |at| (at, false),
    )
}

/// Tells whether the tokenizer always begins anew here, whatever comes before and after.
///
/// That is so between a letter and a blank before another letter, and between the end of a line and what is neither blank
/// nor a slash, which it takes along with marks.
fn is_safe(bytes: &[u8], at: usize) -> bool {
    let (Some(before), Some(here)) = (bytes.get(at - 1), bytes.get(at)) else {
        return false;
    };
    match here {
        b' ' => {
            before.is_ascii_alphabetic() && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic)
        }
        _ => *before == b'\n' && (here.is_ascii_graphic() && *here != b'/'),
    }
}

#[cfg(test)]
#[path = "exact_tests.rs"]
mod tests;
