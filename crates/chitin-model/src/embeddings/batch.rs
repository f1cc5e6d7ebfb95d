//! Texts in parts that a server takes.

use std::ops::Range;

/// How many characters of plain text make a token. Models come to about four; three leaves room for code and names.
const CHARACTERS_PER_TOKEN: usize = 3;

/// A text is not cut to fewer tokens: a server that does not take these takes none.
const SHORTEST_CUT: usize = 64;

/// Texts that are sent at once, and how long each may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) texts: Range<usize>,
    pub(super) longest: usize,
}

impl Part {
    /// Returns the same in smaller parts, for a server that says that it is too much: nothing when it cannot be smaller.
    pub(super) fn smaller(&self, texts: &[&str]) -> Option<Vec<Self>> {
        let Range { start, end } = self.texts;
        if end - start > 1 {
            let middle = usize::midpoint(start, end);
            let part = |texts| Self {
                texts,
                longest: self.longest,
            };
            return Some(vec![part(start..middle), part(middle..end)]);
        }
        let longest = texts.iter().map(|text| tokens(text)).max()? / 2;
        (longest >= SHORTEST_CUT).then(|| {
            vec![Self {
                texts: self.texts.clone(),
                longest,
            }]
        })
    }
}

/// Tells whether there is nothing in a text to be embedded. Some servers refuse such.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Guesses how many tokens a text has, rather too many than too few: other scripts have about a token for each character.
pub(super) fn tokens(text: &str) -> usize {
    let plain = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().count() - plain;
    plain.div_ceil(CHARACTERS_PER_TOKEN) + other
}

/// Returns the beginning of a text that has at most so many tokens.
pub(super) fn cut(text: &str, most: usize) -> &str {
    // Nothing has more tokens than bytes.
    if text.len() <= most || tokens(text) <= most {
        return text;
    }
    let (mut plain, mut other) = (0_usize, 0_usize);
    for (at, character) in text.char_indices() {
        if character.is_ascii() {
            plain += 1;
        } else {
            other += 1;
        }
        if plain.div_ceil(CHARACTERS_PER_TOKEN) + other > most {
            return &text[..at];
        }
    }
    text
}

/// Parts texts, in order. A part has at least one text; that alone may be more than allowed.
pub(super) fn batches(texts: &[&str], most_texts: usize, most_tokens: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut sum = 0;
    for (at, text) in texts.iter().enumerate() {
        let count = tokens(text);
        if at > start && (at - start >= most_texts || sum + count > most_tokens) {
            parts.push(start..at);
            start = at;
            sum = 0;
        }
        sum += count;
    }
    if start < texts.len() {
        parts.push(start..texts.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cut_text_is_a_beginning_and_never_too_long(text in "(\\PC| |é|漢){0,60}", most in 0_usize..40) {
            let short = cut(&text, most);
            prop_assert!(text.starts_with(short));
            prop_assert!(tokens(short) <= most);
            let next = text[short.len()..].chars().next().map_or(0, char::len_utf8);
            prop_assert!(next == 0 || tokens(&text[..short.len() + next]) > most, "it could be longer");
        }

        #[test]
        fn every_text_is_in_one_batch_and_no_batch_is_too_large(
            texts in prop::collection::vec("[a-z]{0,40}", 0..30),
            most_texts in 1_usize..6,
            most_tokens in 1_usize..30,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut next = 0;
            for part in batches(&texts, most_texts, most_tokens) {
                prop_assert_eq!(part.start, next);
                prop_assert!(!part.is_empty() && part.len() <= most_texts);
                let sum: usize = texts[part.clone()].iter().map(|text| tokens(text)).sum();
                prop_assert!(sum <= most_tokens || part.len() == 1);
                next = part.end;
            }
            prop_assert_eq!(next, texts.len());
        }
    }
}
