//! What was read of workspace files that are in prompts: each content once, by its digest, for all sessions.

use super::fragments::InjectedFile;
use super::fs;
use super::redact::JournalRedactor;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A longer content is not read back.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How many digits a digest has.
const DIGITS: usize = 64;

/// Where contents are kept.
#[derive(Clone)]
pub struct RecordedContents {
    directory: PathBuf,
    /// Tells whether another store has a content.
    elsewhere: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl RecordedContents {
    /// Keeps contents below the directory of logs, unless another store has them.
    pub fn new(logs: &Path, elsewhere: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            directory: Self::directory(logs),
            elsewhere: Arc::new(elsewhere),
        }
    }

    /// Returns the directory of contents below that of logs.
    pub fn directory(logs: &Path) -> PathBuf {
        logs.join(super::compat::TRAJECTORY_DIRECTORY).join("files")
    }

    /// Tells whether a text can be the name of a content.
    pub(super) fn is_digest(text: &str) -> bool {
        text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Reads a content by its digest. It is what was read of the file if its digest is this one; one with a secret is kept without it.
    pub fn read(logs: &Path, digest: &str) -> std::io::Result<Vec<u8>> {
        if !Self::is_digest(digest) {
            return Err(std::io::Error::from(std::io::ErrorKind::NotFound));
        }
        fs::read(&Self::directory(logs).join(digest), MOST_BYTES)
    }

    /// Keeps what is not kept yet. Returns what went wrong first.
    pub(super) fn keep(
        &self,
        files: &[InjectedFile],
        now_ms: i64,
        redactor: &JournalRedactor,
    ) -> Option<String> {
        for file in files {
            let path = self.directory.join(&file.digest);
            if fs::renew(&path, now_ms) || (self.elsewhere)(&file.digest) {
                continue;
            }
            let text = String::from_utf8_lossy(file.bytes());
            let clean = redactor.text(&text);
            let bytes = if clean == text {
                file.bytes()
            } else {
                clean.as_bytes()
            };
            if let Err(error) = fs::place_file(&path, bytes) {
                return Some(format!("`{}` was not written: {error}", path.display()));
            }
        }
        None
    }
}

impl fmt::Debug for RecordedContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedContents")
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
