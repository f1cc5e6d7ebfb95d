//! Directories that agents were run in: how one that was moved finds its sessions again.

use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::identity::Identity;
use crate::notes::Notes;
use crate::setup::{Setup, shown};
use chitin_protocol::agent_id::{self, AgentId};
use chitin_store::{Begin, FileStore, RandomIds, SessionStore, StoreError};
use chitin_workspace::guard::{DirectoryBirth, ReadPolicy, Root};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where the records are, in Chitin's home: one small file for each directory, found without a list of all.
const RECORDS: &str = "directories";
/// The most that a record has.
const MOST_BYTES: u64 = 64 * 1024;
/// How many sessions of the agent `main` are looked at for those that began in this directory.
const MOST_LOOKED_AT: usize = 200;

/// What is known of a directory that an agent was run in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    agent: AgentId,
    path: PathBuf,
    birth: DirectoryBirth,
}

/// What an adoption did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Adoption {
    /// The agent that the sessions came from; its own are still there.
    pub from: AgentId,
    /// The agent that has them now.
    pub to: AgentId,
    /// The new keys.
    pub adopted: Vec<String>,
    /// Keys that the agent had already; those sessions stayed as they were.
    pub kept: Vec<String>,
    /// Sessions that began in other directories; `all` takes them too.
    pub elsewhere: usize,
}

/// Which sessions are adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdoptWhich {
    /// Those that began in the directory; of an agent that was a directory itself, all.
    OfDirectory,
    /// All.
    All,
}

/// Remembers a directory before its first turn, and says where conversations are that its owner may look for: those of the
/// place where it was before it was moved, and those from the time when every directory shared the agent `main`.
pub(crate) fn visit(host: &Host, setup: &Setup, state: &Path, notes: &Notes) {
    if setup.identity != Identity::Directory {
        return;
    }
    let Ok(root) = Root::open(&setup.directory) else {
        return;
    };
    let directory = shown(&setup.directory, host);
    let birth = root.birth();
    let known = birth.and_then(|birth| read(state, birth));
    let moved = known.as_ref().filter(|known| known.agent != setup.agent);
    let is_new = !has_sessions(state, &setup.agent, setup);
    if let Some(known) = moved.filter(|known| has_sessions(state, &known.agent, setup)) {
        // Where its owner went on without it, the old conversation was offered before.
        if is_new {
            notes.note(&format!(
                "`{directory}` was `{}` before; its conversation is kept as agent `{}`. `chitin sessions adopt {} {directory}` continues it here",
                shown(&known.path, host),
                known.agent,
                known.agent,
            ));
        }
    } else if is_new {
        let earlier = began_here(setup, state);
        if earlier > 0 {
            let noun = if earlier == 1 {
                "conversation"
            } else {
                "conversations"
            };
            notes.note(&format!(
                "{earlier} {noun} from before each directory had its own sessions: kept as agent `main`. `chitin sessions adopt main {directory}` continues here"
            ));
        }
    }
    let is_known = known
        .as_ref()
        .is_some_and(|known| known.agent == setup.agent);
    let Some(birth) = birth.filter(|_| !is_known) else {
        return;
    };
    // An offer to continue stands until something is said here; only then is the new place what is known.
    if moved.is_none() || !is_new {
        write(
            state,
            &Record {
                agent: setup.agent.clone(),
                path: root.real_path().to_path_buf(),
                birth,
            },
        );
    }
}

/// Copies the sessions of one agent to that of a directory. Nothing of the old ones changes.
pub fn adopt(
    setup: &Setup,
    state: &Path,
    from: &AgentId,
    which: AdoptWhich,
) -> Result<Adoption, RuntimeError> {
    if *from == setup.agent {
        let message = format!("`{from}` is the agent of this directory already.");
        return Err(RuntimeError::new(ErrorKind::Usage, message));
    }
    let (old, new) = (store(state, from, setup), store(state, &setup.agent, setup));
    let sessions = old.list().map_err(|error| unusable(error, from))?;
    if sessions.is_empty() {
        let message = format!("The agent `{from}` has no sessions.");
        return Err(RuntimeError::new(ErrorKind::User, message)
            .hint("`chitin sessions --agent ID` lists the sessions of an agent"));
    }
    let is_directory = crate::setup::is_derived(from, setup);
    let workspace = setup.directory.display().to_string();
    let mut adoption = Adoption {
        from: from.clone(),
        to: setup.agent.clone(),
        adopted: Vec::new(),
        kept: Vec::new(),
        elsewhere: 0,
    };
    for (key, _) in sessions {
        let prefix = format!("agent:{from}:");
        let Some(rest) = key.strip_prefix(&prefix) else {
            continue;
        };
        if which == AdoptWhich::OfDirectory && !is_directory && !began_in(&old, &key, setup) {
            adoption.elsewhere += 1;
            continue;
        }
        let new_key = format!("agent:{}:{rest}", setup.agent);
        let begin = Begin {
            workspace: &workspace,
            now: &Host::now(),
            now_ms: Host::now_ms(),
            afresh: false,
        };
        match new.adopt(&old, &key, &new_key, &begin) {
            Ok(_) => adoption.adopted.push(new_key),
            Err(StoreError::Exists { .. }) => adoption.kept.push(new_key),
            Err(error) => return Err(unusable(error, from)),
        }
    }
    Ok(adoption)
}

fn unusable(error: StoreError, agent: &AgentId) -> RuntimeError {
    let message = format!("The sessions of `{agent}` cannot be read.");
    RuntimeError::new(ErrorKind::User, message).caused_by(error)
}

/// How many sessions of `main` began in this directory.
fn began_here(setup: &Setup, state: &Path) -> usize {
    let main = AgentId::normalize(agent_id::MAIN);
    if main == setup.agent {
        return 0;
    }
    let store = store(state, &main, setup);
    let sessions = store.list().unwrap_or_default();
    let looked_at = sessions.iter().take(MOST_LOOKED_AT);
    looked_at
        .filter(|(key, _)| began_in(&store, key, setup))
        .count()
}

fn began_in(store: &FileStore, key: &str, setup: &Setup) -> bool {
    store
        .header(key)
        .is_ok_and(|header| Path::new(&header.cwd) == setup.directory)
}

fn store(state: &Path, agent: &AgentId, setup: &Setup) -> FileStore {
    let directory = FileStore::directory_of(state, agent.as_str());
    FileStore::new(directory, &setup.contract().runtime.transcript, RandomIds)
}

fn has_sessions(state: &Path, agent: &AgentId, setup: &Setup) -> bool {
    let store = store(state, agent, setup);
    // Most directories have none: then there is no index to read.
    Root::open(store.directory()).is_ok() && store.list().is_ok_and(|list| !list.is_empty())
}

fn file_of(birth: DirectoryBirth) -> PathBuf {
    Path::new(RECORDS).join(format!("{:x}-{:x}.json", birth.device, birth.inode))
}

fn read(state: &Path, birth: DirectoryBirth) -> Option<Record> {
    let root = Root::open(state).ok()?;
    let read = root
        .read(&file_of(birth), &ReadPolicy::inside(MOST_BYTES))
        .ok()?;
    let record: Record = serde_json::from_slice(&read.bytes).ok()?;
    // An inode that is used again is another directory.
    (record.birth == birth).then_some(record)
}

/// Remembering helps later and must never keep a turn from running.
fn write(state: &Path, record: &Record) {
    let Ok(bytes) = serde_json::to_vec(record) else {
        return;
    };
    if let Ok((root, _)) = Root::create(state) {
        let _ = root.make_directories(Path::new(RECORDS));
        let _ = root.replace(&file_of(record.birth), &bytes);
    }
}
