//! The command line exactly as typed.

use crate::commands::Command;
use crate::exit_code::Exit;
use crate::printer::OutputArgs;
use chitin_pack::ExitKind;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::fmt::Write;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;

/// The commands as the list of all commands shows them: a heading, and what belongs below it.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Run an agent",
        &[
            "init", "import", "run", "sessions", "memory", "changes", "blame", "undo",
        ],
    ),
    (
        "See what the model gets",
        &["context", "check", "skills", "trace", "contracts"],
    ),
    (
        "Ship it",
        &[
            "pack", "unpack", "inspect", "diff", "sign", "verify", "push", "pull", "login",
            "logout", "cache",
        ],
    ),
    ("Serve it", &["serve", "channels", "pairing"]),
    (
        "Look after it",
        &[
            "agents",
            "approvals",
            "config",
            "plugins",
            "storage",
            "backup",
            "restore",
            "doctor",
            "help",
        ],
    ),
];

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

    /// Log to standard error, such as `info` or `chitin_agent=debug`; by default `$CHITIN_LOG`.
    #[arg(long, global = true, value_name = "FILTER", value_parser = crate::log::filter)]
    pub(crate) log: Option<Targets>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut command = command();
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Returns the definition of the command line, with its commands listed by group. `clap` knows headings for options only.
fn command() -> clap::Command {
    let command = Cli::command();
    let mut listed = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(listed, "{heading}:");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(|one| one.get_about());
            let about = about.map_or_else(|| HELP.to_owned(), ToString::to_string);
            let _ = writeln!(listed, "  {name:<10} {about}");
        }
        listed.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}\n\n{EXAMPLES}"
    ))
}

/// What `chitin help` does; `clap` adds that command later.
const HELP: &str = "Show the help of a command";

/// What to type first.
const EXAMPLES: &str = "Examples:
  chitin init my-agent            Create a workspace
  chitin run my-agent -m hello    Send one message; works offline, without a key
  chitin context my-agent         Show what the model would get
  chitin serve my-agent           Open the web page and the HTTP API
";

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

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        grouped.sort_unstable();
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
        let mut known: Vec<&str> = visible.map(clap::Command::get_name).collect();
        known.push("help");
        known.sort_unstable();
        assert_eq!(grouped, known);
    }

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
