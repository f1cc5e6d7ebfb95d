//! The words of a text, as a table of words spells them, and simpler forms of words that it does not have.

use super::layout::LONGEST_WORD;

/// A word with more parts between hyphens is no word.
const MOST_PARTS: usize = 8;

/// No stem is shorter.
const SHORTEST_STEM: usize = 3;

/// A word as it grows. One byte more than allowed shows that it is too long.
struct Word {
    bytes: [u8; LONGEST_WORD + 1],
    length: usize,
}

impl Word {
    fn push(&mut self, more: &[u8]) {
        for byte in more {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = *byte;
                self.length += 1;
            }
        }
    }

    fn finish(&mut self, show: &mut impl FnMut(&[u8])) {
        if (1..=LONGEST_WORD).contains(&self.length) {
            show(&self.bytes[..self.length]);
        }
        self.length = 0;
    }
}

/// Shows the bytes of each word of a text, in lower case. Letters and digits make words; hyphens and apostrophes do when they stand
/// between them. What is longer than any word is left out.
pub(super) fn each_word(text: &str, mut show: impl FnMut(&[u8])) {
    let mut word = Word {
        bytes: [0; LONGEST_WORD + 1],
        length: 0,
    };
    let mut joint: &[u8] = &[];
    for character in text.chars() {
        // Between words, and between the parts of a word: hyphens of all kinds and apostrophes of both.
        let next_joint: &[u8] = match character {
            'a'..='z' | '0'..='9' | 'A'..='Z' => {
                word.push(joint);
                joint = &[];
                // This bit is what makes a small letter of a capital; digits have it.
                word.push(&[character as u8 | 0x20]);
                continue;
            }
            '-' | '\u{2010}' | '\u{2011}' => b"-",
            '\'' | '\u{2019}' => b"'",
            _ if !character.is_ascii() && character.is_alphanumeric() => {
                word.push(joint);
                joint = &[];
                for lower in character.to_lowercase() {
                    word.push(lower.encode_utf8(&mut [0; 4]).as_bytes());
                }
                continue;
            }
            _ => &[],
        };
        if joint.is_empty() && word.length > 0 && !next_joint.is_empty() {
            joint = next_joint;
        } else {
            word.finish(&mut show);
            joint = &[];
        }
    }
    word.finish(&mut show);
}

/// Returns the word that a name in somebody's list stands for, if a text can have it.
pub(super) fn as_one_word(name: &str) -> Option<String> {
    let mut words = Vec::new();
    each_word(name, |word| words.push(word.to_vec()));
    let word = words.pop().filter(|_| words.is_empty())?;
    let word = String::from_utf8(word).ok()?;
    // What was left out at an end, such as a bracket, makes it another name.
    (word.chars().count() == name.to_lowercase().chars().count()).then_some(word)
}

/// Finds a word, or what it is a form or a compound of, and shows all that was found.
pub(super) fn each_known<T>(
    word: &[u8],
    find: &impl Fn(&[u8]) -> Option<T>,
    show: &mut impl FnMut(T),
) {
    if let Some(found) = find(word) {
        show(found);
    } else if let Ok(word) = std::str::from_utf8(word) {
        each_relative(word, find, show);
    }
}

/// Does so for a word that is not there itself.
fn each_relative<T>(word: &str, find: &impl Fn(&[u8]) -> Option<T>, show: &mut impl FnMut(T)) {
    if word.contains('-') {
        for part in word.split('-').take(MOST_PARTS) {
            each_known(part.as_bytes(), find, show);
        }
    } else if let Some((before, after)) = word.split_once('\'') {
        // `don't` is `do` and a denial.
        let before = match (before.strip_suffix('n'), after) {
            (Some(stem), "t") => stem,
            (Some(_) | None, _) => before,
        };
        each_known(before.as_bytes(), find, show);
    } else if let Some(found) = stem(word, |stem| find(stem.as_bytes())) {
        show(found);
    }
}

/// Finds what a word may be a form of, the likeliest first. Only English has such endings; elsewhere nothing is found.
fn stem<T>(word: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let cut = |ending: &str| {
        word.strip_suffix(ending)
            .filter(|stem| stem.len() >= SHORTEST_STEM)
    };
    if let Some(stem) = cut("ies").or_else(|| cut("ied")) {
        return find(&format!("{stem}y"));
    }
    if let Some(stem) = cut("ing").or_else(|| cut("ed")) {
        let mut backwards = stem.char_indices().rev();
        let doubled = match (backwards.next(), backwards.next()) {
            (Some((at, last)), Some((_, before))) if last == before => stem.get(..at),
            _ => None,
        };
        return find(stem)
            .or_else(|| find(&format!("{stem}e")))
            .or_else(|| find(doubled?));
    }
    let singular = cut("s")?;
    find(singular).or_else(|| find(cut("es")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| {
            words.push(String::from_utf8(word.to_vec()).expect("text"));
        });
        words
    }

    #[test]
    fn words_are_lower_case_and_keep_inner_hyphens_and_apostrophes() {
        assert_eq!(
            words("The STATE-of-the-art isn't, `snake_case` -- 'quoted' Ångström’s 2nd—"),
            [
                "the",
                "state-of-the-art",
                "isn't",
                "snake",
                "case",
                "quoted",
                "ångström's",
                "2nd"
            ]
        );
        assert_eq!(
            words(&format!("{} short", "long".repeat(50))),
            ["short"],
            "what no table has is not looked for"
        );
    }

    #[test]
    fn unknown_forms_lead_to_the_word() {
        let known = [
            "bake",
            "run",
            "city",
            "box",
            "walk",
            "do",
            "well",
            "documented",
            "sister",
        ];
        let find = |word: &[u8]| known.iter().copied().find(|known| known.as_bytes() == word);
        let of = |word: &str| {
            let mut found = Vec::new();
            each_known(word.as_bytes(), &find, &mut |word| found.push(word));
            found
        };
        for (form, word) in [
            ("baking", "bake"),
            ("running", "run"),
            ("cities", "city"),
            ("boxes", "box"),
            ("walked", "walk"),
            ("don't", "do"),
            ("sister's", "sister"),
            ("sisters", "sister"),
        ] {
            assert_eq!(of(form), [word], "{form}");
        }
        assert_eq!(of("well-documented"), ["well", "documented"]);
        assert!(of("xyzzy").is_empty());
    }

    #[test]
    fn names_that_no_text_spells_are_no_words() {
        assert_eq!(as_one_word("Paris").as_deref(), Some("paris"));
        for name in [",", "(a", "new_york", "", "a b", "--"] {
            assert_eq!(as_one_word(name), None, "{name}");
        }
    }
}
