//! Calls of tools that have begun and not ended.

use super::messages::{self, Call};
use crate::printer::Paint;
use chitin_protocol::event::TurnEvent;

/// The calls, oldest first.
#[derive(Debug, Default)]
pub(super) struct Running {
    calls: Vec<(String, String)>,
}

impl Running {
    /// Notes that a call began.
    pub(super) fn start(&mut self, event: &TurnEvent) {
        if let TurnEvent::ToolStarted {
            call_id,
            name,
            arguments,
        } = event
        {
            self.calls
                .push((call_id.clone(), messages::headline(name, arguments)));
        }
    }

    /// Tells of a call that ended, and forgets it.
    pub(super) fn finish(&mut self, event: &TurnEvent, width: usize, paint: Paint) -> String {
        let TurnEvent::ToolFinished {
            call_id,
            name,
            is_error,
            summary,
            runtime_ms,
        } = event
        else {
            return String::new();
        };
        let at = self.calls.iter().position(|(id, _)| id == call_id);
        let headline = at.map(|at| self.calls.remove(at).1);
        let headline = headline.unwrap_or_else(|| messages::one_line(name));
        let call = Call {
            headline: &headline,
            summary,
            is_error: *is_error,
            runtime_ms: *runtime_ms,
        };
        messages::call_line(&call, width, paint)
    }

    /// Names the call that began last, and says how many others there are.
    pub(super) fn latest(&self) -> Option<(&str, usize)> {
        let (_, headline) = self.calls.last()?;
        Some((headline, self.calls.len() - 1))
    }

    /// Returns the calls that did not end, and forgets them.
    pub(super) fn clear(&mut self) -> Vec<String> {
        let calls = std::mem::take(&mut self.calls);
        calls.into_iter().map(|(_, headline)| headline).collect()
    }
}
