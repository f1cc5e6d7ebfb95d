//! How far an account was, so that a restart goes on there: Discord sends again what came in between, for some minutes.

use chitin_guard::{ReadPolicy, Root};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The largest file that is read.
const MOST: u64 = 16 * 1024;

/// Where accounts remember how far they were.
#[derive(Debug, Default)]
pub struct PositionStore(Option<PathBuf>);

/// How far an account was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Point {
    /// The session on Discord's side.
    pub(crate) session_id: String,
    /// The last event of which everything was handed in.
    pub(crate) sequence: u64,
    /// Where to go on.
    pub(crate) resume_url: String,
    /// The proxy that it went through; the token goes nowhere else.
    #[serde(default)]
    pub(crate) via: Option<String>,
}

impl PositionStore {
    /// Remembers nothing: after a restart only what is said from then on is heard.
    pub fn none() -> Self {
        Self(None)
    }

    /// Remembers in a directory, which is made when there is something to remember.
    pub fn in_directory(path: &Path) -> Self {
        Self(Some(path.to_path_buf()))
    }

    /// Tells whether it remembers anything.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Returns how far an account was. What cannot be read is as if it was not there.
    pub(crate) fn recall(&self, account: &str) -> Option<Point> {
        let root = Root::open(self.0.as_ref()?).ok()?;
        let read = root.read(&file(account), &ReadPolicy::inside(MOST)).ok()?;
        serde_json::from_slice(&read.bytes).ok()
    }

    /// Remembers how far an account is.
    pub(crate) fn keep(&self, account: &str, point: &Point) -> Result<(), String> {
        let Some(path) = &self.0 else {
            return Ok(());
        };
        let root = Root::create_private(path).map_err(|error| error.to_string())?;
        let text = serde_json::to_vec(point).map_err(|error| error.to_string())?;
        let kept = root.replace(&file(account), &text);
        kept.map_err(|error| error.to_string())
    }
}

fn file(account: &str) -> PathBuf {
    PathBuf::from(format!("discord-{account}.json"))
}
