//! Where in a text a character stands: in which kind of run, and how far.

use super::class::{CLASSES, Class};

/// What kind of run the last character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Place {
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

const PLACES: usize = Place::Other as usize + 1;

/// How many lengths of a run are told apart; longer ones count as the longest.
const fn lengths(place: Place) -> usize {
    match place {
        Place::Start => 1,
        Place::Space => 2,
        // Tokenizers take digits by threes.
        Place::Digit => 3,
        Place::Word | Place::Fragment => LONG,
        Place::Newline
        | Place::Capital
        | Place::Capitals
        | Place::Mark
        | Place::Quote
        | Place::Open
        | Place::Link
        | Place::Symbol
        | Place::Greek
        | Place::Cyrillic
        | Place::Arabic
        | Place::Hebrew
        | Place::Devanagari
        | Place::Indic
        | Place::Thai
        | Place::Kana
        | Place::Han
        | Place::Hangul
        | Place::WideMark
        | Place::Emoji
        | Place::Other => 4,
    }
}

/// All places, in the order of their numbers.
const ALL: [Place; PLACES] = [
    Place::Start,
    Place::Space,
    Place::Newline,
    Place::Word,
    Place::Fragment,
    Place::Capital,
    Place::Capitals,
    Place::Digit,
    Place::Mark,
    Place::Quote,
    Place::Open,
    Place::Link,
    Place::Symbol,
    Place::Greek,
    Place::Cyrillic,
    Place::Arabic,
    Place::Hebrew,
    Place::Devanagari,
    Place::Indic,
    Place::Thai,
    Place::Kana,
    Place::Han,
    Place::Hangul,
    Place::WideMark,
    Place::Emoji,
    Place::Other,
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
pub(super) const fn state(place: Place, length: usize) -> usize {
    let most = lengths(place);
    let length = if length > most { most } else { length };
    OFFSETS[place as usize] + length - 1
}

/// Returns what a state stands for: its place and the length of its run.
pub(super) const fn place_of(state: usize) -> (Place, usize) {
    let mut index = PLACES - 1;
    while OFFSETS[index] > state {
        index -= 1;
    }
    (ALL[index], state - OFFSETS[index] + 1)
}

/// Tells whether letters with accents matter to what follows here.
pub(super) const fn is_latin(place: Place) -> bool {
    matches!(
        place,
        Place::Word | Place::Fragment | Place::Capital | Place::Capitals
    )
}

const fn is_mark(place: Place) -> bool {
    matches!(
        place,
        Place::Mark | Place::Quote | Place::Open | Place::Link | Place::Symbol
    )
}

/// Where a character leads.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The place of the character.
    pub(super) place: Place,
    /// How many characters its run has now.
    pub(super) length: usize,
    /// Whether it goes on with the run before it.
    pub(super) goes_on: bool,
}

/// Returns where a character leads from a place.
pub(super) const fn step(from: Place, length: usize, class: Class) -> Step {
    let place = enter(from, class);
    let capital_before = matches!(
        (from, place),
        (Place::Capital, Place::Word) | (Place::Capitals, Place::Fragment)
    );
    let goes_on =
        capital_before || from as usize == place as usize || (is_mark(from) && is_mark(place));
    let length = if capital_before {
        2
    } else if !goes_on || (matches!(place, Place::Digit) && length == lengths(place)) {
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

const fn enter(from: Place, class: Class) -> Place {
    match class {
        Class::Lower | Class::RareLower | Class::Accented => {
            if matches!(from, Place::Space | Place::Word | Place::Capital) {
                Place::Word
            } else {
                Place::Fragment
            }
        }
        Class::Upper | Class::AccentedUpper => {
            if matches!(from, Place::Space | Place::Capital) {
                Place::Capital
            } else {
                Place::Capitals
            }
        }
        Class::Digit => Place::Digit,
        Class::Space => Place::Space,
        Class::Newline => Place::Newline,
        Class::Quote => Place::Quote,
        Class::Mark => Place::Mark,
        Class::Open => Place::Open,
        Class::Link => Place::Link,
        Class::Typographic | Class::Symbol => Place::Symbol,
        Class::Greek => Place::Greek,
        Class::Cyrillic | Class::CyrillicUpper => Place::Cyrillic,
        Class::Arabic => Place::Arabic,
        Class::Hebrew => Place::Hebrew,
        Class::Devanagari => Place::Devanagari,
        Class::Indic => Place::Indic,
        Class::Thai => Place::Thai,
        Class::Hiragana | Class::Katakana => Place::Kana,
        Class::Han | Class::RareHan => Place::Han,
        Class::Hangul => Place::Hangul,
        Class::WideMark => Place::WideMark,
        Class::Emoji | Class::Joiner => Place::Emoji,
        Class::Combining | Class::Other => Place::Other,
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
