//! Directory in, snapshot out; nearly free when nothing changed.
//!
//! A [`Loader`] remembers one workspace. Loading again looks at every file by path and opens only those whose fingerprint
//! moved; when none did, the same [`Workspace`] is handed out, with no allocation. [`Loaders`] remembers many, in bounded
//! memory.

mod decode;
mod loaders;
mod slot;

pub use decode::decode;
pub use loaders::Loaders;
pub(crate) use slot::{Observation, Reading, Slot};

use crate::snapshot::{Record, RecordState, Workspace};
use chitin_contract::{Contract, HardlinkRule, LinkRule, LowerMemory, OversizeRule, ReadErrorRule};
use chitin_guard::{
    Backend, Hardlinks, LinkPolicy, Oversized, ParkedRoot, ReadError, ReadPolicy, Root,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// The largest file that is read when the contract sets no bound: a workspace file beyond it is no text for a model.
const UNBOUNDED_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The lower-case spelling that some contracts look for beside `MEMORY.md`.
pub(crate) const LOWER_MEMORY: &str = "memory.md";
pub(crate) const MEMORY: &str = "MEMORY.md";

/// What the user's configuration changes about loading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// What links may do, in place of the contract's rule.
    pub links: Option<LinkPolicy>,
    /// What hard links may do, in place of the contract's rule.
    pub hardlinks: Option<Hardlinks>,
    /// Files of the user's own in the root, loaded after the contract's, in this order. Absent ones give no record.
    pub root_files: Vec<String>,
    /// Whether a file that cannot be read is a refused record even where the contract fails the whole load.
    pub tolerate_unreadable: bool,
    /// How files are kept beneath the root; for tests and for machines without the kernel's help.
    pub portable: bool,
}

/// Why a directory gave no snapshot. Missing files and missing directories are not among the reasons.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The directory itself cannot be used.
    #[error("the workspace `{}` cannot be read", path.display())]
    Root {
        /// The directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// One file cannot be read, and the contract takes no partial result.
    #[error("`{name}` in the workspace `{}` cannot be read", path.display())]
    File {
        /// The file's name.
        name: String,
        /// The workspace.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Loads one workspace, again and again.
#[derive(Debug)]
pub struct Loader {
    path: PathBuf,
    contract: &'static Contract,
    policy: ReadPolicy,
    fails_on_unreadable: bool,
    backend: Backend,
    names: Vec<Wanted>,
    remembered: Mutex<Memory>,
}

/// A name that is looked for on every load.
#[derive(Debug)]
struct Wanted {
    name: Arc<str>,
    absent: chitin_contract::Absent,
    reading: Reading,
}

/// What the last load found.
#[derive(Debug)]
struct Remembered {
    root: Root,
    slots: Vec<Slot>,
    snapshot: Arc<Workspace>,
}

/// The same without an open descriptor.
#[derive(Debug)]
struct Asleep {
    root: ParkedRoot,
    slots: Vec<Slot>,
    snapshot: Arc<Workspace>,
}

/// What is remembered between loads.
#[derive(Debug)]
enum Memory {
    Nothing,
    Awake(Remembered),
    Asleep(Asleep),
}

impl Loader {
    /// Prepares to load a directory; nothing is read yet. The path is taken as it is: expand `~` before.
    pub fn new(
        path: impl Into<PathBuf>,
        contract: &'static Contract,
        options: &LoadOptions,
    ) -> Self {
        let mut names: Vec<Wanted> = contract
            .loading
            .files
            .iter()
            .map(|file| Wanted {
                name: file.name.into(),
                absent: file.absent,
                reading: if file.always_read {
                    Reading::Always
                } else {
                    Reading::WhenChanged
                },
            })
            .collect();
        if contract.loading.lower_memory != LowerMemory::Ignored {
            let absent = contract
                .loading
                .files
                .iter()
                .find(|file| file.name == MEMORY);
            names.push(Wanted {
                name: LOWER_MEMORY.into(),
                absent: absent.map_or(chitin_contract::Absent::Silent, |file| file.absent),
                reading: Reading::Rare,
            });
        }
        for name in &options.root_files {
            let is_plain =
                !name.is_empty() && !name.contains(['/', '\0']) && name != "." && name != "..";
            if is_plain && names.iter().all(|wanted| *wanted.name != **name) {
                names.push(Wanted {
                    name: name.as_str().into(),
                    absent: chitin_contract::Absent::Silent,
                    reading: Reading::WhenChanged,
                });
            }
        }
        Self {
            path: path.into(),
            contract,
            policy: read_policy(contract, options),
            fails_on_unreadable: contract.loading.read_errors == ReadErrorRule::Fail
                && !options.tolerate_unreadable,
            backend: if options.portable {
                Backend::Portable
            } else {
                Backend::Kernel
            },
            names,
            remembered: Mutex::new(Memory::Nothing),
        }
    }

    /// Returns the directory that is loaded.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the contract that it is loaded under.
    pub const fn contract(&self) -> &'static Contract {
        self.contract
    }

    /// Looks at the directory and returns what it holds now.
    pub fn load(&self) -> Result<Arc<Workspace>, LoadError> {
        let mut remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = match remembered.take() {
            Memory::Awake(known) if known.root.is_current() => Some(known),
            Memory::Asleep(known) => known.wake(),
            Memory::Nothing | Memory::Awake(_) => None,
        };
        let known = match known {
            Some(known)
                if known
                    .slots
                    .iter()
                    .all(|slot| slot.is_unchanged(&known.root, &self.policy)) =>
            {
                known
            }
            known => match self.load_changed(known)? {
                Some(loaded) => loaded,
                None => return Ok(Arc::new(self.nothing_there())),
            },
        };
        let snapshot = Arc::clone(&known.snapshot);
        *remembered = Memory::Awake(known);
        Ok(snapshot)
    }

    /// Lets go of the directory's descriptor and keeps what was read. The next load opens it again.
    pub(crate) fn sleep(&self) {
        let mut remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *remembered = match remembered.take() {
            Memory::Awake(mut known) => {
                known.slots.iter_mut().for_each(Slot::sleep);
                Memory::Asleep(Asleep {
                    root: known.root.park(),
                    slots: known.slots,
                    snapshot: known.snapshot,
                })
            }
            other => other,
        };
    }

    fn load_changed(&self, before: Option<Remembered>) -> Result<Option<Remembered>, LoadError> {
        let (root, mut slots) = match before {
            Some(known) => (known.root, known.slots),
            None => match Root::open_with(&self.path, self.backend) {
                Ok(root) => (root, Vec::with_capacity(self.names.len())),
                Err(ReadError::Missing { .. }) => return Ok(None),
                Err(error) => return Err(self.root_error(error)),
            },
        };
        // A directory that may not be listed may hide names; a contract that cares says so instead of guessing.
        if self.fails_on_unreadable {
            let fail = |source| LoadError::Root {
                path: self.path.clone(),
                source,
            };
            root.check_listable().map_err(fail)?;
        }
        if slots.is_empty() {
            for wanted in &self.names {
                slots.push(self.observe(&root, wanted)?);
            }
        } else {
            for (wanted, slot) in self.names.iter().zip(&mut slots) {
                if !slot.is_unchanged(&root, &self.policy) {
                    *slot = self.observe(&root, wanted)?;
                }
            }
        }
        let snapshot = Arc::new(Workspace {
            path: self.path.clone(),
            exists: true,
            contract: self.contract,
            records: self.records(&root, &slots),
        });
        Ok(Some(Remembered {
            root,
            slots,
            snapshot,
        }))
    }

    fn observe(&self, root: &Root, wanted: &Wanted) -> Result<Slot, LoadError> {
        match Slot::observe(root, &wanted.name, wanted.reading, &self.policy) {
            Ok(slot) => Ok(slot),
            Err(ReadError::Io { source, .. }) if self.fails_on_unreadable => Err(LoadError::File {
                name: wanted.name.to_string(),
                path: self.path.clone(),
                source,
            }),
            Err(_) => Ok(Slot::unreadable(
                &wanted.name,
                wanted.reading == Reading::Always,
            )),
        }
    }

    fn records(&self, root: &Root, slots: &[Slot]) -> Vec<Record> {
        let upper = self.position(MEMORY).map(|at| &slots[at]);
        self.names
            .iter()
            .zip(slots)
            .filter(|(wanted, slot)| {
                self.is_listed(root, wanted, slot)
                    && !(&*wanted.name == LOWER_MEMORY && self.is_same_memory(root, upper, slot))
            })
            .map(|(wanted, slot)| Record {
                name: Arc::clone(&wanted.name),
                path: self.path.join(&*wanted.name),
                state: match &slot.observation {
                    Observation::Absent => RecordState::Missing,
                    Observation::Read(content) => RecordState::Present(Arc::clone(content)),
                    Observation::Refused(reason) => RecordState::Refused(*reason),
                },
                extra: false,
            })
            .collect()
    }

    fn is_listed(&self, root: &Root, wanted: &Wanted, slot: &Slot) -> bool {
        use chitin_contract::Absent;
        match wanted.absent {
            Absent::Record => true,
            Absent::Silent => !matches!(slot.observation, Observation::Absent),
            Absent::SilentUnlessReachable => root
                .walk(Path::new(&*wanted.name), &self.policy.links)
                .is_ok(),
        }
    }

    fn is_same_memory(&self, root: &Root, upper: Option<&Slot>, lower: &Slot) -> bool {
        let Some(upper) = upper else { return false };
        if matches!(upper.observation, Observation::Absent)
            || matches!(lower.observation, Observation::Absent)
        {
            return false;
        }
        let end = |name: &str| root.walk(Path::new(name), &self.policy.links).ok();
        let (Some(upper), Some(lower)) = (end(MEMORY), end(LOWER_MEMORY)) else {
            return false;
        };
        match self.contract.loading.lower_memory {
            LowerMemory::Ignored => false,
            LowerMemory::UnlessSamePath => upper.path == lower.path,
            LowerMemory::UnlessSameFile => upper.fingerprint.is_same_file(&lower.fingerprint),
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|wanted| &*wanted.name == name)
    }

    fn nothing_there(&self) -> Workspace {
        let records = self
            .names
            .iter()
            .filter(|wanted| wanted.absent == chitin_contract::Absent::Record);
        Workspace {
            path: self.path.clone(),
            exists: false,
            contract: self.contract,
            records: records
                .map(|wanted| Record {
                    name: Arc::clone(&wanted.name),
                    path: self.path.join(&*wanted.name),
                    state: RecordState::Missing,
                    extra: false,
                })
                .collect(),
        }
    }

    fn root_error(&self, error: ReadError) -> LoadError {
        let source = match error {
            ReadError::Io { source, .. } => source,
            other => io::Error::other(other.to_string()),
        };
        LoadError::Root {
            path: self.path.clone(),
            source,
        }
    }
}

impl Asleep {
    /// Opens the directory again; `None` when it is another one by now.
    fn wake(self) -> Option<Remembered> {
        let Self {
            root,
            slots,
            snapshot,
        } = self;
        Some(Remembered {
            root: Root::reopen(root)?,
            slots,
            snapshot,
        })
    }
}

impl Memory {
    const fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Nothing)
    }
}

/// Returns what a read of a workspace file may do under a contract and the user's settings.
pub fn read_policy(contract: &Contract, options: &LoadOptions) -> ReadPolicy {
    let loading = &contract.loading;
    ReadPolicy {
        links: options.links.clone().unwrap_or(match loading.links {
            LinkRule::EveryHopInside => LinkPolicy::EveryHopInside,
            LinkRule::EndInside => LinkPolicy::EndInside,
            LinkRule::NotTheFile => LinkPolicy::NotTheFile,
            LinkRule::Anywhere => LinkPolicy::Anywhere,
        }),
        hardlinks: options.hardlinks.unwrap_or(match loading.hardlinks {
            HardlinkRule::Refuse => Hardlinks::Refuse,
            HardlinkRule::Allow => Hardlinks::Allow,
        }),
        max_bytes: loading.max_bytes.unwrap_or(UNBOUNDED_MAX_BYTES),
        oversized: match loading.oversize {
            OversizeRule::Refuse => Oversized::Refuse,
            OversizeRule::Keep => Oversized::Keep,
        },
    }
}

/// Reads a directory once, remembering nothing.
pub fn load(
    path: &Path,
    contract: &'static Contract,
    options: &LoadOptions,
) -> Result<Arc<Workspace>, LoadError> {
    Loader::new(path, contract, options).load()
}
