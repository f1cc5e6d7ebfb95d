//! Artifacts by what the user typed: the library finds them, and a terminal shows how it goes.

use super::{Bar, NetworkArgs, store, until_interrupted};
use crate::error::CliError;
use crate::printer::Printer;
use chitin_pack::Digest;
use chitin_pack::compat::SIGNATURE;
use chitin_pack::reference::Reference;
use chitin_pack::store::Store;
use chitin_registry::{ArtifactFinder, ArtifactSource, RegistryRefresh};
use chitin_runtime::Host;
use std::ops::Deref;
use std::sync::Arc;

/// Finds artifacts for a command.
pub(crate) struct Finder<'a> {
    finder: ArtifactFinder<Terminal<'a>>,
    pub(super) host: &'a Host,
}

/// Registries as a command reaches them: with a bar, until Ctrl-C.
pub(crate) struct Terminal<'a> {
    host: &'a Host,
    network: &'a NetworkArgs,
    printer: &'a Printer,
}

/// Whether what was pulled before is fetched again.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct RefreshArgs {
    /// Ask the registry even if the local store has the artifact.
    #[arg(long, help_heading = "Registry")]
    refresh: bool,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(
        host: &'a Host,
        network: &'a NetworkArgs,
        printer: &'a Printer,
    ) -> Result<Self, CliError> {
        let base = host.env.working_directory().to_path_buf();
        let terminal = Terminal {
            host,
            network,
            printer,
        };
        Ok(Self {
            finder: ArtifactFinder::new(store(host)?, base, terminal),
            host,
        })
    }

    /// Asks registries for what was pulled before, if the user said so.
    pub(crate) const fn refreshing(mut self, arguments: RefreshArgs) -> Self {
        if arguments.refresh {
            self.finder.refresh = RegistryRefresh::Always;
        }
        self
    }
}

impl<'a> Deref for Finder<'a> {
    type Target = ArtifactFinder<Terminal<'a>>;

    fn deref(&self) -> &Self::Target {
        &self.finder
    }
}

impl ArtifactSource for Terminal<'_> {
    type Error = CliError;

    fn pull(
        &self,
        reference: &Reference,
        store: &Arc<Store>,
    ) -> Result<(Digest, Vec<Digest>), CliError> {
        let registry = self.network.registry(self.host)?;
        let bar = Bar::new(self.printer.stream(), "Pulling");
        let pulled =
            until_interrupted(registry.pull_with_referrers(reference, SIGNATURE, store, &bar));
        bar.finish();
        pulled
    }

    fn pulled_before(&self, name: &str) {
        self.printer.note(&format!(
            "using {name} from the local store; `--refresh` asks the registry"
        ));
    }
}
