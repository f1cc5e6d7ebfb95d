//! The file that schedules are kept in. Every change reads it, changes it and writes it whole, under a lock, so that the
//! gateway, its tools and the command line never lose each other's changes.

use super::entry::CronEntry;
use super::error::CronError;
use chitin_guard::{ClaimKind, LinkPolicy, ReadPolicy, Root};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
pub const MOST_BYTES: u64 = 4 << 20;
/// How many entries there may be.
pub const MOST_ENTRIES: usize = 1_000;
/// The directory beneath the state directory.
pub const DIRECTORY: &str = "cron";
/// The file.
const NAME: &str = "jobs.json";
/// The lock.
const LOCK: &str = "jobs.lock";

/// What the file says. What is not understood is kept as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CronDocument {
    entries: Vec<Kept>,
    rest: Map<String, Value>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq)]
enum Kept {
    Entry(Box<CronEntry>),
    /// Something that is no entry, and why.
    Odd(Value, String),
}

impl CronDocument {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    ///
    /// When they are no JSON object with a list `jobs`. A single entry that is odd is no error.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let Value::Object(mut rest) = value else {
            return Err("it is not a JSON object".to_owned());
        };
        rest.entry("version").or_insert_with(|| json!(1));
        let jobs = match rest.remove("jobs") {
            None => Vec::new(),
            Some(Value::Array(jobs)) => jobs,
            Some(_) => return Err("`jobs` is not a list".to_owned()),
        };
        let entries =
            jobs.into_iter().map(
                |job| match serde_json::from_value::<CronEntry>(job.clone()) {
                    Ok(entry) => Kept::Entry(Box::new(entry)),
                    Err(error) => Kept::Odd(job, error.to_string()),
                },
            );
        Ok(Self {
            entries: entries.collect(),
            rest,
        })
    }

    /// Returns the bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let entries = self.entries.iter().map(|kept| match kept {
            Kept::Entry(entry) => serde_json::to_value(entry).unwrap_or_default(),
            Kept::Odd(value, _) => value.clone(),
        });
        let mut all = Map::new();
        let version = self.rest.get("version").cloned();
        all.insert("version".to_owned(), version.unwrap_or_else(|| json!(1)));
        all.insert("jobs".to_owned(), entries.collect());
        for (name, value) in &self.rest {
            all.entry(name).or_insert_with(|| value.clone());
        }
        let mut bytes = serde_json::to_vec_pretty(&all).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the entries, in their order.
    pub fn entries(&self) -> impl Iterator<Item = &CronEntry> {
        self.entries.iter().filter_map(|kept| match kept {
            Kept::Entry(entry) => Some(&**entry),
            Kept::Odd(..) => None,
        })
    }

    /// Returns what is wrong with what is no entry.
    pub fn odd(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|kept| match kept {
            Kept::Entry(_) => None,
            Kept::Odd(_, reason) => Some(reason.as_str()),
        })
    }

    /// Finds an entry, to change it.
    pub fn entry_mut(&mut self, id: &str) -> Option<&mut CronEntry> {
        self.entries.iter_mut().find_map(|kept| match kept {
            Kept::Entry(entry) if entry.id == id => Some(&mut **entry),
            Kept::Entry(_) | Kept::Odd(..) => None,
        })
    }

    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub fn add(&mut self, entry: CronEntry) -> Result<(), CronError> {
        if self.entries.len() >= MOST_ENTRIES {
            return Err(CronError::Full { most: MOST_ENTRIES });
        }
        self.entries.push(Kept::Entry(Box::new(entry)));
        Ok(())
    }

    /// Takes an entry away; tells whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|kept| match kept {
            Kept::Entry(entry) => entry.id != id,
            Kept::Odd(..) => true,
        });
        self.entries.len() < before
    }
}

/// The door to the file.
#[derive(Debug, Clone)]
pub struct CronFile {
    directory: PathBuf,
}

impl CronFile {
    /// Names the file beneath a state directory; nothing is made yet.
    pub fn new(state: &Path) -> Self {
        Self {
            directory: state.join(DIRECTORY),
        }
    }

    /// Returns where it is.
    pub fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    /// Reads it; one that is not there is empty. Blocks.
    ///
    /// # Errors
    ///
    /// When it cannot be read or understood.
    pub fn read(&self) -> Result<CronDocument, CronError> {
        match Root::open(&self.directory) {
            Ok(root) => self.read_in(&root),
            Err(error) if error.is_missing() => Ok(CronDocument::default()),
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// Changes it, and returns what the change returns. When the change fails or changes nothing, nothing is written. Blocks.
    ///
    /// # Errors
    ///
    /// When the file cannot be used, or the change fails.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut CronDocument) -> Result<T, CronError>,
    ) -> Result<T, CronError> {
        let root = Root::create_private(&self.directory).map_err(|error| self.fail(&error))?;
        let claim = root.claim(Path::new(LOCK), ClaimKind::Alone);
        let _claim = claim.map_err(|error| self.fail(&error))?;
        let before = self.read_in(&root)?;
        let mut document = before.clone();
        let done = change(&mut document)?;
        if document != before {
            let written = root.replace(Path::new(NAME), &document.write());
            written.map_err(|error| self.fail(&error))?;
        }
        Ok(done)
    }

    fn read_in(&self, root: &Root) -> Result<CronDocument, CronError> {
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            ..ReadPolicy::inside(MOST_BYTES)
        };
        match root.read(Path::new(NAME), &policy) {
            Ok(read) => CronDocument::read(&read.bytes).map_err(|reason| self.fail(&reason)),
            Err(error) if error.is_missing() => Ok(CronDocument::default()),
            Err(error) => Err(self.fail(&error)),
        }
    }

    fn fail(&self, reason: &impl ToString) -> CronError {
        CronError::File {
            path: self.path(),
            reason: reason.to_string(),
        }
    }
}
