//! What the owner allowed for good, one file for each answer: giving one and taking one back never touch another.

use crate::error::{ErrorKind, RuntimeError};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, ReadPolicy, Root, WriteOutcome};
use chitin_store::FileStore;
use chitin_tools::approval::{ApprovalStore, RememberedApproval};
use chitin_tools::redact::mask_assignments;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The directory of an agent's answers, beside its sessions.
const DIRECTORY: &str = "approvals";
const ENDING: &str = "json";
/// How many answers an agent keeps.
const MOST: usize = 1_000;
/// How large a file of one is at most.
const LONGEST: u64 = 64 * 1024;

/// The answers of an agent.
#[derive(Debug)]
pub struct ApprovalFiles {
    directory: PathBuf,
}

/// An answer, and whose it is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentApproval {
    /// The agent.
    pub agent: String,
    /// The answer.
    #[serde(flatten)]
    pub approval: RememberedApproval,
}

impl ApprovalFiles {
    /// Finds those of an agent beneath Chitin's home.
    pub fn of(state: &Path, agent: &str) -> Self {
        let sessions = FileStore::directory_of(state, agent);
        Self {
            directory: sessions.with_file_name(DIRECTORY),
        }
    }

    fn add(&self, tool: &str, pattern: &str) -> Result<(), RuntimeError> {
        let failed = || RuntimeError::new(ErrorKind::User, "Could not store the approval.");
        if self.remembered().len() >= MOST {
            return Err(failed().hint("`chitin approvals revoke ID` removes one"));
        }
        let id = uuid::Uuid::new_v4().simple().to_string();
        let approval = RememberedApproval {
            id: id[..8].to_owned(),
            tool: tool.to_owned(),
            pattern: pattern.to_owned(),
            allowed_at: jiff::Timestamp::now().as_millisecond(),
        };
        let text = serde_json::to_string(&approval).map_err(|error| failed().caused_by(error))?;
        let root =
            Root::create_private(&self.directory).map_err(|error| failed().caused_by(error))?;
        let new = root
            .begin_file(Path::new(""), 0o600)
            .map_err(|error| failed().caused_by(error))?;
        writeln!(new.file(), "{text}").map_err(|error| failed().caused_by(error))?;
        let name = PathBuf::from(&approval.id).with_extension(ENDING);
        match root.keep_file(new, &name) {
            Ok(WriteOutcome::Created) => Ok(()),
            Ok(WriteOutcome::AlreadyThere) => Err(failed()),
            Err(error) => Err(failed().caused_by(error)),
        }
    }
}

impl ApprovalStore for ApprovalFiles {
    fn remembered(&self) -> Vec<RememberedApproval> {
        let Ok(root) = Root::open(&self.directory) else {
            return Vec::new();
        };
        let names = root.list(Path::new(""), &LinkPolicy::Refuse, 2 * MOST);
        let mut found: Vec<RememberedApproval> = names
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.kind == DirectoryEntryKind::File)
            .filter_map(|entry| {
                let read = root
                    .read(Path::new(&entry.name), &ReadPolicy::inside(LONGEST))
                    .ok()?;
                serde_json::from_slice(&read.bytes).ok()
            })
            .collect();
        found.sort_by(|a, b| (a.allowed_at, &a.id).cmp(&(b.allowed_at, &b.id)));
        found
    }

    fn remember(&self, tool: &str, pattern: &str) -> Result<(), String> {
        self.add(tool, pattern).map_err(|error| error.with_causes())
    }
}

/// Lists what was allowed for good, for all agents, as people are shown it: without what looks like secrets in commands.
pub fn approvals(state: &Path) -> Vec<AgentApproval> {
    let agents = agents(state).into_iter();
    let all = agents.flat_map(|agent| {
        let remembered = ApprovalFiles::of(state, &agent).remembered();
        remembered.into_iter().map(move |approval| AgentApproval {
            agent: agent.clone(),
            approval: RememberedApproval {
                pattern: mask_assignments(&approval.pattern).0.into_owned(),
                ..approval
            },
        })
    });
    all.collect()
}

/// Takes back what was allowed under an id; tells what it was.
pub fn revoke_approval(state: &Path, id: &str) -> Result<Option<AgentApproval>, RuntimeError> {
    let Some(found) = approvals(state)
        .into_iter()
        .find(|one| one.approval.id == id)
    else {
        return Ok(None);
    };
    let failed = || RuntimeError::new(ErrorKind::User, format!("Could not revoke `{id}`."));
    let files = ApprovalFiles::of(state, &found.agent);
    let root = Root::open(&files.directory).map_err(|error| failed().caused_by(error))?;
    let name = PathBuf::from(id).with_extension(ENDING);
    root.remove_file(&name)
        .map_err(|error| failed().caused_by(error))?;
    Ok(Some(found))
}

fn agents(state: &Path) -> Vec<String> {
    let sessions = FileStore::directory_of(state, "main");
    let Some(root) = sessions
        .ancestors()
        .nth(2)
        .and_then(|agents| Root::open(agents).ok())
    else {
        return Vec::new();
    };
    let names = root.list(Path::new(""), &LinkPolicy::Refuse, 100_000);
    let names = names.unwrap_or_default().into_iter();
    let mut names: Vec<String> = names
        .filter(|entry| entry.kind == DirectoryEntryKind::Directory)
        .filter_map(|entry| entry.name.into_string().ok())
        .collect();
    names.sort();
    names
}
