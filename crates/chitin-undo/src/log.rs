//! The log: one JSON line for each difference that was found, and who was at work meanwhile.

use crate::entry::Change;
use crate::error::UndoError;
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::Path;

/// The name of the file.
pub(crate) const LOG: &str = "changes.jsonl";
/// The largest log that is read.
pub(crate) const MAX_BYTES: u64 = 256 << 20;
/// No honest count gets as far. The next one after the highest of all would be zero, and what follows would be passed over.
const HIGHEST: u64 = 1 << 53;
/// How much of a message is kept.
const MAX_MESSAGE: usize = 200;

/// A turn, or an undo, which has a number of its own so that it can be taken back too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnInfo {
    /// Its number, given when it first changes something.
    #[serde(default, deserialize_with = "counted")]
    pub number: u64,
    /// Its run id.
    pub id: String,
    /// Its session key.
    pub session: String,
    /// The beginning of its message.
    pub message: String,
    /// When it began to write, in milliseconds since 1970.
    #[serde(default)]
    pub began_ms: i64,
    /// What it is.
    #[serde(default)]
    pub kind: TurnKind,
    /// Whether the process ended before the turn did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

/// What has a number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TurnKind {
    /// A turn of the agent.
    #[default]
    Turn,
    /// A user took changes back.
    Undo {
        /// To the state before this turn.
        turn: u64,
    },
}

impl TurnInfo {
    /// Describes a turn that has no number yet. Of the message only the beginning is kept, on one line.
    pub fn new(id: &str, session: &str, message: &str) -> Self {
        let mut words = String::new();
        for word in message.split_whitespace() {
            if words.chars().count() + word.chars().count() >= MAX_MESSAGE {
                words.extend(
                    word.chars()
                        .take(if words.is_empty() { MAX_MESSAGE } else { 0 }),
                );
                words.push('…');
                break;
            }
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
        Self {
            number: 0,
            id: id.to_owned(),
            session: session.to_owned(),
            message: words,
            began_ms: 0,
            kind: TurnKind::Turn,
            interrupted: false,
        }
    }

    /// Tells whether it is an undo.
    pub const fn is_undo(&self) -> bool {
        matches!(self.kind, TurnKind::Undo { .. })
    }
}

/// One difference between two looks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// Its place in the log, counted from one and never given twice.
    #[serde(deserialize_with = "counted")]
    pub(crate) sequence: u64,
    /// When it was found, in milliseconds since 1970.
    pub(crate) at_ms: i64,
    /// The turns that were writing meanwhile; none if the change is somebody else's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) turns: Vec<TurnInfo>,
    /// Set where the state before is not known: then nothing is certain about what lies behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) gap: bool,
    /// What changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<Change>,
}

impl Record {
    /// Tells whether a turn was writing.
    pub(crate) fn is_of(&self, number: u64) -> bool {
        self.turns.iter().any(|turn| turn.number == number)
    }
}

fn counted<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(from)?;
    if number > HIGHEST {
        return Err(D::Error::custom("nothing was counted as far"));
    }
    Ok(number)
}

/// Returns how many bytes the log has.
pub(crate) fn size(store: &Root) -> u64 {
    let found = store.fingerprint(Path::new(LOG));
    found.map_or(0, |fingerprint| fingerprint.size)
}

/// The log as it was read.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    /// How many lines are no records, or how many records are not there. A torn end, which a machine without power leaves, is none.
    pub(crate) damaged: usize,
}

impl Log {
    /// Tells whether the last record of the index is not here.
    pub(crate) fn lacks_end(&self, sequence: u64) -> bool {
        self.records
            .last()
            .map_or(sequence > 0, |last| last.sequence < sequence)
    }
}

/// Reads all records. What is damaged is counted and passed over; the record behind it begins with a gap.
pub(crate) fn read(store: &Root) -> Result<Log, UndoError> {
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Refuse,
        max_bytes: MAX_BYTES,
        oversized: Oversized::Refuse,
    };
    let read = match store.read(Path::new(LOG), &policy) {
        Ok(read) => read.bytes,
        Err(ReadError::Missing { .. }) => return Ok(Log::default()),
        Err(ReadError::Refused {
            reason: chitin_protocol::record::FileRefusal::TooLarge,
            ..
        }) => return Err(UndoError::LogTooLarge { limit: MAX_BYTES }),
        Err(error) => return Err(error.into()),
    };
    Ok(parse(&read))
}

/// Reads the records of a log, in their order.
pub(crate) fn parse(bytes: &[u8]) -> Log {
    let mut log = Log::default();
    let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let is_end = lines.peek().is_none();
        let Ok(mut record) = serde_json::from_slice::<Record>(line) else {
            log.damaged += usize::from(!is_end && !line.is_empty());
            continue;
        };
        let Some(last) = log.records.last().map(|last| last.sequence) else {
            log.records.push(record);
            continue;
        };
        // A line that stands there twice says nothing new.
        if record.sequence > last {
            if record.sequence > last + 1 {
                record.gap = true;
                log.damaged = log.damaged.max(1);
            }
            log.records.push(record);
        }
    }
    log
}

/// Adds records and waits until the disk has them.
pub(crate) fn append(store: &Root, records: &[Record]) -> Result<(), UndoError> {
    let mut lines = Vec::new();
    // A torn line must not swallow the next one.
    let size = size(store);
    if size > 0
        && store
            .read_tail(Path::new(LOG), 1)
            .is_ok_and(|(last, _)| last != b"\n")
    {
        lines.push(b'\n');
    }
    lines.extend(lines_of(records)?);
    if size == 0 {
        store.replace_private(Path::new(LOG), &lines)?;
    } else {
        store.append(Path::new(LOG), &lines)?;
    }
    Ok(())
}

/// Puts these records in the place of all.
pub(crate) fn replace(store: &Root, records: &[Record]) -> Result<(), UndoError> {
    Ok(store.replace_private(Path::new(LOG), &lines_of(records)?)?)
}

fn lines_of(records: &[Record]) -> Result<Vec<u8>, UndoError> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record).map_err(|error| UndoError::Io {
            path: LOG.into(),
            source: error.into(),
        })?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_nobody_counted_to_is_damage() {
        let line = |sequence: u64, number: u64| {
            format!(
                "{{\"sequence\":{sequence},\"atMs\":1,\"turns\":[{{\"number\":{number},\"id\":\"\",\"session\":\"\",\"message\":\"\"}}]}}\n"
            )
        };
        let log = [line(1, 1), line(u64::MAX, 2), line(2, u64::MAX), line(3, 3)].concat();
        let log = parse(log.as_bytes());
        let sequences: Vec<u64> = log.records.iter().map(|record| record.sequence).collect();
        assert_eq!((sequences, log.damaged), (vec![1, 3], 2));
        assert!(log.records[1].gap);
    }

    #[test]
    fn a_message_is_shortened_to_its_first_words_on_one_line() {
        let message = |text: &str| TurnInfo::new("r", "s", text).message;
        assert_eq!(message(" fix\n\nthe   door "), "fix the door");
        let long = message(&"word ".repeat(100));
        assert!(
            long.ends_with("word…") && long.chars().count() <= MAX_MESSAGE + 1,
            "{long}"
        );
        assert_eq!(message(&"x".repeat(500)).chars().count(), MAX_MESSAGE + 1);
    }

    #[test]
    fn a_torn_line_is_passed_over_and_swallows_no_other() {
        let line = |sequence: u64| {
            let record = Record {
                sequence,
                at_ms: 5,
                ..Record::default()
            };
            serde_json::to_string(&record).unwrap()
        };
        let text = format!("{}\n{}\n{}\n", line(1), &line(2)[..9], line(3));
        let log = parse(text.as_bytes());
        let read = log.records.iter().map(|one| (one.sequence, one.gap));
        assert_eq!(read.collect::<Vec<_>>(), [(1, false), (3, true)]);
        assert_eq!(log.damaged, 1);
        let torn = format!("{}\n{}", line(1), &line(2)[..9]);
        assert_eq!(parse(torn.as_bytes()).damaged, 0);
    }
}
