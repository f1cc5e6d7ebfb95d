//! `chitin memory status`.

use super::Found;
use crate::args::TargetArgs;
use crate::commands::{count, size};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::memory::MemoryStatus;
use chitin_runtime::{Host, shown};
use serde::Serialize;
use std::fmt;

#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    target: TargetArgs,
}

/// How a memory stands, for people and programs.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    status: MemoryStatus,
    #[serde(skip)]
    workspace: String,
    #[serde(skip)]
    index: String,
}

pub(super) fn run(args: &StatusArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let found = Found::new(host, &args.target.target(), printer)?;
    let status = found.with(|_| found.kit.status())?;
    for note in &status.notes {
        printer.note(note);
    }
    printer.result(&Shown {
        workspace: shown(&status.workspace, host),
        index: shown(&status.index.path, host),
        status,
    })
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let row = |out: &mut dyn fmt::Write, name: &str, value: &str| {
            writeln!(out, "  {} {value}", paint.dim(&format!("{name:<14}")))
        };
        writeln!(
            out,
            "Memory of {} in {}",
            paint.bold(&self.status.agent),
            self.workspace
        )?;
        let files = format!(
            "{}, {}",
            count(self.status.files, "file"),
            size(self.status.bytes)
        );
        row(out, "notes", &files)?;
        let conversations = match self.status.conversations {
            Some(number) => count(number, "transcript"),
            None => "not searched".to_owned(),
        };
        row(out, "conversations", &conversations)?;
        let index = match &self.status.index.figures {
            None => "built on the first search".to_owned(),
            Some(figures) => format!(
                "{} of {}, {} with vectors, {}",
                count(figures.pieces, "piece"),
                count(figures.files, "file"),
                figures.vectors,
                size(figures.bytes)
            ),
        };
        row(out, "index", &index)?;
        row(out, "", &self.index)?;
        let searched = match &self.status.embeddings {
            Some(name) => format!("by keyword and by meaning ({name})"),
            None => "by keyword only; `chitin memory words` adds search by meaning".to_owned(),
        };
        row(out, "searched", &searched)?;
        let recall = match &self.status.recall {
            Some(recall) => format!(
                "for every message: up to {}, {} tokens, score at least {:.2}",
                count(recall.results, "result"),
                recall.tokens,
                recall.min_score
            ),
            None => "only when the model calls the tool".to_owned(),
        };
        row(out, "looked up", &recall)?;
        if !self.status.enabled {
            row(out, "", &paint.warn("switched off"))?;
        }
        Ok(())
    }
}
