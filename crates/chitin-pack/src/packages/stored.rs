//! Packages that are in the local store, and an agent merged with all of them.

use super::contents::Merged;
use super::list::{checked, read_list};
use super::lock::Lock;
use super::resolve::{PackageSource, Resolution, resolve_dependencies};
use crate::artifact::Artifact;
use crate::digest::Digest;
use crate::error::{ErrorClass, ExitKind, PackError};
use crate::layer::LayerKind;
use crate::locate::find_stored;
use crate::store::Store;
use serde_json::Value;
use std::sync::Arc;

/// The packages of a store: references are names in it, as pulling writes them.
#[derive(Debug)]
pub struct StoredPackages {
    /// The store.
    pub store: Arc<Store>,
}

impl PackageSource for StoredPackages {
    fn locate(&mut self, reference: &str) -> Result<Digest, PackError> {
        if let Some(digest) = checked(reference)?.digest {
            return Ok(digest);
        }
        match find_stored(&self.store, reference) {
            Ok(manifest) => Ok(manifest.digest),
            Err(error) => Err(missing(reference, error)),
        }
    }

    fn packages(&mut self, reference: &str, digest: &Digest) -> Result<Option<Value>, PackError> {
        let artifact = self.store.artifact(digest);
        let artifact = artifact.map_err(|error| missing(reference, error))?;
        let layer = artifact.json(LayerKind::Packages);
        layer.map_err(|error| error.exiting(ExitKind::Resolution))
    }
}

fn missing(reference: &str, error: PackError) -> PackError {
    PackError::new(
        ErrorClass::MissingPackage,
        format!("the package `{reference}` is not in the store"),
    )
    .hint("pull it first")
    .caused_by(error)
}

/// Merges an agent with its packages, which must be in the store; `None` for an agent that builds on none. Also returns how
/// they were resolved, for a lock file.
pub fn merge_stored(
    agent: &Artifact,
    store: &Arc<Store>,
    lock: Option<&Lock>,
) -> Result<Option<(Merged, Resolution)>, PackError> {
    let layer = agent.json(LayerKind::Packages)?;
    let direct = layer.as_ref().map(read_list).transpose()?;
    let direct = direct.unwrap_or_default();
    if direct.is_empty() {
        return Ok(None);
    }
    let mut source = StoredPackages {
        store: Arc::clone(store),
    };
    let resolution = resolve_dependencies(&direct, &mut source, lock)?;
    let names = direct.into_iter().map(|dependency| dependency.reference);
    let names: Vec<String> = names.collect();
    let packages = resolution.low_to_high(&names).into_iter().map(|reference| {
        let Some(digest) = resolution.digests.get(reference) else {
            let message = format!("the package `{reference}` was not resolved");
            return Err(PackError::new(ErrorClass::MissingPackage, message));
        };
        store.artifact(digest)
    });
    let packages = packages.collect::<Result<Vec<_>, _>>()?;
    Ok(Some((Merged::new(packages, agent.clone())?, resolution)))
}
