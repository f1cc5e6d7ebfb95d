//! `chitin skills`: which skills an agent has, where each comes from, and why one is missing.

mod check;
mod list;
mod show;

use crate::args::TargetArgs;
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{self, Printer};
use chitin_runtime::{Host, Setup, SkillSurvey};
use clap::Subcommand;

/// List, show and check an agent's skills.
///
/// A skill is a directory with a SKILL.md. Skills come from the workspace, the home directory, the runtime and configuration. Of two with the same name, the one closer to the workspace is used.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  chitin skills
  chitin skills list --all ./my-agent
  chitin skills show tide-tables
  chitin skills check --contract openclaw-2026.9
  chitin skills --json"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the skills that are ready to use.
    List(ListArgs),
    /// Show one skill: its description, requirements, whether it is ready and why, what it shadows.
    Show(ShowArgs),
    /// Report every SKILL.md that could not be loaded; exits 1 if a skill is lost.
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Also list skills that are not ready, and those that another one shadows.
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The skill's name.
    name: String,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    #[command(flatten)]
    target: TargetArgs,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None => list::run(&self.list, host, printer),
            Some(Action::List(args)) => list::run(args, host, printer),
            Some(Action::Show(args)) => show::run(args, host, printer),
            Some(Action::Check(args)) => check::run(args, host, printer),
        }
    }
}

/// Finds the skills of the agent that the arguments name.
fn survey(host: &Host, target: &TargetArgs, printer: &Printer) -> Result<SkillSurvey, CliError> {
    let setup = Setup::find(host, &target.target(), &printer.notes())?;
    if let Some(note) = setup.release(host).note(setup.contract()) {
        printer.note(&note);
    }
    Ok(SkillSurvey::new(host, &setup)?)
}

/// Makes text from a file safe for one line of a terminal.
pub(super) fn one_line(text: &str) -> String {
    let spaced = printer::plain(text, ' ');
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts text to a width, with an ellipsis where something is missing.
pub(super) fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Says a count with its noun.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
