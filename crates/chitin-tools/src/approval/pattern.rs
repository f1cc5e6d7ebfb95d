//! Patterns of commands: words, with `*`.

use super::shell::{SimpleCommand, Word};

/// A pattern of a simple command, such as `git status`, `git log *` or `cargo t*`.
///
/// Words are compared one by one. `*` inside a word stands for any characters of it; a last word that is only `*` stands for
/// any further words, and for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    words: Vec<String>,
    more: bool,
}

/// What a comparison came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    No,
    /// It depends on what the shell makes of a word.
    Maybe,
    Yes,
}

impl CommandPattern {
    /// Reads a pattern; there is none in a text without words.
    pub fn new(text: &str) -> Option<Self> {
        let mut words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
        let more = words.last().is_some_and(|word| word == "*");
        if more {
            words.pop();
        }
        (more || !words.is_empty()).then_some(Self { words, more })
    }

    /// Says whether it names one command to the letter, or everything.
    pub(super) fn means_it(&self) -> bool {
        let literal = !self.more && self.words.iter().all(|word| !word.contains('*'));
        literal || (self.more && self.words.is_empty())
    }

    pub(super) fn fits(&self, command: &SimpleCommand) -> Fit {
        self.fits_words(&command.words)
    }

    pub(super) fn fits_words(&self, words: &[Word]) -> Fit {
        // A word that the shell makes several or none of moves all that follow.
        let Some(open) = words.iter().position(|word| *word == Word::Open) else {
            return self.compare(words);
        };
        let before = &words[..open];
        if self.more && self.words.len() <= before.len() {
            return self.compare(before);
        }
        let compared = before
            .iter()
            .zip(&self.words)
            .all(|(word, pattern)| fits_word(pattern, word));
        if compared && (before.len() <= self.words.len() || self.more) {
            Fit::Maybe
        } else {
            Fit::No
        }
    }

    fn compare(&self, words: &[Word]) -> Fit {
        let long_enough = words.len() >= self.words.len();
        let fits = long_enough
            && (self.more || words.len() == self.words.len())
            && words
                .iter()
                .zip(&self.words)
                .all(|(word, pattern)| fits_word(pattern, word));
        if fits { Fit::Yes } else { Fit::No }
    }
}

fn fits_word(pattern: &str, word: &Word) -> bool {
    match word {
        Word::Exact(word) => glob(pattern, word),
        Word::Open => false,
    }
}

/// Compares a word with a pattern in which `*` stands for anything. Linear in both but for one level of going back.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}
