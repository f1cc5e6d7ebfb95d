//! Where home, state and paths that a user wrote lead to (W43, W44).

use crate::env::Env;
use chitin_contract::{Agents, Contract, DefaultDirectory};
use chitin_guard::{Root, normalized};
use chitin_protocol::agent_id;
use chitin_protocol::text::trim_js;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Names that OpenClaw's own files and variables have.
pub mod compat {
    /// The state directory below home.
    pub const STATE_DIRECTORY: &str = ".openclaw";
    /// The directory in a workspace that holds its state.
    pub const WORKSPACE_STATE_DIRECTORY: &str = ".openclaw";
    /// The default workspace below the state directory.
    pub const WORKSPACE: &str = "workspace";
    /// The variable that moves home.
    pub const HOME: &str = "OPENCLAW_HOME";
    /// The variable that names a profile.
    pub const PROFILE: &str = "OPENCLAW_PROFILE";
    /// The variable that names the state directory.
    pub const STATE: &str = "OPENCLAW_STATE_DIR";
    /// The variable that names the default workspace.
    pub const WORKSPACE_DIRECTORY: &str = "OPENCLAW_WORKSPACE_DIR";
}

/// Why a directory could not be worked out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HomeError {
    /// Neither a variable nor the operating system names a home directory.
    #[error("no home directory is known: set `HOME`")]
    NoHome,
    /// The profile cannot be part of a directory name.
    #[error("the profile `{profile}` is not a valid name: use letters, digits, `_` and `-`")]
    BadProfile {
        /// What the variable holds.
        profile: String,
    },
}

/// Returns the home directory that the contract's runtime would use.
pub fn home(env: &Env, agents: &Agents) -> Result<PathBuf, HomeError> {
    let set = |name: &str| {
        env.get(name)
            .map(trim_js)
            .filter(|value| is_set(value, agents))
    };
    let os_home = || {
        let named = set("HOME")
            .or_else(|| set("USERPROFILE"))
            .map(PathBuf::from);
        named
            .or_else(|| env.os_home().map(Path::to_path_buf))
            .ok_or(HomeError::NoHome)
    };
    let home = match set(compat::HOME) {
        Some(text) if starts_at_home(text) => expand(text, &os_home()?),
        Some(text) => PathBuf::from(text),
        None => os_home()?,
    };
    Ok(normalized(&env.working_directory().join(home)))
}

/// Returns the path that a user meant: trimmed, `~` expanded when it stands alone or before a separator, absolute and
/// normalised.
pub fn user_path(text: &str, env: &Env, agents: &Agents) -> Result<PathBuf, HomeError> {
    let home = if starts_at_home(trim_js(text)) {
        Some(home(env, agents)?)
    } else {
        None
    };
    Ok(path_from(text, home.as_deref(), env.working_directory()))
}

/// Returns the home directory of the user, whatever other programs make of it: `HOME`, else the operating system's.
pub fn plain_home(env: &Env) -> Option<PathBuf> {
    let named = env
        .get("HOME")
        .filter(|home| !trim_js(home).is_empty())
        .map(PathBuf::from);
    named.or_else(|| env.os_home().map(Path::to_path_buf))
}

/// Returns the path that a user meant, absolute and normalised, with a home that is known already.
pub fn path_from(text: &str, home: Option<&Path>, working_directory: &Path) -> PathBuf {
    let text = trim_js(text);
    let path = match home {
        Some(home) if starts_at_home(text) => expand(text, home),
        _ => PathBuf::from(text),
    };
    normalized(&working_directory.join(path))
}

/// Returns the state directory.
pub fn state_directory(env: &Env, agents: &Agents) -> Result<PathBuf, HomeError> {
    for name in agents.state_variables {
        if let Some(text) = env.get(name).map(trim_js).filter(|text| !text.is_empty()) {
            return user_path(text, env, agents);
        }
    }
    let home = home(env, agents)?;
    let current = home.join(compat::STATE_DIRECTORY);
    if Root::open(&current).is_ok() {
        return Ok(current);
    }
    let legacy = agents
        .legacy_state
        .iter()
        .map(|name| home.join(name))
        .find(|path| Root::open(path).is_ok());
    Ok(legacy.unwrap_or(current))
}

/// Returns the workspace of the default agent when nothing is configured.
pub fn default_directory(env: &Env, contract: &Contract) -> Result<PathBuf, HomeError> {
    let agents = &contract.agents;
    let variable = |name: &str| env.get(name).map(trim_js).filter(|text| !text.is_empty());
    let profile =
        variable(compat::PROFILE).filter(|profile| !profile.eq_ignore_ascii_case("default"));
    match agents.default_directory {
        DefaultDirectory::ProfileSuffix => {
            let state = home(env, agents)?.join(compat::STATE_DIRECTORY);
            Ok(match profile {
                Some(profile) => {
                    normalized(&state.join(format!("{}-{profile}", compat::WORKSPACE)))
                }
                None => state.join(compat::WORKSPACE),
            })
        }
        DefaultDirectory::ProfileStateDirectory => {
            if let Some(text) = variable(compat::WORKSPACE_DIRECTORY) {
                return user_path(text, env, agents);
            }
            if let Some(text) = variable(compat::STATE) {
                return Ok(user_path(text, env, agents)?.join(compat::WORKSPACE));
            }
            let home = home(env, agents)?;
            match profile {
                Some(profile) if agent_id::is_valid(profile) => Ok(home
                    .join(format!("{}-{profile}", compat::STATE_DIRECTORY))
                    .join(compat::WORKSPACE)),
                Some(profile) => Err(HomeError::BadProfile {
                    profile: profile.to_owned(),
                }),
                None => Ok(home.join(compat::STATE_DIRECTORY).join(compat::WORKSPACE)),
            }
        }
    }
}

fn is_set(value: &str, agents: &Agents) -> bool {
    let is_null_word = matches!(value, "undefined" | "null");
    !value.is_empty() && (!is_null_word || !agents.null_words_unset)
}

fn starts_at_home(text: &str) -> bool {
    text.strip_prefix('~')
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}

/// Puts home in place of the tilde, as text: what follows the tilde need not be a separator of this system.
fn expand(text: &str, home: &Path) -> PathBuf {
    let mut path = home.as_os_str().to_owned();
    path.push(text.strip_prefix('~').unwrap_or(text));
    PathBuf::from(path)
}
