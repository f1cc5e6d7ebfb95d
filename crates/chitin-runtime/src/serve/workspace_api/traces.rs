//! What turns left behind: which sessions were recorded, and one of them event by event.

use super::{WorkspaceApi, recorded};
use chitin_agent::journal::{self, TraceSummary};
use chitin_guard::{Fingerprint, Links, Root};
use chitin_server::{DeskError, Trouble};
use chitin_store::SessionStore;
use serde_json::{Value, json};
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
        desk: &WorkspaceApi,
        agent: Option<&str>,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Value, DeskError> {
        let id = match session {
            Some(key) => match id_of(desk, key)? {
                Some(id) => Some(id),
                None => return Ok(json!({"traces": []})),
            },
            None => None,
        };
        let mut files: Vec<(PathBuf, Fingerprint)> = recorded::files(&desk.host)?
            .into_iter()
            .filter(|path| id.as_ref().is_none_or(|id| recorded::is_of(path, id)))
            .filter_map(|path| Some((fingerprint(&path)?, path)))
            .map(|(fingerprint, path)| (path, fingerprint))
            .collect();
        files.sort_by(|(one, a), (other, b)| b.mtime.cmp(&a.mtime).then_with(|| one.cmp(other)));
        let mut traces = Vec::new();
        for (path, fingerprint) in files {
            if traces.len() >= limit {
                break;
            }
            let of_agent =
                |sum: &TraceSummary| agent.is_none_or(|agent| agent_of(&sum.session_key) == agent);
            if let Some(sum) = self.sum(&path, fingerprint).filter(of_agent) {
                let tokens = sum.input + sum.output + sum.cache_read + sum.cache_write;
                traces.push(json!({
                    "id": sum.session_id, "sessionKey": sum.session_key, "at": sum.ended, "started": sum.started,
                    "turns": sum.turns, "bytes": fingerprint.size, "model": sum.model, "status": sum.status,
                    "tokens": tokens, "tokensUnknown": sum.tokens_unknown, "costUsd": sum.cost,
                }));
            }
        }
        Ok(json!({ "traces": traces }))
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
fn id_of(desk: &WorkspaceApi, key: &str) -> Result<Option<String>, DeskError> {
    let entry = desk.cache(agent_of(key))?.factory.store.find(key);
    let entry = entry.map_err(|error| DeskError::new(Trouble::Failed, error.to_string()))?;
    Ok(entry.map(|entry| entry.session_id))
}

/// Returns the agent that a session's key names.
fn agent_of(key: &str) -> &str {
    key.split(':').nth(1).unwrap_or_default()
}

fn fingerprint(path: &Path) -> Option<Fingerprint> {
    let root = Root::open(path.parent()?).ok()?;
    let end = root
        .walk(Path::new(path.file_name()?), &Links::Refuse)
        .ok()?;
    Some(end.fingerprint)
}

/// Shows a recorded session event by event; of a long one, the newest events.
pub(super) fn show(desk: &WorkspaceApi, id: &str) -> Result<Value, DeskError> {
    let path = recorded::files(&desk.host)?
        .into_iter()
        .find(|path| recorded::is_of(path, id));
    let Some(path) = path.filter(|_| id.len() >= 4) else {
        return Err(
            DeskError::new(Trouble::Missing, "No such session was recorded.")
                .hint("`GET /api/traces` lists them."),
        );
    };
    let file = recorded::read(&path)?;
    let all = file.events.len();
    let (mut events, mut bytes) = (Vec::new(), 0);
    for event in file.events.into_iter().rev().take(MOST_EVENTS) {
        bytes += event.value.to_string().len();
        if bytes > MOST_BYTES && !events.is_empty() {
            break;
        }
        events.push(event.value);
    }
    events.reverse();
    let truncated = events.len() < all;
    Ok(json!({"events": events, "truncated": truncated, "total": all, "damaged": file.damaged}))
}
