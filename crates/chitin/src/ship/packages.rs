//! The packages that an agent builds on, with the lock file that the user names.

use super::{Finder, read_file};
use crate::error::CliError;
use chitin_pack::artifact::Artifact;
use chitin_pack::packages::{Lock, Resolution};
use chitin_registry::WholeAgent;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest lock file that is read.
const MOST_LOCK: u64 = 16 * 1024 * 1024;

/// Brings an agent together with its packages.
pub(crate) fn with_packages(
    finder: &Finder<'_>,
    agent: Artifact,
    lock: Option<&Path>,
) -> Result<WholeAgent, CliError> {
    let lock = read_lock(finder, lock)?;
    Ok(finder.with_packages(agent, lock.as_ref())?)
}

/// Finds the packages of a packages layer, directly and indirectly.
pub(crate) fn resolved(
    finder: &Finder<'_>,
    layer: &Value,
    lock: Option<&Path>,
) -> Result<(Resolution, BTreeMap<String, Artifact>), CliError> {
    let lock = read_lock(finder, lock)?;
    Ok(finder.resolve_packages(layer, lock.as_ref())?)
}

fn read_lock(finder: &Finder<'_>, path: Option<&Path>) -> Result<Option<Lock>, CliError> {
    let read = |path| Ok(Lock::parse(&read_file(finder.host, path, MOST_LOCK)?)?);
    path.map(read).transpose()
}
