//! Keeps the words of others inside the place that they are put in.

use crate::compat;
use chitin_protocol::text::trim_js;

/// Takes the markers of blocks out.
pub(super) fn block_markers(text: &str) -> String {
    text.replace(compat::INTERNAL_BEGIN, compat::INTERNAL_BEGIN_ESCAPED)
        .replace(compat::INTERNAL_END, compat::INTERNAL_END_ESCAPED)
}

/// Takes the markers around a child's words out.
pub(super) fn result_markers(text: &str) -> String {
    text.replace(compat::RESULT_BEGIN, compat::RESULT_BEGIN_ESCAPED)
        .replace(compat::RESULT_END, compat::RESULT_END_ESCAPED)
}

/// Returns a field on one line; `fallback` when nothing is left.
pub(super) fn one_line(text: &str, fallback: &str) -> String {
    let text = block_markers(text);
    let mut line = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' => {
                while letters.next_if_eq(&'\n').is_some() {}
                line.push(' ');
            }
            letter => line.push(letter),
        }
    }
    or(trim_js(&line), fallback)
}

/// Returns a text with lines; `fallback` when nothing is left.
pub(super) fn lines(text: &str, fallback: &str) -> String {
    let text = block_markers(text).replace("\r\n", "\n");
    or(trim_js(&text), fallback)
}

/// Returns data that stands between tags: no letter that shows nothing, no angle bracket. Blank when nothing is left.
pub(super) fn data(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept: String = text.chars().filter(|c| *c == '\n' || shows(*c)).collect();
    trim_js(&kept).replace('<', "&lt;").replace('>', "&gt;")
}

fn or(text: &str, fallback: &str) -> String {
    if text.is_empty() { fallback } else { text }.to_owned()
}

/// Tells whether a letter shows: no control, no sign that only steers the text around it (Unicode's Cc, Cf, Zl and Zp).
pub(crate) fn shows(c: char) -> bool {
    let steers = matches!(
        c,
        '\u{AD}'
            | '\u{600}'..='\u{605}'
            | '\u{61C}'
            | '\u{6DD}'
            | '\u{70F}'
            | '\u{890}'..='\u{891}'
            | '\u{8E2}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{110BD}'
            | '\u{110CD}'
            | '\u{13430}'..='\u{1343F}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0001}'
            | '\u{E0020}'..='\u{E007F}'
    );
    !c.is_control() && !steers
}
