//! Reading the text files of one directory: what is missing is empty, what cannot be read is empty with a warning.

use super::definition::AdapterWarning;
use chitin_contract::{ATMOSPHERE, Contract, HardlinkRule, LinkRule};
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root};
use chitin_protocol::record::FileRefusal;
use std::path::{Component, Path, PathBuf};

/// The bound for one file when the contract names none.
const UNBOUNDED: u64 = 2 * 1024 * 1024;

/// How the bridge reads: the links and second names that its contract allows, and nothing above its size bound.
pub(crate) fn policy() -> ReadPolicy {
    policy_of(&ATMOSPHERE)
}

fn policy_of(contract: &Contract) -> ReadPolicy {
    ReadPolicy {
        links: match contract.loading.links {
            LinkRule::EveryHopInside => LinkPolicy::EveryHopInside,
            LinkRule::EndInside => LinkPolicy::EndInside,
            LinkRule::NotTheFile => LinkPolicy::NotTheFile,
            LinkRule::Anywhere => LinkPolicy::Anywhere,
        },
        hardlinks: match contract.loading.hardlinks {
            HardlinkRule::Refuse => Hardlinks::Refuse,
            HardlinkRule::Allow => Hardlinks::Allow,
        },
        max_bytes: contract.loading.max_bytes.unwrap_or(UNBOUNDED),
        // Half a file of rules is worse than none: the definition says that it is empty, and why.
        oversized: Oversized::Refuse,
    }
}

/// What a name gave.
#[derive(Debug)]
pub(crate) enum TextFile {
    /// There is nothing, or a link that leads to nothing.
    Absent,
    /// It was read.
    Text(String),
    /// Something is there that gives no text.
    Unreadable(AdapterWarning),
}

impl TextFile {
    /// Reads one file beneath a root, within the bound of the contract.
    pub(crate) fn read(root: &Root, relative: &Path) -> Self {
        Self::read_with(root, relative, &policy())
    }

    /// Reads one file beneath a root that may grow larger than a file of a workspace.
    pub(crate) fn read_up_to(root: &Root, relative: &Path, max_bytes: u64) -> Self {
        let policy = ReadPolicy {
            max_bytes,
            ..policy()
        };
        Self::read_with(root, relative, &policy)
    }

    fn read_with(root: &Root, relative: &Path, policy: &ReadPolicy) -> Self {
        match root.read(relative, policy) {
            Ok(file) => match String::from_utf8(file.bytes) {
                Ok(text) => Self::Text(text),
                Err(error) => Self::Unreadable(AdapterWarning::NotUtf8 {
                    path: root.path().join(relative),
                    offset: error.utf8_error().valid_up_to(),
                }),
            },
            Err(error) if leads_nowhere(&error) => Self::Absent,
            Err(error) => Self::Unreadable(AdapterWarning::Unreadable {
                path: root.path().join(relative),
                reason: error.to_string(),
            }),
        }
    }

    /// Returns the text, empty when there is none, and keeps the warning.
    pub(crate) fn text_or_empty(self, warnings: &mut Vec<AdapterWarning>) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Text(text) => text,
            Self::Unreadable(warning) => {
                warnings.push(warning);
                String::new()
            }
        }
    }
}

/// Tells whether a name leads to nothing at all, as opposed to something that is refused.
pub(crate) fn leads_nowhere(error: &ReadError) -> bool {
    match error {
        ReadError::Missing { .. } => true,
        ReadError::Refused { reason, .. } => {
            matches!(reason, FileRefusal::Dangling | FileRefusal::Loop)
        }
        ReadError::Io { .. } => false,
    }
}

/// Tells whether something stands at a name: a link counts by its target, and a target that is refused counts too, so
/// that the refusal shows instead of the file silently not being there.
pub(crate) fn stands(root: &Root, relative: &Path) -> bool {
    match root.walk(relative, &policy().links) {
        Ok(_) => true,
        Err(error) => !leads_nowhere(&error),
    }
}

/// Takes `.` and `..` out of a path by its text alone; links stay as they are spelled (B9).
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}
