//! What turns change in a workspace, kept in Chitin's home beside the sessions of the agent.

use crate::setup::{Setup, state_roots};
use crate::{Host, chitin_home};
use chitin_agent::checkpoint::{Checkpoints, OpenCheckpoint, WritingTurn};
use chitin_guard::{DirectoryEntryKind, Fingerprint, LinkPolicy, Root};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::settings::UndoSettings;
use chitin_tools::exec::UndoCovers;
use chitin_tools::redact::Redactor;
use chitin_undo::{
    ActiveTurn, Checkpoint, FilePath, History, IgnoreRules, Limits, Options, TurnInfo,
};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;

/// The directory beside that of the sessions.
pub(crate) const DIRECTORY: &str = "undo";
/// How much of the hash of a workspace's path names its history.
const HASH_CHARS: usize = 16;
/// How often a turn that writes gives a sign of life.
const BEAT: Duration = Duration::from_secs(1);
/// How many workspaces an agent has at most.
const MOST_RECORDS: usize = 100_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Setup {
    /// Returns what turns changed in the workspace; nothing if there is no home to keep it in.
    pub fn history(&self, host: &Host) -> Option<History> {
        let own = self.configuration.layers.settings(Some(&self.agent));
        let state = chitin_home(host)?;
        crate::directories::bring_changes_along(&state, &self.agent, &self.directory);
        Some(history(host, self, &state, &self.directory, &own.undo))
    }
}

fn history(
    host: &Host,
    setup: &Setup,
    state: &Path,
    workspace: &Path,
    own: &UndoSettings,
) -> History {
    History::new(
        directory(state, &setup.agent, workspace),
        workspace,
        options(host, setup, own),
    )
}

fn options(host: &Host, setup: &Setup, own: &UndoSettings) -> Options {
    let usual = Limits::default();
    let limits = Limits {
        max_bytes: own.max_bytes.unwrap_or(usual.max_bytes),
        max_age_ms: own
            .max_age_days
            .map_or(usual.max_age_ms, |days| i64::from(days) * DAY_MS),
        max_file_bytes: own.max_file_bytes.unwrap_or(usual.max_file_bytes),
        ..usual
    };
    Options {
        limits,
        ignore: IgnoreRules::new(own.ignore.as_deref().unwrap_or_default()),
        excluded: state_roots(host, setup.contract()),
    }
}

/// Returns what tells whether undo brings back what a file of the workspace holds, by its real path: whether it is recorded at all, and
/// not too large.
pub(crate) fn undo_covers(host: &Host, setup: &Setup) -> UndoCovers {
    let own = setup.configuration.layers.settings(Some(&setup.agent)).undo;
    let workspace = crate::identity::real_path(&setup.directory);
    let is_enabled = own.enabled.unwrap_or(true);
    let Options {
        limits,
        ignore,
        excluded,
    } = options(host, setup, &own);
    Arc::new(move |file| {
        let inside = file.strip_prefix(&workspace).ok().and_then(FilePath::of);
        is_enabled
            && inside.is_some_and(|path| !ignore.covers(&path))
            && !excluded.iter().any(|root| file.starts_with(root))
            && Fingerprint::of_path(file).is_some_and(|now| now.size <= limits.max_file_bytes)
    })
}

/// Returns the records of changes of an agent, one for each of its workspaces, by the directory of the agent.
pub(crate) fn records(agent: &Path) -> Vec<PathBuf> {
    let directory = agent.join(DIRECTORY);
    let Ok(root) = Root::open(&directory) else {
        return Vec::new();
    };
    let listed = root.list(Path::new(""), &LinkPolicy::Refuse, MOST_RECORDS);
    let listed = listed.unwrap_or_default().into_iter();
    listed
        .filter(|entry| entry.kind == DirectoryEntryKind::Directory)
        .map(|entry| directory.join(&entry.name))
        .collect()
}

/// Returns the path below the directory of a record of changes, of a path in Chitin's home; nothing if it is in none.
pub(crate) fn below_record(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    let agent: PathBuf = parts.by_ref().take(2).collect();
    let sessions =
        chitin_store::FileStore::directory_of(Path::new(""), agent.file_name()?.to_str()?);
    let is_record = sessions.parent() == Some(&*agent)
        && parts.next()?.as_os_str() == DIRECTORY
        && parts.next().is_some();
    let below: PathBuf = parts.collect();
    (is_record && !below.as_os_str().is_empty()).then_some(below)
}

/// Takes the history of a directory that was moved to where it is looked for now. One that is there already stays. What fails
/// leaves it where it was.
pub(crate) fn bring_along(state: &Path, from: (&AgentId, &Path), to: (&AgentId, &Path)) {
    let (old, new) = (
        directory(state, from.0, from.1),
        directory(state, to.0, to.1),
    );
    let Ok(root) = Root::open(state) else {
        return;
    };
    let below = |path: &Path| path.strip_prefix(state).map(Path::to_path_buf);
    let (Ok(old), Ok(new)) = (below(&old), below(&new)) else {
        return;
    };
    if root.kind(&old) != Some(DirectoryEntryKind::Directory) || root.kind(&new).is_some() {
        return;
    }
    let parent = new.parent().unwrap_or(&new);
    if Root::create_private(&state.join(parent)).is_ok() {
        let _ = root.rename_new(&old, &new);
    }
}

/// Returns the history of a workspace for whoever only reads contents.
pub(crate) fn to_read(state: &Path, agent: &AgentId, workspace: &Path) -> History {
    let directory = directory(state, agent, workspace);
    History::new(directory, workspace, Options::default())
}

/// Returns where the history of a workspace is: an agent may have several workspaces, and a workspace several agents.
fn directory(state: &Path, agent: &AgentId, workspace: &Path) -> PathBuf {
    let real = crate::identity::real_path(workspace);
    let hash = blake3::hash(real.as_os_str().as_bytes()).to_hex();
    let sessions = chitin_store::FileStore::directory_of(state, agent.as_str());
    let beside = sessions.parent().unwrap_or(state);
    beside.join(DIRECTORY).join(&hash[..HASH_CHARS])
}

/// Keeps what turns change, for [`chitin_agent::turn::Agent`].
pub(crate) struct WorkspaceCheckpoints {
    history: History,
    is_enabled: bool,
    redactor: Arc<Redactor>,
    /// Whether the user was told what is not covered.
    is_told: AtomicBool,
}

impl WorkspaceCheckpoints {
    pub(crate) fn new(
        host: &Host,
        setup: &Setup,
        state: &Path,
        workspace: &Path,
        redactor: &Arc<Redactor>,
    ) -> Self {
        let own = setup.configuration.layers.settings(Some(&setup.agent)).undo;
        Self {
            history: history(host, setup, state, workspace, &own),
            is_enabled: own.enabled.unwrap_or(true),
            redactor: Arc::clone(redactor),
            is_told: AtomicBool::new(false),
        }
    }

    fn notes(&self, checkpoint: &Checkpoint) -> Vec<String> {
        let Some(first) = checkpoint.uncovered.first() else {
            return Vec::new();
        };
        if self.is_told.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        let others = match checkpoint.uncovered.len() - 1 {
            0 => String::new(),
            1 => ", and 1 other file is not covered".to_owned(),
            count => format!(", and {count} other files are not covered"),
        };
        let (path, reason) = (&first.path, first.reason.meaning());
        vec![format!("undo does not cover `{path}`: it {reason}{others}")]
    }
}

impl Checkpoints for WorkspaceCheckpoints {
    fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    fn record(&self) -> Result<Vec<String>, String> {
        let recorded = self.history.checkpoint(Host::now_ms());
        recorded
            .map(|checkpoint| self.notes(&checkpoint))
            .map_err(|error| error.to_string())
    }

    fn begin(&self, turn: WritingTurn<'_>) -> Result<Box<dyn OpenCheckpoint>, String> {
        let message = self.redactor.redact(turn.message);
        let info = TurnInfo::new(turn.run_id, turn.session_key, &message);
        let begun = self.history.begin(info, Host::now_ms());
        let turn = Arc::new(Mutex::new(Some(begun.map_err(|error| error.to_string())?)));
        let beating = tokio::spawn(beat(Arc::clone(&turn)));
        Ok(Box::new(WritingCheckpoint {
            history: self.history.clone(),
            turn,
            beating: beating.abort_handle(),
        }))
    }

    fn miss(&self) {
        // The user was told of the cause; that this cannot be noted either says no more.
        let _ = self.history.miss();
    }
}

/// Says every second that the turn is alive, so that after a crash it is known when it ended.
async fn beat(turn: Arc<Mutex<Option<ActiveTurn>>>) {
    loop {
        tokio::time::sleep(BEAT).await;
        match &*turn.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(turn) => turn.sign_of_life(),
            None => return,
        }
    }
}

struct WritingCheckpoint {
    history: History,
    turn: Arc<Mutex<Option<ActiveTurn>>>,
    beating: AbortHandle,
}

impl OpenCheckpoint for WritingCheckpoint {
    fn end(self: Box<Self>) -> Result<Vec<String>, String> {
        let turn = self
            .turn
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(turn) = turn else {
            return Ok(Vec::new());
        };
        let ended = self.history.end(turn, Host::now_ms());
        ended.map(|_| Vec::new()).map_err(|error| error.to_string())
    }
}

impl Drop for WritingCheckpoint {
    fn drop(&mut self) {
        self.beating.abort();
        // The claim goes with it: a turn that is not over counts as interrupted.
        self.turn
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}
