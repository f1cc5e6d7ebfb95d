//! The record that marks a completed first turn in a session file (W55, CN10).

use chitin_config::settings::injection;
use chitin_contract::{Contract, MarkedTurns};
use chitin_guard::{ReadError, Root};
use chitin_protocol::text::is_blank_js;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// What OpenClaw writes into session files.
pub mod compat {
    /// The kind of a record that a program adds for itself.
    pub const CUSTOM: &str = "custom";
    /// The custom record that marks a turn with the full context.
    pub const FULL_CONTEXT: &str = "openclaw:bootstrap-context:full";
}

/// How much of the end of a session file is looked at.
const TAIL_BYTES: u64 = 262_144;
/// How many records of that are looked at.
const TAIL_RECORDS: usize = 500;

/// Tells whether the session file holds a valid marker. No file, or a link in its place, is no marker.
pub fn is_marked(session_file: &Path, contract: &Contract) -> Result<bool, ReadError> {
    let (Some(directory), Some(name)) = (session_file.parent(), session_file.file_name()) else {
        return Ok(false);
    };
    let read = Root::open(directory).and_then(|root| root.read_tail(Path::new(name), TAIL_BYTES));
    match read {
        Ok((bytes, whole)) => Ok(has_marker(&bytes, whole, contract)),
        Err(ReadError::Missing { .. } | ReadError::Refused { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Looks for a marker in the end of a session file. `whole`: the bytes are all of it.
pub fn has_marker(tail: &[u8], whole: bool, contract: &Contract) -> bool {
    let text = String::from_utf8_lossy(tail);
    let text = match (whole, text.split_once('\n')) {
        (true, _) => &*text,
        // The first line is torn: it began before the window.
        (false, Some((_, rest))) => rest,
        (false, None) => return false,
    };
    for line in text
        .split('\n')
        .rev()
        .filter(|line| !is_blank_js(line))
        .take(TAIL_RECORDS)
    {
        let Ok(record) = serde_json::from_str::<RecordKind>(line.trim_end_matches('\r')) else {
            continue;
        };
        let kind = record.kind.as_str().unwrap_or_default();
        if contract.turns.marker_voided_by.contains(&kind) {
            return false;
        }
        if kind == compat::CUSTOM && record.custom_kind == compat::FULL_CONTEXT {
            return true;
        }
    }
    false
}

/// The two members of a record that matter here. The others are passed over unread: other programs write half surrogate
/// pairs, huge numbers and deep nesting into them, which is JSON to them and must not hide the record from us.
#[derive(Default)]
struct RecordKind {
    kind: Value,
    custom_kind: Value,
}

impl<'de> Deserialize<'de> for RecordKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = RecordKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RecordKind, A::Error> {
        let mut record = RecordKind::default();
        // The last one of a repeated member holds.
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match &*key {
                "type" => record.kind = map.next_value()?,
                "customType" => record.custom_kind = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(record)
    }
}

/// How an assistant turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnOutcome {
    /// It ended well.
    Completed,
    /// It failed or was aborted.
    Incomplete,
}

/// Tells whether a marker is to be appended after a turn: its context was not reduced, there is none yet, and the contract
/// marks turns of that kind.
pub fn is_due(contract: &Contract, turn: &FinishedTurn<'_>) -> bool {
    let kind = match contract.turns.marked_turns {
        MarkedTurns::Nothing => false,
        MarkedTurns::BootstrapFull => turn.bootstrap_full,
        MarkedTurns::Full => {
            turn.reduced == Reduced::No && turn.context_injection != injection::NEVER
        }
    };
    kind && turn.outcome == TurnOutcome::Completed && !turn.marked
}

/// What is known of a turn that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedTurn<'a> {
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Whether it ran with less than its session's full set.
    pub reduced: Reduced,
    /// The value of `contextInjection`.
    pub context_injection: &'a str,
    /// Whether the session held a valid marker before.
    pub marked: bool,
    /// Whether it set the workspace up in full.
    pub bootstrap_full: bool,
}

/// Whether a turn ran with less than its session's full set of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduced {
    /// It did.
    Yes,
    /// It did not.
    No,
}
