//! `chitin trace`: what was recorded of turns, and what an edited workspace would have changed in them.

mod export;
mod list;
mod replay;
mod show;

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::Host;
use clap::Subcommand;
use std::path::PathBuf;

/// List, show, export and replay recorded turns.
///
/// Every turn is recorded in its session's trajectory unless `CHITIN_TRAJECTORY=0` says otherwise. A session is named by its
/// key or by the first characters of its id. No model is called. `chitin export-trajectory --sessionKey KEY` is an alias of `chitin trace export KEY`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin trace                                  which sessions were recorded?
  chitin trace show agent:main:main             what happened in it?
  chitin trace show agent:main:main --request 1 what exactly was sent?
  chitin trace show 5f0c7a52 --file AGENTS.md   what did the file say then?
  chitin trace export 5f0c7a52 --out ./bundle   a directory to share, without secrets
  chitin trace replay agent:main:main           what would be sent now, after my edits?
  chitin trace replay agent:main:main ../copy   the same with another directory
  chitin trace list --json")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the recorded sessions, the most recent first.
    List,
    /// Show a recorded session: one line per event, or a request to the byte.
    Show(ShowArgs),
    /// Export a recorded session to a directory that you can share, without secrets and local paths.
    Export(ExportArgs),
    /// Compare what was sent with what would be sent now. No model is called.
    Replay(ReplayArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The session's key, or the first characters of its id.
    #[arg(value_name = "KEY")]
    session: String,

    /// Print the body of the request with this number, to the byte.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    request: Option<u32>,

    /// Print a workspace file as it was read for the prompt, before budgets: by its name, such as `AGENTS.md`.
    #[arg(long, value_name = "NAME", conflicts_with = "request")]
    file: Option<String>,

    /// The turn whose file to print, from 1; by default the last one.
    #[arg(long, value_name = "N", requires = "file", value_parser = clap::value_parser!(u32).range(1..))]
    turn: Option<u32>,
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// The session's key, or the first characters of its id.
    #[arg(value_name = "KEY")]
    session: String,

    /// The output directory; by default one in `.openclaw/trajectory-exports/` of the session's workspace.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The contract whose format to use; by default that of the recording.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

/// Export a recorded session by its key, as `chitin trace export` does.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportTrajectoryArgs {
    /// The session's key, or the first characters of its id.
    #[arg(long = "sessionKey", alias = "session-key", value_name = "KEY")]
    session: String,

    /// The output directory; by default one in `.openclaw/trajectory-exports/` of the session's workspace.
    #[arg(long, alias = "output", value_name = "DIR")]
    out: Option<PathBuf>,

    /// The contract whose format to use; by default that of the recording.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

impl ExportTrajectoryArgs {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let args = ExportArgs {
            session: self.session.clone(),
            out: self.out.clone(),
            contract: self.contract.clone(),
        };
        export::run(&args, host, printer)
    }
}

#[derive(Debug, clap::Args)]
struct ReplayArgs {
    /// The session's key, or the first characters of its id.
    #[arg(value_name = "KEY")]
    session: String,

    /// The workspace as it is now; by default the one that was recorded.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// The contract to use for the workspace; by default that of the recording.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None | Some(Action::List) => list::run(host, printer),
            Some(Action::Show(args)) => show::run(args, host, printer),
            Some(Action::Export(args)) => export::run(args, host, printer),
            Some(Action::Replay(args)) => replay::run(args, host, printer),
        }
    }
}
