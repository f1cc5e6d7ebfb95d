//! The token that clients must know: named by the environment or a file, otherwise made once and kept for the owner alone.

use crate::Host;
use crate::error::{ErrorKind, RuntimeError};
use chitin_guard::{ReadError, ReadPolicy, Root, WriteOutcome};
use secrecy::SecretString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The variable that holds the token.
const VARIABLE: &str = "CHITIN_TOKEN";
/// The file that a token is kept in, in Chitin's home.
pub const TOKEN_FILE: &str = "server-token";
/// No honest token is longer.
const LONGEST: u64 = 4096;

/// A shorter one is refused by the server, which a restart learns here.
const SHORTEST: usize = 16;

/// A token, and where it comes from.
pub struct Token {
    /// The token itself.
    pub secret: SecretString,
    /// Where people find it.
    pub place: String,
}

/// Finds the token, or makes one.
pub fn token(host: &Host, file: Option<&Path>, state: &Path) -> Result<Token, RuntimeError> {
    if let Some(file) = file {
        let path = host.env.resolve(file);
        let secret = read(&path)?.ok_or_else(|| {
            RuntimeError::new(
                ErrorKind::User,
                format!("There is no `{}`.", path.display()),
            )
        })?;
        return Ok(Token {
            secret,
            place: path.display().to_string(),
        });
    }
    if let Some(secret) = host.env.get(VARIABLE).filter(|secret| !secret.is_empty()) {
        return Ok(Token {
            secret: secret.to_owned().into(),
            place: format!("${VARIABLE}"),
        });
    }
    let path = state.join(TOKEN_FILE);
    let secret = match read(&path)? {
        Some(secret) => secret,
        None => make(state)?,
    };
    Ok(Token {
        secret,
        place: path.display().to_string(),
    })
}

/// Reads a token from a file; none when there is no file.
fn read(path: &Path) -> Result<Option<SecretString>, RuntimeError> {
    let failed = |what: String| RuntimeError::new(ErrorKind::User, what);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed(format!("`{}` is no file.", path.display())));
    };
    let policy = ReadPolicy::inside(LONGEST);
    let read = Root::open(parent).and_then(|root| root.read(Path::new(name), &policy));
    let bytes = match read {
        Ok(read) => read.bytes,
        Err(ReadError::Missing { .. }) => return Ok(None),
        Err(error) => {
            let what = format!("Could not read the token in `{}`.", path.display());
            return Err(failed(what).caused_by(error));
        }
    };
    // What a damaged file holds, such as one that was never written to the end when the power was cut, is no token that somebody chose: a
    // part of one is guessed more easily, and no client can send zeros.
    let token = str::from_utf8(&bytes).unwrap_or_default().trim();
    let problem = match token {
        "" => "contains no token",
        _ if token.chars().all(|c| c == '\0') => "contains no token",
        _ if token.chars().any(char::is_control) => {
            "contains no token, but characters that nobody can send"
        }
        _ if token.chars().count() < SHORTEST => "contains a token of fewer than 16 characters",
        _ => return Ok(Some(token.to_owned().into())),
    };
    Err(failed(format!("`{}` {problem}.", path.display()))
        .hint("delete the file to create a new token"))
}

/// Makes a token and keeps it, readable by the owner alone.
fn make(state: &Path) -> Result<SecretString, RuntimeError> {
    let failed = || RuntimeError::new(ErrorKind::User, "Could not store the token.");
    // Two random names have 244 bits that nobody can guess.
    let token = format!(
        "{}{}",
        uuid::Uuid::new_v4().simple(),
        uuid::Uuid::new_v4().simple()
    );
    let root = Root::create_private(state).map_err(|error| failed().caused_by(error))?;
    let new = root
        .begin_file(Path::new(""), 0o600)
        .map_err(|error| failed().caused_by(error))?;
    let mut file = new.file();
    writeln!(file, "{token}").map_err(|error| failed().caused_by(error))?;
    let name = PathBuf::from(TOKEN_FILE);
    match root.keep_file(new, &name) {
        Ok(WriteOutcome::Created) => Ok(token.into()),
        // Another process was quicker: its token holds.
        Ok(WriteOutcome::AlreadyThere) => read(&state.join(TOKEN_FILE))?.ok_or_else(failed),
        Err(error) => Err(failed().caused_by(error)),
    }
}
