//! Finding out whether a directory is an OpenClaw workspace.

use crate::compat::{MEMORY_FILE, SURFACES};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, Root};
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
    /// What was found: the workspace's files first, then the user's own.
    pub files: Vec<DetectedFile>,
}

/// A file or directory that speaks for an adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetectedFile {
    /// Its path: in the workspace, or below the home directory with `~/` before it. Directories end in `/`.
    pub target_path: String,
    /// What it is for.
    pub kind: DetectedKind,
    /// Whose it is.
    pub scope: DetectedScope,
}

/// What a detected file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DetectedKind {
    /// It says who the agent is and how it works.
    Prompt,
    /// It configures the agent or the runtime.
    Config,
    /// It holds skills.
    Skills,
    /// Anything else.
    Other,
}

/// Whose a detected file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DetectedScope {
    /// The workspace's.
    Project,
    /// The user's.
    User,
}

/// The workspace files that are prompts; the others configure.
const PROMPTS: [&str; 3] = ["AGENTS.md", "SOUL.md", "IDENTITY.md"];

/// Looks for the files of a workspace, and for the user's own in a home directory (rule P33). Nothing is opened.
pub fn detect(workspace: &Path, home: &Path) -> Detected {
    let mut files = Vec::new();
    if let Ok(root) = Root::open(workspace) {
        let names = SURFACES.iter().map(|(_, file)| *file);
        for name in names.chain([MEMORY_FILE]) {
            if stands(&root, Path::new(name)) == Some(DirectoryEntryKind::File) {
                let kind = match name {
                    MEMORY_FILE => DetectedKind::Other,
                    _ if PROMPTS.contains(&name) => DetectedKind::Prompt,
                    _ => DetectedKind::Config,
                };
                files.push(DetectedFile {
                    target_path: name.to_owned(),
                    kind,
                    scope: DetectedScope::Project,
                });
            }
        }
    }
    if let Ok(root) = Root::open(home) {
        for (name, entry, kind, slash) in [
            (
                USER_CONFIG,
                DirectoryEntryKind::File,
                DetectedKind::Config,
                "",
            ),
            (
                USER_SKILLS,
                DirectoryEntryKind::Directory,
                DetectedKind::Skills,
                "/",
            ),
        ] {
            let path = Path::new(USER_DIRECTORY).join(name);
            if stands(&root, &path) == Some(entry) {
                files.push(DetectedFile {
                    target_path: format!("~/{}{slash}", path.display()),
                    kind,
                    scope: DetectedScope::User,
                });
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
fn stands(root: &Root, path: &Path) -> Option<DirectoryEntryKind> {
    root.walk(path, &LinkPolicy::Anywhere)
        .ok()
        .map(|end| end.kind)
}
