//! Sessions of an agent, from its database and from its files: the union by key (H5, H86, H87).

mod files;
mod others;
mod rows;

use crate::database::Database;
use crate::problem::Problems;
use crate::transcript::TranscriptSummary;
use chitin_guard::Root;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredIn {
    /// In a file, as up to 2026.4.
    File,
    /// In a database.
    Db,
}

/// A session and what its transcript holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeSession {
    /// The agent that has it.
    pub agent: String,
    /// Its key.
    pub key: String,
    /// The id of its transcript.
    pub session_id: String,
    /// When it was last changed, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<i64>,
    /// Where it is kept.
    pub from: StoredIn,
    /// The name of the transcript's file, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What the transcript holds.
    #[serde(flatten)]
    pub summary: TranscriptSummary,
    /// What the user called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The session that spawned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned_by: Option<String>,
    /// Whether the files have it too; they are older.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub also_in_files: bool,
}

/// A transcript that is no current session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherTranscript {
    /// The agent that has it.
    pub agent: String,
    /// What it is: `checkpoint`, `unindexed`, `reset-archive`, `deleted-archive`, or `archive:` and the reason of a database.
    pub kind: String,
    /// Where it is: `file`, or the table of a database.
    #[serde(rename = "where")]
    pub place: String,
    /// Its name.
    pub name: String,
    /// The key of its session, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How many records it has.
    pub records: u64,
}

/// What an agent has.
#[derive(Debug, Default)]
pub(crate) struct AgentSessions {
    pub(crate) sessions: Vec<HomeSession>,
    pub(crate) others: Vec<OtherTranscript>,
}

/// The directories of an agent's sessions, beneath the state directory.
pub(crate) struct SessionPlace<'a> {
    pub(crate) state: &'a Root,
    pub(crate) agent: &'a str,
    /// Whether the texts of users are kept.
    pub(crate) texts: bool,
}

impl SessionPlace<'_> {
    /// Returns the directory of the files.
    fn directory(&self) -> PathBuf {
        self.below(crate::compat::SESSIONS)
    }

    fn below(&self, name: &str) -> PathBuf {
        Path::new(crate::compat::AGENTS).join(self.agent).join(name)
    }
}

/// Reads every session of an agent.
pub(crate) fn read(
    place: &SessionPlace<'_>,
    database: Option<&Database>,
    problems: &mut Problems,
) -> AgentSessions {
    let mut found = AgentSessions::default();
    if let Some(database) = database {
        rows::read(place, database, &mut found, problems);
    }
    let index = files::index(place, problems);
    let in_rows: BTreeMap<String, usize> = (found.sessions.iter().enumerate())
        .map(|(at, session)| (session.key.clone(), at))
        .collect();
    for entry in &index {
        if let Some(at) = in_rows.get(&entry.key) {
            found.sessions[*at].also_in_files = true;
        } else {
            let session = files::session(place, entry, problems);
            found.sessions.push(session);
        }
    }
    found.sessions.sort_by(|a, b| a.key.cmp(&b.key));
    let in_database: Vec<&str> = found
        .sessions
        .iter()
        .filter(|session| session.from == StoredIn::Db)
        .map(|session| session.session_id.as_str())
        .collect();
    let files = others::in_files(place, &index, &in_database, problems);
    found.others.extend(files);
    found
}
