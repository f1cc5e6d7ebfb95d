//! Which packages there are and in which order: depth first, each after those that it builds on (rule P52).

use super::list::{Dependency, checked, read_list};
use super::lock::Lock;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use serde_json::Value;
use std::collections::BTreeMap;

/// How deep packages may build on packages.
pub const MAX_LEVELS: usize = 32;
/// How many packages there may be in all.
const MAX_PACKAGES: usize = 4096;

/// Where packages come from: a registry, a store, a map in a test.
///
/// An implementor promises that what it returns for a digest is of that digest, and that a package which is not there is
/// an error of the class [`ErrorClass::MissingPackage`] or one of a registry.
pub trait PackageSource {
    /// Returns what a reference stands for now. Asked again for every place that names it: an answer that changes in
    /// between is a conflict that must not be hidden.
    fn locate(&mut self, reference: &str) -> Result<Digest, PackError>;

    /// Returns the packages layer of a package; `None` when it has none.
    fn packages(&mut self, reference: &str, digest: &Digest) -> Result<Option<Value>, PackError>;
}

/// Packages, found and in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolution {
    /// Every reference once, each after its dependencies.
    pub order: Vec<String>,
    /// What each builds on directly, as declared.
    pub dependencies: BTreeMap<String, Vec<String>>,
    /// What each reference stands for.
    pub digests: BTreeMap<String, Digest>,
}

impl Resolution {
    /// Returns the references from the lowest precedence to the highest: those that are needed indirectly, then the direct
    /// ones in their order (rule P50). The agent's own layers stand above all of them.
    pub fn low_to_high<'r>(&'r self, direct: &'r [String]) -> Vec<&'r str> {
        let is_direct = |reference: &&str| direct.iter().any(|known| known == reference);
        let mut found: Vec<&str> = self.order.iter().map(String::as_str).collect();
        found.retain(|reference| !is_direct(reference));
        for reference in direct {
            if !found.contains(&reference.as_str()) {
                found.push(reference);
            }
        }
        found
    }
}

/// Finds the packages that references need, directly and indirectly. What the lock pins is taken as pinned.
pub fn resolve(
    references: &[String],
    source: &mut dyn PackageSource,
    lock: Option<&Lock>,
) -> Result<Resolution, PackError> {
    let references = references.iter().map(|reference| {
        checked(reference)?;
        Ok(Dependency {
            reference: reference.clone(),
            digest: None,
        })
    });
    let references: Vec<_> = references.collect::<Result<_, PackError>>()?;
    resolve_dependencies(&references, source, lock)
}

/// Finds the packages that an artifact needs, as its packages layer names them.
pub fn resolve_dependencies(
    direct: &[Dependency],
    source: &mut dyn PackageSource,
    lock: Option<&Lock>,
) -> Result<Resolution, PackError> {
    let mut search = Search {
        source,
        lock,
        found: Resolution::default(),
        heights: BTreeMap::new(),
        path: Vec::new(),
    };
    for dependency in direct {
        search.visit(&dependency.reference, dependency.digest)?;
    }
    Ok(search.found)
}

struct Search<'s> {
    source: &'s mut dyn PackageSource,
    lock: Option<&'s Lock>,
    found: Resolution,
    /// How many levels each package stands for, itself included.
    heights: BTreeMap<String, usize>,
    /// The way from the root to here.
    path: Vec<String>,
}

impl Search<'_> {
    /// Returns how many levels the package stands for. The recursion is no deeper than the limit.
    fn visit(&mut self, reference: &str, declared: Option<Digest>) -> Result<usize, PackError> {
        if let Some(start) = self.path.iter().position(|above| above == reference) {
            return Err(self.cycle(start));
        }
        let known = self.heights.get(reference).copied();
        // What was found on a shorter way counts on a longer one too.
        if self.path.len() + known.unwrap_or(1) > MAX_LEVELS {
            return Err(self.too_deep(reference));
        }
        let digest = self.digest(reference, declared)?;
        if let Some(known) = known {
            return Ok(known);
        }
        if self.heights.len() + self.path.len() >= MAX_PACKAGES {
            let message = format!("there are more than {MAX_PACKAGES} packages");
            return Err(PackError::new(ErrorClass::DependencyDepth, message));
        }
        let layer = self.source.packages(reference, &digest)?;
        let needed = layer.as_ref().map(read_list).transpose()?;
        let needed = needed.unwrap_or_default();
        self.path.push(reference.to_owned());
        let mut below = 0;
        for dependency in &needed {
            below = below.max(self.visit(&dependency.reference, dependency.digest)?);
        }
        self.path.pop();
        let names = needed.into_iter().map(|dependency| dependency.reference);
        let names: Vec<_> = names.collect();
        self.found.dependencies.insert(reference.to_owned(), names);
        self.found.order.push(reference.to_owned());
        self.heights.insert(reference.to_owned(), below + 1);
        Ok(below + 1)
    }

    /// Decides what a reference stands for: the lock, else what the layer says, else what the source says now. A digest in
    /// the reference itself is no opinion, and nothing may say otherwise.
    fn digest(&mut self, reference: &str, declared: Option<Digest>) -> Result<Digest, PackError> {
        let own = checked(reference)?.digest;
        let pinned = self.lock.and_then(|lock| lock.digest(reference));
        let digest = match pinned.or(declared).or(own) {
            Some(digest) => digest,
            None => self.source.locate(reference)?,
        };
        let before = self.found.digests.insert(reference.to_owned(), digest);
        match own.or(before).filter(|other| *other != digest) {
            Some(other) => Err(PackError::new(
                ErrorClass::DependencyConflict,
                format!("`{reference}` stands for two contents"),
            )
            .about([other.to_string(), digest.to_string()])
            .hint("pin it in `stax.lock`, or have the packages name one digest")),
            None => Ok(digest),
        }
    }

    fn cycle(&self, start: usize) -> PackError {
        let mut path = self.path[start..].to_vec();
        path.push(self.path[start].clone());
        PackError::new(
            ErrorClass::DependencyCycle,
            format!("packages need each other in a circle: {}", path.join(" → ")),
        )
        .about(path)
    }

    fn too_deep(&self, reference: &str) -> PackError {
        let message = format!("packages build on packages more than {MAX_LEVELS} levels deep");
        let path = self.path.iter().map(String::as_str);
        PackError::new(ErrorClass::DependencyDepth, message).about(path.chain([reference]))
    }
}
