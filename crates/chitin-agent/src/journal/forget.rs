//! Forgetting a session in what is written down for people who debug: its trajectories go, and so does every line about it in the logs that all
//! sessions share.

use super::compat;
use super::contents::RecordedContents;
use super::fs;
use super::read::{TraceError, find, read};
use super::switches::Switches;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What is forgotten, by all the names under which it was written down.
#[derive(Debug, Clone, Default)]
pub struct RecordedSession {
    /// The keys.
    pub keys: Vec<String>,
    /// The ids.
    pub ids: Vec<String>,
    /// Turns that are known already; those that the logs name are found.
    pub runs: HashSet<String>,
}

/// Where recordings are.
#[derive(Debug, Clone, Copy)]
pub struct RecordingPlaces<'a> {
    /// The state directory.
    pub state: &'a Path,
    /// What the user switched on: files and directories elsewhere.
    pub switches: &'a Switches,
}

/// What was forgotten, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgottenRecordings {
    /// Files that went.
    pub files: Vec<PathBuf>,
    /// How many lines of the logs went.
    pub lines: usize,
    /// The logs that they stood in.
    pub logs: Vec<PathBuf>,
}

/// Whether recordings really go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetMode {
    /// It is only said what would.
    DryRun,
    /// They do.
    Forget,
}

impl RecordingPlaces<'_> {
    /// Returns every log that all sessions share.
    fn logs(&self) -> Result<Vec<PathBuf>, TraceError> {
        let directory = self.state.join("logs");
        let entries = fs::entries(&directory).map_err(TraceError::io(&directory))?;
        let mut logs: Vec<PathBuf> = entries
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
            .collect();
        let switches = self.switches;
        let named = [
            switches.payload_log.as_ref(),
            switches.raw_stream.as_ref(),
            switches.cache_trace.as_ref().map(|trace| &trace.path),
        ];
        logs.extend(named.into_iter().flatten().cloned());
        logs.sort();
        logs.dedup();
        logs.retain(|path| fs::is_file(path));
        Ok(logs)
    }

    fn trajectories(&self) -> Result<Vec<PathBuf>, TraceError> {
        let named = self.switches.trajectory.as_ref();
        find(
            Some(self.state),
            named.and_then(|trajectory| trajectory.directory.as_deref()),
        )
    }
}

/// Forgets a session in all recordings, and says what that was.
pub fn forget(
    places: RecordingPlaces<'_>,
    session: &RecordedSession,
    mode: ForgetMode,
) -> Result<ForgottenRecordings, TraceError> {
    let mut forgotten = ForgottenRecordings::default();
    let mut session = session.clone();
    let (mut others, mut named) = (Vec::new(), HashSet::new());
    for path in places.trajectories()? {
        if trajectory_of(&path, &mut session, &mut named)? {
            forgotten.files.push(path);
        } else {
            others.push(path);
        }
    }
    forgotten
        .files
        .extend(contents_of_none(places, named, &others)?);
    let logs = places.logs()?;
    // The raw stream names turns only; the others say whose they are.
    for log in &logs {
        let mut runs = Vec::new();
        fs::each_line(log, &mut |line| {
            runs.extend(Line::read(line).and_then(|line| line.run_of(&session)));
        })
        .map_err(TraceError::io(log))?;
        session.runs.extend(runs);
    }
    for log in logs {
        let is_kept = |line: &[u8]| !is_of(line, &session);
        let lines = match mode {
            ForgetMode::DryRun => {
                let mut lines = 0;
                fs::each_line(&log, &mut |line| lines += usize::from(!is_kept(line)))
                    .map(|()| lines)
            }
            ForgetMode::Forget => fs::keep_lines(&log, &is_kept),
        };
        let lines = lines.map_err(TraceError::io(&log))?;
        if lines > 0 {
            forgotten.lines += lines;
            forgotten.logs.push(log);
        }
    }
    if mode == ForgetMode::Forget {
        for path in &forgotten.files {
            fs::remove(path).map_err(TraceError::io(path))?;
        }
    }
    Ok(forgotten)
}

/// Tells whether a file is the trajectory of the session; learns the turns in it, and which contents of files it names.
fn trajectory_of(
    path: &Path,
    session: &mut RecordedSession,
    contents: &mut HashSet<String>,
) -> Result<bool, TraceError> {
    let mut is_meant = None;
    let mut runs = HashSet::new();
    for event in read(path)?.events() {
        let about = |name: &str| event.value[name].as_str().map(Cow::Borrowed);
        let line = Line {
            session_key: about("sessionKey"),
            session_id: about("sessionId"),
            run_id: about("runId"),
        };
        // The first event decides: a file has one session.
        if !*is_meant.get_or_insert_with(|| line.is_of(session)) {
            break;
        }
        runs.extend(line.run_of(session));
        digests(&event.value, contents);
    }
    session.runs.extend(runs);
    // One without a whole line has nothing but its name.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = || {
        session.ids.iter().any(|id| {
            let id = super::switches::file_name(id);
            *name == format!("{id}.jsonl") || *name == format!("{id}{}", compat::TRAJECTORY_ENDING)
        })
    };
    Ok(is_meant.unwrap_or_else(is_named))
}

/// Finds the digests that stand in an event.
fn digests(value: &Value, found: &mut HashSet<String>) {
    match value {
        Value::Object(fields) => {
            // It becomes the name of a file: nothing else may.
            let digest = fields.get("digest").and_then(Value::as_str);
            found.extend(
                digest
                    .filter(|digest| RecordedContents::is_digest(digest))
                    .map(str::to_owned),
            );
            fields.values().for_each(|value| digests(value, found));
        }
        Value::Array(elements) => elements.iter().for_each(|value| digests(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the contents of files that the session's recordings name and no other's.
fn contents_of_none(
    places: RecordingPlaces<'_>,
    mut named: HashSet<String>,
    others: &[PathBuf],
) -> Result<Vec<PathBuf>, TraceError> {
    let directory = RecordedContents::directory(&places.state.join("logs"));
    named.retain(|digest| fs::is_file(&directory.join(digest)));
    for other in others {
        if named.is_empty() {
            break;
        }
        let mut needed = HashSet::new();
        for event in read(other)?.events() {
            digests(&event.value, &mut needed);
        }
        named.retain(|digest| !needed.contains(digest));
    }
    let mut paths: Vec<PathBuf> = named.iter().map(|digest| directory.join(digest)).collect();
    paths.sort();
    Ok(paths)
}

/// Tells whether a line is about the session. One that is cut short is, if an id of the session stands in it.
fn is_of(line: &[u8], session: &RecordedSession) -> bool {
    match Line::read(line) {
        Some(line) => line.is_of(session),
        None => session
            .ids
            .iter()
            .any(|id| memchr::memmem::find(line, id.as_bytes()).is_some()),
    }
}

/// What of a line says whose it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, default)]
    session_key: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    run_id: Option<Cow<'a, str>>,
}

impl<'a> Line<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    fn is_of(&self, session: &RecordedSession) -> bool {
        let names = |one: &Option<Cow<'_, str>>, many: &[String]| {
            one.as_deref()
                .is_some_and(|one| many.iter().any(|name| name == one))
        };
        names(&self.session_key, &session.keys)
            || names(&self.session_id, &session.ids)
            || self
                .run_id
                .as_deref()
                .is_some_and(|run| session.runs.contains(run))
    }

    fn run_of(self, session: &RecordedSession) -> Option<String> {
        let is_meant = self.is_of(session);
        self.run_id.filter(|_| is_meant).map(Cow::into_owned)
    }
}
