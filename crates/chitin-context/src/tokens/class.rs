//! Kinds of characters, as far as tokenizers treat them differently.

/// What kind of character it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Lower,
    /// Small letters that are seldom in English: `jkqvwxz`. They tell other languages and noise from prose.
    RareLower,
    Upper,
    Digit,
    Space,
    Newline,
    Quote,
    Mark,
    Open,
    /// What joins words to names and paths: `_./-`.
    Link,
    Accented,
    AccentedUpper,
    Greek,
    Cyrillic,
    CyrillicUpper,
    Arabic,
    Hebrew,
    Devanagari,
    Indic,
    Thai,
    Hiragana,
    Katakana,
    Han,
    RareHan,
    Hangul,
    WideMark,
    Typographic,
    Symbol,
    Emoji,
    /// What changes the picture before it: skin tones, joiners, variation selectors.
    Joiner,
    Combining,
    Other,
}

/// How many kinds there are.
pub(super) const CLASSES: usize = Class::Other as usize + 1;

/// Returns the kind of a character.
#[inline]
pub(super) fn class_of(c: char) -> Class {
    match ASCII.get(c as usize) {
        Some(&class) => class,
        // The two largest blocks are looked at first.
        None if matches!(c, '\u{4e00}'..='\u{9fff}') => Class::Han,
        None if matches!(c, '\u{ac00}'..='\u{d7a3}') => Class::Hangul,
        None => beyond_ascii(c),
    }
}

static ASCII: [Class; 128] = ascii();

const fn ascii() -> [Class; 128] {
    let mut classes = [Class::Mark; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'j' | b'k' | b'q' | b'v' | b'w' | b'x' | b'z' => Class::RareLower,
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t' => Class::Space,
            b'\n' | b'\r' => Class::Newline,
            b'\'' | b'"' | b'`' => Class::Quote,
            b'(' | b'[' | b'{' | b'<' => Class::Open,
            b'_' | b'.' | b'/' | b'-' => Class::Link,
            _ => Class::Mark,
        };
        byte += 1;
    }
    classes
}

#[inline(never)]
fn beyond_ascii(c: char) -> Class {
    match c {
        '\u{80}'..='\u{bf}' | '×' | '÷' | '\u{2000}'..='\u{200c}' | '\u{200e}'..='\u{206f}' => {
            Class::Typographic
        }
        'À'..='Þ' => Class::AccentedUpper,
        'ß'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Class::Accented,
        '\u{300}'..='\u{36f}' => Class::Combining,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Class::Greek,
        '\u{400}'..='\u{42f}' => Class::CyrillicUpper,
        '\u{430}'..='\u{45f}' => Class::Cyrillic,
        '\u{590}'..='\u{5ff}' => Class::Hebrew,
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Class::Arabic,
        '\u{900}'..='\u{97f}' => Class::Devanagari,
        '\u{980}'..='\u{dff}' => Class::Indic,
        '\u{e00}'..='\u{e7f}' => Class::Thai,
        '\u{20a0}'..='\u{2bff}' => Class::Symbol,
        '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' => Class::WideMark,
        '\u{3040}'..='\u{309f}' => Class::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Class::Katakana,
        '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
            Class::RareHan
        }
        '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => Class::Joiner,
        '\u{1f000}'..='\u{1faff}' => Class::Emoji,
        _ => Class::Other,
    }
}
