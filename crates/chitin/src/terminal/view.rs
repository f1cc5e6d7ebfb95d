//! A turn for people at a terminal: the answer as it comes, everything else in one line each.

use super::markdown::{Look, Markdown};
use super::messages::{self, ContextShare, Took};
use super::running::Running;
use super::sink::TerminalSink;
use super::thinking::Folded;
use crate::printer::{Paint, Weight};
use chitin_protocol::event::TurnEvent;
use std::io;
use std::time::Duration;

/// How wide lines are when nobody says how wide the terminal is.
const WIDTH: usize = 80;
/// The pictures of the spinner.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Waiting that is shorter than this is not worth a word.
const PATIENCE: Duration = Duration::from_millis(300);
/// Goes to the beginning of the line and wipes it.
const WIPE: &str = "\r\u{1b}[2K";

/// Whether a model's thoughts are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thoughts {
    /// In one line, with a count.
    Folded,
    /// All of them.
    Shown,
}

/// Shows a turn at a terminal.
#[derive(Debug)]
pub(crate) struct View {
    look: Look,
    paint: Paint,
    show: Thoughts,
    answer: Markdown,
    thinking: Markdown,
    folded: Folded,
    running: Running,
    /// Whether the turn has said something already.
    said: bool,
    /// Whether something stands on the screen that an answer should keep a distance from.
    crowded: bool,
    spinner: Spinner,
}

/// A line that says what is being waited for, drawn and wiped again.
#[derive(Debug, Default)]
struct Spinner {
    drawn: bool,
    frame: usize,
    /// What is being waited for; nothing, and nothing is drawn.
    label: Option<String>,
    /// Since when.
    since: Option<Duration>,
}

impl View {
    /// Makes a view; `paint` is for what is no result.
    pub(crate) fn new(look: Look, paint: Paint, show: Thoughts) -> Self {
        let thinking = Look {
            colour: paint.is_coloured(),
            ..look
        };
        Self {
            look,
            paint,
            show,
            answer: Markdown::new(look),
            thinking: Markdown::dimmed(thinking),
            folded: Folded::default(),
            running: Running::default(),
            said: false,
            crowded: false,
            spinner: Spinner::default(),
        }
    }

    fn width(&self) -> usize {
        self.look.width.unwrap_or(WIDTH)
    }

    pub(super) fn event(
        &mut self,
        event: &TurnEvent,
        sink: &mut dyn TerminalSink,
    ) -> io::Result<()> {
        let paint = self.paint;
        match event {
            TurnEvent::TextDelta { delta } => {
                self.wipe(sink);
                self.end_thoughts(sink);
                self.answer(delta, sink)?;
                self.spinner.label = None;
            }
            TurnEvent::ThinkingDelta { delta } => self.think(delta, sink)?,
            TurnEvent::Note { text } => {
                self.line(&messages::note_line(text, paint), Weight::Note, sink)?;
            }
            TurnEvent::Retrying {
                attempt,
                wait_ms,
                reason,
                model,
            } => {
                let line = messages::retry_line(*attempt, *wait_ms, reason, model, paint);
                self.line(&line, Weight::Note, sink)?;
            }
            TurnEvent::Compacted {
                tokens_before,
                tokens_after,
                reason,
            } => {
                let line = messages::compaction_line(*tokens_before, *tokens_after, reason, paint);
                self.line(&line, Weight::Note, sink)?;
            }
            TurnEvent::RequestSent { .. } => {
                self.rest(sink)?;
                self.wait_for("waiting for the model");
            }
            TurnEvent::ToolStarted { .. } => {
                self.rest(sink)?;
                self.running.start(event);
                self.wait_for_tools();
            }
            TurnEvent::ToolProgress { text, .. } => self.wait_for(text),
            TurnEvent::ApprovalNeeded { .. } => {
                self.rest(sink)?;
                self.spinner.label = None;
            }
            TurnEvent::ToolFinished { .. } => {
                let line = self.running.finish(event, self.width(), paint);
                self.line(&line, Weight::Note, sink)?;
                self.wait_for_tools();
            }
            TurnEvent::TurnFinished {
                stop_reason,
                text,
                usage,
                tokens_unknown,
                cost_unknown,
                calls,
                context_tokens,
                context_window,
                error,
            } => {
                self.wipe(sink);
                self.end_thoughts(sink);
                if !self.said {
                    self.answer(text, sink)?;
                }
                self.rest(sink)?;
                self.spinner.label = None;
                for headline in self.running.clear() {
                    let line = messages::unfinished_line(&headline, self.width(), paint);
                    sink.aside(&line, Weight::Note);
                }
                if let Some(line) = messages::ending_line(stop_reason, error.as_deref(), paint) {
                    sink.aside(&line, Weight::Error);
                }
                if *calls > 0 {
                    let share = context_tokens.zip(*context_window);
                    let share = share.map(|(used, window)| ContextShare { used, window });
                    let took = Took {
                        usage,
                        tokens_unknown: *tokens_unknown,
                        cost_unknown: *cost_unknown,
                        calls: *calls,
                    };
                    let footer = messages::footer(&took, share, paint);
                    sink.aside(&footer, Weight::Note);
                }
                self.said = false;
                self.crowded = false;
            }
            TurnEvent::TurnStarted { .. } => {
                self.said = false;
                self.crowded = false;
            }
            TurnEvent::Said { .. }
            | TurnEvent::Steered { .. }
            | TurnEvent::Refused { .. }
            | TurnEvent::Stored { .. } => {}
        }
        Ok(())
    }

    /// Draws the spinner anew; `now` is the time since some fixed instant.
    pub(super) fn tick(&mut self, now: Duration, sink: &mut dyn TerminalSink) {
        let Some(label) = self.spinner.label.clone() else {
            return;
        };
        let since = *self.spinner.since.get_or_insert(now);
        let waited = now.saturating_sub(since);
        if !sink.may_draw() || !self.answer.is_at_line_start() || waited < PATIENCE {
            return;
        }
        let frame = FRAMES[self.spinner.frame % FRAMES.len()];
        self.spinner.frame += 1;
        self.spinner.drawn = true;
        let seconds = waited.as_secs();
        let room = self.width().saturating_sub(14);
        let text = format!("{frame} {} · {seconds} s", messages::fit(&label, room));
        sink.aside(&format!("{WIPE}{}", self.paint.dim(&text)), Weight::Note);
    }

    /// Ends the line that was begun and wipes the spinner, so that somebody else may write.
    pub(super) fn rest(&mut self, sink: &mut dyn TerminalSink) -> io::Result<()> {
        self.wipe(sink);
        self.end_thoughts(sink);
        let mut out = String::new();
        self.answer.finish(&mut out);
        sink.out(&out)?;
        if !self.answer.is_at_line_start() {
            sink.out("\n")?;
            self.answer = Markdown::new(self.look);
        }
        Ok(())
    }

    /// Writes some of the answer, at a distance from what stands above.
    fn answer(&mut self, text: &str, sink: &mut dyn TerminalSink) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let mut out = String::new();
        if std::mem::take(&mut self.crowded) {
            out.push('\n');
        }
        self.answer.push(text, &mut out);
        self.said = true;
        sink.out(&out)
    }

    fn think(&mut self, text: &str, sink: &mut dyn TerminalSink) -> io::Result<()> {
        match self.show {
            Thoughts::Folded => {
                self.folded.push(text);
                let count = messages::tokens(self.folded.count() as u64);
                self.wait_for(&format!("thinking, {count} words"));
            }
            Thoughts::Shown => {
                if !self.answer.is_at_line_start() {
                    self.rest(sink)?;
                }
                self.wipe(sink);
                let mut out = String::new();
                self.thinking.push(text, &mut out);
                sink.aside(&out, Weight::Note);
                self.spinner.label = None;
                self.crowded = true;
            }
        }
        Ok(())
    }

    fn end_thoughts(&mut self, sink: &mut dyn TerminalSink) {
        if let Some(line) = self.folded.take() {
            sink.aside(&format!("{}\n", self.paint.dim(&line)), Weight::Note);
            self.crowded = true;
        }
        let mut out = String::new();
        self.thinking.finish(&mut out);
        if !out.is_empty() || !self.thinking.is_at_line_start() {
            out.push('\n');
            let look = Look {
                colour: self.paint.is_coloured(),
                ..self.look
            };
            self.thinking = Markdown::dimmed(look);
        }
        sink.aside(&out, Weight::Note);
    }

    /// Writes a whole line that is no part of the answer.
    fn line(&mut self, text: &str, weight: Weight, sink: &mut dyn TerminalSink) -> io::Result<()> {
        self.rest(sink)?;
        sink.aside(text, weight);
        self.crowded = true;
        Ok(())
    }

    fn wait_for(&mut self, what: &str) {
        let label = messages::one_line(what);
        if self.spinner.label.is_none() {
            self.spinner.since = None;
        }
        self.spinner.label = Some(label);
    }

    fn wait_for_tools(&mut self) {
        let label = match self.running.latest() {
            Some((headline, 0)) => headline.to_owned(),
            Some((headline, others)) => format!("{headline}, and {others} more"),
            None => {
                self.spinner.label = None;
                return;
            }
        };
        self.wait_for(&label);
    }

    fn wipe(&mut self, sink: &mut dyn TerminalSink) {
        if std::mem::take(&mut self.spinner.drawn) {
            sink.aside(WIPE, Weight::Note);
        }
    }
}
