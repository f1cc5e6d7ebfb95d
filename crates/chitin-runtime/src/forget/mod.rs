//! Sessions that are deleted and forgotten: everything that each part of the system keeps of them goes, and then the whole home is searched for what may be left.
//!
//! Each part removes its own files by a function of its own crate; nothing here knows their formats. Doing it again completes what a crash interrupted: the
//! transcripts and the note of the key, by which all the rest is found, go last.

mod samples;
mod search;

use crate::error::{ErrorKind, RuntimeError};
use crate::memory::INDEXES;
use crate::serve::JOB_LOG;
use crate::{Host, Setup, checkpoints, factory};
use chitin_agent::journal::{self, ForgetMode, RecordedSession, RecordingPlaces};
use chitin_gateway::HostError;
use chitin_gateway::forget::{
    ForgetError, ForgetReport, ForgetRequest, ForgottenSession, MOST_SESSIONS, forget_jobs,
    is_job_of,
};
use chitin_guard::{LinkPolicy, Root};
use chitin_memory::index as memory_index;
use chitin_store::{
    FileStore, JobLog, RandomIds, SessionFiles, SessionStore, StillOpen, StoreError,
};
use chitin_undo::TurnInfo;
use samples::Samples;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// How many agents have a directory at most.
const MOST_AGENTS: usize = 100_000;

/// What becomes of messages of sessions that are deleted, which nobody answered yet. Only where no server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnansweredMessages {
    /// Nothing is deleted then.
    Refuse,
    /// They go, too.
    Drop,
}

/// Where the job log is.
enum Jobs<'a> {
    /// A gateway has it.
    Served(&'a JobLog),
    /// Nobody had it; it is held until all is done, so that no server starts meanwhile.
    Held(Option<JobLog>),
}

/// A session that is forgotten.
struct Target {
    key: String,
    began_by: Option<String>,
    store: FileStore,
    files: SessionFiles,
}

/// Forgets sessions while no server uses the home.
pub fn forget_sessions(
    host: &Host,
    setup: &Setup,
    state: &Path,
    request: &ForgetRequest,
    unanswered: UnansweredMessages,
) -> Result<ForgetReport, RuntimeError> {
    let directory = state.join(JOB_LOG);
    let held = if chitin_guard::exists(&directory) && !request.dry_run {
        let (log, open) = JobLog::open(&directory).map_err(|error| match error {
            StoreError::Busy { .. } => RuntimeError::new(
                ErrorKind::Refused,
                "A server uses the sessions, and its address is not known.",
            )
            .hint("stop `chitin serve` first"),
            error => error.into(),
        })?;
        let keys: HashSet<String> = targets(setup, state, request)
            .map_err(told)?
            .into_iter()
            .map(|target| target.key)
            .collect();
        let waiting = open.iter().filter(|item| is_job_of(&item.body, &keys));
        let waiting = waiting.count();
        if waiting > 0 && unanswered == UnansweredMessages::Refuse {
            let what =
                format!("Messages that nobody answered yet: {waiting}. Nothing was deleted.");
            return Err(RuntimeError::new(ErrorKind::Refused, what)
                .hint("`--stop` deletes them, too; `chitin serve` answers them"));
        }
        Some(log)
    } else {
        None
    };
    forget(host, setup, state, request, &Jobs::Held(held)).map_err(told)
}

/// Forgets sessions for a gateway. Messages that come in meanwhile stay.
pub(crate) fn forget_served(
    host: &Host,
    setup: &Setup,
    state: &Path,
    request: &ForgetRequest,
    log: &JobLog,
) -> Result<ForgetReport, ForgetError> {
    forget(host, setup, state, request, &Jobs::Served(log))
}

fn forget(
    host: &Host,
    setup: &Setup,
    state: &Path,
    request: &ForgetRequest,
    jobs: &Jobs<'_>,
) -> Result<ForgetReport, ForgetError> {
    let targets = targets(setup, state, request)?;
    for target in targets.iter().filter(|_| !request.dry_run) {
        if target.store.is_in_use(&target.key).map_err(stored)? {
            return Err(ForgetError::Busy {
                key: target.key.clone(),
            });
        }
    }
    let mut report = ForgetReport {
        dry_run: request.dry_run,
        sessions: targets.iter().map(Target::summary).collect(),
        notes: notes(setup, &targets),
        ..ForgetReport::default()
    };
    let samples = Samples::of(targets.iter().flat_map(|target| &target.files.transcripts));
    let parts = Parts {
        host,
        setup,
        state,
        keys: targets.iter().map(|target| target.key.clone()).collect(),
        ids: ids(&targets),
        agents: targets.iter().filter_map(agent_directory).collect(),
        mode: if request.dry_run {
            ForgetMode::DryRun
        } else {
            ForgetMode::Forget
        },
    };
    parts.turns_and_recordings(&mut report)?;
    parts.typed(&samples, &mut report)?;
    if !request.dry_run {
        let log = match jobs {
            Jobs::Served(log) => Some((*log, StillOpen::Keep)),
            Jobs::Held(log) => log.as_ref().map(|log| (log, StillOpen::Close)),
        };
        if let Some((log, open)) = log {
            report.jobs = forget_jobs(log, &parts.keys, open).map_err(stored)?;
        }
        for target in &targets {
            target.store.forget(&target.key).map_err(stored)?;
        }
    }
    // After the transcripts: a search meanwhile would take them up again.
    parts.memory(&mut report)?;
    if !request.dry_run {
        let words = samples.words(&parts.ids);
        let found = search::search(state, &exports(setup), &words);
        report.searched = Some(found.searched);
        report.left = found.left;
    }
    Ok(report)
}

/// Finds the sessions that are meant, and those that they began.
fn targets(
    setup: &Setup,
    state: &Path,
    request: &ForgetRequest,
) -> Result<Vec<Target>, ForgetError> {
    if request.keys.len() > MOST_SESSIONS {
        let what = format!("At most {MOST_SESSIONS} sessions are deleted at once.");
        return Err(HostError::new(what).into());
    }
    let rules = setup.contract().runtime.transcript;
    let store =
        |agent: &str| FileStore::new(FileStore::directory_of(state, agent), &rules, RandomIds);
    let agents = agents(state);
    // Whoever began whom, over all agents.
    let mut children: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for agent in &agents {
        for (key, entry) in store(agent).list().map_err(stored)? {
            if let Some(parent) = entry.spawned_by {
                children
                    .entry(parent)
                    .or_default()
                    .push((agent.clone(), key));
            }
        }
    }
    let mut targets: Vec<Target> = Vec::new();
    let mut waiting: Vec<(String, String, Option<String>)> = Vec::new();
    for key in &request.keys {
        let agent = agent_of(key).unwrap_or_else(|| setup.agent.to_string());
        waiting.push((agent, key.clone(), None));
    }
    let mut seen = HashSet::new();
    while let Some((agent, key, began_by)) = waiting.pop() {
        if !seen.insert(key.clone()) {
            continue;
        }
        let store = store(&agent);
        let files = match store.files_of_session(&key) {
            Ok(files) => files,
            Err(StoreError::Unknown { .. }) if began_by.is_some() => continue,
            Err(StoreError::Unknown { key }) => return Err(ForgetError::Unknown { key }),
            Err(error) => return Err(stored(error)),
        };
        for (agent, child) in children.get(&key).into_iter().flatten() {
            waiting.push((agent.clone(), child.clone(), Some(key.clone())));
        }
        targets.push(Target {
            key,
            began_by,
            store,
            files,
        });
    }
    targets.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(targets)
}

/// Returns the agents that have a directory.
fn agents(state: &Path) -> Vec<String> {
    let sessions = FileStore::directory_of(state, "main");
    let root = sessions
        .ancestors()
        .nth(2)
        .and_then(|agents| Root::open(agents).ok());
    let Some(root) = root else {
        return Vec::new();
    };
    let listed = root.list(Path::new(""), &LinkPolicy::Refuse, MOST_AGENTS);
    let names = listed.unwrap_or_default().into_iter();
    names
        .filter_map(|entry| entry.name.into_string().ok())
        .collect()
}

/// Returns the agent that a whole key names.
pub(crate) fn agent_of(key: &str) -> Option<String> {
    let (agent, _) = key.strip_prefix("agent:")?.split_once(':')?;
    Some(agent.to_owned())
}

/// Returns every id that the sessions have or had.
fn ids(targets: &[Target]) -> Vec<String> {
    let ids = targets.iter().flat_map(|target| target.files.ids.clone());
    ids.collect()
}

fn agent_directory(target: &Target) -> Option<PathBuf> {
    target.store.directory().parent().map(Path::to_path_buf)
}

impl Target {
    fn summary(&self) -> ForgottenSession {
        ForgottenSession {
            key: self.key.clone(),
            began_by: self.began_by.clone(),
            transcripts: self.files.transcripts.len(),
            files: self.files.files.len(),
            bytes: self.files.bytes,
        }
    }
}

/// What is forgotten, and where.
struct Parts<'a> {
    host: &'a Host,
    setup: &'a Setup,
    state: &'a Path,
    keys: HashSet<String>,
    ids: Vec<String>,
    /// The directories of the agents.
    agents: HashSet<PathBuf>,
    mode: ForgetMode,
}

impl Parts<'_> {
    fn turns_and_recordings(&self, report: &mut ForgetReport) -> Result<(), ForgetError> {
        let is_meant = |turn: &TurnInfo| self.keys.contains(&turn.session);
        let records: Vec<PathBuf> = self
            .agents
            .iter()
            .flat_map(|agent| checkpoints::records(agent))
            .collect();
        let mut runs = HashSet::new();
        for record in &records {
            let turns = chitin_undo::turns_of(record, &is_meant).map_err(failed)?;
            report.turns.turns += turns.len();
            runs.extend(turns.into_iter().map(|turn| turn.id));
        }
        let mut switches = factory::switches(self.host, self.setup, self.state);
        if switches.trajectory.is_none() {
            // What is switched off today may have been recorded yesterday.
            switches.trajectory =
                crate::traces::switches(self.host, self.setup.contract()).trajectory;
        }
        let places = RecordingPlaces {
            state: self.state,
            switches: &switches,
        };
        let session = RecordedSession {
            keys: self.keys.iter().cloned().collect(),
            ids: self.ids.clone(),
            runs,
        };
        let gone = journal::forget(places, &session, self.mode).map_err(failed)?;
        report.recordings.files = gone.files.len();
        report.recordings.lines = gone.lines;
        if self.mode == ForgetMode::DryRun {
            return Ok(());
        }
        for record in &records {
            let gone = chitin_undo::forget(record, &is_meant).map_err(failed)?;
            report.turns.contents += gone.contents;
            report.turns.bytes += gone.bytes;
        }
        Ok(())
    }

    fn memory(&self, report: &mut ForgetReport) -> Result<(), ForgetError> {
        let directory = self.state.join(INDEXES);
        let Ok(root) = Root::open(&directory) else {
            return Ok(());
        };
        let listed = root.list(Path::new(""), &LinkPolicy::Refuse, MOST_AGENTS);
        let begins: Vec<String> = self
            .ids
            .iter()
            .map(|id| format!("{id}{}", chitin_store::compat::TRANSCRIPT))
            .collect();
        for entry in listed.unwrap_or_default() {
            let path = directory.join(&entry.name);
            if path.extension().is_none_or(|end| end != "sqlite") {
                continue;
            }
            match self.mode {
                ForgetMode::DryRun => {
                    report.memory_pieces +=
                        memory_index::pieces_of(&path, &begins).map_err(failed)?;
                }
                ForgetMode::Forget => {
                    let gone = memory_index::forget(&path, &begins).map_err(failed)?;
                    report.memory_pieces += gone.pieces;
                    report.memory_indexes_discarded += usize::from(gone.discarded);
                }
            }
        }
        Ok(())
    }

    /// Forgets what the terminal remembers of what was typed.
    fn typed(&self, samples: &Samples, report: &mut ForgetReport) -> Result<(), ForgetError> {
        let path = self.state.join(crate::TYPED_LINES);
        let gone = samples.typed_in(&path, self.mode).map_err(failed)?;
        report.typed_lines = gone;
        Ok(())
    }
}

/// Returns where recordings are exported to when nobody says where.
fn exports(setup: &Setup) -> PathBuf {
    journal::exports_directory(&setup.directory)
}

/// Says what lies elsewhere and is not touched.
fn notes(setup: &Setup, targets: &[Target]) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Files of the workspace stay as they are, also those that the agent wrote: `{}`.",
            setup.directory.display()
        ),
        "Backups, exports and artifacts that were made before are not searched for outside of Chitin's home; neither is what was sent to models and channels.".to_owned(),
    ];
    let parents: Vec<String> = targets
        .iter()
        .filter(|target| target.began_by.is_none())
        .filter_map(|target| target.files.entry.as_ref()?.spawned_by.clone())
        .collect();
    for parent in parents {
        notes.push(format!(
            "The session was begun by `{parent}`, whose transcript has its task and its replies."
        ));
    }
    notes
}

fn stored(error: StoreError) -> ForgetError {
    match error {
        StoreError::Busy { key } => ForgetError::Busy { key },
        StoreError::Unknown { key } => ForgetError::Unknown { key },
        error => {
            let hint = error.hint().map(str::to_owned);
            HostError {
                hint,
                ..HostError::new(sentence(&error))
            }
            .into()
        }
    }
}

fn failed(error: impl std::error::Error) -> ForgetError {
    HostError::new(sentence(&error)).into()
}

/// Writes an error and what led to it as a sentence.
fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    crate::display::sentence(&text)
}

fn told(error: ForgetError) -> RuntimeError {
    match error {
        ForgetError::Busy { key } => RuntimeError::new(
            ErrorKind::Refused,
            format!("A process has the session `{key}` open. Nothing was deleted."),
        )
        .hint("wait until its turn is over"),
        ForgetError::Unknown { key } => {
            RuntimeError::new(ErrorKind::User, format!("There is no session `{key}`."))
                .hint("`chitin sessions` lists them")
        }
        ForgetError::Failed(error) => {
            let told = RuntimeError::new(ErrorKind::User, error.message);
            match error.hint {
                Some(hint) => told.hint(hint),
                None => told,
            }
        }
    }
}
