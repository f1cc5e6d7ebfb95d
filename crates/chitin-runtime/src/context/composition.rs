//! What extends a workspace's own files: `SKILLS.md`, and below the bridge's composition every skill file whole (B10).

use chitin_workspace::adapter::AdapterRegistry;
use chitin_workspace::guard::{ReadPolicy, Root};
use chitin_workspace::load::decode;
use chitin_workspace::snapshot::{Record, RecordState};
use std::path::Path;
use std::sync::Arc;

const SKILLS_FILE: &str = "SKILLS.md";

/// Reads them, in their order; what cannot be read is left out, as the bridge does.
pub(super) fn added(
    adapters: &AdapterRegistry,
    root: &Root,
    policy: &ReadPolicy,
    directory: &Path,
) -> Vec<Record> {
    let mut records = Vec::new();
    let mut take = |relative: &Path, name: &str| {
        records.extend(taken(root, policy, directory, relative, name));
    };
    take(Path::new(SKILLS_FILE), SKILLS_FILE);
    if let Ok(definition) = adapters.load(directory) {
        for skill in &definition.skill_paths {
            let path = skill.path();
            if let Ok(relative) = path.strip_prefix(directory) {
                take(relative, "SKILL.md");
            }
        }
    }
    records
}

/// Reads `SKILLS.md`, where it says something.
pub(super) fn skills_file(root: &Root, policy: &ReadPolicy, directory: &Path) -> Option<Record> {
    let name = Path::new(SKILLS_FILE);
    let record = taken(root, policy, directory, name, SKILLS_FILE)?;
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
    Some(Record {
        name: name.into(),
        path: directory.join(relative),
        state: RecordState::Present(Arc::new(decode(read))),
        extra: true,
    })
}
