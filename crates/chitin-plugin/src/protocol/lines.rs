//! Bytes into lines, with a limit.

use super::LONGEST_LINE;

/// Splits what comes in at line feeds. Holds at most one line of the greatest length.
#[derive(Debug, Default)]
pub struct LineBuffer {
    pending: Vec<u8>,
    overflowed: bool,
}

impl LineBuffer {
    /// Takes bytes and hands on each line that they complete, without its line end; blank lines are skipped. A line that
    /// is too long is handed on as `None`, once, and everything after it is dropped: the stream is of no use any more.
    pub fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(Option<Vec<u8>>)) {
        while !bytes.is_empty() && !self.overflowed {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.pending.len() + part.len() > LONGEST_LINE {
                self.overflowed = true;
                self.pending = Vec::new();
                line(None);
                return;
            }
            self.pending.extend_from_slice(part);
            let Some(end) = end else { return };
            bytes = &bytes[end + 1..];
            let whole = std::mem::take(&mut self.pending);
            if !whole.iter().all(u8::is_ascii_whitespace) {
                line(Some(whole));
            }
        }
    }
}
