//! Who is in on the page, in a file of Chitin's home: a restart shows nobody out. Only digests are in it, of which neither a cookie nor
//! the token follows, and only times beside them.

use crate::Notes;
use chitin_guard::{
    ClaimKind, Expected, LinkPolicy, NameClaim, ReadPolicy, Root, WriteError, commit_all,
};
use chitin_server::{KeptLogin, LoginChange, LoginId, Register};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The file.
const FILE: &str = super::LOGINS_FILE;
/// What keeps a second process out while it is changed.
const LOCK: &str = "logins.lock";
/// No honest file is larger.
const MOST_BYTES: u64 = 256 * 1024;
/// Only its owner may read it.
const OWNER_ONLY: u32 = 0o600;
/// How often another process is waited for, and for how long each time. A change takes it milliseconds.
const TRIES: u32 = 50;
const MOMENT: Duration = Duration::from_millis(40);

/// The file that says who is in.
pub struct LoginFile {
    state: PathBuf,
    notes: Notes,
    /// Whether it was said already that nothing can be kept.
    complained: AtomicBool,
}

/// What the file says: by digest, when somebody was seen, in milliseconds since 1970.
#[derive(Default, Serialize, Deserialize)]
struct Document {
    logins: BTreeMap<String, i64>,
}

/// What was found.
enum Found {
    /// Nothing yet.
    Nothing,
    /// Those who are kept.
    Kept(Vec<KeptLogin>, Expected),
    /// A file of ours that says nothing sensible. It may be written over: all that it can tell is known better.
    Damaged(Expected),
}

impl LoginFile {
    /// Keeps logins in Chitin's home. Nothing is read yet.
    pub fn new(state: &Path, notes: &Notes) -> Self {
        Self {
            state: state.to_owned(),
            notes: notes.clone(),
            complained: AtomicBool::new(false),
        }
    }

    fn try_change(&self, change: &LoginChange) -> Result<Vec<KeptLogin>, String> {
        let root = Root::create_private(&self.state).map_err(|error| told(&error))?;
        let _alone = alone(&root)?;
        let (kept, expected) = match find(&root)? {
            Found::Nothing => (Vec::new(), Expected::Absent),
            Found::Kept(kept, expected) => (kept, expected),
            Found::Damaged(expected) => (change.seen.clone(), expected),
        };
        let kept = change.apply(&kept);
        let logins = kept
            .iter()
            .map(|login| (hex::encode(login.id), login.seen_ms));
        let document = Document {
            logins: logins.collect(),
        };
        let mut text =
            serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
        text.push('\n');
        root.prepare_write(Path::new(FILE), text.as_bytes(), expected, OWNER_ONLY)
            .and_then(|prepared| commit_all(vec![prepared]))
            .map_err(|error| told(&error))?;
        Ok(kept)
    }

    /// Takes the file away. Who is out must not be in after a restart, only because the disk is full: rather everybody logs in again.
    fn take_away(&self) {
        if let Ok(root) = Root::open(&self.state)
            && let Ok(Found::Kept(..) | Found::Damaged(_)) = find(&root)
        {
            let _ = root.remove_file(Path::new(FILE));
        }
    }
}

impl Register for LoginFile {
    fn read(&self) -> Vec<KeptLogin> {
        let Ok(root) = Root::open(&self.state) else {
            return Vec::new();
        };
        let why = match find(&root) {
            Ok(Found::Nothing) => return Vec::new(),
            Ok(Found::Kept(kept, _)) => return kept,
            Ok(Found::Damaged(_)) => format!("`{FILE}` in Chitin's home is damaged"),
            Err(why) => why,
        };
        self.notes.note(&format!(
            "everyone has to sign in to the web page again: {why}"
        ));
        Vec::new()
    }

    fn change(&self, change: &LoginChange) -> Option<Vec<KeptLogin>> {
        match self.try_change(change) {
            Ok(kept) => {
                self.complained.store(false, Ordering::Relaxed);
                Some(kept)
            }
            Err(why) => {
                if !change.ended.is_empty() {
                    self.take_away();
                }
                if !self.complained.swap(true, Ordering::Relaxed) {
                    let what = "logins on the web page end with this process";
                    self.notes
                        .note(&format!("{what}, because they cannot be stored: {why}"));
                }
                None
            }
        }
    }
}

/// Keeps other processes out, and waits for them a little.
fn alone(root: &Root) -> Result<NameClaim, String> {
    for _ in 0..TRIES {
        let claim = root.claim(Path::new(LOCK), ClaimKind::AloneNow);
        if let Some(claim) = claim.map_err(|error| told(&error))? {
            return Ok(claim);
        }
        std::thread::sleep(MOMENT);
    }
    Err(format!("another process holds `{LOCK}` in Chitin's home"))
}

/// Looks at the file. What is no plain file of ours is refused, and left alone.
fn find(root: &Root) -> Result<Found, String> {
    let name = Path::new(FILE);
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        ..ReadPolicy::inside(MOST_BYTES)
    };
    let read = match root.read(name, &policy) {
        Ok(read) => read,
        Err(error) if error.is_missing() => return Ok(Found::Nothing),
        Err(error) => return Err(format!("{error}; delete it")),
    };
    if !root.is_ours_alone(name) {
        let why = "belongs to another user, or others can write to it";
        return Err(format!("`{FILE}` in Chitin's home {why}; delete it"));
    }
    let expected = Expected::Unchanged(read.fingerprint);
    Ok(match parse(&read.bytes) {
        Some(kept) => Found::Kept(kept, expected),
        None => Found::Damaged(expected),
    })
}

fn parse(bytes: &[u8]) -> Option<Vec<KeptLogin>> {
    let document: Document = serde_json::from_slice(bytes).ok()?;
    let logins = document.logins.into_iter();
    let read = |(id, seen_ms): (String, i64)| {
        Some(KeptLogin {
            id: login_id(&id)?,
            seen_ms,
        })
    };
    logins.map(read).collect()
}

fn login_id(text: &str) -> Option<LoginId> {
    let mut id = LoginId::default();
    hex::decode_to_slice(text, &mut id).ok()?;
    Some(id)
}

/// Says what went wrong, with its cause.
fn told(error: &WriteError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
#[path = "logins_tests.rs"]
mod tests;
