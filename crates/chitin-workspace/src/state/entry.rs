//! Entries of facts and daily notes: one line each (B17).

use super::compat::{ENTRY_INSTANT, ENTRY_START};
use crate::adapter::text::{lines, trim};
use jiff::Timestamp;
use serde::Serialize;

/// One remembered thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateEntry {
    /// What it is known by.
    pub id: String,
    /// When it was noted.
    pub at: Timestamp,
    /// What it says.
    pub content: String,
}

/// What a new entry is known by, and when it was noted. The caller draws the id (a UUID of version 4) and reads the
/// clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// The id.
    pub id: &'a str,
    /// The instant.
    pub at: Timestamp,
}

impl Stamp<'_> {
    /// Tells whether the id can be read back from a line.
    pub(super) fn fits(&self) -> bool {
        !self.id.trim().is_empty()
            && !self.id.contains([']', '\n', '\r'])
            && !self.id.contains(ENTRY_INSTANT)
    }
}

impl StateEntry {
    /// Reads one line. Anything else than an entry that starts at the first column is `None`.
    pub fn parse(line: &str) -> Option<Self> {
        let (head, content) = line.strip_prefix(ENTRY_START)?.split_once(']')?;
        let (id, instant) = head.split_once(ENTRY_INSTANT)?;
        Some(Self {
            id: id.to_owned(),
            at: parse_instant(instant)?,
            content: trim(content).to_owned(),
        })
    }

    /// Reads the entries of a file, oldest first; entries of one instant keep their order.
    pub fn parse_all(text: &str) -> Vec<Self> {
        let mut entries: Vec<_> = lines(text).filter_map(Self::parse).collect();
        entries.sort_by_key(|entry| entry.at);
        entries
    }

    /// Writes the line, with its line end. Line breaks in the content become spaces: an entry is one line.
    pub fn line(stamp: Stamp<'_>, content: &str) -> String {
        let content: Vec<&str> = content
            .split(['\n', '\r'])
            .filter(|part| !part.is_empty())
            .collect();
        format!(
            "{ENTRY_START}{}{ENTRY_INSTANT}{}] {}\n",
            stamp.id,
            stamp.at,
            content.join(" ")
        )
    }
}

/// Reads an instant: date, `T`, a time with seconds, and `Z` or an offset, as ISO 8601 has it.
fn parse_instant(text: &str) -> Option<Timestamp> {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let (start, zone) = bytes.split_at_checked(shape.len())?;
    let fits = shape.iter().zip(start).all(|(wanted, found)| match wanted {
        b'd' => found.is_ascii_digit(),
        wanted => found.eq_ignore_ascii_case(wanted),
    });
    let fraction = match zone.strip_prefix(b".") {
        Some(rest) => rest.iter().take_while(|b| b.is_ascii_digit()).count(),
        None => 0,
    };
    // The library at hand is laxer than the format: it takes commas, spaces and names of zones.
    let zone = &zone[usize::from(zone.starts_with(b".")) + fraction..];
    let zone_fits = match zone {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', rest @ ..] => rest.iter().all(|b| b.is_ascii_digit() || *b == b':'),
        _ => false,
    };
    if !fits || !zone_fits || fraction > 9 {
        return None;
    }
    // A point without digits is allowed over there and not here.
    text.replacen(".Z", "Z", 1).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_back_as_it_was_written() {
        let at = "2026-03-01T10:00:00.5Z".parse().unwrap();
        let line = StateEntry::line(Stamp { id: "a-1", at }, "likes tea\r\nand cake");
        assert_eq!(
            line,
            "- [id:a-1|at:2026-03-01T10:00:00.5Z] likes tea and cake\n"
        );
        let entry = StateEntry::parse(line.trim_end()).unwrap();
        assert_eq!(
            (entry.id.as_str(), entry.content.as_str()),
            ("a-1", "likes tea and cake")
        );
        assert_eq!(entry.at, at);
    }

    /// Each instant was put to `java.time.Instant` of Java 17.
    #[test]
    fn instants_are_read_strictly() {
        for good in [
            "2026-01-01T00:00:00Z",
            "2026-01-01t00:00:00z",
            "2026-01-01T00:00:00.123456789Z",
            "2026-01-01T00:00:00+01:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T23:59:60Z",
        ] {
            assert!(parse_instant(good).is_some(), "{good}");
        }
        for bad in [
            "2026-01-01T00:00Z",
            "2026-01-01",
            "2026-1-1T00:00:00Z",
            "2026-02-30T00:00:00Z",
            " 2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00,5Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00Z[UTC]",
            "",
            "é",
        ] {
            assert!(parse_instant(bad).is_none(), "{bad}");
        }
    }
}
