//! `chitin channels`: the chat networks that people reach an agent on.

mod list;
mod login;
mod test;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::channels::ChannelKind;
use chitin_runtime::{Configuration, Host, chitin_home};
use clap::Subcommand;
use std::path::PathBuf;

/// List chat channels, store their tokens, and test the connection.
///
/// `chitin serve` connects a channel if its token was stored with `login`, or if `chitin.json5` says `channels: { discord: { enabled: true } }`.
/// The settings in `openclaw.json` apply too, but do not connect it: if OpenClaw runs as well, people would get two replies.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  chitin channels
  chitin channels login discord < token
  chitin channels login slack < tokens            one token a line: xoxb-…, xapp-…
  chitin channels login discord --as-configured   with the token of openclaw.json
  chitin channels test
  chitin channels logout discord

docs/guides/channels.md shows how to create a bot on each channel.
Exit codes: 0 fine; 1 a test failed; 2 wrong arguments; 3 nothing to test."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the channels: which ones `chitin serve` connects, and where their tokens come from.
    List,
    /// Test whether the tokens work and what the bots may do. Nothing is posted.
    Test(test::TestArgs),
    /// Store the tokens of an account, so that `chitin serve` connects it.
    Login(login::LoginArgs),
    /// Delete the stored tokens of an account.
    Logout(login::LogoutArgs),
}

/// A network, as it is typed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ChannelArg {
    /// Discord.
    Discord,
    /// Slack.
    Slack,
}

impl ChannelArg {
    const fn kind(self) -> ChannelKind {
        match self {
            Self::Discord => ChannelKind::Discord,
            Self::Slack => ChannelKind::Slack,
        }
    }
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None | Some(Action::List) => list::run(host, printer),
            Some(Action::Test(args)) => test::run(args, host, printer),
            Some(Action::Login(args)) => login::login(args, host, printer),
            Some(Action::Logout(args)) => login::logout(args, host, printer),
        }
    }
}

/// Reads the configuration, and finds where Chitin keeps things.
fn surroundings(host: &Host, printer: &Printer) -> Result<(Configuration, PathBuf), CliError> {
    let configuration = Configuration::read(host, None, &printer.notes())?;
    Ok((configuration, home(host)?))
}

fn home(host: &Host) -> Result<PathBuf, CliError> {
    chitin_home(host).ok_or_else(|| {
        CliError::new(
            FailureKind::User,
            "Could not determine where to store tokens.",
        )
        .hint("set `CHITIN_HOME` or `HOME`")
    })
}
