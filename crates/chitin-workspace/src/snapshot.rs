//! The snapshot: what a directory held at one moment, seen through one contract. Immutable and cheap to share.

use crate::compat;
use chitin_contract::{Contract, RefusalStyle};
use chitin_guard::Fingerprint;
use chitin_protocol::record::{FileRefusal, OversizeFile};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a directory held at one moment, seen through one contract.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) path: PathBuf,
    pub(crate) exists: bool,
    pub(crate) contract: &'static Contract,
    pub(crate) records: Vec<Record>,
}

impl Workspace {
    /// Builds a snapshot, for callers that hold records already. The directory counts as existing.
    pub fn from_records(
        path: impl Into<PathBuf>,
        contract: &'static Contract,
        records: Vec<Record>,
    ) -> Self {
        let path = path.into();
        Self {
            exists: true,
            path,
            contract,
            records,
        }
    }

    /// Builds the snapshot of a directory that does not exist.
    pub fn absent(path: impl Into<PathBuf>, contract: &'static Contract) -> Self {
        Self {
            path: path.into(),
            exists: false,
            contract,
            records: Vec::new(),
        }
    }

    /// Returns the directory as it was given: absolute, `~` expanded, links kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether the directory was there at all.
    pub const fn exists(&self) -> bool {
        self.exists
    }

    /// Returns the contract that the directory was read under.
    pub const fn contract(&self) -> &'static Contract {
        self.contract
    }

    /// Returns one record per file, in load order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the same snapshot with another text for a file, as if somebody had written it. A file that the contract does not load
    /// changes nothing.
    #[must_use]
    pub fn with_text(&self, path: &Path, text: &str) -> Self {
        let records = self.records.iter();
        let mut records: Vec<Record> = records.map(|one| one.with_text(path, text)).collect();
        if records.iter().all(|record| record.path != path)
            && let Some(at) = self.place_of(path)
        {
            let name = self.contract.loading.files[at].name;
            let before = |record: &Record| {
                self.contract.loading.files[..at]
                    .iter()
                    .any(|file| *file.name == *record.name)
            };
            let place = records.iter().rposition(before).map_or(0, |last| last + 1);
            let record = Record {
                name: name.into(),
                path: path.to_owned(),
                state: RecordState::Missing,
                extra: false,
            };
            records.insert(place, record.with_text(path, text));
        }
        Self {
            path: self.path.clone(),
            exists: self.exists,
            contract: self.contract,
            records,
        }
    }

    /// Returns the place of a file among those that the contract loads.
    fn place_of(&self, path: &Path) -> Option<usize> {
        let mut files = self.contract.loading.files.iter();
        files.position(|file| self.path.join(file.name) == path)
    }

    /// Returns one line for each file that was refused or cut, in load order.
    pub fn warnings(&self) -> Vec<String> {
        self.records.iter().filter_map(Record::warning).collect()
    }

    /// Returns the record of that name.
    pub fn record(&self, name: &str) -> Option<&Record> {
        self.records.iter().find(|record| &*record.name == name)
    }
}

/// What there is to say about one file.
#[derive(Debug, Clone)]
pub struct Record {
    /// The file's name, such as `AGENTS.md`.
    pub name: Arc<str>,
    /// The directory as given, joined with the name.
    pub path: PathBuf,
    /// Present, missing, or refused and why.
    pub state: RecordState,
    /// Set for files from below the root that configuration added.
    pub extra: bool,
}

/// Whether a file gave text.
#[derive(Debug, Clone)]
pub enum RecordState {
    /// It was read.
    Present(Arc<FileContent>),
    /// There is no such entry.
    Missing,
    /// It is there, and was not read.
    Refused(FileRefusal),
}

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct FileContent {
    /// The bytes decoded as UTF-8, with U+FFFD for what is not; nothing is trimmed.
    pub text: Box<str>,
    /// The raw bytes, kept only when they are not valid UTF-8 (otherwise they are those of `text`).
    pub invalid: Option<Box<[u8]>>,
    /// Set when only the beginning was kept.
    pub oversize: Option<OversizeFile>,
    /// The fingerprint of the file that was read.
    pub fingerprint: Fingerprint,
    /// Permission bits.
    pub mode: u32,
}

impl FileContent {
    /// Makes content that was never a file: for tests, and for callers that hold text already.
    pub fn in_memory(text: impl Into<Box<str>>) -> Self {
        Self {
            text: text.into(),
            invalid: None,
            oversize: None,
            fingerprint: Fingerprint::default(),
            mode: 0o644,
        }
    }
}

impl Record {
    /// Returns one line about a file that was refused or cut.
    pub fn warning(&self) -> Option<String> {
        match &self.state {
            RecordState::Refused(reason) => Some(format!("refused {} {reason}", self.name)),
            RecordState::Present(content) => {
                let oversize = content.oversize?;
                Some(format!("oversize {} {}", self.name, oversize.size))
            }
            RecordState::Missing => None,
        }
    }

    /// Returns the same record, or one of that text if it is of that path.
    #[must_use]
    pub fn with_text(&self, path: &Path, text: &str) -> Self {
        let mut record = self.clone();
        if record.path == path {
            record.state = RecordState::Present(Arc::new(FileContent::in_memory(text)));
        }
        record
    }

    /// Returns the content, if the file was read.
    pub fn content(&self) -> Option<&FileContent> {
        match &self.state {
            RecordState::Present(content) => Some(content),
            RecordState::Missing | RecordState::Refused(_) => None,
        }
    }

    /// Returns the text that the contract's runtime takes for this file's content; `None` when it takes it for missing.
    pub fn shown(&self, contract: &Contract) -> Option<Cow<'_, str>> {
        match &self.state {
            RecordState::Present(content) => Some(Cow::Borrowed(&content.text)),
            RecordState::Missing => None,
            RecordState::Refused(reason) => match contract.loading.refusals {
                RefusalStyle::Missing | RefusalStyle::Named => None,
                RefusalStyle::Unreadable => Some(Cow::Owned(compat::unreadable(
                    *reason,
                    contract.loading.max_bytes,
                ))),
            },
        }
    }

    /// Returns why the file was not read although it is there.
    pub const fn refused(&self) -> Option<FileRefusal> {
        match self.state {
            RecordState::Refused(reason) => Some(reason),
            RecordState::Present(_) | RecordState::Missing => None,
        }
    }
}
