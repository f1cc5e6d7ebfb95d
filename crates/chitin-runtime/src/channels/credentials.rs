//! The tokens that `chitin channels login` keeps: one file in Chitin's home, for the owner alone.

use super::compat::{ChannelKind, ChannelSecret};
use crate::error::{ErrorKind, RuntimeError};
use chitin_guard::{ClaimKind, Expected, ReadPolicy, Root, WriteError, commit_all};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The file, in Chitin's home.
pub const CREDENTIALS_FILE: &str = "channels.json";
/// What keeps a second process out while it is changed.
const LOCK: &str = "channels.lock";
/// No honest file is larger.
const MOST_BYTES: u64 = 256 * 1024;
/// Only its owner may read it.
const OWNER_ONLY: u32 = 0o600;

/// The secrets of one account, by what they are.
pub type ChannelSecrets = BTreeMap<ChannelSecret, SecretString>;

/// Returns what is kept for a network, by account. An account that is kept without a secret uses those of the configuration.
pub(super) fn kept(
    state: &Path,
    kind: ChannelKind,
) -> Result<BTreeMap<String, ChannelSecrets>, RuntimeError> {
    let Ok(root) = Root::open(state) else {
        return Ok(BTreeMap::new());
    };
    let document = match root.read(Path::new(CREDENTIALS_FILE), &ReadPolicy::inside(MOST_BYTES)) {
        Ok(read) => parse(&read.bytes)?,
        Err(error) if error.is_missing() => return Ok(BTreeMap::new()),
        Err(error) => return Err(unreadable().caused_by(error)),
    };
    let Some(accounts) = document.get(kind.id()).and_then(Value::as_object) else {
        return Ok(BTreeMap::new());
    };
    let accounts = accounts.iter().map(|(account, said)| {
        let secrets = ChannelSecret::ALL.into_iter().filter_map(|secret| {
            let text = said.get(secret.key())?.as_str()?;
            Some((secret, SecretString::from(text)))
        });
        (account.clone(), secrets.collect())
    });
    Ok(accounts.collect())
}

/// Keeps the secrets of an account, in place of those that were kept before.
pub fn keep(
    state: &Path,
    kind: ChannelKind,
    account: &str,
    secrets: &ChannelSecrets,
) -> Result<(), RuntimeError> {
    let said: Map<String, Value> = secrets
        .iter()
        .map(|(secret, text)| (secret.key().to_owned(), text.expose_secret().into()))
        .collect();
    change(state, |document| {
        let accounts = document.entry(kind.id()).or_insert_with(|| json!({}));
        if !accounts.is_object() {
            *accounts = json!({});
        }
        accounts[account] = Value::Object(said);
    })
}

/// Forgets an account; tells whether it was kept.
pub fn forget(state: &Path, kind: ChannelKind, account: &str) -> Result<bool, RuntimeError> {
    let mut had = false;
    change(state, |document| {
        let accounts = document.get_mut(kind.id()).and_then(Value::as_object_mut);
        had = accounts.is_some_and(|accounts| accounts.shift_remove(account).is_some());
    })?;
    Ok(had)
}

fn change(state: &Path, change: impl FnOnce(&mut Map<String, Value>)) -> Result<(), RuntimeError> {
    let root = Root::create_private(state).map_err(unwritable)?;
    let _alone = root
        .claim(Path::new(LOCK), ClaimKind::Alone)
        .map_err(unwritable)?;
    let name = Path::new(CREDENTIALS_FILE);
    let (mut document, expected) = match root.read(name, &ReadPolicy::inside(MOST_BYTES)) {
        Ok(read) => (parse(&read.bytes)?, Expected::Unchanged(read.fingerprint)),
        Err(error) if error.is_missing() => (Map::new(), Expected::Absent),
        Err(error) => return Err(unreadable().caused_by(error)),
    };
    change(&mut document);
    let text = format!("{:#}\n", Value::Object(document));
    root.prepare_write(name, text.as_bytes(), expected, OWNER_ONLY)
        .and_then(|prepared| commit_all(vec![prepared]))
        .map_err(unwritable)
}

/// The text is never quoted: it holds secrets.
fn parse(bytes: &[u8]) -> Result<Map<String, Value>, RuntimeError> {
    serde_json::from_slice(bytes).map_err(|_| {
        unreadable().hint("fix it, or delete it and log in again with `chitin channels login`")
    })
}

fn unreadable() -> RuntimeError {
    RuntimeError::new(
        ErrorKind::User,
        format!("Could not read `{CREDENTIALS_FILE}` in Chitin's home."),
    )
}

fn unwritable(error: WriteError) -> RuntimeError {
    RuntimeError::new(
        ErrorKind::User,
        format!("Could not write `{CREDENTIALS_FILE}` in Chitin's home."),
    )
    .caused_by(error)
}
