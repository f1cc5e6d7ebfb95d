//! Lines of a file, each of bounded length, in constant memory.

use super::{MAX_RECORD_BYTES, Unreadable};
use std::io::{self, BufRead, BufReader, Read};

/// What a line is given to.
type EachLine<'a> = dyn FnMut(Result<&[u8], Unreadable>) + 'a;

/// Gives every line that is not blank to `each`, without its end. A line without an end is the last one: it may be torn (H31).
pub(crate) fn each_line(from: impl Read, each: &mut EachLine<'_>) -> io::Result<()> {
    let mut from = BufReader::with_capacity(64 << 10, from);
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let piece = match from.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                finish(&mut line, &mut is_too_long, each);
                return Err(error);
            }
        };
        if piece.is_empty() {
            finish(&mut line, &mut is_too_long, each);
            return Ok(());
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(piece.len());
        if line.len() + taken > MAX_RECORD_BYTES {
            is_too_long = true;
            line.clear();
        } else if !is_too_long {
            line.extend_from_slice(&piece[..taken]);
        }
        from.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            finish(&mut line, &mut is_too_long, each);
        }
    }
}

fn finish(line: &mut Vec<u8>, is_too_long: &mut bool, each: &mut EachLine<'_>) {
    if *is_too_long {
        each(Err(Unreadable::TooLong));
    } else if !line.trim_ascii().is_empty() {
        each(Ok(line.trim_ascii()));
    }
    line.clear();
    // One long record is not a reason to keep its room.
    line.shrink_to(1 << 20);
    *is_too_long = false;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<String, Unreadable>> {
        let mut found = Vec::new();
        each_line(bytes, &mut |line| {
            found.push(line.map(|line| String::from_utf8_lossy(line).into_owned()));
        })
        .unwrap();
        found
    }

    #[test]
    fn blank_lines_are_none_and_a_line_without_an_end_is_one() {
        let lines = read(b"{\"a\":1}\r\n\n  \n{\"b\":2}\n{\"c");
        let lines: Vec<String> = lines.into_iter().map(Result::unwrap).collect();
        assert_eq!(lines, ["{\"a\":1}", "{\"b\":2}", "{\"c"]);
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        let mut bytes = b"first\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', MAX_RECORD_BYTES + 5));
        bytes.extend(b"\nlast");
        assert_eq!(
            read(&bytes),
            [
                Ok("first".to_owned()),
                Err(Unreadable::TooLong),
                Ok("last".to_owned())
            ]
        );
    }
}
