//! The files of a workspace: listed, read, and written whole or not at all.

use super::parts::{budget, state};
use crate::context::TokenCounting as Tokens;
use crate::context::{Caller, FileSource, TurnRequest};
use crate::{AgentFactory, Host};
use chitin_context::view::{FileState, view};
use chitin_guard::{
    DirectoryEntryKind, Expected, FileRead, Hardlinks, LinkPolicy, Oversized, ReadError,
    ReadPolicy, Root, WriteError, commit_all,
};
use chitin_server::workspace_api::{
    CurrentFile, FileKind, FileList, FileState as ListedState, FileText, SaveFileRequest,
    SavedFile, WorkspaceApiError, WorkspaceApiErrorKind, WorkspaceFile,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The longest file that is shown and written, in bytes.
const LONGEST: u64 = 2 << 20;
/// How many files are listed, and how deep below the workspace.
const MOST: usize = 2_000;
const DEEPEST: usize = 6;
/// How many names one directory may have.
const MOST_NAMES: usize = 4_096;

const POLICY: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Refuse,
    max_bytes: LONGEST,
    oversized: Oversized::Refuse,
};

/// Checks that a path names a file that the page may show: below the workspace, and nothing hidden.
pub(super) fn checked(path: &str) -> Result<PathBuf, WorkspaceApiError> {
    let refused = |why: &str| {
        let message = format!("`{}` is not shown here: {why}.", super::at_most(path, 200));
        Err(
            WorkspaceApiError::new(WorkspaceApiErrorKind::Refused, message)
                .hint("Only text files of the workspace are shown, by their relative path."),
        )
    };
    if path.contains('\0') || path.contains('\\') {
        return refused("this is not a path");
    }
    let mut names = 0;
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => {
                names += 1;
                if name.to_string_lossy().starts_with('.') {
                    return refused("hidden files are not shown");
                }
            }
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => return refused("it leads out of the workspace"),
        }
    }
    if names == 0 || path.ends_with('/') {
        return refused("this is not a file");
    }
    Ok(path.into())
}

/// Checks that a text can be a file here.
pub(super) fn check_text(text: &str) -> Result<(), WorkspaceApiError> {
    if text.len() as u64 > LONGEST {
        let message = format!("The text is too long: the limit is {LONGEST} bytes.");
        return Err(WorkspaceApiError::new(
            WorkspaceApiErrorKind::TooLarge,
            message,
        ));
    }
    if text.contains('\0') {
        let message = "The text contains a NUL byte.";
        return Err(WorkspaceApiError::new(WorkspaceApiErrorKind::Bad, message));
    }
    Ok(())
}

fn root(factory: &AgentFactory) -> Result<Root, WorkspaceApiError> {
    Root::open(&factory.setup.directory).map_err(|error| {
        WorkspaceApiError::new(
            WorkspaceApiErrorKind::Failed,
            format!("Could not use the workspace. {error}"),
        )
        .hint("`chitin init DIR` creates a new workspace.")
    })
}

/// Reads a file; none when there is none.
fn content(root: &Root, relative: &Path) -> Result<Option<(FileRead, String)>, WorkspaceApiError> {
    let read = match root.read(relative, &POLICY) {
        Ok(read) => read,
        Err(ReadError::Missing { .. }) => return Ok(None),
        Err(ReadError::Refused { reason, .. }) => {
            let message = format!(
                "`{}` was not read: {}.",
                relative.display(),
                reason.meaning()
            );
            return Err(WorkspaceApiError::new(
                WorkspaceApiErrorKind::Refused,
                message,
            ));
        }
        Err(error) => {
            return Err(WorkspaceApiError::new(
                WorkspaceApiErrorKind::Failed,
                error.to_string(),
            ));
        }
    };
    match std::str::from_utf8(&read.bytes) {
        Ok(text) if !text.contains('\0') => {
            let text = text.to_owned();
            Ok(Some((read, text)))
        }
        Ok(_) | Err(_) => {
            let message = format!("`{}` is not a text file.", relative.display());
            Err(WorkspaceApiError::new(
                WorkspaceApiErrorKind::Refused,
                message,
            ))
        }
    }
}

fn version(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// Shows a file.
pub(super) fn read(factory: &AgentFactory, path: &str) -> Result<FileText, WorkspaceApiError> {
    let relative = checked(path)?;
    let Some((read, text)) = content(&root(factory)?, &relative)? else {
        let message = format!("There is no `{path}` in the workspace.");
        return Err(WorkspaceApiError::new(
            WorkspaceApiErrorKind::Missing,
            message,
        ));
    };
    Ok(FileText {
        path: path.to_owned(),
        bytes: read.bytes.len(),
        version: version(&text),
        text,
        editable: true,
    })
}

/// Writes a file, unless somebody else wrote it since its author read it.
pub(super) fn save(
    factory: &AgentFactory,
    request: &SaveFileRequest,
) -> Result<SavedFile, WorkspaceApiError> {
    let (path, text) = (request.path.as_str(), request.text.as_str());
    let relative = checked(path)?;
    check_text(text)?;
    let root = root(factory)?;
    let there = content(&root, &relative)?;
    let current = there.as_ref().map(|(_, text)| version(text));
    if current != request.version {
        let text = there.as_ref().map(|(_, text)| text.as_str());
        return Err(conflict(path, text));
    }
    let (before, mode) = match &there {
        Some((read, _)) => (Expected::Unchanged(read.fingerprint), read.mode),
        None => (Expected::Absent, 0o644),
    };
    if let Some(parent) = relative
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        root.make_directories(parent).map_err(|e| unwritten(&e))?;
    }
    let written = root
        .prepare_write(&relative, text.as_bytes(), before, mode)
        .and_then(|change| commit_all(vec![change]));
    match written {
        Ok(()) => Ok(SavedFile {
            version: version(text),
        }),
        // Somebody was quicker.
        Err(WriteError::Changed { .. }) => {
            let now = content(&root, &relative)?;
            Err(conflict(path, now.as_ref().map(|(_, text)| text.as_str())))
        }
        Err(error) => Err(unwritten(&error)),
    }
}

fn unwritten(error: &WriteError) -> WorkspaceApiError {
    let trouble = match error {
        WriteError::NotBeneath { .. } => WorkspaceApiErrorKind::Refused,
        WriteError::Changed { .. } | WriteError::Io { .. } => WorkspaceApiErrorKind::Failed,
    };
    WorkspaceApiError::new(trouble, error.to_string())
}

fn conflict(path: &str, text: Option<&str>) -> WorkspaceApiError {
    let current = CurrentFile {
        version: text.map(version),
        text: text.map(str::to_owned),
    };
    let message = match text {
        Some(_) => format!("`{path}` was changed in the meantime."),
        None => format!("`{path}` was deleted in the meantime."),
    };
    WorkspaceApiError::new(WorkspaceApiErrorKind::Conflict { current }, message)
        .hint("Compare both, and save again with the current version.")
}

/// Lists the files of a workspace: those of the prompt first, in their order.
pub(super) fn list(host: &Host, factory: &AgentFactory) -> Result<FileList, WorkspaceApiError> {
    let root = root(factory)?;
    let mut found = BTreeMap::new();
    walk(&root, Path::new(""), 0, &mut found);
    let next = TurnRequest {
        caller: Caller::Server,
        ..TurnRequest::default()
    };
    let seen = next.workspace_context(host, &factory.setup, FileSource::Disk)?;
    let view = view(&seen.context, &mut seen.model.counter(Tokens::Estimate));
    let mut files = Vec::new();
    for file in &view.files {
        let path = super::prompt::below(&file.path, &factory.setup.directory);
        let entry = found.remove(&path);
        let (present, reason) = match file.state {
            FileState::Missing if entry.is_none() => (ListedState::Missing, None),
            FileState::Refused | FileState::Missing => {
                (ListedState::Refused, Some(file.reason.clone()))
            }
            FileState::Whole | FileState::Cut | FileState::LeftOut => (ListedState::Present, None),
        };
        let editable = present != ListedState::Refused && checked(&path).is_ok();
        files.push(WorkspaceFile {
            state: present,
            bytes: entry.map_or(0, |entry| entry.bytes),
            chars: file.raw.units as u64,
            tokens: Some(file.raw.tokens),
            kind: if is_memory(&path) {
                FileKind::Memory
            } else {
                FileKind::Bootstrap
            },
            in_prompt: Some(state(file.state)),
            editable,
            reason,
            path,
        });
    }
    files.extend(found.iter().map(|(path, entry)| other(path, entry)));
    Ok(FileList {
        files,
        budget: budget(&view),
        truncated: found.len() >= MOST,
    })
}

/// What stands in a directory.
#[derive(Clone, Copy)]
struct Standing {
    kind: DirectoryEntryKind,
    bytes: u64,
    names: u64,
}

/// Goes through the directories, but for what is hidden and what others made.
fn walk(root: &Root, directory: &Path, depth: usize, found: &mut BTreeMap<String, Standing>) {
    let Ok(mut entries) = root.survey(directory, MOST_NAMES) else {
        return;
    };
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    for entry in entries {
        let name = entry.name.to_string_lossy();
        if found.len() >= MOST || name.starts_with('.') || name == "node_modules" {
            continue;
        }
        let path = directory.join(&*name);
        if entry.kind == DirectoryEntryKind::Directory {
            if depth < DEEPEST {
                walk(root, &path, depth + 1, found);
            }
            continue;
        }
        let standing = Standing {
            kind: entry.kind,
            bytes: entry.fingerprint.size,
            names: entry.names,
        };
        found.insert(path.to_string_lossy().into_owned(), standing);
    }
}

fn is_memory(path: &str) -> bool {
    path.eq_ignore_ascii_case("memory.md") || path.starts_with("memory/")
}

fn other(path: &str, entry: &Standing) -> WorkspaceFile {
    let kind = match path {
        path if is_memory(path) => FileKind::Memory,
        path if path.starts_with("skills/") => FileKind::Skill,
        _ => FileKind::Other,
    };
    let reason = match entry.kind {
        DirectoryEntryKind::Link => Some("it is a link"),
        DirectoryEntryKind::Other | DirectoryEntryKind::Directory => {
            Some("it is not a regular file")
        }
        DirectoryEntryKind::File if entry.names > 1 => Some("it is a hard link"),
        DirectoryEntryKind::File if entry.bytes > LONGEST => Some("it is too long"),
        DirectoryEntryKind::File => None,
    };
    WorkspaceFile {
        path: path.to_owned(),
        state: if reason.is_some() {
            ListedState::Refused
        } else {
            ListedState::Present
        },
        bytes: entry.bytes,
        chars: entry.bytes,
        tokens: None,
        kind,
        in_prompt: None,
        editable: reason.is_none(),
        reason: reason.map(str::to_owned),
    }
}
