//! A turn for programs: one JSON object per line.

use super::sink::TerminalSink;
use chitin_protocol::event::TurnEvent;
use std::io;

/// Writes an event as one line.
pub(super) fn event(event: &TurnEvent, sink: &mut dyn TerminalSink) -> io::Result<()> {
    let mut line = serde_json::to_string(event).map_err(io::Error::from)?;
    line.push('\n');
    sink.out(&line)
}
