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
    /// How many lines are whole, and out of order, there twice or with another line end. They count.
    pub(super) misplaced: u64,
    /// Whether the first line is not there.
    pub(super) no_header: bool,
}

impl Damage {
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// What stands between two line ends.
#[derive(Debug, Clone, Copy)]
struct Piece<'b> {
    /// Without its line end.
    line: &'b [u8],
    /// Where it begins.
    offset: usize,
    /// How long it is with its line end.
    length: usize,
    /// Whether it stands where it was written, with the line end that it was written with.
    is_in_place: bool,
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
        let mut pieces = pieces(&bytes[..whole], 0);
        // Somebody may have given all lines other ends.
        let rest = bytes[whole..].iter().rposition(|byte| *byte == b'\r');
        let rest = rest.map_or(whole, |end| whole + end + 1);
        pieces.extend(self::pieces(&bytes[whole..rest], whole));
        sort(&mut pieces);
        for piece in &pieces {
            reading.piece(&mut contents, piece);
        }
        contents.end(&mut reading, &bytes[rest..], rest);
        contents.is_current = reading.has_header && !reading.has_earlier;
        contents.damage.no_header = reading.has_numbers && !reading.has_header;
        contents
    }

    /// Takes in what stands behind the last line end.
    fn end<'b>(&mut self, reading: &mut Reading<'b>, end: &'b [u8], offset: usize) {
        if end.is_empty() {
            return;
        }
        if line::may_be_torn(end, offset == 0)
            // A line that is whole but for its last byte was written whole.
            && matches!(line::read(&end[..end.len() - 1]), Line::Damaged)
        {
            self.torn = end.len() as u64;
            return;
        }
        let piece = Piece {
            line: &end[..end.len() - 1],
            offset,
            length: end.len(),
            is_in_place: true,
        };
        reading.piece(self, &piece);
        self.damage.bytes = self.damage.bytes.max(1);
    }
}

/// Takes apart what ends in a line end. No line that was written holds a line end of another kind.
fn pieces(bytes: &[u8], at: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut offset = at;
    for whole in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        if !line.contains(&b'\r') {
            pieces.push(Piece {
                line,
                offset,
                length: whole.len(),
                is_in_place: true,
            });
            offset += whole.len();
            continue;
        }
        let mut begin = offset;
        offset += whole.len();
        let mut parts = line.split_inclusive(|byte| *byte == b'\r').peekable();
        while let Some(part) = parts.next() {
            // The newline belongs to the last one.
            let length = if parts.peek().is_some() {
                part.len()
            } else {
                offset - begin
            };
            pieces.push(Piece {
                line: part.strip_suffix(b"\r").unwrap_or(part),
                offset: begin,
                length,
                is_in_place: false,
            });
            begin += length;
        }
    }
    pieces
}

/// Puts the lines that have numbers into the order of these. Others stay where they are.
fn sort(pieces: &mut [Piece<'_>]) {
    let seems_sorted = pieces
        .iter()
        .filter_map(|piece| line::seeming_number(piece.line))
        .is_sorted();
    if seems_sorted {
        return;
    }
    let numbered = pieces
        .iter()
        .enumerate()
        .filter_map(|(place, piece)| Some((line::number(piece.line)?, place, *piece)));
    let mut numbered: Vec<(u64, usize, Piece<'_>)> = numbered.collect();
    let places: Vec<usize> = numbered.iter().map(|(_, place, _)| *place).collect();
    numbered.sort_by_key(|(number, _, _)| *number);
    for (place, (_, was, piece)) in places.into_iter().zip(numbered) {
        pieces[place] = Piece {
            is_in_place: piece.is_in_place && place == was,
            ..piece
        };
    }
}

#[derive(Default)]
struct Reading<'b> {
    has_header: bool,
    has_earlier: bool,
    has_numbers: bool,
    /// The lines that have the last number.
    same: Vec<&'b [u8]>,
}

impl<'b> Reading<'b> {
    fn piece(&mut self, contents: &mut Contents, piece: &Piece<'b>) {
        let length = piece.length as u64;
        let batch: Vec<JobChange> = match line::read(piece.line) {
            Line::Header(version) => {
                if version > line::VERSION {
                    contents.newer = Some(version);
                }
                let is_first = !std::mem::replace(&mut self.has_header, true);
                contents.damage.misplaced += u64::from(!is_first || !piece.is_in_place);
                return;
            }
            Line::Batch(number, batch) => {
                self.has_numbers = true;
                let is_next = number > contents.last;
                contents.damage.misplaced += u64::from(!is_next || !piece.is_in_place);
                if is_next {
                    contents.damage.lines += number - contents.last - 1;
                    contents.last = number;
                    self.same.clear();
                } else if self.same.contains(&piece.line) {
                    // It was here before.
                    return;
                }
                self.same.push(piece.line);
                batch
            }
            Line::Earlier(batch) => {
                self.has_earlier = true;
                contents.damage.misplaced += u64::from(!piece.is_in_place);
                batch
            }
            Line::Damaged => {
                contents.damage.bytes += length;
                return;
            }
        };
        contents.open.apply(batch, piece.offset as u64, length);
    }
}
