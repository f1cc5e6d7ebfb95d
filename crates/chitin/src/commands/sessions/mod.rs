//! `chitin sessions`: the conversations that are kept, on the terminal and out of it.

mod adopt;
mod conversation;
mod delete;
mod export;
mod import;
mod list;
mod prune;
mod show;
mod source;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::sessions::{AgentSessions, SessionOwner};
use chitin_runtime::{Host, RuntimeError, Setup};
use chitin_store::StoreError;
use clap::Subcommand;
use std::io;
use std::path::PathBuf;

/// List, show, export, import, delete and prune an agent's sessions.
///
/// A session is a conversation with a key such as `agent:main:main`, stored as append-only JSON lines.
/// `main` is short for the main session of the agent. OpenClaw's own sessions can be read and are never changed.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  chitin sessions
  chitin sessions list --openclaw --json
  chitin sessions show main --tail 10
  chitin sessions export main --format markdown --out talk.md
  chitin sessions delete agent:main:diary --dry-run
  chitin sessions prune --older-than 30d --keep 100 --dry-run
  chitin sessions list --dir ./my-agent
  chitin sessions adopt harbor-3f9a1c2e ./harbor
  chitin sessions import ~/.openclaw/agents/main/sessions/1234.jsonl --as agent:main:old"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the sessions, the most recently used first.
    List(list::ListArgs),
    /// Show the conversation of one session.
    Show(show::ShowArgs),
    /// Export a session as its exact lines or as Markdown.
    Export(export::ExportArgs),
    /// Delete sessions everywhere, and search for what is left of them.
    Delete(delete::DeleteArgs),
    /// Delete old sessions and archived transcripts.
    Prune(prune::PruneArgs),
    /// Continue the sessions of another agent in a directory, for example after it was moved.
    Adopt(adopt::AdoptArgs),
    /// Import a transcript, such as one of OpenClaw's; the file itself is not changed.
    Import(import::ImportArgs),
}

/// Whose sessions are meant.
#[derive(Debug, Clone, Default, clap::Args)]
struct Whose {
    /// The agent that owns the sessions; if omitted, the default agent.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// The workspace of the agent.
    #[arg(long = "dir", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// The contract to use for the configuration.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None => list::run(&self.list, host, printer),
            Some(Action::List(args)) => list::run(args, host, printer),
            Some(Action::Show(args)) => show::run(args, host, printer),
            Some(Action::Export(args)) => export::run(args, host, printer),
            Some(Action::Delete(args)) => delete::run(args, host, printer),
            Some(Action::Prune(args)) => prune::run(args, host, printer),
            Some(Action::Adopt(args)) => adopt::run(args, host, printer),
            Some(Action::Import(args)) => import::run(args, host, printer),
        }
    }
}

/// Lists the sessions of an agent that was found already.
pub(crate) fn show(host: &Host, setup: &Setup, printer: &Printer) -> Result<Exit, CliError> {
    let source = AgentSessions::find(host, setup, SessionOwner::Chitin)?;
    list::print_first(&source, SessionOwner::Chitin, host, printer)
}

/// Says in the user's words what the store could not do.
fn refused(error: StoreError) -> CliError {
    match &error {
        StoreError::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
            CliError::new(FailureKind::BrokenPipe, "The reader went away.")
        }
        _ => RuntimeError::from(error).into(),
    }
}

/// Writes an instant as people say it, in their own time zone.
pub(crate) fn instant(milliseconds: i64) -> String {
    let Ok(instant) = jiff::Timestamp::from_millisecond(milliseconds) else {
        return "?".to_owned();
    };
    let local = instant.to_zoned(jiff::tz::TimeZone::system());
    local.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Writes a size as people say it.
pub(crate) fn size(bytes: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = bytes.saturating_mul(10) / unit;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        1_000_000_000.. => format!("{} GB", tenths(1_000_000_000)),
    }
}

/// Says a count with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
