//! What the bridge puts below its composition: `SKILLS.md`, and every skill file whole (B10).

use chitin_workspace::adapter::AdapterRegistry;
use chitin_workspace::guard::{ReadPolicy, Root};
use chitin_workspace::load::decode;
use chitin_workspace::snapshot::{Record, RecordState};
use std::path::Path;
use std::sync::Arc;

const SKILLS_FILE: &str = "SKILLS.md";

/// Reads them, in their order; what cannot be read is left out, as the bridge does.
pub(super) fn added(root: &Root, policy: &ReadPolicy, directory: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    let mut take = |relative: &Path, name: &str| {
        if let Ok(read) = root.read(relative, policy) {
            records.push(Record {
                name: name.into(),
                path: directory.join(relative),
                state: RecordState::Present(Arc::new(decode(read))),
                extra: true,
            });
        }
    };
    take(Path::new(SKILLS_FILE), SKILLS_FILE);
    if let Ok(definition) = AdapterRegistry::with_built_ins().load(directory) {
        for skill in &definition.skill_paths {
            let path = skill.path();
            if let Ok(relative) = path.strip_prefix(directory) {
                take(relative, "SKILL.md");
            }
        }
    }
    records
}
