//! Finding out whether a directory is an OpenClaw workspace.

use crate::compat::{MEMORY_FILE, SURFACES};
use chitin_workspace::guard::{EntryKind, Links, Root};
use serde::Serialize;
use std::path::Path;

/// The user-level places, beneath the user's OpenClaw directory.
const USER_CONFIG: &str = "openclaw.json";
const USER_SKILLS: &str = "skills";
/// That directory, beneath the home directory.
const USER_DIRECTORY: &str = ".openclaw";

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Detected {
    /// Whether anything was.
    pub found: bool,
    /// The adapter that it speaks for.
    pub adapter: &'static str,
    /// What was found: files of the workspace by their names, user-level places with `~/` before them.
    pub files: Vec<String>,
}

/// Looks for the files of a workspace, and for the user's own in a home directory (rule P33). Nothing is opened.
pub fn detect(workspace: &Path, home: &Path) -> Detected {
    let mut files = Vec::new();
    if let Ok(root) = Root::open(workspace) {
        let names = SURFACES.iter().map(|(_, file)| *file);
        for name in names.chain([MEMORY_FILE]) {
            if stands(&root, Path::new(name)) == Some(EntryKind::File) {
                files.push(name.to_owned());
            }
        }
    }
    if let Ok(root) = Root::open(home) {
        for (name, kind) in [
            (USER_CONFIG, EntryKind::File),
            (USER_SKILLS, EntryKind::Directory),
        ] {
            let path = Path::new(USER_DIRECTORY).join(name);
            if stands(&root, &path) == Some(kind) {
                let slash = if kind == EntryKind::Directory {
                    "/"
                } else {
                    ""
                };
                files.push(format!("~/{}{slash}", path.display()));
            }
        }
    }
    Detected {
        found: !files.is_empty(),
        adapter: "openclaw",
        files,
    }
}

/// What a name stands for in the end: a user may well keep these places elsewhere and link to them.
fn stands(root: &Root, path: &Path) -> Option<EntryKind> {
    root.walk(path, &Links::Anywhere).ok().map(|end| end.kind)
}
