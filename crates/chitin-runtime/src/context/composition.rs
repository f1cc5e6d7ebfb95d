//! What extends a workspace's own files: `SKILLS.md`, and below the bridge's composition every skill file whole (B10).

use chitin_guard::{FileRead, ReadError, ReadPolicy, Root};
use chitin_protocol::record::FileRefusal;
use chitin_workspace::adapter::{AdapterRegistry, AgentDefinition};
use chitin_workspace::load::decode;
use chitin_workspace::snapshot::{Record, RecordState};
use std::path::Path;
use std::sync::Arc;

const SKILLS_FILE: &str = "SKILLS.md";
const SKILL_FILE: &str = "SKILL.md";

/// Reads them, in their order; what cannot be read is left out, as the bridge does.
pub(super) fn added(
    adapters: &AdapterRegistry,
    root: &Root,
    policy: &ReadPolicy,
    directory: &Path,
) -> Vec<Record> {
    let file = Path::new(SKILLS_FILE);
    let mut records: Vec<Record> = taken(root, policy, directory, file, SKILLS_FILE)
        .into_iter()
        .collect();
    if let Ok(definition) = adapters.load(directory) {
        records.extend(skill_files(&definition, root, policy, directory));
    }
    records
}

/// Reads the skill files of a definition.
pub(super) fn skill_files(
    definition: &AgentDefinition,
    root: &Root,
    policy: &ReadPolicy,
    directory: &Path,
) -> Vec<Record> {
    let skills = definition.skill_paths.iter();
    let files = skills.filter_map(|skill| {
        let path = skill.path();
        let relative = path.strip_prefix(directory).ok()?;
        taken(root, policy, directory, relative, SKILL_FILE)
    });
    files.collect()
}

/// Reads `SKILLS.md`, where it says something. One that is refused is a record too, so that the context says so.
pub(super) fn skills_file(root: &Root, policy: &ReadPolicy, directory: &Path) -> Option<Record> {
    let name = Path::new(SKILLS_FILE);
    let record = match root.read(name, policy) {
        Ok(read) => present(read, directory, name, SKILLS_FILE),
        Err(ReadError::Missing { .. }) => return None,
        Err(ReadError::Refused { reason, .. }) => return Some(refused(reason, directory)),
        Err(ReadError::Io { .. }) => return Some(refused(FileRefusal::Unreadable, directory)),
    };
    let says_something = |text: &str| !text.trim().is_empty();
    record
        .content()
        .is_some_and(|content| says_something(&content.text))
        .then_some(record)
}

fn taken(
    root: &Root,
    policy: &ReadPolicy,
    directory: &Path,
    relative: &Path,
    name: &str,
) -> Option<Record> {
    let read = root.read(relative, policy).ok()?;
    Some(present(read, directory, relative, name))
}

fn present(read: FileRead, directory: &Path, relative: &Path, name: &str) -> Record {
    Record {
        name: name.into(),
        path: directory.join(relative),
        state: RecordState::Present(Arc::new(decode(read))),
        extra: true,
    }
}

fn refused(reason: FileRefusal, directory: &Path) -> Record {
    Record {
        name: SKILLS_FILE.into(),
        path: directory.join(SKILLS_FILE),
        state: RecordState::Refused(reason),
        extra: true,
    }
}
