//! Several workspaces as one (A11): what the others add to an agent's own, file by file, so that every byte keeps its path.

use super::{claimed, composition};
use crate::error::RuntimeError;
use crate::host::Host;
use crate::setup::{NO_DIRECTORY, Setup};
use chitin_contract::BlockLayout;
use chitin_guard::Root;
use chitin_workspace::Workspace;
use chitin_workspace::adapter::OpenClawAdapter;
use chitin_workspace::load::{load, read_policy};
use chitin_workspace::snapshot::Record;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// What an agent has one of: the first workspace that has it gives it.
const ONE_OF: [&str; 3] = ["SOUL.md", "IDENTITY.md", "USER.md"];
/// What adds up: every workspace's is there, the agent's own first.
const ALL_OF: [&str; 2] = ["AGENTS.md", "TOOLS.md"];
/// The order of the files that a definition is composed of.
const COMPOSED: [&str; 4] = ["IDENTITY.md", "SOUL.md", "USER.md", "AGENTS.md"];

/// Puts the files of other workspaces beside those of the agent's own.
pub(super) fn compose(
    host: &Host,
    setup: &Setup,
    own: &Arc<Workspace>,
    extras: &mut Vec<Record>,
) -> Result<Arc<Workspace>, RuntimeError> {
    if setup.with.is_empty() {
        return Ok(Arc::clone(own));
    }
    let mut records = own.records().to_vec();
    let is_composition = setup.contract().rendering.layout == BlockLayout::Composition;
    let mut rules = Vec::new();
    for directory in &setup.with {
        let other = other(host, setup, directory)?;
        if is_composition {
            add_skills(setup, directory, extras);
        }
        for record in other
            .records()
            .iter()
            .filter(|one| !claimed::is_missing(one))
        {
            let name = &*record.name;
            if ONE_OF.contains(&name) {
                let own = records.iter_mut().find(|one| *one.name == *name);
                match own {
                    Some(own) if claimed::is_missing(own) => *own = record.clone(),
                    Some(_) => {}
                    None => records.push(record.clone()),
                }
            } else if ALL_OF.contains(&name) {
                rules.push(Record {
                    extra: true,
                    ..record.clone()
                });
            }
        }
    }
    if is_composition {
        // What another workspace gave stands where the agent's own would.
        let place = |record: &Record| COMPOSED.iter().position(|name| *name == &*record.name);
        records.sort_by_key(|record| place(record).unwrap_or(COMPOSED.len()));
        // The rules of all stand together, before what extends the definition; `TOOLS.md` is no part of it.
        rules.retain(|one| one.name.as_ref() == "AGENTS.md");
        extras.splice(0..0, rules);
    } else {
        extras.extend(rules);
    }
    Ok(Arc::new(Workspace::from_records(
        own.path(),
        setup.contract(),
        records,
    )))
}

/// Adds the skills of another workspace whose names are not taken.
fn add_skills(setup: &Setup, directory: &Path, extras: &mut Vec<Record>) {
    let (Ok(root), Ok(definition)) = (
        Root::open(directory),
        OpenClawAdapter::default().read(directory),
    ) else {
        return;
    };
    let policy = read_policy(setup.contract(), &setup.options);
    let folder = |record: &Record| {
        record
            .path
            .parent()
            .and_then(Path::file_name)
            .map(OsStr::to_owned)
    };
    let taken: Vec<_> = extras.iter().map(folder).collect();
    let skills = composition::skill_files(&definition, &root, &policy, directory);
    let is_new = |record: &Record| !taken.contains(&folder(record));
    extras.extend(skills.into_iter().filter(is_new));
}

fn other(host: &Host, setup: &Setup, directory: &Path) -> Result<Arc<Workspace>, RuntimeError> {
    let loaded = load(directory, setup.contract(), &setup.options)
        .map_err(|error| setup.not_composed(host, directory, error))?;
    if !loaded.exists() {
        return Err(setup.not_composed(host, directory, NO_DIRECTORY));
    }
    Ok(loaded)
}
