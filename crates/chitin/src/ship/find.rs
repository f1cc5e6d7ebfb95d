//! Artifacts by what the user typed: the library finds them, and a terminal shows how it goes.

use super::{Bar, NetworkArgs, store, until_interrupted};
use crate::error::CliError;
use crate::printer::{Printer, plain};
use chitin_pack::Digest;
use chitin_pack::compat::SIGNATURE;
use chitin_pack::found::ArtifactPlace;
use chitin_pack::locate::{OnDisk, PathProbe};
use chitin_pack::reference::Reference;
use chitin_pack::store::Store;
use chitin_registry::{
    ArtifactFinder, ArtifactOrigin, ArtifactSource, FoundArtifact, RegistryRefresh,
};
use chitin_runtime::Host;
use std::ops::Deref;
use std::path::Path;
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

impl Finder<'_> {
    /// Finds an artifact for a command about signatures. What else its name means is told: it decides what is trusted.
    pub(crate) fn find_told(&self, word: &str) -> Result<FoundArtifact, CliError> {
        let found = self.find(word).map_err(|error| {
            let stored = self.store.tagged(word).ok().flatten();
            match stored.filter(|_| self.is_here(word)) {
                Some(stored) => error.hint(format!(
                    "the local store has `{}`, too: `{}` names that",
                    plain(word, '\u{fffd}'),
                    stored.digest
                )),
                None => error,
            }
        })?;
        self.note_other(word, &found);
        Ok(found)
    }

    /// Tells whether something in the working directory has the name that stands before a tag.
    fn is_here(&self, word: &str) -> bool {
        let (name, _) = word.split_once(':').unwrap_or((word, ""));
        let here = OnDisk {
            base: self.host.env.working_directory().to_path_buf(),
        };
        here.look(Path::new(name)).is_some()
    }

    /// Says that a name means something else, too, and how that is named.
    fn note_other(&self, word: &str, found: &FoundArtifact) {
        if word.starts_with(['.', '/'])
            || word.contains('@')
            || word.starts_with("sha256:")
            || found.was_pulled()
        {
            return;
        }
        let printer = self.finder.source().printer;
        let shown = plain(word, '\u{fffd}');
        match (&found.place, found.origin) {
            (ArtifactPlace::Store(_), ArtifactOrigin::Store) => {
                let (name, _) = word.split_once(':').unwrap_or((word, ""));
                if self.is_here(word) {
                    let name = plain(name, '\u{fffd}');
                    printer.note(&format!(
                        "`{shown}` is taken from the local store, not from `{name}` in the working directory; `./{name}` names that"
                    ));
                }
            }
            (ArtifactPlace::Layout(_) | ArtifactPlace::Archive(_), _) => {
                let stored = self.store.tags().unwrap_or_default().into_iter();
                let mut stored = stored.filter(|tag| {
                    let name = tag.name.as_str();
                    name == word || name.split_once(':').is_some_and(|(name, _)| name == word)
                });
                let other = stored.find(|tag| tag.manifest.digest != found.artifact.digest);
                if let Some(other) = other {
                    let digest = &other.manifest.digest;
                    printer.note(&format!(
                        "`{shown}` is taken from the working directory; the local store has another artifact of that name, which `{digest}` names"
                    ));
                }
            }
            (ArtifactPlace::Store(_), ArtifactOrigin::File | ArtifactOrigin::Registry) => {}
        }
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
