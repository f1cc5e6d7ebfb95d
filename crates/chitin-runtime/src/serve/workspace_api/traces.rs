//! What turns left behind: which sessions were recorded, and one of them event by event.

use super::{ServedWorkspaces, recorded};
use chitin_agent::journal::{self, TraceSummary};
use chitin_guard::{Fingerprint, LinkPolicy, Root};
use chitin_server::workspace_api::{
    RecordedSession, TraceList, TraceListRequest, TraceReply, WorkspaceApiError,
    WorkspaceApiErrorKind,
};
use chitin_store::SessionStore;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many sums are kept. When there are more, all are made anew.
const MOST_KEPT: usize = 2_000;
/// How many events of a session are shown: the newest.
const MOST_EVENTS: usize = 2_000;
/// How many bytes of them.
const MOST_BYTES: usize = 8 << 20;

/// What recorded sessions come to, kept until their files change.
#[derive(Default)]
pub(super) struct Summaries(Mutex<HashMap<PathBuf, (Fingerprint, TraceSummary)>>);

impl Summaries {
    /// Lists recorded sessions, the most recent first.
    pub(super) fn list(
        &self,
        workspaces: &ServedWorkspaces,
        request: &TraceListRequest,
    ) -> Result<TraceList, WorkspaceApiError> {
        let id = match &request.session {
            Some(key) => match id_of(workspaces, key)? {
                Some(id) => Some(id),
                None => return Ok(TraceList { traces: Vec::new() }),
            },
            None => None,
        };
        let mut files: Vec<(PathBuf, Fingerprint)> = recorded::files(&workspaces.host)?
            .into_iter()
            .filter(|path| id.as_ref().is_none_or(|id| recorded::is_of(path, id)))
            .filter_map(|path| Some((fingerprint(&path)?, path)))
            .map(|(fingerprint, path)| (path, fingerprint))
            .collect();
        files.sort_by(|(one, a), (other, b)| b.mtime.cmp(&a.mtime).then_with(|| one.cmp(other)));
        let mut traces = Vec::new();
        for (path, fingerprint) in files {
            if traces.len() >= request.limit {
                break;
            }
            let of_agent = |sum: &TraceSummary| {
                let agent = request.agent.as_deref();
                agent.is_none_or(|agent| agent_of(&sum.session_key) == agent)
            };
            if let Some(sum) = self.sum(&path, fingerprint).filter(of_agent) {
                let tokens = sum.input + sum.output + sum.cache_read + sum.cache_write;
                traces.push(RecordedSession {
                    id: sum.session_id,
                    session_key: sum.session_key,
                    at: sum.ended,
                    started: sum.started,
                    turns: sum.turns,
                    bytes: fingerprint.size,
                    model: sum.model,
                    status: sum.status,
                    tokens,
                    tokens_unknown: sum.tokens_unknown,
                    cost_usd: sum.cost,
                });
            }
        }
        Ok(TraceList { traces })
    }

    fn sum(&self, path: &Path, fingerprint: Fingerprint) -> Option<TraceSummary> {
        let kept = |sums: &HashMap<PathBuf, (Fingerprint, TraceSummary)>| {
            let (known, sum) = sums.get(path)?;
            (*known == fingerprint).then(|| sum.clone())
        };
        if let Some(sum) = kept(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Some(sum);
        }
        let sum = journal::summarize(path).ok().flatten()?;
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sums.len() >= MOST_KEPT {
            sums.clear();
        }
        sums.insert(path.to_owned(), (fingerprint, sum.clone()));
        Some(sum)
    }
}

/// Returns the id of a session; none when there is no such session.
fn id_of(workspaces: &ServedWorkspaces, key: &str) -> Result<Option<String>, WorkspaceApiError> {
    let entry = workspaces.cache(agent_of(key))?.factory.store.find(key);
    let entry = entry.map_err(|error| {
        WorkspaceApiError::new(WorkspaceApiErrorKind::Failed, error.to_string())
    })?;
    Ok(entry.map(|entry| entry.session_id))
}

/// Returns the agent that a session's key names.
fn agent_of(key: &str) -> &str {
    key.split(':').nth(1).unwrap_or_default()
}

fn fingerprint(path: &Path) -> Option<Fingerprint> {
    let root = Root::open(path.parent()?).ok()?;
    let end = root
        .walk(Path::new(path.file_name()?), &LinkPolicy::Refuse)
        .ok()?;
    Some(end.fingerprint)
}

/// Shows a recorded session event by event; of a long one, the newest events.
pub(super) fn show(
    workspaces: &ServedWorkspaces,
    id: &str,
) -> Result<TraceReply, WorkspaceApiError> {
    let path = recorded::files(&workspaces.host)?
        .into_iter()
        .find(|path| recorded::is_of(path, id));
    let Some(path) = path.filter(|_| id.len() >= 4) else {
        return Err(WorkspaceApiError::new(
            WorkspaceApiErrorKind::Missing,
            "No such session was recorded.",
        )
        .hint("`GET /api/traces` lists them."));
    };
    let file = recorded::read(&path)?;
    let newest = file.newest(MOST_EVENTS, MOST_BYTES);
    let events: Vec<_> = newest.into_iter().map(|event| event.value).collect();
    Ok(TraceReply {
        truncated: events.len() < file.len(),
        events,
        total: file.len(),
        damaged: file.damaged + file.lost,
    })
}
