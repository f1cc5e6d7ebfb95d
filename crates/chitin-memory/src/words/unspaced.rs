//! Scripts that put no spaces between words, made searchable by pairs of characters.

use std::borrow::Cow;

/// The first byte of every character from U+0800 on; all scripts without spaces are beyond.
const FIRST_OF_THREE: u8 = 0xe0;

/// Tells whether a character is of a script that puts no spaces between words.
pub(super) const fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e01}'..='\u{0e3a}' | '\u{0e40}'..='\u{0e4e}'   // Thai
        | '\u{0e81}'..='\u{0ece}' | '\u{0edc}'..='\u{0edf}' // Lao
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109d}' | '\u{aa60}'..='\u{aa7f}' // Myanmar
        | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}' // Hangul
        | '\u{1780}'..='\u{17d3}' | '\u{17dd}'              // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}' // Signs for repetition and numbers
        | '\u{3041}'..='\u{309a}' | '\u{309d}'..='\u{309f}' // Hiragana
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}' // Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3347f}')
}

/// Tells whether a character belongs to the one before it: a vowel or tone mark, or the choice of a variant.
const fn is_attached(c: char) -> bool {
    matches!(c,
        '\u{0e31}' | '\u{0e34}'..='\u{0e3a}' | '\u{0e47}'..='\u{0e4e}'
        | '\u{0eb1}' | '\u{0eb4}'..='\u{0ebc}' | '\u{0ec8}'..='\u{0ece}'
        | '\u{102b}'..='\u{103e}' | '\u{1056}'..='\u{1059}' | '\u{105e}'..='\u{1060}' | '\u{1062}'..='\u{1064}'
        | '\u{1067}'..='\u{106d}' | '\u{1071}'..='\u{1074}' | '\u{1082}'..='\u{108d}' | '\u{108f}' | '\u{109a}'..='\u{109d}'
        | '\u{17b4}'..='\u{17d3}' | '\u{17dd}'
        | '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns a text as the index keeps it: runs of scripts without spaces as overlapping pairs of characters between spaces
/// (`浮力引擎` is `浮力 力引 引擎`), everything else as it is.
pub fn segmented(text: &str) -> Cow<'_, str> {
    let Some(first) = first_unspaced(text) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while !rest.is_empty() {
        let run = run(rest);
        if !run.is_empty() {
            space_before(&mut out);
            for (index, pair) in pairs(run).enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(pair);
            }
            rest = &rest[run.len()..];
        }
        let other = rest.find(is_unspaced).map_or(rest, |at| &rest[..at]);
        if !run.is_empty() && other.chars().next().is_some_and(|c| !c.is_whitespace()) {
            out.push(' ');
        }
        out.push_str(other);
        rest = &rest[other.len()..];
    }
    Cow::Owned(out)
}

/// Returns the run of characters of scripts without spaces that a text begins with.
pub(super) fn run(text: &str) -> &str {
    if !text.chars().next().is_some_and(is_unspaced) {
        return "";
    }
    let end = text.find(|c| !is_unspaced(c) && !is_attached(c));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the overlapping pairs of a run, or the run itself if it is one character.
pub(super) fn pairs(run: &str) -> impl Iterator<Item = &str> {
    let starts = || {
        run.char_indices()
            .filter(|&(at, c)| at == 0 || !is_attached(c))
            .map(|(at, _)| at)
            .chain([run.len()])
    };
    let ends = starts().skip(2).chain(is_one(run).then_some(run.len()));
    starts().zip(ends).map(|(start, end)| &run[start..end])
}

/// Tells whether a run is one character, with what is attached to it.
pub(super) fn is_one(run: &str) -> bool {
    !run.is_empty() && run.chars().skip(1).all(is_attached)
}

fn first_unspaced(text: &str) -> Option<usize> {
    // Most text of most people has no byte this high, and that is told sixty-four at a time.
    let (strides, rest) = text.as_bytes().as_chunks::<64>();
    let may_be = strides.iter().any(|stride| {
        stride
            .iter()
            .fold(0, |high, &byte| high | u8::from(byte >= FIRST_OF_THREE))
            != 0
    }) || rest.iter().any(|&byte| byte >= FIRST_OF_THREE);
    may_be.then(|| text.find(is_unspaced)).flatten()
}

fn space_before(out: &mut String) {
    if out.chars().next_back().is_some_and(|c| !c.is_whitespace()) {
        out.push(' ');
    }
}
