//! `chitin blame`: which turn wrote a line.

use super::{Whose, explained, path_in};
use crate::commands::sessions::instant;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use chitin_runtime::Host;
use chitin_undo::{BlamedLine, FilePath, UndoError};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// Say which turn wrote a line of a file, and the message that led to it.
///
/// A line that no recorded turn wrote is yours, or older than the record.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin blame MEMORY.md:12
  chitin blame notes/plan.md
  chitin blame src/main.rs:3 --dir ./my-agent --json

Exit codes: 0 success; 3 nothing is recorded, or there is no such file or line.")]
pub(crate) struct Args {
    /// The file and the line; without a line, all lines are shown.
    #[arg(value_name = "FILE[:LINE]")]
    place: String,

    /// The workspace; if omitted, that of the agent.
    #[arg(long = "dir", value_name = "DIR")]
    directory: Option<PathBuf>,

    #[command(flatten)]
    whose: Whose,
}

/// The lines and who wrote them.
#[derive(Debug, Serialize)]
struct Blamed {
    path: FilePath,
    lines: Vec<BlamedLine>,
    #[serde(skip)]
    is_one: bool,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let here = format!("blame {} --dir .", self.place);
        let history = self
            .whose
            .history(self.directory.as_ref(), &here, host, printer)?;
        let (file, line) = match self.place.rsplit_once(':') {
            Some((file, line))
                if !line.is_empty() && line.bytes().all(|one| one.is_ascii_digit()) =>
            {
                let line: usize = line.parse().map_err(|_| {
                    CliError::new(FailureKind::Usage, format!("There is no line {line}."))
                })?;
                (file, Some(line))
            }
            _ => (self.place.as_str(), None),
        };
        let path = path_in(&history, Path::new(file), host)?;
        let lines = match line {
            Some(line) => vec![history.blame_line(&path, line).map_err(explained)?],
            None => history
                .blame(&path)
                .map_err(|error| self.explained(error))?,
        };
        printer.result(&Blamed {
            path,
            lines,
            is_one: line.is_some(),
        })
    }
}

impl Args {
    /// Says why a file cannot be shown. What stands behind a colon may have been meant as a line.
    fn explained(&self, error: UndoError) -> CliError {
        let error = explained(error);
        match self.place.rsplit_once(':') {
            Some((file, line)) if !file.is_empty() && !line.contains('/') => {
                let (file, line) = (plain(file, '\u{fffd}'), plain(line, '\u{fffd}'));
                error.hint(format!(
                    "`{line}` is not the number of a line; one is named as in `chitin blame {file}:12`"
                ))
            }
            Some(_) | None => error,
        }
    }
}

impl Render for Blamed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for line in &self.lines {
            let text = plain(&line.text, '\u{fffd}');
            let numbers: Vec<String> = line
                .turns
                .iter()
                .map(|one| one.number.to_string())
                .collect();
            if !self.is_one {
                writeln!(
                    out,
                    "{} {:>5}  {text}",
                    paint.dim(&format!("{:>6}", numbers.join(","))),
                    line.line
                )?;
                continue;
            }
            writeln!(
                out,
                "{}:{}: {text}",
                plain(&self.path.to_string(), '\u{fffd}'),
                line.line
            )?;
            if line.turns.is_empty() {
                writeln!(out, "Not written by a turn that is recorded.")?;
            }
            if line.turns.len() > 1 {
                writeln!(out, "Written while these turns ran, by one of them:")?;
            }
            for turn in &line.turns {
                writeln!(
                    out,
                    "{}  {}  {}  \"{}\"",
                    paint.bold(&format!("turn {}", turn.number)),
                    instant(turn.began_ms),
                    plain(&turn.session, '\u{fffd}'),
                    plain(&turn.message, '\u{fffd}')
                )?;
            }
        }
        Ok(())
    }
}
