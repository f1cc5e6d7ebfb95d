//! `chitin`: boots, runs, explains and ships AI agents straight from an OpenClaw workspace directory.
//!
//! This file is the whole flow: read what the user typed, do it, print the result, map it to an exit code.

mod args;
mod cli;
mod commands;
mod error;
mod exit_code;
mod log;
mod page;
mod panics;
mod printer;
mod rss;
mod running_server;
mod serve;
mod ship;
mod terminal;

use chitin_tools::redact::Redactor;
use exit_code::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The sandbox starts this program again to shut itself in before a command runs.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == chitin_tools::sandbox::HELPER_ARGUMENT)
    {
        return chitin_tools::sandbox::helper(std::env::args_os());
    }
    let cli = match cli::Cli::read() {
        Ok(cli) => cli,
        Err(error) => return cli::explain_usage(&error),
    };
    // One for the whole process: what any part of it learns is a secret at every exit.
    let secrets = Redactor::default();
    panics::redact(&secrets);
    let printer = printer::Printer::new(cli.output, &secrets);
    let exit = match run(&cli, &printer, secrets) {
        Ok(exit) => exit,
        Err(error) if error.is_broken_pipe() => Exit::Success,
        Err(error) => {
            printer.error(&error);
            error.exit()
        }
    };
    exit.into()
}

fn run(
    cli: &cli::Cli,
    printer: &printer::Printer,
    secrets: Redactor,
) -> Result<Exit, error::CliError> {
    let host = chitin_runtime::Host::from_process()?.sharing(secrets);
    log::start(cli.log.as_ref(), cli.output.json, &host)?;
    if !cli.command.reads_configuration() {
        chitin_runtime::learn_secrets(&host);
    }
    cli.command.run(&host, printer)
}
