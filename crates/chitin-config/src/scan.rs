//! A walk over JSON5 text that knows where each value stands.
//!
//! The parser gives values without places. This scanner gives places without values: it follows the structure, skips what
//! is inside strings and comments, and stops quietly at the first thing it does not understand, which the parser then
//! reports. It keeps its own stack, so no text can exhaust the machine's.

use std::fmt;
use std::ops::ControlFlow;

/// One step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Step {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Index(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// Writes steps as a dotted path.
pub(super) fn dotted(steps: &[Step]) -> String {
    steps
        .iter()
        .map(Step::to_string)
        .collect::<Vec<_>>()
        .join(".")
}

/// Returns how deep brackets are nested outside strings and comments. It must see each one that the parser sees: that one recurses.
pub(super) fn depth(text: &str) -> usize {
    let mut scanner = Scanner { text, at: 0 };
    let (mut depth, mut deepest) = (0_usize, 0);
    while let Some(byte) = scanner.next_significant() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
                scanner.at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                scanner.at += 1;
            }
            b'"' | b'\'' => {
                if scanner.string().is_none() {
                    break;
                }
            }
            _ => scanner.at += scanner.character(),
        }
    }
    deepest
}

/// Visits every value with its path and the byte to point at: the key of a member, the start of an element.
pub(super) fn walk(text: &str, mut visit: impl FnMut(&[Step], usize) -> ControlFlow<()>) {
    let mut scanner = Scanner { text, at: 0 };
    let mut open: Vec<Open> = Vec::new();
    let mut path: Vec<Step> = Vec::new();
    loop {
        let Some(byte) = scanner.next_significant() else {
            return;
        };
        if matches!(byte, b'}' | b']') {
            let Some(closed) = open.pop() else { return };
            if closed.has_step {
                path.pop();
            }
            scanner.at += 1;
            continue;
        }
        if byte == b',' {
            scanner.at += 1;
            continue;
        }
        let mut point = scanner.at;
        if let Some(frame) = open.last_mut() {
            if std::mem::take(&mut frame.has_step) {
                path.pop();
            }
            let step = match frame.kind {
                Kind::Array(index) => {
                    frame.kind = Kind::Array(index + 1);
                    Step::Index(index)
                }
                Kind::Object => {
                    point = scanner.at;
                    let Some(key) = scanner.key() else { return };
                    if scanner.next_significant() != Some(b':') {
                        return;
                    }
                    scanner.at += 1;
                    if scanner.next_significant().is_none() {
                        return;
                    }
                    Step::Key(key)
                }
            };
            frame.has_step = true;
            path.push(step);
        }
        if visit(&path, point).is_break() {
            return;
        }
        let kind = match scanner.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array(0),
            _ => {
                if scanner.scalar().is_none() {
                    return;
                }
                continue;
            }
        };
        if open.len() >= super::MAX_DEPTH {
            return;
        }
        open.push(Open {
            kind,
            has_step: false,
        });
        scanner.at += 1;
    }
}

/// Returns the byte to point at for a path; the last of equal keys counts, as it does for the parser.
pub(super) fn locate(text: &str, wanted: &[Step]) -> Option<usize> {
    let mut found = None;
    walk(text, |path, at| {
        if path == wanted {
            found = Some(at);
        }
        ControlFlow::Continue(())
    });
    found
}

struct Open {
    kind: Kind,
    /// Whether the path holds a step for the current child of this container.
    has_step: bool,
}

enum Kind {
    Object,
    /// The index of the next element.
    Array(usize),
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns how many bytes the character here has; one that ended before its time would hide all that follows.
    fn character(&self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.chars().next().map_or(1, char::len_utf8)
    }

    /// Moves past white space and comments and returns the byte there.
    fn next_significant(&mut self) -> Option<u8> {
        loop {
            let rest = self.text.get(self.at..)?;
            let c = rest.chars().next()?;
            if c.is_whitespace() || c == '\u{feff}' {
                self.at += c.len_utf8();
            } else if rest.starts_with("//") {
                self.at += rest.find(['\n', '\r', '\u{2028}', '\u{2029}'])?;
            } else if let Some(inside) = rest.strip_prefix("/*") {
                // The `*` that begins it does not end it.
                self.at += 2 + inside.find("*/")? + 2;
            } else {
                return rest.bytes().next();
            }
        }
    }

    /// Moves past a string and returns it with its quotes.
    fn string(&mut self) -> Option<&str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let quote = *bytes.get(start)?;
        let mut at = start + 1;
        loop {
            match *bytes.get(at)? {
                b'\\' => at += 2,
                byte if byte == quote => break,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        self.text.get(start..=at)
    }

    fn key(&mut self) -> Option<String> {
        if matches!(self.peek(), Some(b'"' | b'\'')) {
            let quoted = self.string()?;
            if quoted.contains('\\') {
                return json5::from_str(quoted).ok();
            }
            return Some(quoted[1..quoted.len() - 1].to_owned());
        }
        let rest = self.text.get(self.at..)?;
        let end = rest.find(|c: char| c == ':' || c == '/' || c.is_whitespace())?;
        self.at += end;
        let name = &rest[..end];
        if name.contains('\\') {
            // Escapes in bare names mean the same as in strings.
            return json5::from_str(&format!("\"{name}\"")).ok();
        }
        Some(name.to_owned())
    }

    fn scalar(&mut self) -> Option<()> {
        if matches!(self.peek(), Some(b'"' | b'\'')) {
            return self.string().map(|_| ());
        }
        let rest = self.text.get(self.at..)?;
        let end = rest
            .find(|c: char| matches!(c, ',' | ']' | '}' | '/') || c.is_whitespace())
            .unwrap_or(rest.len());
        // No progress means something that is no value; the parser says what.
        (end > 0).then(|| self.at += end)
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
