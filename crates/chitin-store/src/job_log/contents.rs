//! Reads a job log: what is open, and what is wrong with it.

use super::JobChange;
use super::items::{Known, OpenItems};
use super::line::{self, Line};

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) open: OpenItems,
    /// How long the part is that was written whole.
    pub(super) whole: u64,
    /// How long the line is whose write was interrupted.
    pub(super) torn: u64,
    /// The number of the last line.
    pub(super) last: u64,
    /// Whether all of it is in the format that is written.
    pub(super) is_current: bool,
    /// The format, if it is newer than what is known.
    pub(super) newer: Option<u64>,
    pub(super) damage: Damage,
}

/// What is wrong with a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damage {
    /// How many bytes are no lines.
    pub(super) bytes: u64,
    /// How many lines are not there, as far as that can be said.
    pub(super) lines: u64,
    /// Whether the first line is not there.
    pub(super) no_header: bool,
}

impl Damage {
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl Contents {
    pub(super) fn read(bytes: &[u8], known: Known) -> Self {
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = end.map_or(0, |end| end + 1);
        let mut contents = Self {
            open: OpenItems::new(known),
            whole: whole as u64,
            ..Self::default()
        };
        let mut reading = Reading::default();
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            reading.line(&mut contents, &line[..line.len() - 1], line.len());
        }
        contents.end(&mut reading, &bytes[whole..]);
        contents.is_current = reading.has_header && !reading.has_earlier;
        contents.damage.no_header = reading.has_numbers && !reading.has_header;
        contents
    }

    /// Takes in what stands behind the last newline.
    fn end(&mut self, reading: &mut Reading, end: &[u8]) {
        if end.is_empty() {
            return;
        }
        if line::may_be_torn(end, self.whole == 0)
            // A line that is whole but for its last byte was written whole.
            && matches!(line::read(&end[..end.len() - 1]), Line::Damaged)
        {
            self.torn = end.len() as u64;
            return;
        }
        reading.line(self, &end[..end.len() - 1], end.len());
        self.damage.bytes = self.damage.bytes.max(1);
    }
}

#[derive(Default)]
struct Reading {
    has_header: bool,
    has_earlier: bool,
    has_numbers: bool,
    /// Where the line begins.
    offset: u64,
}

impl Reading {
    fn line(&mut self, contents: &mut Contents, line: &[u8], bytes: usize) {
        let offset = self.offset;
        self.offset += bytes as u64;
        let batch: Vec<JobChange> = match line::read(line) {
            Line::Header(version) => {
                self.has_header = true;
                if version > line::VERSION {
                    contents.newer = Some(version);
                }
                return;
            }
            Line::Batch(number, batch) => {
                self.has_numbers = true;
                if number <= contents.last {
                    // It was here before.
                    contents.damage.bytes += bytes as u64;
                    return;
                }
                contents.damage.lines += number - contents.last - 1;
                contents.last = number;
                batch
            }
            Line::Earlier(batch) => {
                self.has_earlier = true;
                batch
            }
            Line::Damaged => {
                contents.damage.bytes += bytes as u64;
                return;
            }
        };
        contents.open.apply(batch, offset, bytes as u64);
    }
}
