//! One face for the three ways to show a turn, and the loop that shows it.

use super::gate::Gate;
use super::json;
use super::markdown::Look;
use super::plain::PlainText;
use super::sink::TerminalSink;
use super::view::{Thoughts, View};
use crate::error::CliError;
use crate::printer::{Printer, Stream};
use chitin_protocol::event::TurnEvent;
use std::io;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(100);

/// Shows the turns of one process.
#[derive(Debug)]
pub(crate) enum Screen {
    /// For people at a terminal.
    View(Box<View>),
    /// For programs.
    Json,
    /// For pipes.
    Plain(PlainText),
}

impl Screen {
    /// Chooses the way that fits where the output goes.
    pub(crate) fn new(printer: &Printer, thoughts: Thoughts, width: Option<usize>) -> Self {
        let stream = printer.stream();
        if printer.is_json() {
            Self::Json
        } else if Stream::out_is_terminal() || stream.out_paint().is_coloured() {
            let look = Look {
                width,
                colour: stream.out_paint().is_coloured(),
            };
            Self::View(Box::new(View::new(look, stream.err_paint(), thoughts)))
        } else {
            Self::Plain(PlainText::new(stream.err_paint()))
        }
    }

    /// Shows one event.
    pub(crate) fn event(
        &mut self,
        event: &TurnEvent,
        sink: &mut dyn TerminalSink,
    ) -> io::Result<()> {
        match self {
            Self::View(view) => view.event(event, sink),
            Self::Json => json::event(event, sink),
            Self::Plain(plain) => plain.event(event, sink),
        }
    }

    fn tick(&mut self, now: Duration, sink: &mut dyn TerminalSink) {
        match self {
            Self::View(view) => view.tick(now, sink),
            Self::Json | Self::Plain(_) => {}
        }
    }

    fn rest(&mut self, sink: &mut dyn TerminalSink) -> io::Result<()> {
        match self {
            Self::View(view) => view.rest(sink),
            Self::Json | Self::Plain(_) => Ok(()),
        }
    }

    /// Shows events until their sender is gone. An error means that the reader of the output went away or that the output
    /// cannot be written; the caller ends the turn then. Cancellation-safe: an event that was taken is shown.
    pub(crate) async fn show(
        &mut self,
        events: &mut mpsc::Receiver<TurnEvent>,
        gate: &Gate,
        sink: &mut dyn TerminalSink,
    ) -> Result<(), CliError> {
        let began = Instant::now();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                biased;
                () = gate.wanted() => {
                    // What happened before the question is shown above it.
                    for _ in 0..events.len() {
                        if let Ok(event) = events.try_recv() {
                            self.event(&event, sink)?;
                        }
                    }
                    self.rest(sink)?;
                    gate.wait().await;
                }
                event = events.recv() => match event {
                    Some(event) => {
                        if matches!(event, TurnEvent::RequestSent { call: 1, .. }) {
                            // The model thinks; what the start needed is not needed now.
                            crate::rss::give_back();
                        }
                        self.event(&event, sink)?;
                    }
                    None => return Ok(self.rest(sink)?),
                },
                _ = ticks.tick(), if sink.may_draw() => self.tick(began.elapsed(), sink),
            }
        }
    }
}
