//! Files from below the root that configuration adds (W51–W54, CN11).

mod glob;

use crate::load::decode;
use crate::snapshot::{Record, RecordState};
use chitin_contract::{Contract, ExtraDuplicates, ExtraOrder};
use chitin_guard::normalized;
use chitin_guard::{FileRead, ReadError, ReadPolicy, Root};
use chitin_protocol::record::FileRefusal;
use chitin_protocol::text::trim_js;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What OpenClaw calls things here.
pub mod compat {
    /// The hook that adds files.
    pub const HOOK: &str = "bootstrap-extra-files";
    /// The keys that may hold the list, first non-empty one wins.
    pub const KEYS: [&str; 3] = ["paths", "patterns", "files"];
}

/// The most patterns that are looked at.
const MAX_PATTERNS: usize = 256;
/// The longest pattern that is looked at: no path is longer.
const MAX_PATTERN_BYTES: usize = 4096;

/// What the patterns gave.
#[derive(Debug, Default)]
pub struct ExtraFiles {
    /// The files, marked as extra.
    pub records: Vec<Record>,
    /// What was passed over, and why.
    pub diagnostics: Vec<Diagnostic>,
}

impl ExtraFiles {
    /// Returns one line for each file that was cut, in order.
    pub fn warnings(&self) -> Vec<String> {
        self.records.iter().filter_map(Record::warning).collect()
    }
}

/// A file that was named and not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The file.
    #[serde(serialize_with = "crate::json_path::serialize")]
    pub path: PathBuf,
    /// Why it was not taken.
    pub reason: ExtraFileRefusal,
    /// The guard's own reason, when it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<FileRefusal>,
}

/// Why an extra file was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraFileRefusal {
    /// Its name is none of the contract's.
    InvalidBootstrapFilename,
    /// It is not there.
    Missing,
    /// The guard refused it.
    Security,
    /// The operating system failed.
    Io,
}

/// Returns the patterns that configuration names; none when the hook is not configured or switched off.
pub fn patterns(config: &Value) -> Option<Vec<String>> {
    let entry = config["hooks"]["internal"]["entries"].get(compat::HOOK)?;
    if !entry.is_object() || entry["enabled"] == Value::Bool(false) {
        return None;
    }
    let lists = compat::KEYS.iter().map(|key| {
        let items = entry[*key]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let texts = items
            .iter()
            .filter_map(Value::as_str)
            .map(trim_js)
            .filter(|text| !text.is_empty());
        texts.map(str::to_owned).collect::<Vec<_>>()
    });
    Some(
        lists
            .into_iter()
            .find(|list| !list.is_empty())
            .unwrap_or_default(),
    )
}

/// Finds and reads the files that the patterns name. `primaries` are the root's own records, before any filter.
pub fn find(
    root: &Root,
    patterns: &[String],
    contract: &Contract,
    policy: &ReadPolicy,
    primaries: &[Record],
) -> ExtraFiles {
    let mut found = ExtraFiles::default();
    if !contract.extras.known {
        return found;
    }
    let mut paths = Vec::new();
    let mut seen = HashSet::new();
    for pattern in patterns.iter().take(MAX_PATTERNS) {
        // What was named twice in the same spelling counts once; other spellings of a path are the contract's business.
        if pattern.len() > MAX_PATTERN_BYTES {
            found.diagnostics.push(Diagnostic {
                path: PathBuf::from(pattern),
                reason: ExtraFileRefusal::Io,
                refused: None,
            });
        } else if pattern.contains(contract.extras.glob_characters) {
            for path in glob::find(root, pattern) {
                let spelled = relative_to(root, &path).unwrap_or_else(|| path.clone());
                if seen.insert(spelled.into_os_string()) {
                    paths.push(path);
                }
            }
        } else if seen.insert(pattern.into()) {
            paths.push(normalized(&root.path().join(pattern)));
        }
    }
    if contract.extras.order == ExtraOrder::BaseNameThenPath {
        // As text, where `a-b/` stands before `a/`; paths themselves compare part by part.
        paths.sort_by(|a, b| (a.file_name(), a.as_os_str()).cmp(&(b.file_name(), b.as_os_str())));
    }
    let mut taken = taken_by(root, contract, policy, primaries);
    for path in paths {
        found.take(root, path, contract, policy, &mut taken);
    }
    found
}

impl ExtraFiles {
    fn take(
        &mut self,
        root: &Root,
        path: PathBuf,
        contract: &Contract,
        policy: &ReadPolicy,
        taken: &mut HashSet<PathBuf>,
    ) {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if contract.loading.files.iter().all(|file| file.name != name) {
            self.diagnostics.push(Diagnostic {
                path,
                reason: ExtraFileRefusal::InvalidBootstrapFilename,
                refused: None,
            });
            return;
        }
        let read = match relative_to(root, &path) {
            Some(relative) => root.read(&relative, policy),
            None => Err(ReadError::Refused {
                path: path.clone(),
                reason: FileRefusal::OutsideRoot,
            }),
        };
        match read {
            Ok(read) => {
                let identity = match contract.extras.duplicates {
                    ExtraDuplicates::Kept => None,
                    ExtraDuplicates::SamePathDropped => Some(path.clone()),
                    ExtraDuplicates::SameFileDropped => Some(real_path(root, &path, &read)),
                };
                if identity.is_none_or(|identity| taken.insert(identity)) {
                    let state = RecordState::Present(Arc::new(decode(read)));
                    self.records.push(Record {
                        name: name.into(),
                        path,
                        state,
                        extra: true,
                    });
                }
            }
            Err(error) => self.diagnostics.push(diagnostic(path, &error, contract)),
        }
    }
}

fn real_path(root: &Root, path: &Path, read: &FileRead) -> PathBuf {
    let plain = || relative_to(root, path).map(|relative| root.real_path().join(relative));
    read.linked_to
        .clone()
        .or_else(plain)
        .unwrap_or_else(|| path.to_path_buf())
}

/// What is there already, by the identity that the contract compares.
fn taken_by(
    root: &Root,
    contract: &Contract,
    policy: &ReadPolicy,
    primaries: &[Record],
) -> HashSet<PathBuf> {
    let present = primaries.iter().filter(|record| record.content().is_some());
    match contract.extras.duplicates {
        ExtraDuplicates::Kept => HashSet::new(),
        ExtraDuplicates::SamePathDropped => present.map(|record| record.path.clone()).collect(),
        ExtraDuplicates::SameFileDropped => present
            .filter_map(|record| root.walk(Path::new(&*record.name), &policy.links).ok())
            .map(|end| end.path)
            .collect(),
    }
}

fn relative_to(root: &Root, path: &Path) -> Option<PathBuf> {
    let inside = path
        .strip_prefix(root.path())
        .or_else(|_| path.strip_prefix(root.real_path()));
    inside.ok().map(Path::to_path_buf)
}

fn diagnostic(path: PathBuf, error: &ReadError, contract: &Contract) -> Diagnostic {
    use chitin_contract::RefusalStyle;
    let (reason, refused) = match error {
        ReadError::Missing { .. } => (ExtraFileRefusal::Missing, None),
        // A contract that cannot tell a dangling link from nothing says that nothing is there.
        ReadError::Refused {
            reason: FileRefusal::Dangling,
            ..
        } if contract.loading.refusals == RefusalStyle::Missing => {
            (ExtraFileRefusal::Missing, None)
        }
        ReadError::Refused { reason, .. } => (ExtraFileRefusal::Security, Some(*reason)),
        ReadError::Io { .. } => (ExtraFileRefusal::Io, None),
    };
    Diagnostic {
        path,
        reason,
        refused,
    }
}
