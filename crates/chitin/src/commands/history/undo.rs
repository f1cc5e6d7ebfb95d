//! `chitin undo`: taking turns back.

use super::{Whose, explained, path_in, shown, verb};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::terminal::approval;
use chitin_runtime::Host;
use chitin_undo::{Change, Conflict, Force, Plan, UndoRequest, Undone};
use serde::Serialize;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

/// Take back what turns changed in the workspace: contents, permissions, links, deleted and new files.
///
/// Without `--turn`, the last turn that is not undone. With it, that turn and all later ones. Files that you changed since are left alone and listed. An undo is recorded like a turn, so `chitin undo --turn N` with its own number takes it back. `.git` and ignored directories such as `node_modules` are never changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin undo
  chitin undo --dry-run
  chitin undo --turn 12
  chitin undo notes/plan.md --dir ./my-agent

Exit codes: 0 success; 1 something was left alone; 3 nothing to undo; 5 a turn is running.")]
pub(crate) struct Args {
    /// Only this file or directory of the workspace.
    path: Option<PathBuf>,

    /// Go back to the state before this turn.
    #[arg(long, value_name = "N")]
    turn: Option<u64>,

    /// The workspace; if omitted, that of the agent.
    #[arg(long = "dir", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Also take back files that were changed since; on a terminal you are asked.
    #[arg(long)]
    force: bool,

    /// Only show what would be done.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    whose: Whose,
}

/// What would be done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Planned {
    dry_run: bool,
    #[serde(flatten)]
    plan: Plan,
}

/// What was done.
#[derive(Debug, Serialize)]
struct Done {
    #[serde(flatten)]
    undone: Undone,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let history = self.whose.history(self.directory.as_ref(), host, printer)?;
        let path = self.path.as_deref();
        let request = UndoRequest {
            turn: self.turn,
            path: path.map(|path| path_in(&history, path, host)).transpose()?,
        };
        if self.dry_run {
            let plan = history.plan(&request, Host::now_ms()).map_err(explained)?;
            return printer.result(&Planned {
                dry_run: true,
                plan,
            });
        }
        let mut force = if self.force { Force::Yes } else { Force::No };
        if !self.force && !printer.is_json() {
            let plan = history.plan(&request, Host::now_ms()).map_err(explained)?;
            let can_be_forced = plan.conflicts.iter().filter(|one| one.reason.yields());
            let names: Vec<String> = can_be_forced.map(|one| shown(&one.change)).collect();
            if !names.is_empty() && approval::confirmed(&question(&names)) {
                force = Force::Yes;
            }
        }
        let undone = history
            .undo(&request, force, Host::now_ms())
            .map_err(explained)?;
        printer.result(&Done { undone })
    }
}

fn question(names: &[String]) -> String {
    const NAMED: usize = 10;
    let mut question = "Changed since, and not by a turn:\n".to_owned();
    for name in names.iter().take(NAMED) {
        let _ = writeln!(question, "  {name}");
    }
    if names.len() > NAMED {
        let _ = writeln!(question, "  and {} more", names.len() - NAMED);
    }
    question.push_str("Take these back too? What they hold now is recorded. [y/N] ");
    question
}

fn list(out: &mut dyn fmt::Write, changes: &[Change], paint: Paint) -> fmt::Result {
    for change in changes {
        let word = match verb(change) {
            "added" | "changed" => "restored",
            other => other,
        };
        writeln!(
            out,
            "  {} {}",
            paint.good(&format!("{word:<8}")),
            shown(change)
        )?;
    }
    Ok(())
}

fn left_alone(out: &mut dyn fmt::Write, conflicts: &[Conflict], paint: Paint) -> fmt::Result {
    for conflict in conflicts {
        let (name, reason) = (shown(&conflict.change), conflict.reason.meaning());
        writeln!(out, "  {} {name}: {reason}", paint.warn("left    "))?;
    }
    Ok(())
}

fn turns(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("turn {one}"),
        more => format!("turns {}", more.join(", ")),
    }
}

impl Render for Planned {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        list(out, &self.plan.changes, paint)?;
        left_alone(out, &self.plan.conflicts, paint)?;
        writeln!(out, "Would undo {}.", turns(&self.plan.turns))
    }
}

impl Render for Done {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let undone = &self.undone;
        list(out, &undone.changes, paint)?;
        left_alone(out, &undone.conflicts, paint)?;
        for failed in &undone.failed {
            let name = plain(&failed.path.to_string(), '\u{fffd}');
            writeln!(out, "  {} {name}: {}", paint.bad("failed  "), failed.reason)?;
        }
        match undone.number {
            Some(number) => writeln!(
                out,
                "Undid {}. `chitin undo --turn {number}` takes this back.",
                turns(&undone.turns)
            )?,
            None => writeln!(out, "Nothing was changed.")?,
        }
        if undone.conflicts.iter().any(|one| one.reason.yields()) {
            writeln!(out, "`--force` takes back what was left alone too.")?;
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.undone.conflicts.is_empty() && self.undone.failed.is_empty() {
            Exit::Success
        } else {
            Exit::Findings
        }
    }
}
