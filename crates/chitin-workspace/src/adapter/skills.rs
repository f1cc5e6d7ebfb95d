//! Finding the skills of a workspace (B6): two roots, one level deep unless asked for more.

use super::compat::{SKILL_FILE, SKILL_ROOTS};
use super::definition::{AdapterWarning, SkillPath};
use super::files::{leads_nowhere, policy, stands};
use chitin_guard::{DirectoryEntryKind, Root};
use std::collections::HashSet;
use std::path::Path;

/// More names than this in one directory of skills are an accident or an attack.
const MAX_ENTRIES: usize = 10_000;
/// More skills than this in one workspace are an accident or an attack.
const MAX_SKILLS: usize = 10_000;

/// How many directories below its root a skill may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SkillDepth(u8);

impl SkillDepth {
    /// Deeper trees than this are an accident.
    const MAX: u8 = 8;

    pub(super) fn new(depth: u8) -> Self {
        Self(depth.clamp(1, Self::MAX))
    }
}

impl Default for SkillDepth {
    fn default() -> Self {
        Self(1)
    }
}

/// Returns the skill files of both roots, sorted by the bytes of their directory names inside each.
pub(super) fn discover(
    root: &Root,
    depth: SkillDepth,
    warnings: &mut Vec<AdapterWarning>,
) -> Vec<SkillPath> {
    let mut search = Search {
        root,
        found: Vec::new(),
        entered: HashSet::new(),
        nested: depth.0 > 1,
        warnings,
    };
    for skill_root in SKILL_ROOTS {
        search.entered.clear();
        search.directory(Path::new(skill_root), depth.0);
    }
    search.found
}

struct Search<'a> {
    root: &'a Root,
    found: Vec<SkillPath>,
    /// Directories on disk that were listed already: a link to a parent must not turn the tree into a wheel.
    entered: HashSet<(u64, u64)>,
    /// Whether skills may lie below others.
    nested: bool,
    warnings: &'a mut Vec<AdapterWarning>,
}

impl Search<'_> {
    fn directory(&mut self, relative: &Path, levels: u8) {
        let links = policy().links;
        match self.root.walk(relative, &links) {
            Ok(end) if end.kind == DirectoryEntryKind::Directory => {
                if !self
                    .entered
                    .insert((end.fingerprint.dev, end.fingerprint.ino))
                {
                    return;
                }
            }
            Ok(_) => return,
            Err(error) if leads_nowhere(&error) => return,
            Err(error) => return self.left_out(relative, error.to_string()),
        }
        let entries = match self.root.list(relative, &links, MAX_ENTRIES) {
            Ok(entries) => entries,
            Err(error) if leads_nowhere(&error) => return,
            Err(error) => return self.left_out(relative, error.to_string()),
        };
        let mut names: Vec<_> = entries
            .into_iter()
            .filter(|entry| {
                matches!(
                    entry.kind,
                    DirectoryEntryKind::Directory | DirectoryEntryKind::Link
                )
            })
            // A group is searched under its own name, not under that of a link to it.
            .map(|entry| {
                (
                    self.nested && entry.kind == DirectoryEntryKind::Link,
                    entry.name,
                )
            })
            .collect();
        names.sort_unstable();
        for (_, name) in names {
            self.candidate(&relative.join(name), levels);
        }
    }

    fn candidate(&mut self, directory: &Path, levels: u8) {
        match self.root.walk(directory, &policy().links) {
            Ok(end) if end.kind == DirectoryEntryKind::Directory => {
                // Below the first level a link to a directory above is a loop: its skill is listed by its own path.
                let known = (end.fingerprint.dev, end.fingerprint.ino);
                if self.nested && self.entered.contains(&known) {
                    return;
                }
            }
            Ok(_) => return,
            Err(error) if leads_nowhere(&error) => return,
            Err(error) => return self.left_out(directory, error.to_string()),
        }
        let file = directory.join(SKILL_FILE);
        if stands(self.root, &file) {
            if self.found.len() == MAX_SKILLS {
                return;
            }
            self.found.push(SkillPath::new(self.root.path(), file));
        }
        if levels > 1 {
            self.directory(directory, levels - 1);
        }
    }

    fn left_out(&mut self, relative: &Path, reason: String) {
        self.warnings.push(AdapterWarning::SkillsUnlisted {
            path: self.root.path().join(relative),
            reason,
        });
    }
}
