//! Word vectors as lines of text: `word number number …`.

use super::ConvertError;
use super::kept::Kept;
use std::io::{BufRead, Read};

/// No line is longer.
const LONGEST_LINE: usize = 64 * 1024;

/// Reads lines until enough words are kept: the most frequent come first.
pub(super) fn read(mut input: impl BufRead, kept: &mut Kept) -> Result<(), ConvertError> {
    let mut line = Vec::new();
    let mut vector = Vec::new();
    let mut rank = 0_u32;
    for number in 1_u64.. {
        line.clear();
        let limit = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
        if (&mut input).take(limit).read_until(b'\n', &mut line)? == 0 || kept.is_full() {
            break;
        }
        let place = || format!("line {number}");
        if line.len() >= LONGEST_LINE {
            return Err(ConvertError::input(place(), "it is too long"));
        }
        // Some lists have torn names; their numbers are fine.
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() || (number == 1 && is_count(text)) {
            continue;
        }
        if kept.dimensions() == 0 {
            kept.set_dimensions(text.split_ascii_whitespace().count().saturating_sub(1))?;
        }
        let name = numbers_at_the_end(text, kept.dimensions(), &mut vector).ok_or_else(|| {
            ConvertError::input(
                place(),
                format!("a word and {} numbers should be there", kept.dimensions()),
            )
        })?;
        kept.offer(name, rank, &vector)?;
        rank = rank.saturating_add(1);
    }
    Ok(())
}

/// Tells whether a line says how many words and numbers there are.
fn is_count(line: &str) -> bool {
    let mut fields = line.split_ascii_whitespace();
    let mut counts = || {
        fields
            .next()
            .is_some_and(|field| field.parse::<u32>().is_ok())
    };
    counts() && counts() && fields.next().is_none()
}

/// Takes numbers off the end of a line and returns what stands before them: names may have spaces in them.
fn numbers_at_the_end<'l>(
    line: &'l str,
    dimensions: usize,
    vector: &mut Vec<f32>,
) -> Option<&'l str> {
    vector.clear();
    let mut before = line;
    for _ in 0..dimensions {
        let (rest, number) = before.rsplit_once([' ', '\t'])?;
        vector.push(number.parse().ok()?);
        before = rest.trim_end();
    }
    vector.reverse();
    Some(before)
}
