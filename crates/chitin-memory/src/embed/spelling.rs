//! The words of a text, as a table of words spells them, and simpler forms of words that it does not have.

use super::layout::LONGEST_WORD;

/// A word with more parts between hyphens is no word.
const MOST_PARTS: usize = 8;

/// No stem is shorter.
const SHORTEST_STEM: usize = 3;

/// Shows each word of a text, in lower case. Letters and digits make words; hyphens and apostrophes do when they stand between
/// them. What is longer than any word is left out.
pub(super) fn each_word(text: &str, mut show: impl FnMut(&str)) {
    let mut word = String::with_capacity(2 * LONGEST_WORD);
    let mut joint = None;
    let mut characters = text.chars();
    loop {
        let character = characters.next();
        match character {
            Some(c) if c.is_ascii_alphanumeric() => {
                push(&mut word, joint.take());
                push(&mut word, Some(c.to_ascii_lowercase()));
            }
            Some(c) if !c.is_ascii() && c.is_alphanumeric() => {
                push(&mut word, joint.take());
                for lower in c.to_lowercase() {
                    push(&mut word, Some(lower));
                }
            }
            Some('-' | '\u{2010}' | '\u{2011}') if joint.is_none() && !word.is_empty() => {
                joint = Some('-');
            }
            Some('\'' | '\u{2019}') if joint.is_none() && !word.is_empty() => joint = Some('\''),
            Some(_) | None => {
                if !word.is_empty() && word.len() <= LONGEST_WORD {
                    show(&word);
                }
                word.clear();
                joint = None;
                if character.is_none() {
                    return;
                }
            }
        }
    }
}

/// Adds to a word, unless that is too long already: one byte more than allowed shows that it is.
fn push(word: &mut String, character: Option<char>) {
    if let Some(character) = character.filter(|_| word.len() <= LONGEST_WORD) {
        word.push(character);
    }
}

/// Returns the word that a name in somebody's list stands for, if a text can have it.
pub(super) fn as_one_word(name: &str) -> Option<String> {
    let mut words = Vec::new();
    each_word(name, |word| words.push(word.to_owned()));
    let word = words.pop().filter(|_| words.is_empty())?;
    // What was left out at an end, such as a bracket, makes it another name.
    (word.chars().count() == name.to_lowercase().chars().count()).then_some(word)
}

/// Finds a word, or what it is a form or a compound of, and shows all that was found. Says whether there was anything.
pub(super) fn each_known<T>(
    word: &str,
    find: &impl Fn(&[u8]) -> Option<T>,
    show: &mut impl FnMut(T),
) -> bool {
    if let Some(found) = find(word.as_bytes()) {
        show(found);
        return true;
    }
    if word.contains('-') {
        let parts = word.split('-').take(MOST_PARTS);
        return parts.fold(false, |any, part| each_known(part, find, show) | any);
    }
    if let Some((before, after)) = word.split_once('\'') {
        // `don't` is `do` and a denial.
        let before = match (before.strip_suffix('n'), after) {
            (Some(stem), "t") => stem,
            (Some(_) | None, _) => before,
        };
        return !before.is_empty() && each_known(before, find, show);
    }
    let found = stems(word).find_map(|stem| find(stem.as_bytes()));
    let any = found.is_some();
    found.into_iter().for_each(show);
    any
}

/// Returns what a word may be a form of, the likeliest first. Only English has such endings; elsewhere nothing is found.
fn stems(word: &str) -> impl Iterator<Item = String> {
    let cut = |ending: &str| {
        word.strip_suffix(ending)
            .filter(|stem| stem.len() >= SHORTEST_STEM)
    };
    let mut stems = Vec::new();
    if let Some(stem) = cut("ies").or_else(|| cut("ied")) {
        stems.push(format!("{stem}y"));
    }
    if let Some(stem) = cut("ing").or_else(|| cut("ed")) {
        stems.extend([stem.to_owned(), format!("{stem}e")]);
        let mut backwards = stem.chars().rev();
        if backwards.next() == backwards.next() {
            stems.push(stem.chars().take(stem.chars().count() - 1).collect());
        }
    }
    stems.extend(cut("s").map(str::to_owned));
    stems.extend(cut("es").map(str::to_owned));
    stems.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
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
            each_known(word, &find, &mut |word| found.push(word));
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
