//! A model's thoughts, folded.

use super::messages;

/// How much of the first words is shown.
const SHOWN: usize = 60;

/// Counts thoughts that come in pieces, and remembers how they began.
#[derive(Debug, Default)]
pub(super) struct Folded {
    words: usize,
    in_word: bool,
    first: String,
}

impl Folded {
    /// Takes some more.
    pub(super) fn push(&mut self, text: &str) {
        for c in text.chars() {
            let in_word = !c.is_whitespace();
            self.words += usize::from(in_word && !self.in_word);
            self.in_word = in_word;
            if self.first.chars().count() <= SHOWN && (in_word || !self.first.is_empty()) {
                self.first.push(c);
            }
        }
    }

    /// Says how many words there are so far.
    pub(super) const fn count(&self) -> usize {
        self.words
    }

    /// Returns the one line, and forgets everything; none when nothing was thought.
    pub(super) fn take(&mut self) -> Option<String> {
        let Self { words, first, .. } = std::mem::take(self);
        let noun = if words == 1 { "word" } else { "words" };
        let first = messages::fit(&messages::one_line(&first), SHOWN);
        (words > 0).then(|| format!("✻ {first} — {} {noun}", messages::tokens(words as u64)))
    }
}
