//! Sessions in an agent's database (H22, H24, H26, H29).

use super::files::{MAX_SESSIONS, MAX_TRANSCRIPT_BYTES};
use super::{AgentSessions, HomeSession, OtherTranscript, SessionPlace, StoredIn};
use crate::compat;
use crate::database::{Cell, Database, Row, Rows};
use crate::json::{text, whole};
use crate::problem::Problems;
use crate::transcript::{TranscriptSummary, Unreadable, decoded, decoder, each_line};
use crate::walk::reading;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// How many records a session may have.
const MAX_RECORDS: u64 = 10_000_000;
/// How many archives an agent may have.
const MAX_ARCHIVES: u64 = 1_000_000;

/// Reads the sessions and archives of a database.
pub(super) fn read(
    place: &SessionPlace<'_>,
    database: &Database,
    found: &mut AgentSessions,
    problems: &mut Problems,
) {
    let wanted = Rows {
        table: "session_nodes",
        needed: &["session_key", "current_session_id"],
        wanted: &["entry_json", "updated_at", "label", "spawned_by"],
        of: None,
        order: &["session_key"],
        most: MAX_SESSIONS as u64,
    };
    let mut odd = 0_u64;
    let outcome = database.rows(&wanted, &mut |row| {
        match node(place.agent, row) {
            Some(session) => found.sessions.push(session),
            None => odd += 1,
        }
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    if odd > 0 {
        let message = format!("It has {odd} rows without a session.");
        problems.say(format!("{} session_nodes", database.place()), message);
    }
    for session in &mut found.sessions {
        session.summary = transcript(place, database, &session.session_id, problems);
    }
    archives(place, database, found, problems);
}

/// A row is usable even if the entry in it is not (H29).
fn node(agent: &str, row: &Row<'_>) -> Option<HomeSession> {
    let entry = row.json(2).unwrap_or_default();
    Some(HomeSession {
        agent: agent.to_owned(),
        key: row.text(0)?.to_owned(),
        session_id: row.text(1)?.to_owned(),
        updated_at: row.whole(3).or_else(|| whole(&entry, "updatedAt")),
        from: StoredIn::Db,
        file: None,
        summary: TranscriptSummary::default(),
        label: row
            .text(4)
            .map(str::to_owned)
            .or_else(|| text(&entry, "label")),
        spawned_by: row
            .text(5)
            .map(str::to_owned)
            .or_else(|| text(&entry, "spawnedBy")),
        also_in_files: false,
    })
}

fn transcript(
    place: &SessionPlace<'_>,
    database: &Database,
    session_id: &str,
    problems: &mut Problems,
) -> TranscriptSummary {
    let mut summary = TranscriptSummary::default();
    cold(place, database, session_id, &mut summary, problems);
    let wanted = Rows {
        table: "transcript_events",
        needed: &["session_id", "seq", "event_json"],
        wanted: &["event_zstd"],
        of: Some(("session_id", session_id)),
        order: &["seq"],
        most: MAX_RECORDS,
    };
    let outcome = database.rows(&wanted, &mut |row| {
        event(row.cell(2), row.cell(3), &mut summary);
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    let summary = summary.finish(place.texts);
    if summary.unreadable() > 0 {
        let count = summary.unreadable();
        let noun = if count == 1 { "record" } else { "records" };
        let message = format!("The session `{session_id}` has {count} unreadable {noun}.");
        problems.say(format!("{} transcript_events", database.place()), message);
    }
    summary
}

/// A record is in one of two columns (H24).
fn event(json: Cell<'_>, zstd: Cell<'_>, summary: &mut TranscriptSummary) {
    match (json, zstd) {
        (Cell::Text(bytes), _) => summary.take(Ok(bytes)),
        (Cell::TooLarge(_), _) | (_, Cell::TooLarge(_)) => summary.take(Err(Unreadable::TooLong)),
        (_, Cell::Bytes(frame)) => match decoded(frame) {
            Ok(bytes) => summary.take(Ok(&bytes)),
            Err(why) => summary.take(Err(why)),
        },
        (Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Bytes(_), _) => {
            summary.take(Err(Unreadable::Empty));
        }
    }
}

/// Takes the records of a session whose transcript was put away (H26).
fn cold(
    place: &SessionPlace<'_>,
    database: &Database,
    session_id: &str,
    summary: &mut TranscriptSummary,
    problems: &mut Problems,
) {
    let wanted = Rows {
        table: "session_transcript_cold_archives",
        needed: &["session_id", "archive_name", "storage"],
        wanted: &["archive_sha256", "archive_blob"],
        of: Some(("session_id", session_id)),
        order: &["last_seq"],
        most: 1_000,
    };
    let mut failed = None;
    let outcome = database.rows(&wanted, &mut |row| {
        let read = match row.cell(4) {
            Cell::Bytes(blob) => take_archive(blob, summary),
            Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Text(_) | Cell::TooLarge(_) => {
                cold_file(place, row, summary)
            }
        };
        if !read {
            failed = Some(row.text(1).unwrap_or("?").to_owned());
        }
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    if let Some(name) = failed {
        let message =
            format!("The archive `{name}` of the session `{session_id}` is missing or damaged.");
        problems.say(place.directory(), message);
    }
}

fn cold_file(place: &SessionPlace<'_>, row: &Row<'_>, summary: &mut TranscriptSummary) -> bool {
    let sessions = place.directory();
    let cold = sessions.join(compat::COLD);
    let mut candidates: Vec<PathBuf> = Vec::new();
    if let Some(name) = row.text(1) {
        candidates.push(sessions.join(name));
        candidates.push(cold.join(name));
        if let Some(last) = Path::new(name).file_name() {
            candidates.push(cold.join(last));
        }
    }
    if let Some(sum) = row.text(3) {
        candidates.push(cold.join(format!("{sum}.jsonl.zst")));
    }
    for path in candidates {
        if let Ok(reader) = place
            .state
            .open_reader(&path, &reading(MAX_TRANSCRIPT_BYTES))
        {
            return take_archive(reader, summary);
        }
    }
    false
}

/// Takes all records of a compressed transcript; tells whether it was whole.
pub(super) fn take_archive(from: impl std::io::Read, summary: &mut TranscriptSummary) -> bool {
    match decoder(from) {
        Ok(decoder) => each_line(decoder, &mut |line| summary.take(line)).is_ok(),
        Err(_) => false,
    }
}

/// Reads the transcripts of deleted sessions (H25).
fn archives(
    place: &SessionPlace<'_>,
    database: &Database,
    found: &mut AgentSessions,
    problems: &mut Problems,
) {
    const TABLE: &str = "session_transcript_archives";
    let wanted = Rows {
        table: TABLE,
        needed: &["session_id", "archive_blob"],
        wanted: &["session_key", "reason", "encoding", "archive_name"],
        of: None,
        order: &["created_at", "session_id"],
        most: MAX_ARCHIVES,
    };
    let mut damaged = Vec::new();
    let outcome = database.rows(&wanted, &mut |row| {
        let mut summary = TranscriptSummary::default();
        let whole = match (row.cell(1), row.text(4)) {
            (Cell::Bytes(blob), Some("zstd") | None) => take_archive(blob, &mut summary),
            (Cell::Bytes(blob) | Cell::Text(blob), Some(_)) | (Cell::Text(blob), None) => {
                each_line(blob, &mut |line| summary.take(line)).is_ok()
            }
            (Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::TooLarge(_), _) => false,
        };
        let session_id = row.text(0).unwrap_or_default();
        let name = row.text(5).unwrap_or(session_id).to_owned();
        if !whole {
            damaged.push(name.clone());
        }
        found.others.push(OtherTranscript {
            agent: place.agent.to_owned(),
            kind: format!("archive:{}", row.text(3).unwrap_or("unknown")),
            place: format!("db {TABLE}"),
            name,
            key: row.text(2).map(str::to_owned),
            records: summary.records,
        });
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    for name in damaged {
        let message = format!("The archive `{name}` is damaged.");
        problems.say(format!("{} {TABLE}", database.place()), message);
    }
}
