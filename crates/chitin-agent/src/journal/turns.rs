//! The turns of a trajectory, found without taking its events apart: a long one has tens of megabytes, and a turn is little of it.

use super::compat;
use super::read::{RecordedRun, TraceError, TraceEvent, event_in, whole};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// Which turns a trajectory has, in the order in which they began. What their events say is read when it is asked for.
#[derive(Debug)]
pub struct RecordedTurns {
    bytes: Vec<u8>,
    turns: Vec<Turn>,
}

/// One turn with its events.
#[derive(Debug)]
pub struct RecordedTurn {
    run_id: String,
    events: Vec<TraceEvent>,
}

#[derive(Debug)]
struct Turn {
    run_id: String,
    /// The lines, from 1, and where they are.
    lines: Vec<(usize, Range<usize>)>,
}

/// What makes a line an event, and the turn that it belongs to.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow)]
    trace_schema: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    _kind: Cow<'a, str>,
    #[serde(borrow, rename = "sessionId")]
    _session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    run_id: Option<Cow<'a, str>>,
}

impl RecordedTurns {
    /// Finds the turns of a trajectory. Lines that are no events are passed over.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let bytes = whole(path)?;
        let mut turns: Vec<Turn> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut end = 0;
        for (line, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let range = end..end + text.len();
            end = range.end + 1;
            let run_id = match serde_json::from_slice::<Head<'_>>(text) {
                Ok(head) if head.trace_schema == compat::TRACE_SCHEMA => head.run_id,
                Ok(_) => continue,
                // One that is not written as we do may be an event all the same: with a field twice, say.
                Err(_) => match event_in(text) {
                    Some(event) => event["runId"].as_str().map(|id| id.to_owned().into()),
                    None => continue,
                },
            };
            let run_id = run_id.unwrap_or_default();
            let at = known.get(&*run_id).copied().unwrap_or_else(|| {
                known.insert(run_id.to_string(), turns.len());
                turns.push(Turn {
                    run_id: run_id.into_owned(),
                    lines: Vec::new(),
                });
                turns.len() - 1
            });
            turns[at].lines.push((line + 1, range));
        }
        Ok(Self { bytes, turns })
    }

    /// Returns how many turns there are.
    pub const fn len(&self) -> usize {
        self.turns.len()
    }

    /// Tells whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns which turn has a name.
    pub fn position(&self, run_id: &str) -> Option<usize> {
        self.turns.iter().position(|turn| turn.run_id == run_id)
    }

    /// Reads the events of a turn.
    pub fn turn(&self, at: usize) -> Option<RecordedTurn> {
        let turn = self.turns.get(at)?;
        let event = |(line, range): &(usize, Range<usize>)| {
            Some(TraceEvent {
                line: *line,
                value: event_in(&self.bytes[range.clone()])?,
            })
        };
        Some(RecordedTurn {
            run_id: turn.run_id.clone(),
            events: turn.lines.iter().filter_map(event).collect(),
        })
    }
}

impl RecordedTurn {
    /// Looks at it as at a turn of a trajectory.
    pub fn run(&self) -> RecordedRun<'_> {
        RecordedRun {
            run_id: &self.run_id,
            events: self.events.iter().collect(),
        }
    }
}
