//! From what the user typed to an artifact: in a directory, an archive, the store, or a registry.

use super::{Bar, NetworkArgs, store, until_interrupted};
use crate::error::CliError;
use crate::printer::Printer;
use chitin_pack::artifact::Artifact;
use chitin_pack::compat::SIGNATURE;
use chitin_pack::found;
use chitin_pack::locate::{Located, OnDisk, locate};
use chitin_pack::reference::Reference;
use chitin_pack::store::Store;
use chitin_pack::trust::Candidate;
use chitin_pack::{ErrorClass, PackError};
use chitin_runtime::Host;
use std::sync::Arc;

/// An artifact, found.
pub(crate) struct Found {
    pub(crate) artifact: Artifact,
    /// What people call it.
    pub(crate) name: String,
    /// What a policy's patterns are compared with.
    pub(crate) target: Option<String>,
    /// Its signatures, wherever they were.
    pub(crate) signatures: Vec<Candidate>,
    /// Where it came from.
    pub(crate) origin: Origin,
}

/// Where an artifact came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// A file or directory that the user named.
    File,
    /// The local store.
    Store,
    /// A registry, just now.
    Registry,
}

impl Found {
    /// Tells whether it is what an earlier pull left in the store.
    pub(crate) fn was_pulled(&self) -> bool {
        let reference = self.name.parse::<Reference>();
        self.origin == Origin::Store
            && reference.is_ok_and(|reference| reference.registry.is_some())
    }
}

/// Finds artifacts.
pub(crate) struct Finder<'a> {
    pub(crate) store: Arc<Store>,
    pub(super) host: &'a Host,
    network: &'a NetworkArgs,
    printer: &'a Printer,
    refresh: Refresh,
}

/// Whether a registry is asked for what was pulled before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refresh {
    Never,
    Always,
}

/// Whether what was pulled before is fetched again.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct RefreshArgs {
    /// Ask the registry, although the local store has what was pulled before.
    #[arg(long, help_heading = "Registry")]
    refresh: bool,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(
        host: &'a Host,
        network: &'a NetworkArgs,
        printer: &'a Printer,
    ) -> Result<Self, CliError> {
        Ok(Self {
            store: store(host)?,
            host,
            network,
            printer,
            refresh: Refresh::Never,
        })
    }

    /// Asks registries for what was pulled before, if the user said so.
    pub(crate) const fn refreshing(mut self, arguments: RefreshArgs) -> Self {
        if arguments.refresh {
            self.refresh = Refresh::Always;
        }
        self
    }

    /// Finds an artifact. One in a registry is taken from the store if it was pulled before; otherwise, or when the user
    /// asks for that, it is brought into the store, with its signatures.
    pub(crate) fn find(&self, word: &str) -> Result<Found, CliError> {
        if let Some(found) = self.find_pulled(word)? {
            self.printer.note(&format!(
                "{} is taken from the local store; `--refresh` asks the registry",
                found.name
            ));
            return Ok(found);
        }
        self.find_now(word)
    }

    /// Finds what was pulled before, in the store. Nothing is asked of the network.
    fn find_pulled(&self, word: &str) -> Result<Option<Found>, CliError> {
        let places = OnDisk {
            base: self.host.env.working_directory().to_path_buf(),
        };
        let Located::Remote(reference) = locate(word, &places)? else {
            return Ok(None);
        };
        if self.refresh == Refresh::Always {
            return Ok(None);
        }
        let name = reference.to_string();
        let tagged = self.store.tags()?.into_iter().find(|tag| tag.name == name);
        // A digest names one content for ever; what a tag stands for was written down when it was pulled.
        let digest = match (tagged, reference.digest) {
            (Some(tag), None) => tag.manifest.digest,
            (_, Some(digest)) => digest,
            (None, None) => return Ok(None),
        };
        let Ok(artifact) = self.store.artifact(&digest) else {
            return Ok(None);
        };
        let is_whole = artifact
            .manifest
            .layers
            .iter()
            .all(|layer| self.store.has(layer));
        if !is_whole {
            return Ok(None);
        }
        Ok(Some(Found {
            signatures: self.store.signatures_of(&digest)?,
            artifact,
            target: found::target_of(&name),
            name,
            origin: Origin::Store,
        }))
    }

    /// Finds an artifact as it is now: a reference is asked of its registry.
    pub(crate) fn find_now(&self, word: &str) -> Result<Found, CliError> {
        let base = self.host.env.working_directory();
        let places = OnDisk {
            base: base.to_path_buf(),
        };
        let located = locate(word, &places)?;
        if let Located::Remote(reference) = &located {
            return self.pull(reference);
        }
        let found = found::open(&located, base, Some(&self.store))?;
        let found = found.ok_or_else(|| {
            let message = format!("`{word}` is in a registry");
            PackError::new(ErrorClass::MissingManifest, message)
        })?;
        Ok(Found {
            artifact: found.artifact,
            name: word.to_owned(),
            target: found.target,
            signatures: found.signatures,
            origin: match located {
                Located::Layout(..) | Located::Archive(..) => Origin::File,
                Located::Stored(_) | Located::Digest(_) | Located::Remote(_) => Origin::Store,
            },
        })
    }

    /// Gives what came out of a registry its reference as a name in the store, now that it may be used.
    pub(crate) fn keep(&self, found: &Found) -> Result<(), CliError> {
        if found.origin == Origin::Registry {
            let bytes = &found.artifact.manifest_bytes;
            let manifest = self.store.put_manifest_bytes(bytes)?;
            self.store.tag(&found.name, &manifest)?;
        }
        Ok(())
    }

    /// Brings an artifact and its signatures out of a registry into the store. It has no name there until it is kept.
    pub(crate) fn pull(&self, reference: &Reference) -> Result<Found, CliError> {
        let registry = self.network.registry(self.host)?;
        let bar = Bar::new(self.printer.stream(), "Pulling");
        let adding = self.store.adding()?;
        let pulled = until_interrupted(registry.pull_with_referrers(
            reference,
            SIGNATURE,
            &self.store,
            &bar,
        ));
        bar.finish();
        let (digest, referrers) = pulled?;
        for referrer in referrers {
            let bytes = self.store.manifest_bytes(&referrer)?;
            self.store.put_referrer_bytes(&bytes)?;
        }
        let artifact = self.store.artifact(&digest)?;
        drop(adding);
        Ok(Found {
            signatures: self.store.signatures_of(&digest)?,
            artifact,
            name: reference.to_string(),
            target: found::target_of(&reference.to_string()),
            origin: Origin::Registry,
        })
    }
}
