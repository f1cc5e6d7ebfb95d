//! One file per verb: its arguments, and a `run` that returns a value for the printer.

mod agents;
mod check;
mod config;
mod context;
pub(crate) mod contracts;
mod init;
mod run;
mod sessions;
mod skills;
mod trace;

pub(crate) use context::Tokens;

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::host::Host;
use crate::printer::Printer;
use clap::Subcommand;

/// The verbs that ship agents. They end with the exit codes of the format that they speak.
pub(crate) const SHIPPING: [&str; 0] = [];

/// Every verb. Only the one that was typed has its arguments put together: building them all takes as long as
/// the rest. The line that help shows of each stands here, and again where its arguments are.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List the configured agents with their workspaces, and say why each lives where it does.
    Agents(agents::Args),
    /// Check a workspace: refused and cut files, broken links, secrets, hidden instructions, risky skills.
    Check(check::Args),
    /// Show the configuration, say where a value comes from, or check the files.
    Config(config::Args),
    /// Show exactly what the model gets: files, order, sizes, cuts, refusals, tokens, the cache boundary.
    Context(Box<context::Args>),
    /// List the built-in contracts, explain one, or show how two differ.
    Contracts(contracts::Args),
    /// Make a workspace, or complete one: writes only the files that are absent.
    Init(init::Args),
    /// Talk to the agent in a directory: interactive, or one turn with `-m`.
    Run(Box<run::Args>),
    /// List an agent's sessions, show one, take one out, bring one in, or tidy up.
    Sessions(sessions::Args),
    /// List an agent's skills, show one, or check all of them.
    Skills(skills::Args),
    /// Look at recorded turns: list them, show one event by event, export one, replay one against an edited workspace.
    Trace(trace::Args),
}

impl Command {
    /// Does what the user asked for and prints it.
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match self {
            Self::Agents(args) => printer.result(&args.run(host, printer)?),
            Self::Check(args) => args.run(host, printer),
            Self::Config(args) => args.run(host, printer),
            Self::Context(args) => args.run(host, printer),
            Self::Contracts(args) => printer.result(&args.run()?),
            Self::Init(args) => printer.result(&args.run(host, printer)?),
            Self::Run(args) => args.run(host, printer),
            Self::Sessions(args) => args.run(host, printer),
            Self::Skills(args) => args.run(host, printer),
            Self::Trace(args) => args.run(host, printer),
        }
    }
}
