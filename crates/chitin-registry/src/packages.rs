//! Packages that an agent builds on, from registries into the store.

use crate::progress::Progress;
use crate::registry::Registry;
use chitin_pack::layer::LayerKind;
use chitin_pack::packages::PackageSource;
use chitin_pack::reference::Reference;
use chitin_pack::store::Store;
use chitin_pack::{Digest, ErrorClass, PackError};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Finds packages in registries and pulls them. It waits for the network, so it belongs on a thread that may wait, such as
/// one of `spawn_blocking`.
pub struct RegistryPackages {
    /// The registries.
    pub registry: Arc<Registry>,
    /// Where packages go.
    pub store: Arc<Store>,
    /// The runtime that does the work.
    pub runtime: Handle,
    /// Who is told.
    pub progress: Arc<dyn Progress>,
}

impl fmt::Debug for RegistryPackages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryPackages")
            .field("registry", &self.registry)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl PackageSource for RegistryPackages {
    fn locate(&mut self, reference: &str) -> Result<Digest, PackError> {
        let parsed: Reference = reference.parse()?;
        let found = self.runtime.block_on(self.registry.resolve(&parsed));
        found
            .map(|descriptor| descriptor.digest)
            .map_err(|error| missing(reference, error))
    }

    fn packages(&mut self, reference: &str, digest: &Digest) -> Result<Option<Value>, PackError> {
        let mut parsed: Reference = reference.parse()?;
        parsed.digest = Some(*digest);
        // What is here already is not asked for again: a digest never changes its meaning.
        let here = self.store.artifact(digest);
        if let Ok(artifact) = here.and_then(|artifact| artifact.verify().map(|()| artifact)) {
            return artifact.json(LayerKind::Packages);
        }
        let progress = self.progress.as_ref();
        let pulling = self.registry.pull(&parsed, &self.store, progress);
        let pulled = self.runtime.block_on(pulling);
        let digest = pulled.map_err(|error| missing(reference, error))?;
        let artifact = self.store.artifact(&digest)?;
        artifact.json(LayerKind::Packages)
    }
}

fn missing(reference: &str, error: PackError) -> PackError {
    if error.class() != ErrorClass::NotFound {
        return error;
    }
    let message = format!("the package `{reference}` is not there");
    PackError::new(ErrorClass::MissingPackage, message)
        .hint("check the reference, or push the package first")
        .caused_by(error)
}
