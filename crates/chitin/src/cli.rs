//! The command line exactly as typed.

use crate::commands::Command;
use crate::exit_code::Exit;
use crate::printer::OutputArgs;
use chitin_pack::ExitKind;
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
        _ if ships() => Exit::Ship(ExitKind::Input).into(),
        _ => Exit::Usage.into(),
    }
}

/// Tells whether the first word is one of the commands that ship agents: a wrong flag there ends with the code that their
/// format lays down (rule P70).
fn ships() -> bool {
    std::env::args_os()
        .skip(1)
        .find(|word| !word.as_encoded_bytes().starts_with(b"-"))
        .is_some_and(|verb| crate::commands::SHIPPING.iter().any(|known| *known == verb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_verb_is_described_by_the_same_line_in_the_list_and_in_its_own_help() {
        let listed = Cli::command();
        let mut built = Cli::command();
        built.build();
        for verb in listed.get_subcommands() {
            let own = built
                .find_subcommand(verb.get_name())
                .and_then(|own| own.get_about());
            assert_eq!(
                verb.get_about().map(ToString::to_string),
                own.map(ToString::to_string),
                "{}",
                verb.get_name()
            );
        }
    }
}
