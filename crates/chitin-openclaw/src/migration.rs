//! Traces of migrations: what ran, which files still count, which were left behind (H5, H81, H82, H85).

use crate::compat;
use crate::database::{Database, Rows};
use crate::problem::Problems;
use crate::walk;
use chitin_guard::Root;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// How many files of a home are looked at.
const MAX_FILES: usize = 200_000;

/// A migration that began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MigrationRun {
    /// What it moves.
    pub id: String,
    /// How far it got.
    pub status: String,
}

/// Returns the migrations that the shared database knows, in the order in which they began.
pub(crate) fn runs(database: &Database, problems: &mut Problems) -> Vec<MigrationRun> {
    let wanted = Rows {
        table: "migration_runs",
        needed: &["id", "status"],
        wanted: &[],
        of: None,
        order: &["started_at", "id"],
        most: 100_000,
    };
    let mut found = Vec::new();
    let outcome = database.rows(&wanted, &mut |row| {
        if let (Some(id), Some(status)) = (row.text(0), row.text(1)) {
            // What follows the name are digests of paths.
            found.push(MigrationRun {
                id: id.split(':').next().unwrap_or(id).to_owned(),
                status: status.to_owned(),
            });
        }
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    found
}

/// Returns the files whose stores are not moved, or not completely.
pub(crate) fn live_files(state: &Root, agents: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |path: PathBuf| {
        if walk::is_there(state, &path) {
            found.push(path.display().to_string());
        }
    };
    let of = |agent: &str| Path::new(compat::AGENTS).join(agent);
    for agent in agents {
        look(of(agent).join(compat::SESSIONS).join(compat::SESSION_INDEX));
    }
    for agent in agents {
        look(of(agent).join("agent").join(compat::AUTH_PROFILES));
    }
    look(PathBuf::from(compat::CRON));
    let credentials = walk::files(state, Path::new(compat::CREDENTIALS));
    for end in [compat::PAIRING_END, compat::ALLOW_END] {
        for name in credentials.iter().filter(|name| name.ends_with(end)) {
            look(Path::new(compat::CREDENTIALS).join(name));
        }
    }
    look(PathBuf::from(compat::APPROVALS));
    look(PathBuf::from(compat::DEVICE));
    found
}

/// Returns the files that migrations renamed or put away. Workspaces are the user's and not looked into.
pub(crate) fn left_behind(
    state: &Root,
    workspaces: &[PathBuf],
    problems: &mut Problems,
) -> Vec<String> {
    let skip = |path: &Path| {
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let real = state.real_path().join(path);
        let given = state.path().join(path);
        is_hidden
            || path.ends_with("node_modules")
            || workspaces
                .iter()
                .any(|workspace| *workspace == real || *workspace == given)
    };
    let (files, cut) = walk::below(state, Path::new(""), MAX_FILES, &skip);
    if cut {
        let message = format!("It has more than {MAX_FILES} files; not all of them are looked at.");
        problems.say("", message);
    }
    let mut found: Vec<String> = files
        .into_iter()
        .filter_map(|path| path.into_os_string().into_string().ok())
        .filter(|path| is_left(path))
        .collect();
    found.sort();
    found
}

fn is_left(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let archived = format!("/{}/", compat::IMPORT_ARCHIVE);
    let saved = path
        .strip_prefix("backups/")
        .and_then(|rest| rest.split('/').next())
        .is_some_and(|directory| directory.ends_with("-migration"));
    name.contains(compat::MIGRATED) || path.contains(&archived) || saved
}
