//! The lock file `stax.lock`: which content each reference stood for when the packages were resolved (rule P53).
//!
//! Written with sorted keys, an indent of two spaces and a newline at the end: one text for one resolution, and a change of
//! one package is a change of few lines.

use super::list::checked;
use super::resolve::Resolution;
use crate::compat::SPEC_VERSION;
use crate::digest::Digest;
use crate::error::{ErrorClass, ExitKind, PackError};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The only version that is read or written.
const LOCK_VERSION: u64 = 1;
/// Larger lock files are nobody's.
const MAX_LOCK_BYTES: usize = 8 * 1024 * 1024;
/// So are lock files with more entries, or entries with more dependencies.
const MAX_ENTRIES: usize = 16_384;

/// What a reference stood for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The manifest.
    pub digest: Digest,
    /// The references that it builds on, in their order.
    pub dependencies: Vec<String>,
}

/// A lock file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    /// By reference.
    pub packages: BTreeMap<String, Locked>,
}

impl Lock {
    /// Pins what was resolved.
    pub fn of(resolution: &Resolution) -> Self {
        let packages = resolution.digests.iter().map(|(reference, digest)| {
            let locked = Locked {
                digest: *digest,
                dependencies: resolution
                    .dependencies
                    .get(reference)
                    .cloned()
                    .unwrap_or_default(),
            };
            (reference.clone(), locked)
        });
        Self {
            packages: packages.collect(),
        }
    }

    /// Returns what a reference is pinned to.
    pub fn digest(&self, reference: &str) -> Option<Digest> {
        self.packages.get(reference).map(|locked| locked.digest)
    }

    /// Reads a lock file.
    pub fn parse(text: &[u8]) -> Result<Self, PackError> {
        if text.len() > MAX_LOCK_BYTES {
            return Err(wrong("it is too large"));
        }
        let value: Value = serde_json::from_slice(text).map_err(|error| {
            PackError::new(ErrorClass::MalformedJson, "the lock file is not JSON")
                .exiting(ExitKind::Resolution)
                .hint("remove it and resolve the packages again")
                .caused_by(error)
        })?;
        Self::from_value(&value)
    }

    /// Reads a lock file that is JSON already.
    pub fn from_value(value: &Value) -> Result<Self, PackError> {
        let Value::Object(members) = value else {
            return Err(wrong("it is not an object"));
        };
        if members.get("lockVersion").and_then(Value::as_u64) != Some(LOCK_VERSION) {
            return Err(PackError::new(
                ErrorClass::UnsupportedLockVersion,
                format!("the lock file is not of version {LOCK_VERSION}"),
            )
            .hint("another program wrote it; resolve the packages again"));
        }
        let Some(Value::Object(packages)) = members.get("packages") else {
            return Err(wrong("it has no `packages`"));
        };
        if packages.len() > MAX_ENTRIES {
            return Err(wrong("it has too many packages"));
        }
        let packages = packages.iter().map(|(reference, entry)| {
            checked(reference)
                .map_err(|error| wrong("a key is not a reference").caused_by(error))?;
            Ok((reference.clone(), locked(entry)?))
        });
        Ok(Self {
            packages: packages.collect::<Result<_, PackError>>()?,
        })
    }

    /// Returns the document.
    pub fn to_value(&self) -> Value {
        let packages: Map<String, Value> = self
            .packages
            .iter()
            .map(|(reference, locked)| {
                let entry = json!({"dependencies": locked.dependencies, "digest": locked.digest});
                (reference.clone(), entry)
            })
            .collect();
        json!({"lockVersion": LOCK_VERSION, "packages": packages, "specVersion": SPEC_VERSION})
    }

    /// Writes the file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.to_value()).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn locked(entry: &Value) -> Result<Locked, PackError> {
    let digest = entry.get("digest").and_then(Value::as_str);
    let digest = digest.and_then(|digest| digest.parse().ok());
    let dependencies = match entry.get("dependencies") {
        None => Vec::new(),
        Some(Value::Array(items)) if items.len() <= MAX_ENTRIES => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| wrong("a dependency is not text"))?,
        Some(_) => return Err(wrong("`dependencies` is not a list of references")),
    };
    Ok(Locked {
        digest: digest.ok_or_else(|| wrong("a package has no digest"))?,
        dependencies,
    })
}

fn wrong(what: &str) -> PackError {
    PackError::new(
        ErrorClass::InvalidLock,
        format!("the lock file is not of the form: {what}"),
    )
    .hint("remove it and resolve the packages again")
}
