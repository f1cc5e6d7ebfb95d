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

/// Every verb.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Agents(agents::Args),
    Check(check::Args),
    Config(config::Args),
    Context(Box<context::Args>),
    Contracts(contracts::Args),
    Init(init::Args),
    Run(Box<run::Args>),
    Sessions(sessions::Args),
    Skills(skills::Args),
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
