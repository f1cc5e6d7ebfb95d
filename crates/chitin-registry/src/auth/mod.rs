//! Credentials: given by hand, from our own file, from Docker's, or from stax's. Secrets are never shown; `Debug` hides them.

mod docker;
mod helper;
mod login;

pub use helper::Helpers;
pub use login::{login, logout};

use chitin_config::env::Env;
use chitin_guard::{ReadPolicy, Root};
use chitin_pack::{ErrorClass, ExitKind, PackError};
use docker::AuthFile;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Our own file in the state directory, of the same form as Docker's.
pub const REGISTRIES_FILE: &str = "registries.json";

/// Larger files are not ours to read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// What people write for Docker's own registry, and what its tools keep the password under.
const DOCKER_HUB: (&str, &str) = ("docker.io", "index.docker.io");

/// Who we are to a registry.
#[derive(Debug, Clone)]
pub enum Credentials {
    /// Nobody.
    Anonymous,
    /// A name and a password.
    Basic {
        /// The name.
        user: String,
        /// The password.
        password: SecretString,
    },
    /// A token that is exchanged for others.
    IdentityToken(SecretString),
    /// A token that is shown as it is.
    RegistryToken(SecretString),
}

/// Where credentials are looked for, in this order: given by hand, our own file, Docker's, stax's.
#[derive(Debug, Clone, Default)]
pub struct Keychain {
    given: Vec<(String, Credentials)>,
    own: Option<PathBuf>,
    docker: Option<(PathBuf, Helpers)>,
    stax: Option<PathBuf>,
}

impl Keychain {
    /// Looks where a user's credentials are: our own file in a state directory, then Docker's, then those of `stax`.
    pub fn of_user(state: &Path, env: &Env) -> Self {
        let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
        let mut keychain = Self::default().with_own(state);
        let home = set("HOME").map(PathBuf::from);
        let docker = match set("DOCKER_CONFIG") {
            Some(directory) => Some(PathBuf::from(directory)),
            None => home.as_ref().map(|home| home.join(".docker")),
        };
        if let Some(directory) = docker {
            let variables = env.variables();
            let helpers = Helpers {
                search: std::env::split_paths(env.get("PATH").unwrap_or_default()).collect(),
                environment: variables
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
                ..Helpers::default()
            };
            keychain = keychain.with_docker(directory.join("config.json"), helpers);
        }
        match home {
            Some(home) => keychain.with_stax(home.join(".stax/auth.json")),
            None => keychain,
        }
    }

    /// Adds credentials for one registry and no other.
    #[must_use]
    pub fn with(mut self, host: impl Into<String>, credentials: Credentials) -> Self {
        self.given.push((host.into(), credentials));
        self
    }

    /// Looks in our own file in a state directory.
    #[must_use]
    pub fn with_own(mut self, state: &Path) -> Self {
        self.own = Some(state.join(REGISTRIES_FILE));
        self
    }

    /// Looks in Docker's `config.json`, and asks the helpers that it names.
    #[must_use]
    pub fn with_docker(mut self, config: PathBuf, helpers: Helpers) -> Self {
        self.docker = Some((config, helpers));
        self
    }

    /// Looks in stax's `auth.json`. It is never written.
    #[must_use]
    pub fn with_stax(mut self, file: PathBuf) -> Self {
        self.stax = Some(file);
        self
    }

    /// Finds the credentials for a registry; [`Credentials::Anonymous`] when there are none.
    ///
    /// Cancellation safe: a helper that is running is ended.
    pub async fn find(&self, host: &str) -> Result<Credentials, PackError> {
        if let Some((_, given)) = self.given.iter().find(|(known, _)| is_for(known, host)) {
            return Ok(given.clone());
        }
        if let Some(path) = &self.own
            && let Some(file) = read::<AuthFile>(path)?
            && let Some(found) = file.find(path, host)?
        {
            return Ok(found);
        }
        if let Some((path, helpers)) = &self.docker
            && let Some(file) = read::<AuthFile>(path)?
        {
            if let Some(helper) = file.helper(host)
                && let Some(found) = helpers.get(helper, host).await?
            {
                return Ok(found);
            }
            if let Some(found) = file.find(path, host)? {
                return Ok(found);
            }
        }
        if let Some(path) = &self.stax
            && let Some(auths) = read::<BTreeMap<String, docker::AuthEntry>>(path)?
            && let Some(found) = docker::find(path, &auths, host)?
        {
            return Ok(found);
        }
        Ok(Credentials::Anonymous)
    }
}

/// Reads a file of JSON; `None` when there is none.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, PackError> {
    let failed = || {
        let message = format!("`{}` cannot be read", path.display());
        PackError::new(ErrorClass::Io, message).exiting(ExitKind::Registry)
    };
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed());
    };
    let root = match Root::open(directory) {
        Ok(root) => root,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(failed().caused_by(error)),
    };
    let bytes = match root.read(Path::new(name), &ReadPolicy::inside(MAX_FILE_BYTES)) {
        Ok(read) => read.bytes,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(failed().caused_by(error)),
    };
    // The cause would quote the file, and with it a password.
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|_| malformed(path))
}

fn malformed(path: &Path) -> PackError {
    let message = format!("`{}` is not a file of credentials", path.display());
    PackError::new(ErrorClass::MalformedJson, message)
        .exiting(ExitKind::Registry)
        .hint("repair or remove it, and log in again")
}

/// Tells whether an entry of a file is the one for a registry: with or without a scheme, with or without a path.
fn is_for(entry: &str, host: &str) -> bool {
    let bare = entry
        .strip_prefix("https://")
        .or_else(|| entry.strip_prefix("http://"))
        .unwrap_or(entry);
    let name = bare.split('/').next().unwrap_or_default();
    name.eq_ignore_ascii_case(host) || (host == DOCKER_HUB.0 && name == DOCKER_HUB.1)
}

#[cfg(test)]
#[path = "auth_tests.rs"]
mod tests;
