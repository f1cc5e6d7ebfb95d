//! `chitin agents`: who is configured, where each lives, and who gets a message.

mod list;
mod route;
mod show;

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::Host;
use clap::Subcommand;

/// List agents and their workspaces, show one, or explain which one gets a message.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  chitin agents
  chitin agents ops
  chitin agents show ./my-agent --json
  chitin agents --contract openclaw-2026.9 --json
  chitin agents route --channel discord --peer channel:42"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the configured agents, and why each has its workspace.
    List(list::ListArgs),
    /// Show the agent definition of a directory: name, adapter, rules, skills, extension files.
    Show(show::ShowArgs),
    /// Explain which agent and session a message goes to.
    Route(Box<route::RouteArgs>),
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None => printer.result(&self.list.run(host, printer)?),
            Some(Action::List(args)) => printer.result(&args.run(host, printer)?),
            Some(Action::Show(args)) => printer.result(&args.run(host, printer)?),
            Some(Action::Route(args)) => printer.result(&args.run(host, printer)?),
        }
    }
}
