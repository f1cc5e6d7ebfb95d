//! The lines of the job log.
//!
//! `CHECKSUM NUMBER JSON`: the checksum covers what follows it, the number is one more than that of the line before. The first line has
//! the number 0 and names the format. A line of the earlier format is the JSON alone.

use super::JobChange;
use serde::{Deserialize, Serialize};

/// The format that is written.
pub(super) const VERSION: u64 = 2;
const FORMAT: &str = "chitin-job-log";
/// How many hexadecimal digits a checksum has.
const DIGITS: usize = 16;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
}

/// A line as it was read.
#[derive(Debug)]
pub(super) enum Line {
    /// The first line of a format.
    Header(u64),
    /// A batch.
    Batch(u64, Vec<JobChange>),
    /// A batch of the earlier format.
    Earlier(Vec<JobChange>),
    /// None of these.
    Damaged,
}

/// Adds the first line.
pub(super) fn write_header(out: &mut Vec<u8>) -> serde_json::Result<()> {
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
    };
    write(out, 0, &header)
}

/// Adds a line.
pub(super) fn write(
    out: &mut Vec<u8>,
    number: u64,
    value: &impl Serialize,
) -> serde_json::Result<()> {
    let begin = out.len();
    out.resize(begin + DIGITS, b'0');
    out.extend_from_slice(format!(" {number} ").as_bytes());
    serde_json::to_writer(&mut *out, value)?;
    let (line, content) = out[begin..].split_at_mut(DIGITS);
    line.copy_from_slice(checksum(&content[1..]).as_bytes());
    out.push(b'\n');
    Ok(())
}

/// Reads a line, without its newline.
pub(super) fn read(line: &[u8]) -> Line {
    if line.first() == Some(&b'[') {
        return serde_json::from_slice(line).map_or(Line::Damaged, Line::Earlier);
    }
    checked(line).unwrap_or(Line::Damaged)
}

/// Tells whether this may be the beginning of a line whose write was interrupted.
pub(super) fn may_be_torn(end: &[u8], is_whole_file: bool) -> bool {
    // The first line of a file is written before the file gets its name.
    let begins = match end.first() {
        Some(b'[') => true,
        _ => !is_whole_file && end.iter().take(DIGITS).all(u8::is_ascii_hexdigit),
    };
    // What a power cut leaves of a write may be longer than what was written of it: that is damage, and is told.
    begins && !end.contains(&0)
}

/// Returns the number of a line whose checksum is right.
pub(super) fn number(line: &[u8]) -> Option<u64> {
    Some(numbered(line)?.0)
}

/// Returns the number that a line seems to have. Its checksum is not looked at.
pub(super) fn seeming_number(line: &[u8]) -> Option<u64> {
    let content = line.get(DIGITS..)?.strip_prefix(b" ")?;
    let digits = content.split(|byte| *byte == b' ').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn numbered(line: &[u8]) -> Option<(u64, &str)> {
    let (sum, content) = line.split_at_checked(DIGITS)?;
    let content = content.strip_prefix(b" ")?;
    if checksum(content).as_bytes() != sum {
        return None;
    }
    let content = std::str::from_utf8(content).ok()?;
    let (number, json) = content.split_once(' ')?;
    Some((number.parse().ok()?, json))
}

fn checked(line: &[u8]) -> Option<Line> {
    let (number, json) = numbered(line)?;
    match number {
        0 => {
            let header: Header = serde_json::from_str(json).ok()?;
            (header.format == FORMAT).then_some(Line::Header(header.version))
        }
        number => Some(Line::Batch(number, serde_json::from_str(json).ok()?)),
    }
}

fn checksum(content: &[u8]) -> String {
    let hash = blake3::hash(content).to_hex();
    hash[..DIGITS].to_owned()
}
