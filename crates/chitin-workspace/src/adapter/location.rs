//! Where the workspace is, and where its state is kept (B15).

use super::compat::{CLASS_PATH_PREFIX, STATE_HOME, STATE_VARIABLE, WORKSPACE_VARIABLE};
use super::definition::AgentDefinition;
use super::files::normalize;
use super::registry::{AdapterError, AdapterRegistry};
use super::text::{is_blank, trim};
use crate::state::{Name, NameError};
use chitin_config::env::Env;
use chitin_guard::Root;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Returns the configured location: the explicit setting, then `ATMOSPHERE_WORKSPACE`, then the host's parameter.
pub fn configured(setting: Option<&str>, env: &Env, parameter: Option<&str>) -> Option<String> {
    first_set([setting, env.get(WORKSPACE_VARIABLE), parameter]).map(str::to_owned)
}

/// What became of a configured location.
#[derive(Debug, Default)]
pub struct LocationOutcome {
    /// The agent, when one was loaded.
    pub definition: Option<AgentDefinition>,
    /// Why there is none although a location is set.
    pub warning: Option<LocationWarning>,
}

/// Why a configured location gave no workspace. Starting up goes on without one.
#[derive(Debug, Error)]
pub enum LocationWarning {
    /// There is no directory.
    #[error("the configured workspace `{}` is not a directory", path.display())]
    NotADirectory {
        /// The path that the location means.
        path: PathBuf,
    },
    /// The location means a class path.
    #[error("the configured workspace `{location}` is on a class path, and there is none")]
    NoClassPath {
        /// The location as it is set.
        location: String,
    },
    /// The load failed.
    #[error("the configured workspace gave no agent: {0}")]
    Failed(#[from] AdapterError),
}

/// Loads the workspace at a configured location. Nothing set is no workspace and no warning.
pub fn load(registry: &AdapterRegistry, location: Option<&str>, env: &Env) -> LocationOutcome {
    let Some(location) = first_set([location]) else {
        return LocationOutcome::default();
    };
    match load_set(registry, location, env) {
        Ok(definition) => LocationOutcome {
            definition: Some(definition),
            warning: None,
        },
        Err(warning) => LocationOutcome {
            definition: None,
            warning: Some(warning),
        },
    }
}

fn load_set(
    registry: &AdapterRegistry,
    location: &str,
    env: &Env,
) -> Result<AgentDefinition, LocationWarning> {
    if location.starts_with(CLASS_PATH_PREFIX) {
        return Err(LocationWarning::NoClassPath {
            location: location.to_owned(),
        });
    }
    let path = normalize(&env.working_directory().join(location));
    if Root::open(&path).is_err() {
        return Err(LocationWarning::NotADirectory { path });
    }
    Ok(registry.load(&path)?)
}

/// Returns where an agent's state is kept: the explicit setting, then `ATMOSPHERE_WORKSPACE_ROOT`, then a directory in
/// the user's home, and beneath it `agents/<name>`. `None` when nothing is set and there is no home.
pub fn state_directory(
    setting: Option<&str>,
    env: &Env,
    agent: &str,
) -> Result<Option<PathBuf>, NameError> {
    let agent = Name::agent(agent)?;
    let base = match first_set([setting, env.get(STATE_VARIABLE)]) {
        Some(base) => Some(env.working_directory().join(base)),
        None => env.os_home().map(|home| home.join(STATE_HOME)),
    };
    Ok(base.map(|base| {
        normalize(&base)
            .join(Path::new("agents"))
            .join(agent.as_str())
    }))
}

fn first_set<const N: usize>(values: [Option<&str>; N]) -> Option<&str> {
    values
        .into_iter()
        .flatten()
        .find(|value| !is_blank(value))
        .map(trim)
}
