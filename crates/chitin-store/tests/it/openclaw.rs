//! OpenClaw's own sessions: read where they lie, copied byte for byte, never written and never locked.

use crate::kit::{HEADER, KEY, Kit, NOW, begin, line, names, new_session, say, texts};
use chitin_store::{BranchReach, OpenClawSessions, SessionStore, StoreError};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// A state directory as OpenClaw leaves it: an index with paths of another machine, a topic, a lock, a torn line.
fn state(kit: &Kit) -> (OpenClawSessions, PathBuf) {
    let state = kit.state.with_file_name("openclaw");
    let sessions = state.join("agents/main/sessions");
    fs::create_dir_all(&sessions).unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/runtime/samples");
    let sample = fs::read(samples.join("2026.4.23/transcript.jsonl")).unwrap();
    fs::write(sessions.join("u1.jsonl"), &sample).unwrap();
    let topic = HEADER.to_owned() + &line("a", None, "in a topic") + "{\"torn";
    fs::write(sessions.join("u2-topic-7%3A8.jsonl"), topic).unwrap();
    fs::write(sessions.join("u1.jsonl.lock"), "{\"pid\":1}").unwrap();
    fs::write(sessions.join("u1.trajectory.jsonl"), "{}\n").unwrap();
    let index = json!({
        "agent:main:main": {"sessionId": "u1", "updatedAt": 2, "skillsSnapshot": {},
            "sessionFile": "/elsewhere/agents/main/sessions/u1.jsonl"},
        "agent:main:telegram:group:1:topic:7": {"sessionId": "u2", "updatedAt": 3,
            "sessionFile": "/elsewhere/u2-topic-7%3A8.jsonl"},
        "agent:main:evil": {"sessionId": "../../../x", "updatedAt": 1},
    });
    fs::write(sessions.join("sessions.json"), index.to_string()).unwrap();
    (OpenClawSessions::at(state), sessions)
}

fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    names(directory)
        .into_iter()
        .map(|name| (name.clone(), fs::read(directory.join(name)).unwrap()))
        .collect()
}

#[test]
fn everything_is_found_and_nothing_is_touched() {
    let kit = Kit::new();
    let (openclaw, sessions) = state(&kit);
    let before = contents(&sessions);
    assert_eq!(openclaw.agents().unwrap(), ["main"]);
    let keys: Vec<String> = openclaw
        .list("main")
        .unwrap()
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(
        keys,
        [
            "agent:main:telegram:group:1:topic:7",
            "agent:main:main",
            "agent:main:evil"
        ]
    );
    let files: Vec<String> = openclaw
        .transcripts("main")
        .unwrap()
        .into_iter()
        .map(|file| file.name)
        .collect();
    assert_eq!(files, ["u1.jsonl", "u2-topic-7%3A8.jsonl"]);

    let main = openclaw.read("main", KEY, BranchReach::Needed).unwrap();
    assert_eq!(main.header.version, 3);
    assert_eq!(main.branch.entries.len(), 13);
    let topic = openclaw
        .read(
            "main",
            "agent:main:telegram:group:1:topic:7",
            BranchReach::Needed,
        )
        .unwrap();
    assert_eq!(texts(&topic.branch.entries), ["in a topic"]);
    assert_eq!(topic.notes.len(), 1);
    for nothing in ["agent:main:evil", "../sessions.json", "nobody"] {
        let error = openclaw
            .read("main", nothing, BranchReach::Needed)
            .unwrap_err();
        assert!(matches!(error, StoreError::Unknown { .. }), "{error}");
    }
    assert!(openclaw.list("../main").unwrap().is_empty());
    assert_eq!(contents(&sessions), before);
}

#[test]
fn a_session_is_taken_over_byte_for_byte_and_goes_on() {
    let kit = Kit::new();
    let (openclaw, sessions) = state(&kit);
    let original = fs::read(sessions.join("u1.jsonl")).unwrap();
    openclaw
        .import_into(&kit.store, ("main", KEY), KEY, &begin())
        .unwrap();
    let mut out = Vec::new();
    kit.store.export(KEY, &mut out).unwrap();
    assert_eq!(out, original);
    let mut session = kit.open();
    assert_eq!(session.branch().entries.len(), 13);
    let last = session.branch().entries[12].id.clone();
    let next = session.append(say("and on"), NOW).unwrap();
    assert_eq!(next[0].parent_id, Some(last));
    drop(session);

    let again = openclaw.import_into(&kit.store, ("main", KEY), KEY, &begin());
    assert!(matches!(again.unwrap_err(), StoreError::Exists { .. }));
    openclaw
        .import_into(&kit.store, ("main", KEY), KEY, &new_session())
        .unwrap();
    assert_eq!(kit.store.archive().unwrap().len(), 1);
    assert_eq!(kit.open().branch().entries.len(), 13);
}

#[test]
fn the_same_session_under_two_keys_is_two_sessions() {
    let kit = Kit::new();
    let path = kit.state.with_file_name("copy.jsonl");
    fs::write(&path, HEADER.to_owned() + &line("a", None, "one")).unwrap();
    kit.store
        .import("agent:main:explicit:a", &path, &begin())
        .unwrap();
    kit.store
        .import("agent:main:explicit:b", &path, &begin())
        .unwrap();
    let open = |key: &str| {
        let lock = chitin_store::LockMode::Refuse;
        kit.store.open(key, &begin(), lock).unwrap()
    };
    let mut a = open("agent:main:explicit:a");
    let b = open("agent:main:explicit:b");
    a.append(say("two"), NOW).unwrap();
    assert_ne!(a.transcript(), b.transcript());
    assert_eq!(
        kit.store
            .read("agent:main:explicit:b")
            .unwrap()
            .entries
            .len(),
        1
    );
}

#[test]
fn what_is_no_transcript_is_not_taken() {
    let kit = Kit::new();
    let path = kit.state.with_file_name("x");
    fs::write(&path, "{\"role\":\"user\"}\n").unwrap();
    assert!(kit.store.import(KEY, &path, &begin()).is_err());
    assert!(
        kit.store
            .import(KEY, &path.with_file_name("none"), &begin())
            .is_err()
    );
    assert!(kit.store.list().unwrap().is_empty());
}
