//! A private copy of a database and its log, gone when dropped (H103).

use super::{DatabasePlace, MAX_BYTES};
use crate::problem::sentence;
use crate::walk::reading;
use chitin_guard::{Fingerprint, NewMode, Reader, Root, Scratch};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How the directories are called.
const PREFIX: &str = "chitin-openclaw-";
/// How often a copy starts again because the home changed under it.
const ATTEMPTS: u32 = 5;
/// How many names are looked at for copies that nobody claims any more.
const MAX_NAMES: usize = 100_000;

static COUNT: AtomicU32 = AtomicU32::new(0);
/// The directories in which copies of killed processes were looked for.
static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A copy in a directory that only this user may enter.
#[derive(Debug)]
pub(super) struct PrivateCopy {
    scratch: Scratch,
}

/// The name of the database in there.
const FILE: &str = "copy.sqlite";

impl PrivateCopy {
    /// Copies the database, then its log, and checks that neither changed meanwhile.
    pub(super) fn make(place: &DatabasePlace<'_>, scratch: &Path) -> Result<Self, String> {
        let above = Root::open(scratch).map_err(|error| {
            format!(
                "A private copy has to be read, and cannot be made: {}",
                sentence(&error)
            )
        })?;
        for _ in 0..ATTEMPTS {
            let copy = Self {
                scratch: claim(&above)?,
            };
            if copy.fill(place).map_err(|error| sentence(&error))? {
                return Ok(copy);
            }
        }
        Err("It changed again and again while it was copied; try again, or stop OpenClaw.".into())
    }

    pub(super) fn file(&self) -> PathBuf {
        self.scratch.root().real_path().join(FILE)
    }

    /// Tells whether the copy is of one moment.
    fn fill(&self, place: &DatabasePlace<'_>) -> io::Result<bool> {
        let log = place.beside("-wal");
        let (Some(database), log_before) = (open(place, place.file), open(place, &log)) else {
            return Ok(false);
        };
        let before = database.fingerprint;
        self.take(database, FILE)?;
        let log_before = match log_before {
            Some(reader) => {
                let seen = reader.fingerprint;
                self.take(reader, &format!("{FILE}-wal"))?;
                Some(seen)
            }
            None => None,
        };
        Ok(now(place, place.file) == Some(before) && now(place, &log) == log_before)
    }

    fn take(&self, mut from: Reader, name: &str) -> io::Result<()> {
        let mut to = self
            .scratch
            .begin(Path::new(name), NewMode::Exactly(0o600))
            .map_err(io::Error::other)?;
        let mut piece = vec![0; 256 << 10];
        loop {
            let read = from.read(&mut piece)?;
            if read == 0 {
                return Ok(());
            }
            to.write_all(&piece[..read])?;
        }
    }
}

fn open(place: &DatabasePlace<'_>, file: &Path) -> Option<Reader> {
    place.root.open_reader(file, &reading(MAX_BYTES)).ok()
}

fn now(place: &DatabasePlace<'_>, file: &Path) -> Option<Fingerprint> {
    open(place, file).map(|reader| reader.fingerprint)
}

/// Makes an empty private directory, and removes those that killed processes left.
fn claim(above: &Root) -> Result<Scratch, String> {
    // Once for each place: it may have many names.
    let mut cleared = CLEARED.lock().unwrap_or_else(PoisonError::into_inner);
    if cleared.insert(above.real_path().to_path_buf()) {
        clear_abandoned(above);
    }
    drop(cleared);
    for _ in 0..1_000 {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{count}", std::process::id());
        let made = above.make_scratch(Path::new(&name));
        if let Some(scratch) = made.map_err(|error| sentence(&error))? {
            return Ok(scratch);
        }
    }
    Err("No private copy can be made: every name is taken.".to_owned())
}

fn clear_abandoned(above: &Root) {
    let listed = above.list(Path::new(""), &chitin_guard::LinkPolicy::Refuse, MAX_NAMES);
    for entry in listed.unwrap_or_default() {
        let name = entry.name.to_string_lossy();
        let ours = name.strip_prefix(PREFIX).is_some_and(|rest| {
            let numbers = rest.split('-').map(str::parse::<u32>);
            rest.split('-').count() == 2 && numbers.into_iter().all(|number| number.is_ok())
        });
        if ours {
            // Taken only if it is private, ours and claimed by nobody; dropping it removes it.
            drop(above.take_abandoned_scratch(Path::new(&entry.name)));
        }
    }
}
