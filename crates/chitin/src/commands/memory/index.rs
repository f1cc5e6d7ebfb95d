//! `chitin memory index`.

use super::Found;
use crate::args::TargetArgs;
use crate::commands::{count, size};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, Stream, Weight};
use crate::terminal::interrupt::Interrupts;
use chitin_memory::index::{SyncProgress, SyncStop};
use chitin_memory::keeper::{Effort, Memory};
use chitin_runtime::Host;
use chitin_runtime::memory::unsearchable;
use serde::Serialize;
use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

/// How often the line is drawn again.
const EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(super) struct IndexArgs {
    /// Delete the index first.
    #[arg(long)]
    rebuild: bool,

    #[command(flatten)]
    target: TargetArgs,
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    /// Files that were looked at.
    looked: usize,
    /// Files that were read.
    read: usize,
    /// Files whose pieces are new.
    changed: usize,
    /// Files that left the index.
    removed: usize,
    /// Pieces that are in the index now.
    pieces: usize,
    /// Pieces that got a vector that was made for them.
    embedded: usize,
    /// Pieces that got a vector that was made earlier.
    cached: usize,
    /// Bytes of the index.
    bytes: u64,
    seconds: f64,
    /// Whether it was stopped before its end.
    stopped: bool,
}

pub(super) fn run(args: &IndexArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let found = Found::new(host, &args.target.target(), printer)?;
    let line = Line::new(printer.stream());
    let _entered = found.runtime.enter();
    let interrupts = Interrupts::listen()?;
    let stop = interrupts.begin_turn();
    let effort = Effort {
        progress: &|progress| line.draw(progress),
        cancelled: &|| stop.is_cancelled(),
        ..Effort::whole()
    };
    let report = found.with(|memory| {
        if args.rebuild {
            memory.rebuild(&effort)
        } else {
            memory.refresh(&effort)
        }
    });
    line.clear();
    let report = report.map_err(unsearchable)?;
    for note in &report.notes {
        printer.note(&note.to_string());
    }
    let figures = found.with(Memory::figures).map_err(unsearchable)?;
    let stopped = report.stopped == Some(SyncStop::Cancelled);
    printer.result(&Done {
        looked: report.looked,
        read: report.read,
        changed: report.changed,
        removed: report.removed,
        pieces: report.pieces,
        embedded: report.embedded,
        cached: report.cached,
        bytes: figures.map_or(0, |(figures, _)| figures.bytes),
        seconds: report.seconds,
        stopped,
    })?;
    Ok(if stopped {
        Exit::Interrupted
    } else {
        Exit::Success
    })
}

impl Render for Done {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let verb = if self.stopped {
            paint.warn("stopped; the rest is done next time")
        } else {
            paint.good("up to date")
        };
        writeln!(
            out,
            "{verb}: {} of {}, {}; {} read, {} changed, {} removed, {:.2} s",
            count(self.pieces, "piece"),
            count(self.looked, "file"),
            size(self.bytes),
            self.read,
            self.changed,
            self.removed,
            self.seconds
        )?;
        if self.embedded + self.cached > 0 {
            writeln!(
                out,
                "{} with new vectors, {} with vectors made earlier",
                count(self.embedded, "piece"),
                self.cached
            )?;
        }
        Ok(())
    }
}

/// How far it is, on one line of a terminal.
struct Line {
    stream: Stream,
    drawn: Cell<Option<Instant>>,
}

impl Line {
    const fn new(stream: Stream) -> Self {
        Self {
            stream,
            drawn: Cell::new(None),
        }
    }

    fn draw(&self, progress: &SyncProgress) {
        let is_early = self.drawn.get().is_some_and(|last| last.elapsed() < EVERY);
        if is_early || !self.stream.may_draw() {
            return;
        }
        self.drawn.set(Some(Instant::now()));
        let mut text = format!(
            "\r\x1b[Kindexing: {} of {} files",
            progress.looked, progress.files
        );
        if progress.to_embed > 0 {
            let (done, all) = (progress.embedded, progress.to_embed);
            let _ = write!(text, ", {done} of {all} vectors");
        }
        self.stream.aside(&text, Weight::Note);
    }

    fn clear(&self) {
        if self.drawn.get().is_some() {
            self.stream.aside("\r\x1b[K", Weight::Note);
        }
    }
}
