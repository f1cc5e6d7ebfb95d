//! Bytes in any pieces → lines.

/// How much of an answer is taken before it counts as broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLimits {
    /// Bytes of one line.
    pub line: usize,
    /// Bytes of one event, which may have several lines.
    pub event: usize,
    /// Bytes of the whole answer.
    pub total: usize,
    /// Blocks of the message.
    pub blocks: usize,
}

impl LineLimits {
    /// Far above what any model answers, far below what hurts.
    pub const DEFAULT: Self = Self {
        line: 16 << 20,
        event: 16 << 20,
        total: 128 << 20,
        blocks: 4096,
    };
}

/// A line, an event or the answer is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch {
    /// What is too long.
    pub what: &'static str,
    /// How many bytes it may have.
    pub limit: usize,
}

/// Cuts bytes into lines at LF, CR or CRLF, however they are split. A byte order mark before the first line is dropped.
#[derive(Debug)]
pub(super) struct LineReader {
    limits: LineLimits,
    line: Vec<u8>,
    total: usize,
    after_return: bool,
    is_first: bool,
}

impl LineReader {
    pub(super) const fn new(limits: LineLimits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            total: 0,
            after_return: false,
            is_first: true,
        }
    }

    /// Takes some bytes and gives every line that they complete, without its end. Lines before the fault were given.
    /// The sink says whether to go on.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut sink: impl FnMut(&[u8]) -> Result<(), TooMuch>,
    ) -> Result<(), TooMuch> {
        let room = self.limits.total.saturating_sub(self.total);
        let mut rest = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.total += rest.len();
        let is_over = rest.len() < bytes.len();
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, ended) = match end {
                Some(at) => (&rest[..at], Some(rest[at])),
                None => (rest, None),
            };
            if self.line.len() + piece.len() > self.limits.line {
                return Err(TooMuch {
                    what: "a line",
                    limit: self.limits.line,
                });
            }
            self.line.extend_from_slice(piece);
            let Some(ended) = ended else { break };
            rest = &rest[piece.len() + 1..];
            self.after_return = ended == b'\r';
            self.give(&mut sink)?;
        }
        if is_over {
            return Err(TooMuch {
                what: "the answer",
                limit: self.limits.total,
            });
        }
        Ok(())
    }

    /// Gives what is left, which has no line end.
    pub(super) fn finish(
        &mut self,
        mut sink: impl FnMut(&[u8]) -> Result<(), TooMuch>,
    ) -> Result<(), TooMuch> {
        if self.line.is_empty() {
            return Ok(());
        }
        self.give(&mut sink)
    }

    fn give(&mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), TooMuch>) -> Result<(), TooMuch> {
        let mut line: &[u8] = &self.line;
        if std::mem::take(&mut self.is_first) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let result = sink(line);
        self.line.clear();
        result
    }
}
