//! Transcripts that no session goes on with, and taking away what nobody needs any more.

use crate::begin;
use crate::compat;
use crate::disk::{Directory, Open};
use crate::file_store::{FileStore, MAX_ATTEMPTS};
use crate::names;
use crate::store::{LockMode, SessionEntry, StoreError, TranscriptRemoval};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// How long a session may still be open that is about to be closed.
const CLOSING: LockMode = LockMode::Wait(1_000);

/// A transcript that no session goes on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Archived {
    /// The file's name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Why it is in the archive.
    pub reason: ArchiveReason,
    /// How long it is.
    pub bytes: u64,
    /// When it was last written to, in milliseconds since 1970.
    pub updated_at: i64,
}

/// Why a transcript is in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ArchiveReason {
    /// Its session was reset.
    Reset,
    /// Its session was deleted by a program that keeps transcripts.
    Deleted,
    /// No session in the index has it.
    Unclaimed,
}

/// What to take away. Each part that is left out takes nothing away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prune<'a> {
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
    /// What was not used for longer than so many milliseconds.
    pub older_than_ms: Option<i64>,
    /// The oldest, when there are more than so many transcripts.
    pub keep_at_most: Option<usize>,
    /// The oldest, when all transcripts together take more bytes.
    pub total_bytes: Option<u64>,
    /// Sessions that stay in any case: those that somebody is about to go on with.
    pub keep: &'a [&'a str],
    /// Whether it is only said what would go.
    pub mode: PruneMode,
}

/// Whether something is really taken away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PruneMode {
    /// It is only said what would go.
    #[default]
    DryRun,
    /// It goes.
    Delete,
}

/// What was taken away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PruneReport {
    /// What went, or would go, the oldest first.
    pub gone: Vec<ArchivedTranscript>,
    /// What was due to go and stays, since a process has it open.
    pub busy: Vec<ArchivedTranscript>,
    /// How many transcripts stay.
    pub kept: usize,
    /// How many bytes these take.
    pub kept_bytes: u64,
}

/// A transcript that was taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchivedTranscript {
    /// The file's name.
    pub name: String,
    /// What it was.
    pub kind: PrunedKind,
    /// How long it was.
    pub bytes: u64,
    /// When it was last used, in milliseconds since 1970.
    pub updated_at: i64,
}

/// What a transcript was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PrunedKind {
    /// That of a session.
    Session {
        /// Its key.
        key: String,
    },
    /// One of the archive.
    Archived,
}

impl FileStore {
    /// Returns the transcripts that no session goes on with, the most recent first.
    pub fn archive(&self) -> Result<Vec<Archived>, StoreError> {
        let (Some(directory), Some(index)) = (self.existing()?, self.ledger.read()?) else {
            return Ok(Vec::new());
        };
        let claimed = index.transcripts()?;
        drop(index);
        let mut archived: Vec<Archived> = directory
            .list(|name| reason(name).is_some() && !claimed.contains(name))?
            .into_iter()
            .filter_map(|file| {
                Some(Archived {
                    reason: reason(&file.name)?,
                    path: directory.path_of(&file.name),
                    name: file.name,
                    bytes: file.bytes,
                    updated_at: file.modified_ms,
                })
            })
            .collect();
        archived.sort_by_key(|one| std::cmp::Reverse(one.updated_at));
        Ok(archived)
    }

    /// Returns how many transcripts no session goes on with.
    pub fn archived_count(&self) -> Result<usize, StoreError> {
        let (Some(directory), Some(index)) = (self.existing()?, self.ledger.read()?) else {
            return Ok(0);
        };
        let claimed = index.transcripts()?;
        drop(index);
        let names = directory.names()?.into_iter();
        let names = names.filter(|name| reason(name).is_some() && !claimed.contains(name));
        Ok(names.count())
    }

    /// Takes away sessions and archived transcripts, the oldest first. Never one that a process has open, never one that is
    /// to be kept.
    pub fn prune(&self, prune: &Prune<'_>) -> Result<PruneReport, StoreError> {
        let mut report = PruneReport::default();
        let Some(directory) = self.existing()? else {
            return Ok(report);
        };
        // What is claimed later is seen when it is taken away.
        let state = self.ledger.read()?.map_or(0, |index| index.claims());
        let mut all = self.candidates(&directory)?;
        all.sort_by(|a, b| (a.updated_at, &a.name).cmp(&(b.updated_at, &b.name)));
        let mut count = all.len();
        let mut bytes: u64 = all.iter().map(|one| one.bytes).sum();
        for one in all {
            let is_old = prune
                .older_than_ms
                .is_some_and(|age| one.updated_at < prune.now_ms.saturating_sub(age));
            let is_due = is_old
                || prune.keep_at_most.is_some_and(|most| count > most)
                || prune.total_bytes.is_some_and(|most| bytes > most);
            if !is_due || is_kept(&one, prune.keep) {
                continue;
            }
            if self.take_away(&directory, &one, state, prune.mode)? {
                count -= 1;
                bytes -= one.bytes;
                report.gone.push(one);
            } else {
                report.busy.push(one);
            }
        }
        report.kept = count;
        report.kept_bytes = bytes;
        Ok(report)
    }

    fn candidates(&self, directory: &Directory) -> Result<Vec<ArchivedTranscript>, StoreError> {
        let mut all = Vec::new();
        let Some(index) = self.ledger.read()? else {
            return Ok(all);
        };
        index.each(|key, entry| {
            all.extend(entry.transcript_name().map(|name| ArchivedTranscript {
                bytes: 0,
                updated_at: entry.updated_at,
                kind: PrunedKind::Session {
                    key: key.to_owned(),
                },
                name,
            }));
            ControlFlow::Continue(())
        })?;
        drop(index);
        for one in &mut all {
            if let Some(listed) = directory.listed(&one.name)? {
                one.bytes = listed.bytes;
                one.updated_at = one.updated_at.max(listed.modified_ms);
            }
        }
        all.extend(self.archive()?.into_iter().map(|one| ArchivedTranscript {
            name: one.name,
            kind: PrunedKind::Archived,
            bytes: one.bytes,
            updated_at: one.updated_at,
        }));
        Ok(all)
    }

    /// Takes one away; `false` when a process has it open or goes on with it.
    fn take_away(
        &self,
        directory: &Directory,
        one: &ArchivedTranscript,
        state: u64,
        mode: PruneMode,
    ) -> Result<bool, StoreError> {
        let file = directory.file(&one.name, Open::Append)?;
        if let Some(file) = &file
            && !file.lock(LockMode::Refuse)?
        {
            return Ok(false);
        }
        if mode == PruneMode::DryRun {
            return Ok(true);
        }
        let is_free = self.ledger.change(
            |turn| match &one.kind {
                PrunedKind::Session { key } => {
                    let entry = turn.get(key)?;
                    let name = entry.as_ref().and_then(SessionEntry::transcript_name);
                    let is_it = name.as_ref() == Some(&one.name);
                    // The index first: what it does not name any more is merely unclaimed if the process ends here.
                    if is_it {
                        turn.remove(key);
                    }
                    Ok(is_it)
                }
                PrunedKind::Archived => Ok(!turn.claims_since(state, &one.name)?),
            },
            |_| Ok(()),
        )?;
        if is_free {
            delete(directory, &one.name)?;
        }
        drop(file);
        Ok(is_free)
    }

    /// Takes a session out of the index, then its transcript and what lies beside it out of the way.
    pub(crate) fn remove_session(
        &self,
        key: &str,
        removal: TranscriptRemoval<'_>,
    ) -> Result<(), StoreError> {
        let unknown = || StoreError::Unknown {
            key: key.to_owned(),
        };
        let busy = || StoreError::Busy {
            key: key.to_owned(),
        };
        for _ in 0..MAX_ATTEMPTS {
            let index = self.ledger.read()?.ok_or_else(unknown)?;
            let name = index.get(key)?.ok_or_else(unknown)?.transcript_name();
            drop(index);
            let directory = self.existing()?.ok_or_else(unknown)?;
            let file = match &name {
                // What can be no transcript of ours stays where it is.
                Some(name) => match directory.file(name, Open::Append) {
                    Err(StoreError::Damaged { .. }) => None,
                    file => file?,
                },
                None => None,
            };
            if let Some(file) = &file
                && !file.lock(CLOSING)?
            {
                return Err(busy());
            }
            let is_it = self.ledger.change(
                |turn| {
                    let entry = turn.get(key)?.ok_or_else(unknown)?;
                    let is_it = entry.transcript_name() == name;
                    if is_it {
                        turn.remove(key);
                    }
                    Ok(is_it)
                },
                |_| Ok(()),
            )?;
            if !is_it {
                continue;
            }
            if let (Some(name), Some(_)) = (name, &file) {
                match removal {
                    TranscriptRemoval::Archive { now } => {
                        begin::put_away(&directory, &name, compat::DELETED, now)?;
                        directory.sync()?;
                    }
                    TranscriptRemoval::Delete => delete(&directory, &name)?,
                }
            }
            return Ok(());
        }
        Err(busy())
    }
}

/// Deletes a transcript and what lies beside it.
fn delete(directory: &Directory, transcript: &str) -> Result<(), StoreError> {
    directory.remove(transcript)?;
    for name in directory.names()? {
        if is_side_file(&name, transcript) {
            directory.remove(&name)?;
        }
    }
    directory.sync()
}

fn is_kept(one: &ArchivedTranscript, keep: &[&str]) -> bool {
    match &one.kind {
        PrunedKind::Session { key } => keep.contains(&key.as_str()),
        PrunedKind::Archived => false,
    }
}

/// Tells why a file of this name would be in the archive; `None` when it is no transcript.
fn reason(name: &str) -> Option<ArchiveReason> {
    let is_of = |marker: &str| {
        let marked = format!("{}{marker}", compat::TRANSCRIPT);
        name.split_once(&marked)
            .is_some_and(|(id, _)| names::is_session_id(id))
    };
    if is_of(compat::RESET) {
        Some(ArchiveReason::Reset)
    } else if is_of(compat::DELETED) {
        Some(ArchiveReason::Deleted)
    } else if names::is_transcript(name) {
        Some(ArchiveReason::Unclaimed)
    } else {
        None
    }
}

/// Tells whether a file belongs to a transcript: a torn line that was set aside, or the record of what the model received.
fn is_side_file(name: &str, transcript: &str) -> bool {
    let Some((stem, _)) = transcript.split_once(compat::TRANSCRIPT) else {
        return false;
    };
    name.strip_prefix(stem).is_some_and(|rest| {
        rest == compat::TRAJECTORY
            || rest == compat::TRAJECTORY_PATH
            || rest
                .strip_prefix(compat::TRANSCRIPT)
                .is_some_and(|rest| rest.starts_with(".torn-"))
    })
}
