//! Where the pieces of a turn go.

use crate::printer::{Stream, Weight};
use std::io;

/// Takes pieces in the order in which they are shown. Implemented by the printer's stream and, in tests, by a list.
pub(crate) trait TerminalSink {
    /// Takes a piece of the result.
    fn out(&mut self, text: &str) -> io::Result<()>;

    /// Takes a piece that is no result.
    fn aside(&mut self, text: &str, weight: Weight);

    /// Says whether lines beside the result may be drawn and wiped again.
    fn may_draw(&self) -> bool;
}

impl TerminalSink for Stream {
    fn out(&mut self, text: &str) -> io::Result<()> {
        Self::out(*self, text)
    }

    fn aside(&mut self, text: &str, weight: Weight) {
        Self::aside(*self, text, weight);
    }

    fn may_draw(&self) -> bool {
        Self::may_draw(*self)
    }
}
