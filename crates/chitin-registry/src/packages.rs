//! The packages that an agent builds on: found in the store or a registry, and folded into it.

use crate::find::{ArtifactFinder, ArtifactSource};
use chitin_pack::artifact::Artifact;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::Contents;
use chitin_pack::packages::{
    Lock, Merged, PackageSource, Resolution, read_list, resolve_dependencies,
};
use chitin_pack::reference::Reference;
use chitin_pack::{Digest, ErrorClass, PackError, PackWarning};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;

/// An agent as it is laid out: alone, or with the packages that it builds on.
#[derive(Debug)]
pub enum WholeAgent {
    /// It builds on nothing.
    Alone(Box<Artifact>),
    /// Its packages are folded into it.
    Merged(Box<Merged>),
}

impl WholeAgent {
    /// Returns the agent itself.
    pub const fn agent(&self) -> &Artifact {
        match self {
            Self::Alone(agent) => agent,
            Self::Merged(merged) => merged.agent(),
        }
    }

    /// Returns what is laid out.
    pub fn contents(&self) -> Contents<'_> {
        match self {
            Self::Alone(agent) => (&**agent).into(),
            Self::Merged(merged) => (&**merged).into(),
        }
    }

    /// Returns what the user may want to know.
    pub fn warnings(&self) -> &[PackWarning] {
        match self {
            Self::Alone(_) => &[],
            Self::Merged(merged) => &merged.warnings,
        }
    }
}

impl<S: ArtifactSource> ArtifactFinder<S> {
    /// Brings an agent together with its packages.
    pub fn with_packages(
        &self,
        agent: Artifact,
        lock: Option<&Lock>,
    ) -> Result<WholeAgent, PackError> {
        let Some(layer) = agent.json(LayerKind::Packages)? else {
            return Ok(WholeAgent::Alone(Box::new(agent)));
        };
        let direct: Vec<String> = read_list(&layer)?
            .into_iter()
            .map(|dependency| dependency.reference)
            .collect();
        let (resolution, packages) = self.resolve_packages(&layer, lock)?;
        let low_to_high = resolution.low_to_high(&direct).into_iter();
        let packages = low_to_high
            .filter_map(|reference| packages.get(reference).cloned())
            .collect();
        Ok(WholeAgent::Merged(Box::new(Merged::new(packages, agent)?)))
    }

    /// Finds the packages of a packages layer, directly and indirectly.
    pub fn resolve_packages(
        &self,
        layer: &Value,
        lock: Option<&Lock>,
    ) -> Result<(Resolution, BTreeMap<String, Artifact>), PackError> {
        let mut packages = Packages {
            finder: self,
            found: BTreeMap::new(),
            freshness: Freshness::Any,
        };
        let resolution = resolve_dependencies(&read_list(layer)?, &mut packages, lock)?;
        Ok((resolution, packages.found))
    }

    /// Brings the packages of an agent into the store, as they are in their registries now, and keeps them under their
    /// references; so the agent can be laid out later without a network. Returns how many there are.
    pub fn bring_packages(&self, agent: &Artifact) -> Result<usize, PackError> {
        let Some(layer) = agent.json(LayerKind::Packages)? else {
            return Ok(0);
        };
        let mut packages = Packages {
            finder: self,
            found: BTreeMap::new(),
            freshness: Freshness::Now,
        };
        resolve_dependencies(&read_list(&layer)?, &mut packages, None)?;
        Ok(packages.found.len())
    }
}

/// Whether packages that were pulled before will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Freshness {
    /// They will.
    Any,
    /// Registries are asked, and what they give is kept.
    Now,
}

struct Packages<'a, S> {
    finder: &'a ArtifactFinder<S>,
    found: BTreeMap<String, Artifact>,
    freshness: Freshness,
}

impl<S: ArtifactSource> PackageSource for Packages<'_, S> {
    fn locate(&mut self, reference: &str) -> Result<Digest, PackError> {
        let found = match self.freshness {
            Freshness::Any => self.finder.find(reference),
            Freshness::Now => self.finder.find_now(reference).and_then(|found| {
                self.finder.keep(&found)?;
                Ok(found)
            }),
        };
        let found = found.map_err(|error| missing(reference, error))?;
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

impl<S: ArtifactSource> Packages<'_, S> {
    fn exactly(&self, reference: &str, digest: &Digest) -> Result<Artifact, PackError> {
        if let Ok(artifact) = self.finder.store.artifact(digest) {
            return Ok(artifact);
        }
        let mut reference: Reference = reference.parse()?;
        (reference.tag, reference.digest) = (None, Some(*digest));
        let reference = reference.to_string();
        let found = self.finder.find(&reference);
        found
            .map(|found| found.artifact)
            .map_err(|error| missing(&reference, error))
    }
}

fn missing(reference: &str, error: impl Error + Send + Sync + 'static) -> PackError {
    let message = format!("the package `{reference}` cannot be had");
    PackError::new(ErrorClass::MissingPackage, message).caused_by(error)
}
