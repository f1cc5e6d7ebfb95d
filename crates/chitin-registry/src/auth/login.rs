//! Our own file: written whole, readable by its owner only.

use super::{REGISTRIES_FILE, malformed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_guard::{
    ClaimKind, Expected, Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root, WriteError, commit_all,
};
use chitin_pack::reference::Reference;
use chitin_pack::{ErrorClass, PackError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use std::path::Path;

const LOCK: &str = "registries.lock";
const OWNER_ONLY: u32 = 0o600;

/// A link in place of the file would let somebody else say where passwords go.
const POLICY: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Refuse,
    max_bytes: super::MAX_FILE_BYTES,
    oversized: Oversized::Refuse,
};

/// Keeps a name and a password for a registry, in place of those that were kept before. Nothing is sent to the registry.
pub fn login(
    state: &Path,
    host: &str,
    user: &str,
    password: &SecretString,
) -> Result<(), PackError> {
    check_host(host)?;
    if user.is_empty() || user.contains(':') || user.chars().any(char::is_control) {
        let message = "a user name is not empty and holds no colon";
        return Err(PackError::new(ErrorClass::InvalidField, message));
    }
    if password.expose_secret().is_empty() {
        let message = "the password is empty";
        return Err(PackError::new(ErrorClass::EmptyField, message));
    }
    let auth = STANDARD.encode(format!("{user}:{}", password.expose_secret()));
    change(state, |auths| {
        auths.insert(host.to_owned(), json!({ "auth": auth }));
    })
}

/// Forgets a registry's credentials; tells whether there were any.
pub fn logout(state: &Path, host: &str) -> Result<bool, PackError> {
    check_host(host)?;
    let mut had = false;
    change(state, |auths| had = auths.shift_remove(host).is_some())?;
    Ok(had)
}

fn check_host(host: &str) -> Result<(), PackError> {
    let named: Result<Reference, _> = format!("{host}/check").parse();
    match named {
        Ok(reference) if reference.registry.as_deref() == Some(host) => Ok(()),
        _ => {
            let message = format!("`{}` is not a registry", host.escape_debug());
            Err(PackError::new(ErrorClass::InvalidReference, message)
                .hint("write the host alone, as in `registry.example` or `localhost:5000`"))
        }
    }
}

fn change(state: &Path, change: impl FnOnce(&mut Map<String, Value>)) -> Result<(), PackError> {
    let root = Root::create_private(state).map_err(unwritable)?;
    let _alone = root
        .claim(Path::new(LOCK), ClaimKind::Alone)
        .map_err(unwritable)?;
    let name = Path::new(REGISTRIES_FILE);
    let (mut document, expected) = match root.read(name, &POLICY) {
        Ok(read) => {
            let document = serde_json::from_slice::<Map<String, Value>>(&read.bytes)
                .map_err(|_| malformed(&state.join(name)))?;
            (document, Expected::Unchanged(read.fingerprint))
        }
        Err(error) if error.is_missing() => (Map::new(), Expected::Absent),
        Err(error) => {
            let message = format!("`{}` cannot be read", error.path().display());
            return Err(PackError::new(ErrorClass::Io, message).caused_by(error));
        }
    };
    let auths = document.entry("auths").or_insert_with(|| json!({}));
    let Some(auths) = auths.as_object_mut() else {
        return Err(malformed(&state.join(name)));
    };
    change(auths);
    let text = format!("{:#}\n", Value::Object(document));
    root.prepare_write(name, text.as_bytes(), expected, OWNER_ONLY)
        .and_then(|prepared| commit_all(vec![prepared]))
        .map_err(unwritable)
}

fn unwritable(error: WriteError) -> PackError {
    let message = format!("`{}` cannot be written", error.path().display());
    PackError::new(ErrorClass::Io, message).caused_by(error)
}
