//! The turns of a trajectory, without their events: a long one has gigabytes of them, and a turn is little of it.

use super::read::{RecordedRun, TraceError, TraceEvent, whole};
use super::recording::{Cursor, Recording};
use std::path::Path;

/// Which turns a trajectory has, in the order in which they began. What their events say is read when it is asked for.
#[derive(Debug)]
pub struct RecordedTurns {
    pub(super) recording: Recording,
}

/// One turn with its events.
#[derive(Debug)]
pub struct RecordedTurn {
    run_id: String,
    events: Vec<TraceEvent>,
}

impl RecordedTurns {
    /// Finds the turns of a trajectory. Lines that are no events are passed over.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let recording = Recording::of(whole(path)?);
        Ok(Self { recording })
    }

    /// Returns how many turns there are.
    pub const fn len(&self) -> usize {
        self.recording.turns()
    }

    /// Tells whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns which turn has a name.
    pub fn position(&self, run_id: &str) -> Option<usize> {
        (0..self.len()).position(|at| self.recording.run_id(at) == Some(run_id))
    }

    /// Reads the events of a turn. That takes a part of the file of bounded length; of many turns, [`from`](Self::from) is quicker.
    pub fn turn(&self, at: usize) -> Option<RecordedTurn> {
        self.from(at).next()
    }

    /// Reads turn after turn from one on, each when it is asked for.
    pub fn from(&self, at: usize) -> impl Iterator<Item = RecordedTurn> {
        let mut cursor = self.recording.cursor();
        (at..self.len()).map(move |at| self.read_with(&mut cursor, at))
    }

    fn read_with(&self, cursor: &mut Cursor<'_>, at: usize) -> RecordedTurn {
        let recording = &self.recording;
        let events = recording.events_of(at).iter().filter_map(|line| {
            Some(TraceEvent {
                line: recording.number(*line),
                value: cursor.event(*line)?,
            })
        });
        RecordedTurn {
            events: events.collect(),
            run_id: recording.run_id(at).unwrap_or_default().to_owned(),
        }
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
