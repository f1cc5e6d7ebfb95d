//! What was recorded of turns: which trajectories there are, which one a caller means, and what would be sent now instead.

mod replay;

pub use replay::{PromptDifference, ReplayedRequest, SystemChange, TraceReplay};

use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use crate::{Configuration, Host, Notes};
use chitin_agent::journal::fragments::{self, PromptSpan};
use chitin_agent::journal::{
    self, JournalRedactor, LookupDirectories, RecordedContents, Switches, TraceError, TraceFile,
    TraceSummary,
};
use chitin_contract::Contract;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::nearest::nearest;
use chitin_protocol::settings::TraceSettings;
use chitin_undo::ContentId;
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// How much of an id must be given.
const SHORTEST_ID: usize = 4;
/// How many sessions are named in a hint.
const MAX_NAMED: usize = 5;

/// Returns the switches as far as they say where files are.
pub fn switches(host: &Host, contract: &Contract) -> Switches {
    let logs = crate::chitin_home(host).unwrap_or_default().join("logs");
    let places = LookupDirectories {
        logs,
        home: home(host),
        working_directory: host.env.working_directory().to_owned(),
    };
    // What is switched off today may have been recorded yesterday.
    let lookup = |name: &str| {
        let said = host
            .env
            .get(name)
            .filter(|_| !name.ends_with("_TRAJECTORY"));
        said.map(str::to_owned)
    };
    let own = crate::own_config(host).ok().flatten();
    let settings = TraceSettings {
        trajectory: None,
        ..own
            .and_then(|own| own.config.everywhere.trace)
            .unwrap_or_default()
    };
    Switches::from_lookup(
        lookup,
        &settings,
        &Value::Null,
        &places,
        &contract.runtime.trace,
    )
}

/// Returns the user's home.
pub fn home(host: &Host) -> Option<PathBuf> {
    let home = host.env.get("HOME").filter(|home| !home.is_empty())?;
    Some(PathBuf::from(home))
}

/// Returns what takes secrets out of a recording that leaves this machine: those that are known here, and all that looks like one.
pub fn redactor(host: &Host) -> JournalRedactor {
    let secrets = host.secrets.clone();
    JournalRedactor::new(move |text| {
        Cow::Owned(secrets.redact(&chitin_check::redact_secrets(text)))
    })
}

/// Finds the files of all recorded sessions.
pub fn files(host: &Host) -> Result<Vec<PathBuf>, RuntimeError> {
    let switches = switches(host, chitin_contract::ALL[0]);
    let named = switches.trajectory.and_then(|switch| switch.directory);
    let state = crate::chitin_home(host);
    journal::find(state.as_deref(), named.as_deref()).map_err(unreadable)
}

/// Finds every recorded session, the most recent first.
pub fn all(host: &Host, notes: &Notes) -> Result<Vec<TraceSummary>, RuntimeError> {
    let mut found = Vec::new();
    for path in files(host)? {
        match journal::summarize(&path) {
            Ok(summary) => found.extend(summary),
            Err(error) => notes.note(&format!("skipped: {error}")),
        }
    }
    found.sort_by(|one, other| other.ended.cmp(&one.ended));
    Ok(found)
}

/// Finds the recorded session that a name stands for: by its key the most recent one, else by its id.
pub fn find(name: &str, host: &Host, notes: &Notes) -> Result<TraceSummary, RuntimeError> {
    let mut found = all(host, notes)?;
    let name = name.trim();
    let by_key = found.iter().position(|one| one.session_key == name);
    let by_id: Vec<usize> = (0..found.len())
        .filter(|at| found[*at].session_id.starts_with(name) && name.len() >= SHORTEST_ID)
        .collect();
    match (by_key, by_id.as_slice()) {
        (Some(at), _) | (None, &[at]) => Ok(found.swap_remove(at)),
        (None, []) => Err(unknown(name, &found)),
        (None, several) => {
            let error = RuntimeError::new(
                ErrorKind::User,
                format!(
                    "Several recorded sessions start with `{}`.",
                    plain(name, ' ')
                ),
            );
            let ids = several.iter().take(MAX_NAMED);
            Err(ids.fold(error, |error, at| {
                let one = &found[*at];
                error.hint(format!("`{}` is {}", one.session_id, one.session_key))
            }))
        }
    }
}

fn unknown(name: &str, found: &[TraceSummary]) -> RuntimeError {
    let shown = plain(name, '\u{fffd}');
    let error = RuntimeError::new(
        ErrorKind::User,
        format!("There is no recorded session `{shown}`."),
    );
    if found.is_empty() {
        return error.hint("there are no recorded sessions; `chitin run` records its turns");
    }
    let names = found
        .iter()
        .flat_map(|one| [one.session_key.as_str(), one.session_id.as_str()]);
    match nearest(name, names) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`chitin trace list` shows the recorded sessions"),
    }
}

/// Reads a trajectory, and says when lines of it cannot be used.
pub fn read(summary: &TraceSummary, notes: &Notes) -> Result<TraceFile, RuntimeError> {
    let file = journal::read(&summary.path).map_err(unreadable)?;
    if file.damaged > 0 {
        notes.note(&format!(
            "invalid lines in `{}`: {}",
            summary.path.display(),
            file.damaged
        ));
    }
    if file.lost > 0 {
        notes.note(&format!(
            "lines in `{}` that cannot be read because they lean on lines that are damaged or missing: {}",
            summary.path.display(),
            file.lost
        ));
    }
    Ok(file)
}

/// Returns the contract that the user names, else that of the recording, else the one that is configured.
pub fn contract_of(
    named: Option<&str>,
    file: &TraceFile,
    host: &Host,
) -> Result<&'static Contract, RuntimeError> {
    if let Some(name) = named {
        return crate::contracts::find(name);
    }
    let recorded = file.last("trace.metadata").and_then(|event| {
        let name = event.data()["harness"]["contract"].as_str()?;
        chitin_contract::by_name(name)
    });
    match recorded {
        Some(contract) => Ok(contract),
        None => Ok(Configuration::read(host, None, &Notes::none())?.contract),
    }
}

/// Returns where a session's transcript is, as its trajectory says.
pub fn transcript_of(file: &TraceFile) -> Option<PathBuf> {
    let started = file.last("session.started")?;
    let path = started.data()["sessionFile"].as_str()?;
    Some(PathBuf::from(path)).filter(|path| Path::is_absolute(path))
}

/// Reads a file of the workspace as a turn read it for its prompt, before budgets: by its name or path, in a turn counted from 1, or the
/// newest one.
pub fn injected_file(
    host: &Host,
    summary: &TraceSummary,
    file: &TraceFile,
    name: &str,
    turn: Option<usize>,
) -> Result<Vec<u8>, RuntimeError> {
    let turns = file.turns().len();
    let at = turn.unwrap_or(turns);
    let read = at.checked_sub(1).and_then(|at| file.turns().turn(at));
    let Some(read) = read else {
        let what = format!("There is no turn {at} in this recording.");
        return Err(RuntimeError::new(ErrorKind::User, what).hint(format!("it has {turns}")));
    };
    let run = read.run();
    let metadata = run.event("trace.metadata");
    let spans = metadata
        .map(|event| fragments::spans(event.data()))
        .unwrap_or_default();
    let injected = spans.iter().filter(|span| span.digest.is_some());
    let is_named = |span: &&PromptSpan| span.name == name || span.path.as_deref() == Some(name);
    let Some(span) = injected.clone().find(is_named) else {
        let what = format!(
            "The prompt of turn {at} has no file `{}`.",
            plain(name, '\u{fffd}')
        );
        let error = RuntimeError::new(ErrorKind::User, what);
        let names: Vec<String> = injected.map(|span| format!("`{}`", span.name)).collect();
        return Err(if names.is_empty() {
            error.hint("its files were not recorded; versions before this one did not")
        } else {
            error.hint(format!("it has {}", names.join(", ")))
        });
    };
    let digest = span.digest.as_deref().unwrap_or_default();
    content(host, summary, digest, span.size).ok_or_else(|| {
        let what = format!("The content of `{}` is no longer kept.", span.name);
        RuntimeError::new(ErrorKind::User, what).hint(format!("its BLAKE3 digest is {digest}"))
    })
}

/// Finds a content among those that were kept with recordings, else among those that undo keeps.
fn content(
    host: &Host,
    summary: &TraceSummary,
    digest: &str,
    size: Option<usize>,
) -> Option<Vec<u8>> {
    let state = crate::chitin_home(host)?;
    if let Ok(bytes) = RecordedContents::read(&state.join("logs"), digest) {
        return Some(bytes);
    }
    let agent = AgentId::normalize(summary.session_key.split(':').nth(1)?);
    let history = crate::checkpoints::to_read(&state, &agent, Path::new(&summary.workspace));
    let id = ContentId::parse(digest)?;
    history.content(id, size? as u64).ok().flatten()
}

fn unreadable(error: TraceError) -> RuntimeError {
    RuntimeError::new(ErrorKind::User, "Could not read the recording.").caused_by(error)
}
