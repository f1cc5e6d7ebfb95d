//! The first thing that happens to a model's text: whatever a terminal would obey is taken out.

use crate::printer;

/// What stands where a control character was.
const CONTROL: char = '\u{fffd}';

/// Takes controls out of text that comes in pieces. Line ends and tabs stay; `\r\n` is one line end.
#[derive(Debug, Default)]
pub(crate) struct Tamer {
    /// A carriage return came last: alone it is a control, before a line end it is nothing.
    returned: bool,
}

impl Tamer {
    /// Hands every character on, made harmless.
    pub(crate) fn push(&mut self, text: &str, mut take: impl FnMut(char)) {
        for c in text.chars() {
            if std::mem::take(&mut self.returned) && c != '\n' {
                take(CONTROL);
            }
            match c {
                '\r' => self.returned = true,
                '\n' | '\t' => take(c),
                c => take(printer::plain_char(c, CONTROL)),
            }
        }
    }

    /// Hands on what was held back.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(char)) {
        if std::mem::take(&mut self.returned) {
            take(CONTROL);
        }
    }
}

/// Makes a whole text harmless.
pub(crate) fn tamed(text: &str) -> String {
    let mut tame = String::with_capacity(text.len());
    let mut tamer = Tamer::default();
    tamer.push(text, |c| tame.push(c));
    tamer.finish(|c| tame.push(c));
    tame
}
