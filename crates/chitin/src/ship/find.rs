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
    /// Whether it was brought from a registry just now.
    is_remote: bool,
}

/// Finds artifacts.
pub(crate) struct Finder<'a> {
    pub(crate) store: Arc<Store>,
    pub(super) host: &'a Host,
    network: &'a NetworkArgs,
    printer: &'a Printer,
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
        })
    }

    /// Finds an artifact; one in a registry is brought into the store, with its signatures.
    pub(crate) fn find(&self, word: &str) -> Result<Found, CliError> {
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
            is_remote: false,
        })
    }

    /// Gives what came out of a registry its reference as a name in the store, now that it may be used.
    pub(crate) fn keep(&self, found: &Found) -> Result<(), CliError> {
        if found.is_remote {
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
            is_remote: true,
        })
    }
}
