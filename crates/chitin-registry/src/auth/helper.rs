//! Programs that keep passwords: `docker-credential-…`, asked over their standard input and output, without a shell.

use super::{Credentials, DOCKER_HUB};
use chitin_guard::{ProgramOrder, ProgramSearch};
use chitin_pack::{ErrorClass, ExitKind, PackError};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// Longer answers are nobody's.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;
/// The name that says that the secret is a token.
const TOKEN_USER: &str = "<token>";

/// How helpers are found and run.
#[derive(Clone)]
pub struct Helpers {
    /// The directories to look in.
    pub search: Vec<PathBuf>,
    /// Their environment, all of it.
    pub environment: Vec<(OsString, OsString)>,
    /// How long one may take.
    pub timeout: Duration,
}

impl std::fmt::Debug for Helpers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An environment holds secrets of others.
        f.debug_struct("Helpers")
            .field("search", &self.search)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Default for Helpers {
    fn default() -> Self {
        Self {
            search: Vec::new(),
            environment: Vec::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: SecretString,
}

impl Helpers {
    /// Asks a helper for a registry's credentials; `None` when it has none.
    pub(super) async fn get(
        &self,
        name: &str,
        host: &str,
    ) -> Result<Option<Credentials>, PackError> {
        let failed = |what: &str| {
            let shown: String = name.chars().take(64).collect();
            let message = format!("the credential helper `{}` {what}", shown.escape_debug());
            PackError::new(ErrorClass::Unauthorized, message)
                .exiting(ExitKind::Registry)
                .hint("log in with chitin, or repair Docker's configuration")
        };
        if !is_plain(name) {
            return Err(failed("has a name that is not one"));
        }
        let program = format!("docker-credential-{name}");
        let search: Vec<_> = self
            .search
            .iter()
            .filter_map(|path| path.to_str())
            .collect();
        let found = ProgramSearch {
            path: &search.join(":"),
            order: ProgramOrder::Path,
            never_in: &[],
        }
        .find(&program);
        let path = found.path.ok_or_else(|| {
            let error = failed("is not installed");
            match found.refused.first() {
                Some(refused) => error.hint(refused.to_string()),
                None => error,
            }
        })?;
        let mut child = Command::new(path)
            .arg("get")
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed("cannot be started").caused_by(error))?;
        let address = if host == DOCKER_HUB.0 {
            format!("https://{}/v1/", DOCKER_HUB.1)
        } else {
            host.to_owned()
        };
        let conversation = async {
            if let Some(mut input) = child.stdin.take() {
                // A helper that does not read its question may still answer.
                let _ = input.write_all(address.as_bytes()).await;
            }
            let mut answer = Vec::new();
            if let Some(output) = child.stdout.take() {
                output
                    .take(MAX_ANSWER_BYTES + 1)
                    .read_to_end(&mut answer)
                    .await?;
            }
            Ok::<_, std::io::Error>((answer, child.wait().await?))
        };
        let (answer, status) = tokio::time::timeout(self.timeout, conversation)
            .await
            .map_err(|_| failed("did not answer in time"))?
            .map_err(|error| failed("cannot be asked").caused_by(error))?;
        // By its protocol a helper that has nothing fails, too.
        if !status.success() {
            return Ok(None);
        }
        let answer: Answer = match answer.len() as u64 {
            0..=MAX_ANSWER_BYTES => serde_json::from_slice(&answer).ok(),
            _ => None,
        }
        .ok_or_else(|| failed("gave an answer that is not one"))?;
        Ok(match answer {
            answer if answer.secret.expose_secret().is_empty() => None,
            answer if answer.username == TOKEN_USER => {
                Some(Credentials::IdentityToken(answer.secret))
            }
            answer => Some(Credentials::Basic {
                user: answer.username,
                password: answer.secret,
            }),
        })
    }
}

/// A name must not lead to another directory.
fn is_plain(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        && !name.contains("..")
}
