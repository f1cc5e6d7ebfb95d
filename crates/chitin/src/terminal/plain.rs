//! A turn for pipes: the answer is the result, and nothing else is. What the model says between calls of tools is not the
//! answer.

use super::messages;
use super::running::Running;
use super::sink::TerminalSink;
use super::tame::tamed;
use crate::printer::{Paint, Weight};
use chitin_protocol::event::TurnEvent;
use std::io;

/// How wide lines beside the answer are.
const WIDTH: usize = 100;

/// Shows a turn to whoever reads a pipe.
#[derive(Debug)]
pub(crate) struct PlainText {
    paint: Paint,
    running: Running,
    /// What came since the last call: the answer, should the turn end without saying it.
    latest: String,
}

impl PlainText {
    pub(crate) fn new(paint: Paint) -> Self {
        Self {
            paint,
            running: Running::default(),
            latest: String::new(),
        }
    }

    pub(super) fn event(
        &mut self,
        event: &TurnEvent,
        sink: &mut dyn TerminalSink,
    ) -> io::Result<()> {
        let paint = self.paint;
        match event {
            TurnEvent::TextDelta { delta } => self.latest.push_str(delta),
            TurnEvent::Note { text } => sink.aside(&messages::note_line(text, paint), Weight::Note),
            TurnEvent::Retrying {
                attempt,
                wait_ms,
                reason,
                model,
            } => sink.aside(
                &messages::retry_line(*attempt, *wait_ms, reason, model, paint),
                Weight::Note,
            ),
            TurnEvent::Compacted {
                tokens_before,
                tokens_after,
                reason,
            } => sink.aside(
                &messages::compaction_line(*tokens_before, *tokens_after, reason, paint),
                Weight::Note,
            ),
            TurnEvent::ToolStarted { .. } => {
                self.latest.clear();
                self.running.start(event);
            }
            TurnEvent::ToolFinished { is_error, .. } => {
                let line = self.running.finish(event, WIDTH, paint);
                if *is_error || sink.may_draw() {
                    sink.aside(&line, Weight::Note);
                }
            }
            TurnEvent::TurnFinished {
                stop_reason,
                text,
                error,
                ..
            } => {
                let answer = if text.is_empty() { &self.latest } else { text };
                let mut shown = tamed(answer);
                if !shown.is_empty() && !shown.ends_with('\n') {
                    shown.push('\n');
                }
                self.latest.clear();
                self.running.clear();
                sink.out(&shown)?;
                if let Some(line) = messages::ending_line(stop_reason, error.as_deref(), paint) {
                    sink.aside(&line, Weight::Error);
                }
            }
            TurnEvent::TurnStarted { .. }
            | TurnEvent::RequestSent { .. }
            | TurnEvent::ThinkingDelta { .. }
            | TurnEvent::ToolProgress { .. }
            | TurnEvent::ApprovalNeeded { .. }
            | TurnEvent::Said { .. }
            | TurnEvent::Steered { .. }
            | TurnEvent::Refused { .. }
            | TurnEvent::Stored { .. } => {}
        }
        Ok(())
    }
}
