//! `chitin changes`: which turn changed what.

use super::patch::{self, Reader};
use super::{Whose, explained, named, shown, turn_number, verb};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, Secrets, ShowSecrets, Stream};
use chitin_runtime::Host;
use chitin_undo::{Difference, History, LineCount, TurnChanges, UndoError};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// How many turns are listed.
const LISTED: usize = 20;
/// How many files of a turn are listed, unless it is the only one.
const FILES: usize = 10;

/// List what each turn changed in the workspace, or show one turn as a diff.
///
/// Every turn that may write is recorded before and after, outside of the workspace and without git. Changes that you made yourself are not listed. In a pipe or a file, a turn is a patch that `patch -p1` and `git apply` take.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin changes
  chitin changes ./my-agent --turn 12
  chitin changes --turn 12 > turn.patch               for `patch -p1` or `git apply`, also with `-R`
  chitin changes --limit 100 --json

Exit codes: 0 success; 3 nothing is recorded, or there is no such turn.")]
pub(crate) struct Args {
    /// The workspace; if omitted, that of the agent.
    directory: Option<PathBuf>,

    /// Show only this turn, with the lines that it changed.
    #[arg(long, value_name = "N", value_parser = turn_number, allow_hyphen_values = true)]
    turn: Option<u64>,

    /// List at most this many turns.
    #[arg(long, value_name = "N", default_value_t = LISTED, conflicts_with = "turn")]
    limit: usize,

    #[command(flatten)]
    secrets: ShowSecrets,

    #[command(flatten)]
    whose: Whose,
}

/// The turns, the newest first.
#[derive(Debug, Serialize)]
struct Listed {
    turns: Vec<Turn>,
    /// How many older turns there are.
    older: usize,
}

/// One turn.
#[derive(Debug, Serialize)]
struct Turn {
    #[serde(flatten)]
    turn: TurnChanges,
    /// The lines that came and went, for each change.
    counts: Vec<Option<LineCount>>,
}

/// One turn with its differences.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    turn: Turn,
    /// The difference of each change.
    differences: Vec<Difference>,
    #[serde(skip)]
    reader: Reader,
    #[serde(skip)]
    secrets: Secrets,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let here = "changes .";
        let history = self
            .whose
            .history(self.directory.as_ref(), here, host, printer)?;
        let mut turns = history.turns().map_err(explained)?;
        if let Some(number) = self.turn {
            let at = turns.iter().position(|one| one.turn.number == number);
            let at = at.ok_or_else(|| explained(UndoError::NoSuchTurn { number }))?;
            let turn = turns.swap_remove(at);
            let reader = if Stream::out_is_terminal() {
                Reader::Person
            } else {
                Reader::Program
            };
            let differences = turn.changes.iter().map(|change| match reader {
                Reader::Person => history.difference(change),
                Reader::Program => history.whole_difference(change),
            });
            let differences = differences.collect::<Result<_, _>>().map_err(explained)?;
            return printer.result(&Shown {
                turn: counted(&history, turn)?,
                differences,
                reader,
                secrets: self.secrets.of_exact(),
            });
        }
        let older = turns.len().saturating_sub(self.limit);
        let listed = turns.into_iter().skip(older).rev();
        let listed: Result<Vec<Turn>, CliError> =
            listed.map(|turn| counted(&history, turn)).collect();
        printer.result(&Listed {
            turns: listed?,
            older,
        })
    }
}

fn counted(history: &History, turn: TurnChanges) -> Result<Turn, CliError> {
    let counts = turn.changes.iter().map(|change| history.count(change));
    let counts = counts.collect::<Result<_, _>>().map_err(explained)?;
    Ok(Turn { turn, counts })
}

impl Turn {
    fn head(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let turn = &self.turn;
        writeln!(out, "{}", named(&turn.turn, paint))?;
        let mut remarks = Vec::new();
        if turn.turn.interrupted {
            remarks.push("the process ended before the turn did".to_owned());
        }
        if !turn.together_with.is_empty() {
            let others: Vec<String> = turn.together_with.iter().map(u64::to_string).collect();
            remarks.push(format!(
                "written at the same time as turn {}: changes may be of either",
                others.join(", ")
            ));
        }
        if let Some(undo) = turn.undone_by {
            remarks.push(format!("undone by {undo}"));
        }
        for remark in remarks {
            writeln!(out, "   {}", paint.dim(&remark))?;
        }
        Ok(())
    }

    fn files(&self, out: &mut dyn fmt::Write, paint: Paint, most: usize) -> fmt::Result {
        let files = self.turn.changes.iter().zip(&self.counts);
        for (change, count) in files.take(most) {
            let count = match count {
                Some(LineCount { added, removed }) => format!(
                    "  {} {}",
                    paint.good(&format!("+{added}")),
                    paint.bad(&format!("-{removed}"))
                ),
                None => String::new(),
            };
            writeln!(out, "   {:<8} {}{count}", verb(change), shown(change))?;
        }
        let more = self.turn.changes.len().saturating_sub(most);
        if more > 0 {
            writeln!(out, "   and {more} more")?;
        }
        Ok(())
    }
}

impl Render for Listed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        if self.turns.is_empty() {
            return writeln!(out, "No turn changed anything.");
        }
        for turn in &self.turns {
            turn.head(out, paint)?;
            turn.files(out, paint, FILES)?;
        }
        if self.older > 0 {
            writeln!(out, "{} older; `--limit` shows more.", self.older)?;
        }
        writeln!(
            out,
            "`chitin changes --turn N` shows the lines; `chitin undo --turn N` goes back to before a turn."
        )
    }
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let paint = match self.reader {
            Reader::Person => paint,
            Reader::Program => Paint::forced(false),
        };
        self.turn.head(out, paint)?;
        self.turn.files(out, paint, usize::MAX)?;
        writeln!(out)?;
        for (change, difference) in self.turn.turn.changes.iter().zip(&self.differences) {
            patch::write(out, paint, self.reader, change, difference)?;
        }
        Ok(())
    }

    fn secrets(&self) -> Secrets {
        self.secrets
    }
}
