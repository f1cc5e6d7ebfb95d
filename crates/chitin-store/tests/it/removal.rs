//! Sessions that are taken away: out of the index, and into the archive or gone.

use crate::kit::{KEY, Kit, NOW, NOW_MS, say};
use chitin_store::{ArchiveReason, Prune, PruneMode, SessionStore, StoreError, TranscriptRemoval};
use std::fs;
use std::path::PathBuf;

/// A session with a torn line and a trajectory beside its transcript. Returns where the transcript is.
fn with_side_files(kit: &Kit) -> PathBuf {
    let mut session = kit.open();
    session.append(say("hello"), NOW).unwrap();
    let path = session.transcript();
    fs::write(path.with_extension("jsonl.torn-1"), "torn").unwrap();
    fs::write(path.with_extension("trajectory.jsonl"), "{}").unwrap();
    path
}

#[test]
fn a_session_that_is_taken_away_is_in_the_archive_until_that_is_pruned() {
    let kit = Kit::new();
    let path = with_side_files(&kit);
    let content = fs::read(&path).unwrap();
    kit.store
        .remove(KEY, TranscriptRemoval::Archive { now: NOW })
        .unwrap();
    assert_eq!(kit.store.find(KEY).unwrap(), None);
    let archive = kit.store.archive().unwrap();
    assert_eq!(archive.len(), 1);
    assert_eq!(archive[0].reason, ArchiveReason::Deleted);
    assert!(
        archive[0]
            .name
            .ends_with(".jsonl.deleted.2026-04-01T12-00-00.000Z")
    );
    assert_eq!(fs::read(&archive[0].path).unwrap(), content);

    let prune = Prune {
        now_ms: NOW_MS,
        keep_at_most: Some(0),
        mode: PruneMode::Delete,
        ..Prune::default()
    };
    assert_eq!(kit.store.prune(&prune).unwrap().gone.len(), 1);
    assert_eq!(
        kit.names(),
        ["sessions.json", "sessions.keys", "sessions.lock"]
    );
}

#[test]
fn a_session_that_is_deleted_leaves_nothing_and_its_key_begins_anew() {
    let kit = Kit::new();
    with_side_files(&kit);
    kit.store.remove(KEY, TranscriptRemoval::Delete).unwrap();
    assert_eq!(
        kit.names(),
        ["sessions.json", "sessions.keys", "sessions.lock"]
    );
    let again = kit
        .store
        .remove(KEY, TranscriptRemoval::Delete)
        .unwrap_err();
    assert!(matches!(again, StoreError::Unknown { .. }), "{again}");
    let session = kit.open();
    assert_eq!(
        (session.branch().entries.len(), session.notes().len()),
        (0, 0)
    );
}

#[test]
fn a_session_that_somebody_has_open_stays() {
    let kit = Kit::new();
    let mut session = kit.open();
    for removal in [
        TranscriptRemoval::Delete,
        TranscriptRemoval::Archive { now: NOW },
    ] {
        let error = kit.store.remove(KEY, removal).unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    }
    session.append(say("still here"), NOW).unwrap();
    assert_eq!(kit.store.read(KEY).unwrap().entries.len(), 1);
}

#[test]
fn a_session_whose_transcript_is_gone_can_be_taken_away() {
    let kit = Kit::new();
    fs::remove_file(kit.transcript("")).unwrap();
    kit.store.remove(KEY, TranscriptRemoval::Delete).unwrap();
    assert_eq!(kit.store.list().unwrap(), []);
}
