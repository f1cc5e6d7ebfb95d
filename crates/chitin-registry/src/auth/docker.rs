//! Docker's `config.json`, and what else has its form.

use super::{Credentials, is_for, malformed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_pack::PackError;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The members that concern credentials.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthFile {
    #[serde(default)]
    auths: BTreeMap<String, AuthEntry>,
    #[serde(default)]
    creds_store: Option<String>,
    #[serde(default)]
    cred_helpers: BTreeMap<String, String>,
}

/// What is kept for one registry.
#[derive(Deserialize)]
pub(super) struct AuthEntry {
    auth: Option<SecretString>,
    username: Option<String>,
    password: Option<SecretString>,
    identitytoken: Option<SecretString>,
    registrytoken: Option<SecretString>,
}

impl AuthFile {
    /// Returns the helper that keeps a registry's password, if one does.
    pub(super) fn helper(&self, host: &str) -> Option<&str> {
        self.cred_helpers
            .iter()
            .find(|(entry, _)| is_for(entry, host))
            .map(|(_, helper)| helper)
            .or(self.creds_store.as_ref())
            .map(String::as_str)
            .filter(|helper| !helper.is_empty())
    }

    pub(super) fn find(&self, path: &Path, host: &str) -> Result<Option<Credentials>, PackError> {
        find(path, &self.auths, host)
    }
}

/// Finds a registry's entry. The exact name wins over one with a scheme or path.
pub(super) fn find(
    path: &Path,
    auths: &BTreeMap<String, AuthEntry>,
    host: &str,
) -> Result<Option<Credentials>, PackError> {
    let near = || {
        auths
            .iter()
            .find(|(entry, _)| is_for(entry, host))
            .map(|(_, found)| found)
    };
    match auths.get(host).or_else(near) {
        Some(entry) => entry.credentials(path),
        None => Ok(None),
    }
}

impl AuthEntry {
    fn credentials(&self, path: &Path) -> Result<Option<Credentials>, PackError> {
        let filled = |secret: &Option<SecretString>| {
            secret
                .clone()
                .filter(|secret| !secret.expose_secret().is_empty())
        };
        if let Some(token) = filled(&self.identitytoken) {
            return Ok(Some(Credentials::IdentityToken(token)));
        }
        if let Some(token) = filled(&self.registrytoken) {
            return Ok(Some(Credentials::RegistryToken(token)));
        }
        if let (Some(user), Some(password)) = (&self.username, filled(&self.password)) {
            let user = user.clone();
            return Ok(Some(Credentials::Basic { user, password }));
        }
        let Some(auth) = filled(&self.auth) else {
            return Ok(None);
        };
        let decoded = STANDARD.decode(auth.expose_secret().trim()).ok();
        let pair = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        match pair.as_deref().and_then(|pair| pair.split_once(':')) {
            Some((user, password)) => Ok(Some(Credentials::Basic {
                user: user.to_owned(),
                // Old files end in a NUL.
                password: password.trim_end_matches('\0').into(),
            })),
            None => Err(malformed(path)),
        }
    }
}
