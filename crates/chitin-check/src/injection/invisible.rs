//! Characters that show nothing, or that change the order in which others show.

use crate::finding::{Draft, Findings};
use crate::rules;
use crate::secrets::redact_secrets;
use crate::subject::Subject;
use std::ops::Range;

/// What an invisible character is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Tag,
    VariationSelector,
    ZeroWidth,
    /// Needed by emoji and by scripts that join letters.
    Joiner,
    /// Turns the direction, but has a place in mixed text.
    Direction,
    /// Turns the direction of whatever follows.
    DirectionOverride,
}

const fn class(c: char) -> Option<Class> {
    Some(match c {
        '\u{e0000}'..='\u{e007f}' => Class::Tag,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Class::VariationSelector,
        '\u{200c}' | '\u{200d}' => Class::Joiner,
        '\u{202d}' | '\u{202e}' => Class::DirectionOverride,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' | '\u{61c}' => {
            Class::Direction
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2064}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}' => Class::ZeroWidth,
        _ => return None,
    })
}

/// Tells whether a character shows nothing, so that a quotation does better without it.
pub(crate) const fn is_invisible(c: char) -> bool {
    class(c).is_some()
}

pub(super) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if subject.text.is_ascii() {
        return;
    }
    let mut run: Option<(Class, Range<usize>, usize)> = None;
    let mut at = 0;
    while let Some(c) = next_beyond_ascii(subject.text, &mut at) {
        let here = at..at + c.len_utf8();
        at = here.end;
        match (&mut run, class(c)) {
            (Some((class, span, count)), Some(next))
                if *class == next && span.end == here.start =>
            {
                span.end = here.end;
                *count += 1;
            }
            (_, next) => {
                if let Some((class, span, count)) = run.take() {
                    report(subject, class, span, count, findings);
                }
                run = next.map(|class| (class, here, 1));
            }
        }
    }
    if let Some((class, span, count)) = run {
        report(subject, class, span, count, findings);
    }
}

/// Moves to the next character that is not ASCII, many bytes at a time, and returns it.
fn next_beyond_ascii(text: &str, at: &mut usize) -> Option<char> {
    const STRIDE: usize = 32;
    let bytes = text.as_bytes();
    while *at + STRIDE <= bytes.len() && bytes[*at..*at + STRIDE].is_ascii() {
        *at += STRIDE;
    }
    *at += bytes[*at..].iter().position(|byte| !byte.is_ascii())?;
    text[*at..].chars().next()
}

fn report(
    subject: &Subject<'_>,
    class: Class,
    span: Range<usize>,
    count: usize,
    findings: &mut Findings,
) {
    let first = subject.text[span.clone()]
        .chars()
        .next()
        .map_or(0, u32::from);
    let characters = if count == 1 {
        format!("Found an invisible character (U+{first:04X}).")
    } else {
        format!("Found {count} invisible characters (first U+{first:04X}).")
    };
    let draft = match class {
        Class::Tag if is_flag(subject.text, &span, count) => return,
        Class::Tag => {
            let hidden = hidden_text(&subject.text[span.clone()]);
            Draft::new(
                &rules::TAG_CHARACTERS,
                format!("{count} tag characters spell hidden text: `{hidden}`."),
            )
        }
        Class::VariationSelector if count < 2 => return,
        Class::VariationSelector => Draft::new(
            &rules::VARIATION_SELECTORS,
            format!("{count} variation selectors in a row can carry hidden bytes."),
        ),
        // The mark at the very beginning has a rule of its own.
        Class::ZeroWidth if span.start == 0 && first == 0xfeff && count == 1 => return,
        Class::Joiner if joins(subject.text, &span) && count == 1 => return,
        Class::ZeroWidth | Class::Joiner => Draft::new(&rules::ZERO_WIDTH, characters),
        Class::Direction if has_right_to_left(subject.near(span.start)) => return,
        Class::Direction | Class::DirectionOverride => Draft::new(
            &rules::BIDI_CONTROLS,
            format!("Found a text direction control (U+{first:04X})."),
        ),
    };
    findings.at(subject, span, draft);
}

/// Flags of regions are a black flag, a few tags and a closing tag.
fn is_flag(text: &str, span: &Range<usize>, count: usize) -> bool {
    text[..span.start].ends_with('\u{1f3f4}')
        && text[span.clone()].ends_with('\u{e007f}')
        && count <= 8
}

fn hidden_text(tags: &str) -> String {
    let spelled: String = tags
        .chars()
        .filter_map(|c| char::from_u32(u32::from(c).wrapping_sub(0xe0000)))
        .filter(|c| matches!(c, ' '..='~') && *c != '`')
        .collect();
    redact_secrets(&spelled).chars().take(60).collect()
}

/// Tells whether a joiner stands between characters that join: emoji, or letters of a script beyond Latin.
fn joins(text: &str, span: &Range<usize>) -> bool {
    let needs = |c: char| u32::from(c) >= 0x0530 && !is_plain_punctuation(c);
    text[..span.start].chars().next_back().is_some_and(needs)
        || text[span.end..].chars().next().is_some_and(needs)
}

const fn is_plain_punctuation(c: char) -> bool {
    matches!(c, '\u{2000}'..='\u{206f}')
}

fn has_right_to_left(line: &str) -> bool {
    line.chars().any(|c| {
        matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1eeff}')
            && c != '\u{61c}'
    })
}
