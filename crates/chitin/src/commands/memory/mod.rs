//! `chitin memory`: what an agent remembers, and how it is found again.

mod facts;
mod highlight;
mod index;
mod search;
mod show;
mod status;
mod words;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::{AgentMemory, AgentTarget, Host, Setup, chitin_home};
use clap::Subcommand;
use std::sync::Arc;

/// Search an agent's memory, show an entry, or manage the index.
///
/// Memory is `MEMORY.md`, the Markdown files below `memory/`, and past conversations. The index over it is a cache: it is built and updated automatically, and deleting it loses nothing.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  chitin memory                                     what is indexed, and how it is searched
  chitin memory search 'which plumber fixed the boiler'
  chitin memory search 'boiler' ./my-agent --explain
  chitin memory search 船台 --results 3 --json
  chitin memory show memory/2026-03-02.md:12-20
  chitin memory facts ./my-agent --user ada --add 'Prefers oak.'
  chitin memory index --rebuild
  chitin memory words glove.6B.100d.txt             enable search by meaning, without a network"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    status: status::StatusArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show what is indexed, where the index is, and how it is searched.
    Status(status::StatusArgs),
    /// Update the index now, or rebuild it.
    Index(index::IndexArgs),
    /// List, add, remove and promote facts about a user.
    ///
    /// Facts are in `users/USER/agents/AGENT/MEMORY.md` of the workspace, notes of a day in `memory/DATE.md` beside it, as the Atmosphere
    /// bridge keeps them. The workspace's own MEMORY.md is not touched. `memory.extraPaths: ["users"]` lets the agent search them.
    Facts(facts::FactsArgs),
    /// Find the lines that match a query.
    Search(search::SearchArgs),
    /// Show lines of a memory file.
    Show(show::ShowArgs),
    /// Create the word table for search by meaning, from published word vectors.
    Words(words::WordsArgs),
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None => status::run(&self.status, host, printer),
            Some(Action::Status(args)) => status::run(args, host, printer),
            Some(Action::Index(args)) => index::run(args, host, printer),
            Some(Action::Facts(args)) => facts::run(args, host, printer),
            Some(Action::Search(args)) => search::run(args, host, printer),
            Some(Action::Show(args)) => show::run(args, host, printer),
            Some(Action::Words(args)) => words::run(args, host, printer),
        }
    }
}

/// A workspace and its memory.
struct Found {
    kit: AgentMemory,
    /// Vectors may come over the network.
    runtime: tokio::runtime::Runtime,
}

impl Found {
    fn new(host: &Host, target: &AgentTarget, printer: &Printer) -> Result<Self, CliError> {
        let setup = Arc::new(Setup::find(host, target, &printer.notes())?);
        setup
            .check_directory(host)
            .map_err(|error| error.hint("put a query of several words in quotes"))?;
        let state = chitin_home(host).ok_or_else(|| {
            CliError::new(
                FailureKind::User,
                "Could not determine where to store the index.",
            )
            .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| {
                CliError::new(FailureKind::Internal, "Could not start threads.").caused_by(error)
            })?;
        let kit = AgentMemory::new(&Arc::new(host.clone()), &setup, &state);
        if !kit.options.enabled {
            printer.note("memory is switched off for this agent: it has no tools to search it");
        }
        Ok(Self { kit, runtime })
    }

    /// Does something with the memory, while the network can be used.
    fn with<T>(&self, work: impl FnOnce(&chitin_memory::keeper::Memory) -> T) -> T {
        let _entered = self.runtime.enter();
        work(self.kit.memory())
    }
}
