//! Where a home is (H1).

use crate::compat;
use crate::home::HomeError;
use chitin_config::env::Env;
use chitin_guard::Root;
use std::path::{Path, PathBuf};

/// The places that make up a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomePaths {
    /// The state directory, such as `~/.openclaw`.
    pub state: PathBuf,
    /// The configuration file.
    pub config: PathBuf,
    /// What `~` means in the configuration.
    pub user_home: PathBuf,
}

impl HomePaths {
    /// Finds the home that OpenClaw would use: what its variables name, else `.openclaw` in the user's home, with the profile's suffix.
    pub fn of(env: &Env, profile: Option<&str>) -> Result<Self, HomeError> {
        let set = |name: &str| {
            env.get(name)
                .map(str::trim)
                .filter(|value| !value.is_empty())
        };
        let home = match set("OPENCLAW_HOME") {
            Some(home) => Some(env.resolve(home)),
            None => chitin_config::home::plain_home(env),
        };
        let state = if let Some(named) = set("OPENCLAW_STATE_DIR") {
            env.resolve(named)
        } else {
            let name = match profile.or_else(|| set("OPENCLAW_PROFILE")) {
                Some(profile) if !profile.eq_ignore_ascii_case("default") => {
                    format!("{}-{}", compat::STATE, checked(profile)?)
                }
                Some(_) | None => compat::STATE.to_owned(),
            };
            home.clone().ok_or(HomeError::NoHome)?.join(name)
        };
        let config = match set("OPENCLAW_CONFIG_PATH") {
            Some(named) => env.resolve(named),
            None => state.join(compat::CONFIG),
        };
        let user_home = home.unwrap_or_else(|| above(&state));
        Ok(Self {
            state,
            config,
            user_home,
        })
    }

    /// Takes a directory that the user named: a state directory, or one that has `.openclaw` in it.
    pub fn at(directory: &Path) -> Self {
        let below = directory.join(compat::STATE);
        let state = if Root::open(&below).is_ok() && !is_state(directory) {
            below
        } else {
            directory.to_path_buf()
        };
        Self {
            config: state.join(compat::CONFIG),
            user_home: above(&state),
            state,
        }
    }
}

/// Tells whether a directory looks like a state directory itself.
fn is_state(directory: &Path) -> bool {
    let Ok(root) = Root::open(directory) else {
        return false;
    };
    [compat::CONFIG, compat::AGENTS, compat::STATE_DATABASE]
        .iter()
        .any(|name| root.kind(Path::new(name)).is_some())
}

fn above(state: &Path) -> PathBuf {
    state.parent().unwrap_or(state).to_path_buf()
}

/// A profile becomes part of a name, so it may lead nowhere else.
fn checked(profile: &str) -> Result<&str, HomeError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if profile.len() <= 64 && profile.chars().all(plain) && !profile.starts_with('.') {
        Ok(profile)
    } else {
        Err(HomeError::BadProfile {
            profile: profile.to_owned(),
        })
    }
}
