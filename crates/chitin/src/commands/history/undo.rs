//! `chitin undo`: taking turns back.

use super::{Whose, explained, path_in, shown, turn_number, verb};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::terminal::approval;
use chitin_runtime::Host;
use chitin_undo::{Change, Conflict, FailedChange, Force, Plan, UndoRequest, Undone};
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
    #[arg(long, value_name = "N", value_parser = turn_number, allow_hyphen_values = true)]
    turn: Option<u64>,

    /// The workspace; if omitted, that of the agent.
    #[arg(long = "dir", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Also take back files that were changed since; on a terminal you are asked.
    #[arg(long)]
    force: bool,

    /// Only show what would be done, with the exit code of doing it.
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
        let mut spelled = vec!["undo".to_owned()];
        spelled.extend(self.path.iter().map(|path| path.display().to_string()));
        spelled.push("--dir .".to_owned());
        let here = spelled.join(" ");
        let history = self
            .whose
            .history(self.directory.as_ref(), &here, host, printer)?;
        let path = self.path.as_deref();
        let request = UndoRequest {
            turn: self.turn,
            path: path.map(|path| path_in(&history, path, host)).transpose()?,
        };
        let mut force = if self.force { Force::Yes } else { Force::No };
        let plan = |force| {
            let plan = history.plan(&request, force, Host::now_ms());
            plan.map_err(explained)
        };
        if self.dry_run {
            let plan = plan(force)?;
            return printer.result(&Planned {
                dry_run: true,
                plan,
            });
        }
        if !self.force && !printer.is_json() {
            let plan = plan(force)?;
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

fn failed(out: &mut dyn fmt::Write, failed: &[FailedChange], paint: Paint) -> fmt::Result {
    for one in failed {
        let name = plain(&one.path.to_string(), '\u{fffd}');
        writeln!(out, "  {} {name}: {}", paint.bad("failed  "), one.reason)?;
    }
    Ok(())
}

fn how_to_force(out: &mut dyn fmt::Write, conflicts: &[Conflict]) -> fmt::Result {
    if conflicts.iter().any(|one| one.reason.yields()) {
        writeln!(out, "`--force` takes back what was left alone too.")?;
    }
    Ok(())
}

const fn exit_of(conflicts: &[Conflict], failed: &[FailedChange]) -> Exit {
    if conflicts.is_empty() && failed.is_empty() {
        Exit::Success
    } else {
        Exit::Findings
    }
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
        let plan = &self.plan;
        list(out, &plan.changes, paint)?;
        left_alone(out, &plan.conflicts, paint)?;
        failed(out, &plan.failed, paint)?;
        if plan.changes.is_empty() {
            writeln!(out, "Nothing would be changed.")?;
        } else {
            writeln!(out, "Would undo {}.", turns(&plan.turns))?;
        }
        how_to_force(out, &plan.conflicts)
    }

    fn exit(&self) -> Exit {
        exit_of(&self.plan.conflicts, &self.plan.failed)
    }
}

impl Render for Done {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let undone = &self.undone;
        list(out, &undone.changes, paint)?;
        left_alone(out, &undone.conflicts, paint)?;
        failed(out, &undone.failed, paint)?;
        match undone.number {
            Some(number) => writeln!(
                out,
                "Undid {}. `chitin undo --turn {number}` takes this back.",
                turns(&undone.turns)
            )?,
            None => writeln!(out, "Nothing was changed.")?,
        }
        how_to_force(out, &undone.conflicts)
    }

    fn exit(&self) -> Exit {
        exit_of(&self.undone.conflicts, &self.undone.failed)
    }
}
