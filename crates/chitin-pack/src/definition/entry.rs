//! The file that holds a definition (rule P70).

use super::agent::Definition;
use crate::error::{ErrorClass, ExitKind, PackError};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, ReadPolicy, Root};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a definition file is called.
const FILE: &str = "agent.json";
/// Where definitions stand when a project has several.
const DIRECTORY: &str = ".stax";
/// Larger definitions are nobody's.
const MAX_BYTES: u64 = 4 * crate::layer::MB;
/// More definitions in one project are nobody's.
const MAX_ENTRIES: usize = 1000;

/// A definition file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionFile {
    /// The file.
    pub file: PathBuf,
    /// The directory it stands in, which is the project that its paths are relative to.
    pub project: PathBuf,
    /// What it says.
    pub value: Value,
}

impl DefinitionFile {
    /// Reads a definition file: the named one, or the only one that a directory has.
    pub fn load(directory: &Path, named: Option<&str>) -> Result<Self, PackError> {
        let file = match named {
            Some(named) => directory.join(named),
            None => find_entry(directory)?,
        };
        let value = read(&file)?;
        let project = file.parent().unwrap_or(directory).to_path_buf();
        Ok(Self {
            file,
            project,
            value,
        })
    }

    /// Reads the definition in it. A build that meets a wrong definition ends like any build that fails.
    pub fn definition(&self) -> Result<Definition, PackError> {
        Definition::parse(&self.value).map_err(|error| error.exiting(ExitKind::Local))
    }
}

fn read(file: &Path) -> Result<Value, PackError> {
    let shown = file.display();
    let missing = || {
        let message = format!("there is no definition at `{shown}`");
        PackError::new(ErrorClass::MissingEntry, message)
    };
    let bad = |what: &str| PackError::new(ErrorClass::BadEntry, format!("`{shown}` {what}"));
    let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(missing());
    };
    let root = match Root::open(parent) {
        Ok(root) => root,
        Err(error) if error.is_missing() => return Err(missing()),
        Err(error) => return Err(bad("cannot be read").caused_by(error)),
    };
    let policy = ReadPolicy {
        links: LinkPolicy::EndInside,
        ..ReadPolicy::inside(MAX_BYTES)
    };
    let bytes = match root.read(Path::new(name), &policy) {
        Ok(read) => read.bytes,
        Err(error) if error.is_missing() => return Err(missing()),
        Err(error) => return Err(bad("cannot be read").caused_by(error)),
    };
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|error| bad("is not JSON").caused_by(error))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(bad("holds no definition").hint("a definition is a JSON object"))
    }
}

/// Finds the only definition of a project: `agent.json`, or `agent.json` in a directory of `.stax`.
pub fn find_entry(directory: &Path) -> Result<PathBuf, PackError> {
    let unreadable = |error| {
        let message = format!("`{}` cannot be read", directory.display());
        PackError::new(ErrorClass::NoEntry, message).caused_by(error)
    };
    let root = Root::open(directory).map_err(unreadable)?;
    let mut found = Vec::new();
    if root.kind(Path::new(FILE)) == Some(DirectoryEntryKind::File) {
        found.push(PathBuf::from(FILE));
    }
    let mut below = match root.list(Path::new(DIRECTORY), &LinkPolicy::Refuse, MAX_ENTRIES) {
        Ok(entries) => entries,
        Err(error) if error.is_missing() => Vec::new(),
        Err(error) => return Err(unreadable(error)),
    };
    below.sort();
    for entry in below {
        let file = Path::new(DIRECTORY).join(&entry.name).join(FILE);
        if root.kind(&file) == Some(DirectoryEntryKind::File) {
            found.push(file);
        }
    }
    match found.as_slice() {
        [only] => Ok(directory.join(only)),
        [] => Err(PackError::new(
            ErrorClass::NoEntry,
            format!("`{}` holds no definition", directory.display()),
        )
        .hint("write an `agent.json`, or pack a workspace that needs none")),
        several => Err(PackError::new(
            ErrorClass::AmbiguousEntry,
            "the project has several definitions",
        )
        .about(several.iter().map(|file| file.display().to_string()))
        .hint("name the one to build")),
    }
}
