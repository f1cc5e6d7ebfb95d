//! Where in a text a character stands: in which kind of run, and how far.

use super::class::{CLASSES, Class};

/// What kind of run the last character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum CharacterRun {
    Start,
    Space,
    Newline,
    /// Small letters after white space, or after one capital that follows white space.
    Word,
    /// Small letters after anything else: parts of names, paths and noise.
    Fragment,
    Capital,
    Capitals,
    Digit,
    Mark,
    Quote,
    Open,
    Link,
    Symbol,
    Greek,
    Cyrillic,
    Arabic,
    Hebrew,
    Devanagari,
    Indic,
    Thai,
    Kana,
    Han,
    Hangul,
    WideMark,
    Emoji,
    Other,
}

/// How many letters make a word that is in no vocabulary.
pub(super) const LONG: usize = 16;

const PLACES: usize = CharacterRun::Other as usize + 1;

/// How many lengths of a run are told apart; longer ones count as the longest.
const fn lengths(place: CharacterRun) -> usize {
    match place {
        CharacterRun::Start => 1,
        CharacterRun::Space => 2,
        // Tokenizers take digits by threes.
        CharacterRun::Digit => 3,
        CharacterRun::Word | CharacterRun::Fragment => LONG,
        CharacterRun::Newline
        | CharacterRun::Capital
        | CharacterRun::Capitals
        | CharacterRun::Mark
        | CharacterRun::Quote
        | CharacterRun::Open
        | CharacterRun::Link
        | CharacterRun::Symbol
        | CharacterRun::Greek
        | CharacterRun::Cyrillic
        | CharacterRun::Arabic
        | CharacterRun::Hebrew
        | CharacterRun::Devanagari
        | CharacterRun::Indic
        | CharacterRun::Thai
        | CharacterRun::Kana
        | CharacterRun::Han
        | CharacterRun::Hangul
        | CharacterRun::WideMark
        | CharacterRun::Emoji
        | CharacterRun::Other => 4,
    }
}

/// All places, in the order of their numbers.
const ALL: [CharacterRun; PLACES] = [
    CharacterRun::Start,
    CharacterRun::Space,
    CharacterRun::Newline,
    CharacterRun::Word,
    CharacterRun::Fragment,
    CharacterRun::Capital,
    CharacterRun::Capitals,
    CharacterRun::Digit,
    CharacterRun::Mark,
    CharacterRun::Quote,
    CharacterRun::Open,
    CharacterRun::Link,
    CharacterRun::Symbol,
    CharacterRun::Greek,
    CharacterRun::Cyrillic,
    CharacterRun::Arabic,
    CharacterRun::Hebrew,
    CharacterRun::Devanagari,
    CharacterRun::Indic,
    CharacterRun::Thai,
    CharacterRun::Kana,
    CharacterRun::Han,
    CharacterRun::Hangul,
    CharacterRun::WideMark,
    CharacterRun::Emoji,
    CharacterRun::Other,
];

/// The number of the first state of each place, and of all states at the end.
const OFFSETS: [usize; PLACES + 1] = {
    let mut offsets = [0; PLACES + 1];
    let mut index = 0;
    while index < PLACES {
        offsets[index + 1] = offsets[index] + lengths(ALL[index]);
        index += 1;
    }
    offsets
};

/// How many states there are: each place with each length of its run.
pub(super) const STATES: usize = OFFSETS[PLACES];

/// Returns the number of a state; a run longer than is told apart counts as the longest.
pub(super) const fn state(place: CharacterRun, length: usize) -> usize {
    let most = lengths(place);
    let length = if length > most { most } else { length };
    OFFSETS[place as usize] + length - 1
}

/// Returns what a state stands for: its place and the length of its run.
pub(super) const fn place_of(state: usize) -> (CharacterRun, usize) {
    let mut index = PLACES - 1;
    while OFFSETS[index] > state {
        index -= 1;
    }
    (ALL[index], state - OFFSETS[index] + 1)
}

/// Tells whether letters with accents matter to what follows here.
pub(super) const fn is_latin(place: CharacterRun) -> bool {
    matches!(
        place,
        CharacterRun::Word
            | CharacterRun::Fragment
            | CharacterRun::Capital
            | CharacterRun::Capitals
    )
}

const fn is_mark(place: CharacterRun) -> bool {
    matches!(
        place,
        CharacterRun::Mark
            | CharacterRun::Quote
            | CharacterRun::Open
            | CharacterRun::Link
            | CharacterRun::Symbol
    )
}

/// Where a character leads.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The place of the character.
    pub(super) place: CharacterRun,
    /// How many characters its run has now.
    pub(super) length: usize,
    /// Whether it goes on with the run before it.
    pub(super) goes_on: bool,
}

/// Returns where a character leads from a place.
pub(super) const fn step(from: CharacterRun, length: usize, class: Class) -> Step {
    let place = enter(from, class);
    let capital_before = matches!(
        (from, place),
        (CharacterRun::Capital, CharacterRun::Word)
            | (CharacterRun::Capitals, CharacterRun::Fragment)
    );
    let goes_on =
        capital_before || from as usize == place as usize || (is_mark(from) && is_mark(place));
    let length = if capital_before {
        2
    } else if !goes_on || (matches!(place, CharacterRun::Digit) && length == lengths(place)) {
        1
    } else {
        length + 1
    };
    Step {
        place,
        length,
        goes_on,
    }
}

const fn enter(from: CharacterRun, class: Class) -> CharacterRun {
    match class {
        Class::Lower | Class::RareLower | Class::Accented => {
            if matches!(
                from,
                CharacterRun::Space | CharacterRun::Word | CharacterRun::Capital
            ) {
                CharacterRun::Word
            } else {
                CharacterRun::Fragment
            }
        }
        Class::Upper | Class::AccentedUpper => {
            if matches!(from, CharacterRun::Space | CharacterRun::Capital) {
                CharacterRun::Capital
            } else {
                CharacterRun::Capitals
            }
        }
        Class::Digit => CharacterRun::Digit,
        Class::Space => CharacterRun::Space,
        Class::Newline => CharacterRun::Newline,
        Class::Quote => CharacterRun::Quote,
        Class::Mark => CharacterRun::Mark,
        Class::Open => CharacterRun::Open,
        Class::Link => CharacterRun::Link,
        Class::Typographic | Class::Symbol => CharacterRun::Symbol,
        Class::Greek => CharacterRun::Greek,
        Class::Cyrillic | Class::CyrillicUpper => CharacterRun::Cyrillic,
        Class::Arabic => CharacterRun::Arabic,
        Class::Hebrew => CharacterRun::Hebrew,
        Class::Devanagari => CharacterRun::Devanagari,
        Class::Indic => CharacterRun::Indic,
        Class::Thai => CharacterRun::Thai,
        Class::Hiragana | Class::Katakana => CharacterRun::Kana,
        Class::Han | Class::RareHan => CharacterRun::Han,
        Class::Hangul => CharacterRun::Hangul,
        Class::WideMark => CharacterRun::WideMark,
        Class::Emoji | Class::Joiner => CharacterRun::Emoji,
        Class::Combining | Class::Other => CharacterRun::Other,
    }
}

/// All kinds of characters, in the order of their numbers.
pub(super) const CLASS: [Class; CLASSES] = [
    Class::Lower,
    Class::RareLower,
    Class::Upper,
    Class::Digit,
    Class::Space,
    Class::Newline,
    Class::Quote,
    Class::Mark,
    Class::Open,
    Class::Link,
    Class::Accented,
    Class::AccentedUpper,
    Class::Greek,
    Class::Cyrillic,
    Class::CyrillicUpper,
    Class::Arabic,
    Class::Hebrew,
    Class::Devanagari,
    Class::Indic,
    Class::Thai,
    Class::Hiragana,
    Class::Katakana,
    Class::Han,
    Class::RareHan,
    Class::Hangul,
    Class::WideMark,
    Class::Typographic,
    Class::Symbol,
    Class::Emoji,
    Class::Joiner,
    Class::Combining,
    Class::Other,
];
