//! `chitin plugins`: the programs that add adapters and context engines.

mod list;
mod trial;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Printer, plain};
use chitin_plugin::PluginSet;
use chitin_plugin::protocol::PluginOffer;
use chitin_runtime::{Configuration, Host, Notes, plugin_set};
use clap::Subcommand;

/// List plugins with what each offers, or try one.
///
/// A plugin is a program that `plugins` in `chitin.json5` names. It adds a workspace adapter or a context engine. It runs in
/// the sandbox, with the workspace read-only, unless its settings say `sandbox: false`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  chitin plugins
  chitin plugins --json
  chitin plugins try prompt
  chitin plugins try prompt ~/agents/lighthouse

docs/guides/write-a-plugin.md shows how to write one.
Exit codes: 0 all plugins work; 1 a plugin failed; 2 wrong arguments; 3 no such plugin or directory; 4 the configuration is wrong."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Start each plugin briefly and list what it offers and what the sandbox enforces.
    List,
    /// Start a plugin and call everything that it offers once: answers, time, error output.
    Try(trial::TryArgs),
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None | Some(Action::List) => list::run(host, printer),
            Some(Action::Try(args)) => trial::run(args, host, printer),
        }
    }
}

/// What is shown of a plugin that offers nothing.
const NOTHING: &str = "nothing";

/// Describes something that a plugin offers.
fn describe_offer(offer: &PluginOffer) -> String {
    match offer {
        PluginOffer::Adapter | PluginOffer::ContextEngine => offer.name().to_owned(),
        PluginOffer::Other(name) => format!("{} (not used by this version)", plain(name, ' ')),
    }
}

/// Reads the configuration and makes the plugins of it. What is wrong with one is part of the result, not a note.
fn configured(host: &Host, printer: &Printer) -> Result<(Configuration, PluginSet), CliError> {
    let configuration = Configuration::read(host, None, &printer.notes())?;
    let set = plugin_set(host, &configuration, &Notes::none());
    Ok((configuration, set))
}

/// Runs something until it is done or the user presses Ctrl-C.
fn until_interrupted<T>(work: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CliError::new(FailureKind::Internal, "Could not start the plugins.").caused_by(error)
        })?;
    runtime.block_on(async {
        tokio::select! {
            done = work => Ok(done),
            _ = tokio::signal::ctrl_c() => Err(CliError::new(FailureKind::Interrupted, "Stopped.")),
        }
    })
}
