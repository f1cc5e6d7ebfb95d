//! Directories that agents were run in: how one that was moved finds its sessions and its record of changes again.

use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::identity::{self, AgentIdOrigin};
use crate::notes::Notes;
use crate::setup::{Setup, shown};
use chitin_guard::{DirectoryBirth, ReadPolicy, Root};
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::transcript::Header;
use chitin_store::{Begin, FileStore, RandomIds, SessionStore, StoreError};
use chitin_workspace::state::StateWriter;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where the records are, in Chitin's home: one small file for each directory, found without a list of all.
const RECORDS: &str = "directories";
/// The most that a record has.
const MOST_BYTES: u64 = 64 * 1024;
/// How long it is offered to continue an old conversation, in milliseconds: three days.
const OFFERED_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// How many sessions of the agent `main` are looked at for those that began in this directory.
const MOST_LOOKED_AT: usize = 200;

/// What is known of a directory that an agent was run in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    agent: AgentId,
    path: PathBuf,
    birth: DirectoryBirth,
    /// Since when it is offered to continue here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered_ms: Option<i64>,
    /// Where the record of its changes is, if that came along and its conversation did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changes: Option<ChangesPlace>,
}

/// Which agent and path a record of changes belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ChangesPlace {
    agent: AgentId,
    path: PathBuf,
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
    /// How many conversations came along that were reset before.
    pub archived: usize,
    /// Sessions that began in other directories; `all` takes them too.
    pub elsewhere: usize,
    /// How many facts and notes about users came along.
    pub facts: usize,
}

/// Which sessions are adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdoptWhich {
    /// Those that began in the directory; of an agent that was a directory itself, all.
    OfDirectory,
    /// All.
    All,
}

/// What becomes of a session that a directory has already under the key of one that is adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the other one is not copied.
    Keep,
    /// It goes into the archive.
    Archive,
}

/// Remembers a directory, and says where conversations are that its owner may look for: those of the place where it was before
/// it was moved, and those from the time when every directory shared the agent `main`.
pub(crate) fn visit(host: &Host, setup: &Setup, state: &Path, notes: &Notes) {
    close_to_others(state);
    let Ok(root) = Root::open(&setup.directory) else {
        return;
    };
    if setup.identity == AgentIdOrigin::Configured {
        offer_own(&root, host, setup, state, notes);
    }
    if setup.identity != AgentIdOrigin::Directory {
        return;
    }
    let Some(birth) = root.birth() else {
        return;
    };
    let directory = shown(&setup.directory, host);
    bring_changes_along(state, &setup.agent, &setup.directory);
    let known = read(state, &file_of(birth)).filter(|known| known.birth == birth);
    let here = read(state, &file_of_agent(&setup.agent));
    let now_ms = Host::now_ms();
    let mut record = Record {
        agent: setup.agent.clone(),
        path: root.real_path().to_path_buf(),
        birth,
        offered_ms: None,
        changes: None,
    };
    let is_another = here.is_some_and(|here| here.birth != birth);
    let has_own = || has_sessions(state, &setup.agent, setup);
    if is_another
        && known
            .as_ref()
            .is_none_or(|known| known.agent != setup.agent)
        && has_own()
    {
        notes.note(&format!(
            "the conversation started in another directory that used to be at `{directory}`; `--new` starts a new session"
        ));
    }
    match known {
        Some(known) if known.agent != setup.agent && !is_alive(&known) => {
            let since = known.offered_ms.unwrap_or(now_ms);
            if now_ms.saturating_sub(since) < OFFERED_MS && has_sessions(state, &known.agent, setup)
            {
                let (old, place) = (&known.agent, quoted(&directory));
                notes.note(&format!(
                    "`{directory}` was `{}` before; its conversation is kept as agent `{old}`. `chitin sessions adopt {old} {place} --replace` continues it here",
                    shown(&known.path, host),
                ));
                // What is known stays, so that the offer does too.
                record = Record {
                    offered_ms: Some(since),
                    ..known
                };
            }
            write(state, &file_of(birth), &record);
        }
        Some(known) if known.agent == setup.agent => {}
        Some(_) | None => {
            if !has_own() {
                offer_main(setup, state, &directory, notes);
            }
            write(state, &file_of(birth), &record);
            write(state, &file_of_agent(&setup.agent), &record);
        }
    }
}

impl Setup {
    /// Says where conversations are that the owner of this directory may look for, as the first turn of `chitin run` does.
    pub fn say_where_conversations_are(&self, host: &Host, state: &Path, notes: &Notes) {
        visit(host, self, state, notes);
    }
}

/// Takes the record of changes of a directory that was moved to where it is looked for now, and remembers that.
pub(crate) fn bring_changes_along(state: &Path, agent: &AgentId, directory: &Path) {
    let Ok(root) = Root::open(directory) else {
        return;
    };
    let known = root
        .birth()
        .and_then(|birth| read(state, &file_of(birth)).filter(|known| known.birth == birth));
    let Some(known) = known.filter(|known| !is_alive(known)) else {
        return;
    };
    let here = ChangesPlace {
        agent: agent.clone(),
        path: root.real_path().to_path_buf(),
    };
    let before = known.changes.clone().unwrap_or_else(|| ChangesPlace {
        agent: known.agent.clone(),
        path: known.path.clone(),
    });
    if before == here {
        return;
    }
    let from = (&before.agent, before.path.as_path());
    crate::checkpoints::bring_along(state, from, (agent, directory));
    let record = Record {
        changes: Some(here),
        ..known
    };
    write(state, &file_of(record.birth), &record);
}

/// Takes away what earlier versions gave other users of the machine. A home of another name may be shared on purpose.
fn close_to_others(state: &Path) {
    let Ok(root) = Root::open(state) else {
        return;
    };
    let is_usual = state.file_name().is_some_and(|name| name == ".chitin");
    let home = is_usual.then_some(".");
    for directory in [RECORDS, "cache", "plugin-data"].into_iter().chain(home) {
        let directory = Path::new(directory);
        let bits = root.permissions(directory).unwrap_or_default() & 0o077;
        if bits != 0 {
            // On a disk that cannot be written to it stays as it is.
            let _ = root.remove_permissions(directory, bits);
        }
    }
}

/// Offers the conversations that began in a directory when it was still the agent `main`.
fn offer_main(setup: &Setup, state: &Path, directory: &str, notes: &Notes) {
    let earlier = began_here(setup, state);
    if earlier > 0 {
        let noun = if earlier == 1 {
            "conversation"
        } else {
            "conversations"
        };
        let place = quoted(directory);
        notes.note(&format!(
            "{earlier} {noun} from before each directory had its own sessions: kept as agent `main`. `chitin sessions adopt main {place} --replace` continues here"
        ));
    }
}

/// Offers the conversations of a directory from before configuration gave it to an agent.
fn offer_own(root: &Root, host: &Host, setup: &Setup, state: &Path, notes: &Notes) {
    let own = identity::derived(root.real_path());
    if !has_sessions(state, &setup.agent, setup) && has_sessions(state, &own, setup) {
        let place = quoted(&shown(&setup.directory, host));
        notes.note(&format!(
            "The conversation from before configuration named the agent `{}` is kept as agent `{own}`. `chitin sessions adopt {own} {place}` continues it here",
            setup.agent
        ));
    }
}

/// Tells whether a directory is still where it was: by a bind mount it can be in two places.
fn is_alive(known: &Record) -> bool {
    Root::open(&known.path).is_ok_and(|root| root.birth() == Some(known.birth))
}

/// Spells a path so that a shell takes it for one word.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-~".contains(c);
    if path.chars().all(is_plain) && !path.starts_with('-') {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// Copies the sessions of one agent to that of a directory. Nothing of the old ones changes.
pub fn adopt(
    setup: &Setup,
    state: &Path,
    from: &AgentId,
    which: AdoptWhich,
    existing: Existing,
) -> Result<Adoption, RuntimeError> {
    if *from == setup.agent {
        let message = format!("`{from}` is already the agent of this directory.");
        return Err(RuntimeError::new(ErrorKind::Usage, message));
    }
    let (old, new) = (store(state, from, setup), store(state, &setup.agent, setup));
    let sessions = old.list().map_err(|error| unusable(error, from))?;
    // Facts lie in the workspace, under the id of the agent that noted them.
    let facts = StateWriter::create(&setup.directory)
        .and_then(|writer| writer.copy_facts(from.as_str(), setup.agent.as_str()));
    let facts = facts.map_err(|error| {
        let message = format!(
            "Could not copy the facts of `{from}` in `{}`; nothing was copied.",
            setup.directory.display()
        );
        RuntimeError::new(ErrorKind::User, message).caused_by(error)
    })?;
    if sessions.is_empty() && facts == 0 {
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
        archived: 0,
        elsewhere: 0,
        facts,
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
            new_session: existing == Existing::Archive,
        };
        match new.adopt(&old, &key, &new_key, &begin) {
            Ok(_) => adoption.adopted.push(new_key),
            Err(StoreError::Exists { .. }) => adoption.kept.push(new_key),
            Err(error) => return Err(unusable(error, from)),
        }
    }
    if adoption.adopted.is_empty() && !adoption.kept.is_empty() && facts == 0 {
        let message = format!(
            "The agent `{}` already has all of these sessions, so nothing was copied.",
            setup.agent
        );
        return Err(RuntimeError::new(ErrorKind::User, message)
            .hint("`--replace` archives its own sessions and continues the old ones"));
    }
    let is_wanted = |header: &Header| {
        which == AdoptWhich::All || is_directory || Path::new(&header.cwd) == setup.directory
    };
    adoption.archived = new
        .adopt_archive(&old, is_wanted)
        .map_err(|error| unusable(error, from))?;
    // The offer is taken: this is the place that is known now.
    if let Ok(root) = Root::open(&setup.directory)
        && let Some(birth) = root.birth()
    {
        let record = Record {
            agent: setup.agent.clone(),
            path: root.real_path().to_path_buf(),
            birth,
            offered_ms: None,
            changes: None,
        };
        write(state, &file_of(birth), &record);
        write(state, &file_of_agent(&setup.agent), &record);
    }
    Ok(adoption)
}

fn unusable(error: StoreError, agent: &AgentId) -> RuntimeError {
    let message = format!("Could not read the sessions of `{agent}`.");
    RuntimeError::new(ErrorKind::User, message).caused_by(error)
}

/// How many sessions of `main` began in this directory.
fn began_here(setup: &Setup, state: &Path) -> usize {
    let main = AgentId::normalize(agent_id::MAIN);
    if main == setup.agent {
        return 0;
    }
    let store = store(state, &main, setup);
    let page = store.page(None, MOST_LOOKED_AT).unwrap_or_default();
    let looked_at = page.sessions.iter();
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
    Root::open(store.directory()).is_ok() && store.page(None, 1).is_ok_and(|page| page.total > 0)
}

fn file_of(birth: DirectoryBirth) -> PathBuf {
    Path::new(RECORDS).join(format!("{:x}-{:x}.json", birth.device, birth.inode))
}

fn file_of_agent(agent: &AgentId) -> PathBuf {
    Path::new(RECORDS).join(format!("agent-{agent}.json"))
}

fn read(state: &Path, file: &Path) -> Option<Record> {
    let root = Root::open(state).ok()?;
    let read = root.read(file, &ReadPolicy::inside(MOST_BYTES)).ok()?;
    serde_json::from_slice(&read.bytes).ok()
}

/// Remembering helps later and must never keep a turn from running.
fn write(state: &Path, file: &Path, record: &Record) {
    let Ok(bytes) = serde_json::to_vec(record) else {
        return;
    };
    if Root::create_private(&state.join(RECORDS)).is_ok()
        && let Ok(root) = Root::open(state)
    {
        let _ = root.replace_private(file, &bytes);
    }
}
