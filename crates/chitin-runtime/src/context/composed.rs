//! Several workspaces as one (A11): what the others add to an agent's own, file by file, so that every byte keeps its path.

use super::claimed;
use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::setup::{Setup, shown};
use chitin_workspace::Workspace;
use chitin_workspace::load::load;
use chitin_workspace::snapshot::Record;
use std::path::Path;
use std::sync::Arc;

/// What an agent has one of: the first workspace that has it gives it.
const ONE_OF: [&str; 3] = ["SOUL.md", "IDENTITY.md", "USER.md"];
/// What adds up: every workspace's is there, the agent's own first.
const ALL_OF: [&str; 2] = ["AGENTS.md", "TOOLS.md"];

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
    for directory in &setup.with {
        let other = other(host, setup, directory)?;
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
                extras.push(Record {
                    extra: true,
                    ..record.clone()
                });
            }
        }
    }
    Ok(Arc::new(Workspace::from_records(
        own.path(),
        setup.contract(),
        records,
    )))
}

fn other(host: &Host, setup: &Setup, directory: &Path) -> Result<Arc<Workspace>, RuntimeError> {
    let unusable = |cause: Box<dyn std::error::Error + Send + Sync>| {
        let message = format!(
            "`{}` cannot be composed with `{}`.",
            shown(directory, host),
            shown(&setup.directory, host)
        );
        RuntimeError::new(ErrorKind::User, message)
            .caused_by(cause)
            .hint("`--with DIR` and `with` in `chitin.json5` name directories that are agents")
    };
    let loaded = load(directory, setup.contract(), &setup.options)
        .map_err(|error| unusable(Box::new(error)))?;
    if !loaded.exists() {
        return Err(unusable("There is no such directory.".into()));
    }
    Ok(loaded)
}
