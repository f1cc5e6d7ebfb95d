//! What each character adds, in thousandths of a token.
//!
//! The numbers are frequencies: how often a token of `o200k_base` begins at a character of this kind in this place. They
//! were counted over prose in thirty languages, documentation, source code, JSON, logs, paths and random data, and
//! rounded. A few were raised by hand where a long run of one character would otherwise cost nothing.

use super::class::Class::{
    self, Accented, AccentedUpper, Arabic, Combining, Cyrillic, CyrillicUpper, Devanagari, Digit,
    Emoji, Greek, Han, Hangul, Hebrew, Hiragana, Indic, Joiner, Katakana, Link, Lower, Mark,
    Newline, Open, Other, Quote, RareHan, RareLower, Space, Symbol, Thai, Typographic, Upper,
    WideMark,
};
use super::place::CharacterRun;

/// Costs inside a run: the place and length of the run so far, then the next character.
pub(super) struct Within {
    /// Where the run is.
    pub(super) place: CharacterRun,
    /// The next character.
    pub(super) class: Class,
    /// Costs after one, two, three and more characters; the last one repeats.
    pub(super) plain: &'static [u16],
    /// The same shortly after a letter with an accent, where words are less likely to be in the vocabulary whole.
    pub(super) foreign: &'static [u16],
}

const fn both(place: CharacterRun, class: Class, costs: &'static [u16]) -> Within {
    Within {
        place,
        class,
        plain: costs,
        foreign: costs,
    }
}

const fn word(
    place: CharacterRun,
    class: Class,
    plain: &'static [u16],
    foreign: &'static [u16],
) -> Within {
    Within {
        place,
        class,
        plain,
        foreign,
    }
}

/// What going on costs; not listed is a whole token.
#[rustfmt::skip]
pub(super) const WITHIN: &[Within] = &[
    both(CharacterRun::Space, Space, &[1000, 10]),
    both(CharacterRun::Newline, Newline, &[0, 70]),
    word(CharacterRun::Word, Lower, &[3, 15, 30], &[20, 75, 145, 125]),
    word(CharacterRun::Word, RareLower, &[15, 25, 30, 80], &[55, 235, 270, 290]),
    both(CharacterRun::Word, Accented, &[120, 390, 570, 470]),
    word(CharacterRun::Fragment, Lower, &[45, 45, 70, 40], &[120, 95, 195, 100]),
    word(CharacterRun::Fragment, RareLower, &[75, 120, 125, 105], &[460, 360, 460, 195]),
    both(CharacterRun::Fragment, Accented, &[800, 840, 725, 670]),
    word(CharacterRun::Capital, Lower, &[25, 25, 35], &[90]),
    word(CharacterRun::Capital, RareLower, &[20], &[440]),
    word(CharacterRun::Capital, Upper, &[120, 175, 125, 230], &[200, 265, 330]),
    both(CharacterRun::Capital, Accented, &[360, 825, 825, 765]),
    both(CharacterRun::Capital, AccentedUpper, &[995, 990, 990, 920]),
    word(CharacterRun::Capitals, Lower, &[150, 700, 600], &[245]),
    word(CharacterRun::Capitals, RareLower, &[540, 910], &[840]),
    word(CharacterRun::Capitals, Upper, &[230, 255, 235, 215], &[80, 115, 260, 145]),
    both(CharacterRun::Capitals, Accented, &[750]),
    both(CharacterRun::Capitals, AccentedUpper, &[960]),
    both(CharacterRun::Digit, Digit, &[0, 0, 1000]),
    both(CharacterRun::Mark, Quote, &[295, 545, 690, 400]),
    both(CharacterRun::Mark, Mark, &[100, 240, 170, 70]),
    both(CharacterRun::Mark, Open, &[50, 295, 350, 680]),
    both(CharacterRun::Mark, Link, &[130, 335, 470, 895]),
    both(CharacterRun::Mark, Typographic, &[255, 845]),
    both(CharacterRun::Greek, Greek, &[160, 240, 350]),
    both(CharacterRun::Cyrillic, Cyrillic, &[90, 70, 250, 190]),
    both(CharacterRun::Cyrillic, CyrillicUpper, &[855, 550, 865, 645]),
    both(CharacterRun::Arabic, Arabic, &[70, 165, 290, 265]),
    both(CharacterRun::Hebrew, Hebrew, &[120, 530, 315, 120]),
    both(CharacterRun::Devanagari, Devanagari, &[105, 235, 250, 325]),
    both(CharacterRun::Indic, Indic, &[280, 225, 365, 270]),
    both(CharacterRun::Thai, Thai, &[310, 540, 385, 430]),
    both(CharacterRun::Kana, Hiragana, &[475, 620]),
    both(CharacterRun::Kana, Katakana, &[910, 550, 590, 540]),
    both(CharacterRun::Han, Han, &[780, 860, 780]),
    both(CharacterRun::Hangul, Hangul, &[690, 745, 335, 305]),
    both(CharacterRun::WideMark, WideMark, &[300]),
    both(CharacterRun::Emoji, Emoji, &[1935, 1820, 2130]),
    both(CharacterRun::Emoji, Joiner, &[1385, 1015, 1240]),
    both(CharacterRun::Other, Other, &[875, 595, 440, 610]),
    both(CharacterRun::Quote, Quote, &[35, 340, 85]),
    both(CharacterRun::Quote, Mark, &[45, 175, 95, 275]),
    both(CharacterRun::Quote, Open, &[285, 385, 270]),
    both(CharacterRun::Quote, Link, &[140, 200, 195, 50]),
    both(CharacterRun::Open, Quote, &[45, 160, 225]),
    both(CharacterRun::Open, Mark, &[190, 280, 505, 320]),
    both(CharacterRun::Open, Open, &[185, 455, 605]),
    both(CharacterRun::Open, Link, &[210, 855, 200, 675]),
    both(CharacterRun::Link, Quote, &[240, 490, 640, 750]),
    both(CharacterRun::Link, Mark, &[265, 455, 50, 665]),
    both(CharacterRun::Link, Open, &[35, 135]),
    both(CharacterRun::Link, Link, &[2, 140, 150, 60]),
    both(CharacterRun::Link, Typographic, &[15]),
    both(CharacterRun::Symbol, Mark, &[445]),
    both(CharacterRun::Symbol, Link, &[0]),
    both(CharacterRun::Symbol, Typographic, &[700]),
    both(CharacterRun::Symbol, Symbol, &[820, 60, 135, 360]),
];

/// What a new run costs after another; not listed is [`first`].
#[rustfmt::skip]
pub(super) const ENTER: &[(CharacterRun, &[(Class, u16)])] = &[
    (CharacterRun::Space, &[
        (Lower, 0), (RareLower, 0), (Upper, 0), (Newline, 0), (Quote, 1), (Mark, 3),
        (Open, 2), (Link, 2), (Accented, 15), (AccentedUpper, 0), (Greek, 5), (Cyrillic, 1),
        (CyrillicUpper, 2), (Arabic, 0), (Hebrew, 0), (Devanagari, 0), (Indic, 0), (Thai, 0),
        (Hiragana, 280), (Katakana, 75), (Han, 505), (Hangul, 80), (WideMark, 150), (Typographic, 40),
        (Symbol, 570), (Other, 500),
    ]),
    (CharacterRun::Newline, &[
        (Link, 830),
    ]),
    (CharacterRun::Word, &[
        (Quote, 580),
    ]),
    (CharacterRun::Capital, &[
        (Quote, 930),
    ]),
    (CharacterRun::Mark, &[
        (Lower, 780), (RareLower, 640), (Upper, 935), (Newline, 50), (Arabic, 630), (Hangul, 750),
        (WideMark, 330),
    ]),
    (CharacterRun::Devanagari, &[
        (Newline, 0),
    ]),
    (CharacterRun::WideMark, &[
        (Newline, 0), (Open, 725), (Hiragana, 605), (Han, 855), (Typographic, 0),
    ]),
    (CharacterRun::Emoji, &[
        (Mark, 500), (Link, 625),
    ]),
    (CharacterRun::Quote, &[
        (Lower, 870), (RareLower, 920), (Upper, 940), (Newline, 20), (Accented, 260),
    ]),
    (CharacterRun::Open, &[
        (Lower, 670), (RareLower, 750), (Upper, 655), (Newline, 0),
    ]),
    (CharacterRun::Link, &[
        (Lower, 185), (RareLower, 350), (Upper, 230), (Newline, 1), (Accented, 920), (Cyrillic, 765),
        (Devanagari, 335),
    ]),
    (CharacterRun::Symbol, &[
        (Newline, 595), (Arabic, 665), (Emoji, 1900), (Joiner, 925),
    ]),
];

/// What a run of this kind costs at its first character, when nothing else is known.
pub(super) const fn first(class: Class) -> u16 {
    match class {
        RareHan => 2500,
        Emoji => 1900,
        Other => 1500,
        Symbol => 1300,
        Lower | RareLower | Upper | Digit | Space | Newline | Quote | Mark | Open | Link
        | Accented | AccentedUpper | Greek | Cyrillic | CyrillicUpper | Arabic | Hebrew
        | Devanagari | Indic | Thai | Hiragana | Katakana | Han | Hangul | WideMark
        | Typographic | Joiner | Combining => 1000,
    }
}

/// What a letter costs at least after [`super::place::LONG`] letters in a row, which no vocabulary has whole.
pub(super) const LONG_WORD: u16 = 250;
