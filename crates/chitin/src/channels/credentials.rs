//! The tokens that `chitin channels login` keeps: one file in Chitin's home, for the owner alone.

use super::compat::{Secret, Which};
use crate::error::{CliError, Kind};
use chitin_workspace::guard::{ClaimKind, Expected, ReadPolicy, Root, WriteError, commit_all};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The file.
pub(crate) const FILE: &str = "channels.json";
/// What keeps a second process out while it is changed.
const LOCK: &str = "channels.lock";
/// No honest file is larger.
const MOST_BYTES: u64 = 256 * 1024;
/// Only its owner may read it.
const OWNER_ONLY: u32 = 0o600;

/// The secrets of one account, by what they are.
pub(crate) type Secrets = BTreeMap<Secret, SecretString>;

/// Returns what is kept for a network, by account. An account that is kept without a secret uses those of the configuration.
pub(crate) fn kept(state: &Path, which: Which) -> Result<BTreeMap<String, Secrets>, CliError> {
    let Ok(root) = Root::open(state) else {
        return Ok(BTreeMap::new());
    };
    let document = match root.read(Path::new(FILE), &ReadPolicy::inside(MOST_BYTES)) {
        Ok(read) => parse(&read.bytes)?,
        Err(error) if error.is_missing() => return Ok(BTreeMap::new()),
        Err(error) => return Err(unreadable().caused_by(error)),
    };
    let Some(accounts) = document.get(which.id()).and_then(Value::as_object) else {
        return Ok(BTreeMap::new());
    };
    let accounts = accounts.iter().map(|(account, said)| {
        let secrets = Secret::ALL.into_iter().filter_map(|secret| {
            let text = said.get(secret.key())?.as_str()?;
            Some((secret, SecretString::from(text)))
        });
        (account.clone(), secrets.collect())
    });
    Ok(accounts.collect())
}

/// Keeps the secrets of an account, in place of those that were kept before.
pub(crate) fn keep(
    state: &Path,
    which: Which,
    account: &str,
    secrets: &Secrets,
) -> Result<(), CliError> {
    let said: Map<String, Value> = secrets
        .iter()
        .map(|(secret, text)| (secret.key().to_owned(), text.expose_secret().into()))
        .collect();
    change(state, |document| {
        let accounts = document.entry(which.id()).or_insert_with(|| json!({}));
        if !accounts.is_object() {
            *accounts = json!({});
        }
        accounts[account] = Value::Object(said);
    })
}

/// Forgets an account; tells whether it was kept.
pub(crate) fn forget(state: &Path, which: Which, account: &str) -> Result<bool, CliError> {
    let mut had = false;
    change(state, |document| {
        let accounts = document.get_mut(which.id()).and_then(Value::as_object_mut);
        had = accounts.is_some_and(|accounts| accounts.shift_remove(account).is_some());
    })?;
    Ok(had)
}

fn change(state: &Path, change: impl FnOnce(&mut Map<String, Value>)) -> Result<(), CliError> {
    let (root, _) = Root::create(state).map_err(unwritable)?;
    let _alone = root
        .claim(Path::new(LOCK), ClaimKind::Alone)
        .map_err(unwritable)?;
    let name = Path::new(FILE);
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
fn parse(bytes: &[u8]) -> Result<Map<String, Value>, CliError> {
    serde_json::from_slice(bytes).map_err(|_| {
        unreadable().hint("put it right, or take it away and log in again: `chitin channels login`")
    })
}

fn unreadable() -> CliError {
    CliError::new(
        Kind::User,
        format!("`{FILE}` in Chitin's home cannot be read."),
    )
}

fn unwritable(error: WriteError) -> CliError {
    CliError::new(
        Kind::User,
        format!("`{FILE}` in Chitin's home cannot be written."),
    )
    .caused_by(error)
}
