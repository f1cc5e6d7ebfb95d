//! The command line exactly as typed.

use crate::commands::Command;
use crate::printer::OutputArgs;
use clap::Parser;
use clap::error::ErrorKind;
use std::process::ExitCode;

/// Boots, runs, explains and ships AI agents straight from an OpenClaw workspace directory.
#[derive(Debug, Parser)]
#[command(
    name = "chitin",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Prints help, version or a usage error, and returns the exit code that goes with it.
pub(crate) fn explain_usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => crate::exit_code::Exit::Usage.into(),
    }
}
