//! The packages that an agent builds on: found in the store or a registry, and folded into it.

use super::{Finder, read_file};
use crate::error::CliError;
use chitin_pack::artifact::Artifact;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::Contents;
use chitin_pack::packages::{
    Lock, Merged, PackageSource, Resolution, read_list, resolve_dependencies,
};
use chitin_pack::reference::Reference;
use chitin_pack::{Digest, ErrorClass, PackError, Warning};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest lock file that is read.
const MOST_LOCK: u64 = 16 * 1024 * 1024;

/// An agent as it is laid out: alone, or with the packages that it builds on.
#[derive(Debug)]
pub(crate) enum Whole {
    Alone(Box<Artifact>),
    Merged(Box<Merged>),
}

impl Whole {
    /// Returns the agent itself.
    pub(crate) const fn agent(&self) -> &Artifact {
        match self {
            Self::Alone(agent) => agent,
            Self::Merged(merged) => merged.agent(),
        }
    }

    /// Returns what is laid out.
    pub(crate) fn contents(&self) -> Contents<'_> {
        match self {
            Self::Alone(agent) => (&**agent).into(),
            Self::Merged(merged) => (&**merged).into(),
        }
    }

    /// Returns what the user may want to know.
    pub(crate) fn warnings(&self) -> &[Warning] {
        match self {
            Self::Alone(_) => &[],
            Self::Merged(merged) => &merged.warnings,
        }
    }
}

/// Brings an agent together with its packages.
pub(crate) fn with_packages(
    finder: &Finder<'_>,
    agent: Artifact,
    lock: Option<&Path>,
) -> Result<Whole, CliError> {
    let Some(layer) = agent.json(LayerKind::Packages)? else {
        return Ok(Whole::Alone(Box::new(agent)));
    };
    let direct: Vec<String> = read_list(&layer)?
        .into_iter()
        .map(|dependency| dependency.reference)
        .collect();
    let (resolution, packages) = resolved(finder, &layer, lock)?;
    let low_to_high = resolution.low_to_high(&direct).into_iter();
    let packages = low_to_high
        .filter_map(|reference| packages.get(reference).cloned())
        .collect();
    Ok(Whole::Merged(Box::new(Merged::new(packages, agent)?)))
}

/// Finds the packages of a packages layer, directly and indirectly.
pub(crate) fn resolved(
    finder: &Finder<'_>,
    layer: &Value,
    lock: Option<&Path>,
) -> Result<(Resolution, BTreeMap<String, Artifact>), CliError> {
    let lock = match lock {
        Some(path) => Some(Lock::parse(&read_file(finder.host, path, MOST_LOCK)?)?),
        None => None,
    };
    let mut source = Source {
        finder,
        found: BTreeMap::new(),
        freshness: Freshness::Any,
    };
    let resolution = resolve_dependencies(&read_list(layer)?, &mut source, lock.as_ref())?;
    Ok((resolution, source.found))
}

/// Brings the packages of an agent into the store, as they are in their registries now, and keeps them under their
/// references; so the agent can be laid out later without a network. Returns how many there are.
pub(crate) fn bring_packages(finder: &Finder<'_>, agent: &Artifact) -> Result<usize, CliError> {
    let Some(layer) = agent.json(LayerKind::Packages)? else {
        return Ok(0);
    };
    let mut source = Source {
        finder,
        found: BTreeMap::new(),
        freshness: Freshness::Now,
    };
    resolve_dependencies(&read_list(&layer)?, &mut source, None)?;
    Ok(source.found.len())
}

/// Whether packages that were pulled before will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Freshness {
    /// They will.
    Any,
    /// Registries are asked, and what they give is kept.
    Now,
}

struct Source<'a> {
    finder: &'a Finder<'a>,
    found: BTreeMap<String, Artifact>,
    freshness: Freshness,
}

impl PackageSource for Source<'_> {
    fn locate(&mut self, reference: &str) -> Result<Digest, PackError> {
        let found = match self.freshness {
            Freshness::Any => self.finder.find(reference),
            Freshness::Now => {
                let found = self.finder.find_now(reference);
                found.and_then(|found| self.finder.keep(&found).map(|()| found))
            }
        };
        let found = found.map_err(missing(reference))?;
        let digest = found.artifact.digest;
        self.found.insert(reference.to_owned(), found.artifact);
        Ok(digest)
    }

    fn packages(&mut self, reference: &str, digest: &Digest) -> Result<Option<Value>, PackError> {
        let artifact = match self.found.get(reference) {
            Some(found) if found.digest == *digest => found.clone(),
            // Something pins another content than the reference stands for now.
            _ => self.exactly(reference, digest)?,
        };
        self.found.insert(reference.to_owned(), artifact.clone());
        artifact.json(LayerKind::Packages)
    }
}

impl Source<'_> {
    fn exactly(&self, reference: &str, digest: &Digest) -> Result<Artifact, PackError> {
        if let Ok(artifact) = self.finder.store.artifact(digest) {
            return Ok(artifact);
        }
        let mut reference: Reference = reference.parse()?;
        (reference.tag, reference.digest) = (None, Some(*digest));
        let found = self.finder.find(&reference.to_string());
        found
            .map(|found| found.artifact)
            .map_err(missing(&reference.to_string()))
    }
}

fn missing(reference: &str) -> impl FnOnce(CliError) -> PackError + use<> {
    let message = format!("the package `{reference}` cannot be had");
    move |error| PackError::new(ErrorClass::MissingPackage, message).caused_by(error)
}
