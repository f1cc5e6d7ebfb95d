//! The words of a question, made to stand out in what was found.

use crate::printer::Paint;
use chitin_memory::words::canonical_terms;
use unicode_segmentation::UnicodeSegmentation;

/// How much of a word must be the same for it to be a form of another.
const SHARED: usize = 4;
/// How many letters forms of a word may differ in at the end.
const ENDING: usize = 3;

/// Knows the words of a question.
pub(super) struct Highlighter {
    terms: Vec<String>,
}

impl Highlighter {
    pub(super) fn new(question: &str) -> Self {
        Self {
            terms: canonical_terms(question)
                .into_iter()
                .map(|term| term.text)
                .collect(),
        }
    }

    /// Returns the lines to show: as many as may be, around the line that has most of the question.
    pub(super) fn best_lines<'t>(&self, text: &'t str, most: usize) -> Vec<&'t str> {
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        if lines.len() <= most {
            return lines;
        }
        let weight = |line: &&str| {
            self.pieces(line)
                .filter(|(_, is_wanted)| *is_wanted)
                .count()
        };
        let mut best = (0, 0);
        for (at, window) in lines.windows(most).enumerate() {
            let sum: usize = window.iter().map(weight).sum();
            if sum > best.1 {
                best = (at, sum);
            }
        }
        lines[best.0..best.0 + most].to_vec()
    }

    /// Paints the words of the question.
    pub(super) fn paint(&self, line: &str, paint: Paint) -> String {
        if !paint.is_coloured() {
            return line.to_owned();
        }
        self.pieces(line)
            .map(|(piece, is_wanted)| {
                if is_wanted {
                    paint.good(piece)
                } else {
                    piece.to_owned()
                }
            })
            .collect()
    }

    /// Cuts a line into words and what lies between them, and says which are of the question.
    fn pieces<'t>(&self, line: &'t str) -> impl Iterator<Item = (&'t str, bool)> {
        line.split_word_bounds()
            .map(|piece| (piece, self.is_wanted(piece)))
    }

    fn is_wanted(&self, piece: &str) -> bool {
        let word = piece.to_lowercase();
        if !word.chars().any(char::is_alphanumeric) {
            return false;
        }
        self.terms.iter().any(|term| is_form(&word, term))
    }
}

/// Says whether two words are forms of one. Scripts without spaces come as single characters, which stand in pairs in a term.
fn is_form(word: &str, term: &str) -> bool {
    if word == term {
        return true;
    }
    if !word.is_ascii() && word.chars().count() == 1 {
        return term.contains(word);
    }
    let shared = word
        .chars()
        .zip(term.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let (long, short) = (word.chars().count(), term.chars().count());
    shared >= SHARED && long.max(short) - shared <= ENDING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_stand_out_and_other_words_do_not() {
        let light = Highlighter::new("boiler repairs");
        let line = "The boiler was repaired; boil water.";
        assert_eq!(
            light.paint(line, Paint::forced(true)),
            "The \u{1b}[32mboiler\u{1b}[0m was \u{1b}[32mrepaired\u{1b}[0m; \u{1b}[32mboil\u{1b}[0m water."
        );
        assert_eq!(light.paint(line, Paint::forced(false)), line);
    }

    #[test]
    fn of_a_long_piece_the_lines_around_the_words_are_shown() {
        let text = "one\ntwo\nthree\nfour\nthe boiler\nsix\nseven\n";
        let light = Highlighter::new("boiler");
        assert_eq!(light.best_lines(text, 3), ["three", "four", "the boiler"]);
        assert_eq!(light.best_lines("a\n\nb\n", 3), ["a", "b"]);
    }
}
