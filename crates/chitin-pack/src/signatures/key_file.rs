//! Keys on the disk: `NAME.pem`, which only its owner may read, and `NAME.pub.pem`.

use super::key::{PrivateKey, PublicKey};
use crate::error::{ErrorClass, PackError};
use chitin_guard::{Expected, ReadError, ReadPolicy, Root, WriteError, commit_all};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::{Path, PathBuf};

const MAX_KEY_FILE_BYTES: u64 = 16 * 1024;
/// Nobody but the owner.
const PRIVATE: u32 = 0o600;
const PUBLIC: u32 = 0o644;

/// Writes both halves of a key into a directory; returns their paths in it. Neither may be there already.
pub fn save_keys(
    directory: &Root,
    name: &str,
    key: &PrivateKey,
) -> Result<(PathBuf, PathBuf), PackError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.bytes().all(plain) {
        let message = format!("`{}` is not a name for a key", name.escape_debug());
        return Err(PackError::new(ErrorClass::InvalidName, message));
    }
    let paths = (
        PathBuf::from(format!("{name}.pem")),
        PathBuf::from(format!("{name}.pub.pem")),
    );
    let (private, public) = (key.to_pem()?, key.public().to_pem()?);
    let prepare = |path: &Path, text: &str, mode| {
        directory.prepare_write(path, text.as_bytes(), Expected::Absent, mode)
    };
    let changes = [
        prepare(&paths.0, private.expose_secret(), PRIVATE).map_err(unwritable)?,
        prepare(&paths.1, &public, PUBLIC).map_err(unwritable)?,
    ];
    commit_all(changes.into()).map_err(unwritable)?;
    Ok(paths)
}

/// Reads a private key. One that others may read is refused: nobody knows who has it.
pub fn load_private_key(directory: &Root, path: &Path) -> Result<PrivateKey, PackError> {
    let read = directory.read(path, &ReadPolicy::inside(MAX_KEY_FILE_BYTES));
    let read = read.map_err(unreadable)?;
    let bytes = Zeroizing::new(read.bytes);
    if read.mode & 0o077 != 0 {
        let path = directory.path().join(path);
        let message = format!("others may read the private key `{}`", path.display());
        return Err(PackError::new(ErrorClass::Io, message)
            .hint("make a new key, or `chmod 600` this one if you are sure that it was not read"));
    }
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    PrivateKey::from_pem(&SecretString::from(text))
}

/// Reads a public key.
pub fn load_public_key(directory: &Root, path: &Path) -> Result<PublicKey, PackError> {
    let read = directory.read(path, &ReadPolicy::inside(MAX_KEY_FILE_BYTES));
    let bytes = read.map_err(unreadable)?.bytes;
    PublicKey::parse(&String::from_utf8_lossy(&bytes))
}

fn unreadable(error: ReadError) -> PackError {
    let message = format!("the key `{}` cannot be read", error.path().display());
    PackError::new(ErrorClass::Io, message).caused_by(error)
}

fn unwritable(error: WriteError) -> PackError {
    let message = format!("the key `{}` cannot be written", error.path().display());
    let hint = "a key that is there is never written over; choose another name";
    match error {
        WriteError::Changed { .. } => PackError::new(ErrorClass::Conflict, message).hint(hint),
        other => PackError::new(ErrorClass::Io, message).caused_by(other),
    }
}
