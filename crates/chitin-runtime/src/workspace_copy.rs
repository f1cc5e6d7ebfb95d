//! A private copy of a workspace: as of a git revision, or out of an artifact. Its paths can be spelled as if it had been
//! loaded where the workspace is.

use chitin_workspace::Workspace;
use chitin_workspace::skills::SkillSet;
use chitin_workspace::snapshot::Record;
use std::path::{Path, PathBuf};

/// A copy of a workspace somewhere else. Whoever made it keeps it there.
#[derive(Debug)]
pub struct WorkspaceCopy {
    /// The directory that holds the copy.
    pub root: PathBuf,
    /// The same, with every link resolved.
    pub real: PathBuf,
    /// What the copy does not show as it was, one sentence each.
    pub notes: Vec<String>,
}

/// Returns the same snapshot with every path in `original` instead.
pub fn respell(workspace: &Workspace, original: &Path) -> Workspace {
    let records = workspace.records().iter().map(|record| Record {
        path: moved(&record.path, workspace.path(), original),
        ..record.clone()
    });
    Workspace::from_records(original, workspace.contract(), records.collect())
}

impl WorkspaceCopy {
    /// Returns where the copy of a path in the workspace is; other paths stay. For what configuration names absolutely.
    pub(crate) fn copy_of(&self, path: &Path, original: &Path) -> PathBuf {
        moved(path, original, &self.root)
    }

    /// Spells the places of skills in the workspace `original` instead. Skills from elsewhere are those of today.
    pub(crate) fn respell_skills(&self, mut set: SkillSet, original: &Path) -> SkillSet {
        let real = self.real.as_path();
        let back = |path: &mut PathBuf| {
            *path = moved(&moved(path, &self.root, original), real, original);
        };
        let lost = set.shadowed.iter_mut().map(|lost| {
            back(&mut lost.by_file);
            &mut lost.skill
        });
        for skill in set.skills.iter_mut().chain(lost) {
            back(&mut skill.directory);
            back(&mut skill.file);
        }
        for problem in &mut set.problems {
            back(&mut problem.path);
            for root in [&self.root, real] {
                let (here, there) = (root.to_string_lossy(), original.to_string_lossy());
                problem.message = problem.message.replace(&*here, &there);
            }
        }
        set
    }
}

/// Moves a path from below one directory to below another; other paths stay.
fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(below) if below.as_os_str().is_empty() => to.to_path_buf(),
        Ok(below) => to.join(below),
        Err(_) => path.to_path_buf(),
    }
}
