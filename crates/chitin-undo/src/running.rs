//! Turns that are writing: a file each, claimed by the process that runs the turn. The kernel drops the claim with the process, so
//! that nobody waits for one that died.

use crate::error::UndoError;
use crate::log::TurnInfo;
use chitin_guard::{ClaimKind, LinkPolicy, NameClaim, ReadError, ReadPolicy, Root};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where the files are beneath the store.
pub(crate) const DIRECTORY: &str = "running";
/// The most that a file has.
const MAX_BYTES: u64 = 64 << 10;
/// How many turns are looked at.
const MAX_TURNS: usize = 100_000;
/// How long after its last sign of life a turn may still have written, in seconds.
const GRACE_SECONDS: i64 = 2;

/// A turn that is writing. Dropped without [`crate::History::end`], it counts as interrupted.
#[derive(Debug)]
pub struct ActiveTurn {
    pub(crate) info: TurnInfo,
    pub(crate) claim: NameClaim,
}

impl ActiveTurn {
    /// Returns what is known of the turn.
    pub const fn info(&self) -> &TurnInfo {
        &self.info
    }

    /// Gives a sign of life, by which others know when the turn ended if the process dies. Call it every second.
    pub fn sign_of_life(&self) {
        // Without it, changes after a crash are taken for somebody else's, which is safe.
        let _ = self.claim.touch();
    }
}

/// A turn whose process died.
pub(crate) struct DeadTurn {
    pub(crate) info: TurnInfo,
    /// What was changed after that was changed by somebody else.
    pub(crate) until: (i64, i64),
}

/// The turns that are or were writing.
#[derive(Default)]
pub(crate) struct RunningTurns {
    pub(crate) alive: Vec<TurnInfo>,
    pub(crate) dead: Vec<DeadTurn>,
}

impl RunningTurns {
    /// Looks at all of them.
    pub(crate) fn find(store: &Root) -> Result<Self, UndoError> {
        let mut found = Self::default();
        let names = match store.list(Path::new(DIRECTORY), &LinkPolicy::Refuse, MAX_TURNS) {
            Ok(names) => names,
            Err(ReadError::Missing { .. }) => return Ok(found),
            Err(error) => return Err(error.into()),
        };
        for name in names {
            let path = Path::new(DIRECTORY).join(&name.name);
            // The time first: the claim does not change it.
            let Some(fingerprint) = store.fingerprint(&path) else {
                continue;
            };
            let is_dead = store.claim(&path, ClaimKind::AloneNow)?.is_some();
            let read = store.read(&path, &ReadPolicy::inside(MAX_BYTES));
            let info = read
                .ok()
                .and_then(|read| serde_json::from_slice::<TurnInfo>(&read.bytes).ok());
            match (info, is_dead) {
                (Some(info), false) => found.alive.push(info),
                (Some(info), true) => found.dead.push(DeadTurn {
                    info: TurnInfo {
                        interrupted: true,
                        ..info
                    },
                    until: (fingerprint.mtime.0 + GRACE_SECONDS, fingerprint.mtime.1),
                }),
                // What is no turn says nothing.
                (None, true) => store.remove_file(&path)?,
                (None, false) => {}
            }
        }
        found.alive.sort_by_key(|turn| turn.number);
        found.dead.sort_by_key(|turn| turn.info.number);
        Ok(found)
    }

    /// Returns the number that a turn gets which begins now.
    pub(crate) fn next_number(&self, recorded: u64) -> u64 {
        let running = self.alive.iter().map(|turn| turn.number);
        let running = running.chain(self.dead.iter().map(|turn| turn.info.number));
        running
            .map(|number| number + 1)
            .max()
            .unwrap_or(1)
            .max(recorded)
            .max(1)
    }
}

/// Puts a turn among those that are writing.
pub(crate) fn enter(store: &Root, info: TurnInfo) -> Result<ActiveTurn, UndoError> {
    Root::create_private(&store.path().join(DIRECTORY))?;
    let path = place(info.number);
    let bytes = serde_json::to_vec(&info).map_err(|error| UndoError::Io {
        path: path.clone(),
        source: error.into(),
    })?;
    // It need not survive the machine: without power no turn goes on.
    let mut new = store.begin_file(Path::new(DIRECTORY), 0o600)?;
    new.write_all(&bytes).map_err(|source| UndoError::Io {
        path: path.clone(),
        source,
    })?;
    store.remove_file(&path)?;
    store.keep_file_unsynced(new, &path)?;
    match store.claim(&path, ClaimKind::AloneNow)? {
        Some(claim) => Ok(ActiveTurn { info, claim }),
        None => Err(UndoError::Running {
            number: info.number,
            session: info.session,
            message: info.message,
        }),
    }
}

/// Takes a turn out again.
pub(crate) fn leave(store: &Root, number: u64) -> Result<(), UndoError> {
    Ok(store.remove_file(&place(number))?)
}

fn place(number: u64) -> PathBuf {
    Path::new(DIRECTORY).join(number.to_string())
}
