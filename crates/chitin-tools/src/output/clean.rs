//! Bytes to text: lossy where they are no UTF-8, and without control characters.

use std::fmt::Write;

/// What becomes of control characters other than line ends and tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controls {
    /// They go, and with them the escape sequences of terminals. A lone carriage return becomes a line end.
    Strip,
    /// They stay visible, as `\x1b`. A carriage return before a line end goes.
    Show,
}

/// Cleans a stream of bytes.
#[derive(Debug)]
pub struct Cleaner {
    controls: Controls,
    /// The beginning of a character whose end has not come yet.
    torn: Vec<u8>,
    escape: Escape,
    /// A carriage return that waits for what follows it.
    carriage_return: bool,
}

/// How far in an escape sequence of a terminal the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    Outside,
    /// After the escape character.
    Begun,
    /// In a sequence that ends at a letter or one of `@[\]^_{|}~` and backtick.
    Control,
    /// In a string that ends at a bell or an escape; counted, so that no lost end swallows everything.
    Text(u16),
}

/// No title or link of a terminal is longer; what is, was no escape sequence.
const LONGEST_ESCAPE_TEXT: u16 = 4096;

/// Cleans bytes that are all there.
pub fn clean(bytes: &[u8], controls: Controls) -> String {
    let mut cleaner = Cleaner::new(controls);
    let mut text = cleaner.push(bytes);
    text.push_str(&cleaner.finish());
    text
}

impl Cleaner {
    /// Starts at the beginning of a text.
    pub const fn new(controls: Controls) -> Self {
        Self {
            controls,
            torn: Vec::new(),
            escape: Escape::Outside,
            carriage_return: false,
        }
    }

    /// Takes the next bytes and returns the text that is certain by now.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let joined;
        let mut rest = if self.torn.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.torn), bytes.to_vec()].concat();
            &joined[..]
        };
        let mut text = String::with_capacity(rest.len());
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    self.take(valid, &mut text);
                    return text;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.take(std::str::from_utf8(valid).unwrap_or_default(), &mut text);
                    let Some(length) = error.error_len() else {
                        self.torn = after.to_vec();
                        return text;
                    };
                    self.take("\u{fffd}", &mut text);
                    rest = &after[length..];
                }
            }
        }
    }

    /// Ends the text and returns what was held back.
    pub fn finish(&mut self) -> String {
        let mut text = String::new();
        if !std::mem::take(&mut self.torn).is_empty() {
            self.take("\u{fffd}", &mut text);
        }
        self.end_carriage_return(&mut text);
        text
    }

    fn take(&mut self, valid: &str, text: &mut String) {
        let is_at_rest = self.escape == Escape::Outside && !self.carriage_return;
        if is_at_rest && !valid.bytes().any(may_be_control) {
            text.push_str(valid);
            return;
        }
        for c in valid.chars() {
            if self.escape != Escape::Outside {
                self.escape = self.escape.after(c);
                continue;
            }
            if c == '\n' {
                // The carriage return before it belonged to the line end.
                self.carriage_return = false;
                text.push(c);
                continue;
            }
            self.end_carriage_return(text);
            match (c, self.controls) {
                ('\t', _) => text.push(c),
                ('\r', _) => self.carriage_return = true,
                ('\u{1b}', Controls::Strip) => self.escape = Escape::Begun,
                (c, Controls::Strip) if c.is_control() => {}
                (c, Controls::Show) if c.is_control() => show(c, text),
                (c, _) => text.push(c),
            }
        }
    }

    fn end_carriage_return(&mut self, text: &mut String) {
        if std::mem::take(&mut self.carriage_return) {
            match self.controls {
                Controls::Strip => text.push('\n'),
                Controls::Show => show('\r', text),
            }
        }
    }
}

/// Tells whether a byte is a control character other than a line end or a tab, or may begin one of those beyond ASCII.
const fn may_be_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7f || byte == 0xc2
}

fn show(c: char, text: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\\x{:02x}", u32::from(c));
}

impl Escape {
    const fn after(self, c: char) -> Self {
        match (self, c) {
            (Self::Begun, ']' | 'P' | '_' | '^' | 'X') => Self::Text(0),
            (Self::Begun, '[') | (Self::Control, ' '..='?') => Self::Control,
            // Two-character sequences with a blank or a bracket have one character more.
            (Self::Begun, ' '..='/') | (Self::Text(_), '\u{1b}') => Self::Begun,
            (Self::Text(count), c) if c != '\u{7}' && count < LONGEST_ESCAPE_TEXT => {
                Self::Text(count + 1)
            }
            (Self::Outside | Self::Begun | Self::Control | Self::Text(_), _) => Self::Outside,
        }
    }
}
