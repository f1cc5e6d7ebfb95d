//! Where it is kept who waits and who was let in. Every change reads the file, changes it and writes it whole, under a lock, so that
//! `chitin pairing` and a gateway that runs never lose each other's changes; a look reads it again when it changed.

use super::document::Document;
use super::error::TrustError;
use chitin_guard::{ClaimKind, Fingerprint, LinkPolicy, ReadPolicy, Root, WriteOutcome};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The directory beneath the state directory.
const DIRECTORY: &str = "trust";
/// The file.
const NAME: &str = "pairing.json";
/// The lock.
const LOCK: &str = "pairing.lock";
/// The largest file that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;
/// The most names that the directory may hold.
const MOST_NAMES: usize = 1_000;

/// Where it is kept.
#[derive(Debug)]
pub(super) enum Store {
    /// In a file.
    File {
        directory: PathBuf,
        known: Mutex<Known>,
    },
    /// Nowhere: it ends with the process.
    Memory(Mutex<Arc<Document>>),
}

/// What the file said when it was last read.
#[derive(Debug, Default)]
pub(super) struct Known {
    fingerprint: Option<Fingerprint>,
    document: Arc<Document>,
}

impl Store {
    /// Names the file beneath a state directory; nothing is made yet.
    pub(super) fn beneath(state: &Path) -> Self {
        Self::File {
            directory: state.join(DIRECTORY),
            known: Mutex::default(),
        }
    }

    pub(super) fn volatile() -> Self {
        Self::Memory(Mutex::default())
    }

    /// Returns what is known now, also what another process wrote a moment ago. Looks at one file.
    pub(super) fn look(&self) -> Result<Arc<Document>, TrustError> {
        match self {
            Self::Memory(document) => Ok(Arc::clone(
                &document.lock().unwrap_or_else(PoisonError::into_inner),
            )),
            Self::File { directory, known } => {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let root = match Root::open(directory) {
                    Ok(root) => root,
                    Err(error) if error.is_missing() => return Ok(Arc::default()),
                    Err(error) => return Err(fail(directory, &error)),
                };
                let now = fingerprint(&root, directory)?;
                if now.is_none() || now != known.fingerprint {
                    (known.document, known.fingerprint) = read(&root, directory)?;
                }
                Ok(Arc::clone(&known.document))
            }
        }
    }

    /// Changes it, and returns what the change returns. When nothing changed, nothing is written. Blocks.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Document) -> T,
    ) -> Result<T, TrustError> {
        match self {
            Self::Memory(document) => {
                let mut document = document.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(change(Arc::make_mut(&mut document)))
            }
            Self::File { directory, .. } => {
                let root =
                    Root::create_private(directory).map_err(|error| fail(directory, &error))?;
                let claim = root.claim(Path::new(LOCK), ClaimKind::Alone);
                let _claim = claim.map_err(|error| fail(directory, &error))?;
                let (before, there) = read(&root, directory)?;
                let mut document = before.as_ref().clone();
                let done = change(&mut document);
                if document != *before {
                    write(&root, directory, &document, there.is_some())?;
                }
                Ok(done)
            }
        }
    }
}

/// Returns what the file looks like; nothing when there is none.
fn fingerprint(root: &Root, directory: &Path) -> Result<Option<Fingerprint>, TrustError> {
    let looked = root.survey(Path::new(""), MOST_NAMES);
    let looked = looked.map_err(|error| fail(directory, &error))?;
    let mut found = looked.into_iter().filter(|looked| looked.name == NAME);
    Ok(found.next().map(|looked| looked.fingerprint))
}

/// Reads the file; one that is not there says nothing.
fn read(root: &Root, directory: &Path) -> Result<(Arc<Document>, Option<Fingerprint>), TrustError> {
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        ..ReadPolicy::inside(MOST_BYTES)
    };
    match root.read(Path::new(NAME), &policy) {
        Ok(file) if file.oversize.is_some() => Err(fail(directory, &"it is too large")),
        Ok(file) => {
            let document =
                Document::read(&file.bytes).map_err(|reason| fail(directory, &reason))?;
            Ok((Arc::new(document), Some(file.fingerprint)))
        }
        Err(error) if error.is_missing() => Ok((Arc::default(), None)),
        Err(error) => Err(fail(directory, &error)),
    }
}

/// Writes the file whole. Nobody but the owner can read it.
fn write(
    root: &Root,
    directory: &Path,
    document: &Document,
    there: bool,
) -> Result<(), TrustError> {
    let bytes = document.write();
    let name = Path::new(NAME);
    if !there {
        let new = root.begin_file(Path::new(""), 0o600);
        let new = new.map_err(|error| fail(directory, &error))?;
        new.file()
            .write_all(&bytes)
            .map_err(|error| fail(directory, &error))?;
        let kept = root.keep_file(new, name);
        if kept.map_err(|error| fail(directory, &error))? == WriteOutcome::Created {
            return Ok(());
        }
    }
    root.replace(name, &bytes)
        .map_err(|error| fail(directory, &error))
}

fn fail(directory: &Path, reason: &impl ToString) -> TrustError {
    TrustError::File {
        path: directory.join(NAME),
        reason: reason.to_string(),
    }
}
