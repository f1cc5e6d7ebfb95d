//! Sessions and jobs that are forgotten, and copies that are taken while others write.

use crate::kit::{KEY, Kit, NOW, SOON, names, new_session, say};
use chitin_store::{
    ForgetJobs, ForgottenJobs, JobChange, JobLog, JobLogBackup, SessionFileKind, SessionStore,
    StillOpen, StoreError, hold_index,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn holders(directory: &Path, text: &str) -> Vec<String> {
    let mut names = names(directory);
    names.retain(|name| {
        let bytes = fs::read(directory.join(name)).unwrap();
        String::from_utf8_lossy(&bytes).contains(text)
    });
    names
}

#[test]
fn a_forgotten_session_leaves_neither_transcripts_nor_its_ids_nor_its_key() {
    let kit = Kit::new();
    let mut ids = Vec::new();
    for round in 0..3 {
        let mut session = kit.store.open(KEY, &new_session(), SOON).unwrap();
        session
            .append(say(&format!("secret {round}")), NOW)
            .unwrap();
        ids.push(session.header().id.clone());
        let path = session.transcript();
        fs::write(path.with_extension("jsonl.torn-1"), "torn secret").unwrap();
        fs::write(path.with_extension("trajectory.jsonl"), "{}").unwrap();
    }
    let other = "agent:main:other";
    let mut session = kit.store.open(other, &new_session(), SOON).unwrap();
    session.append(say("stays"), NOW).unwrap();
    drop(session);
    let directory = kit.store.directory();
    fs::write(
        directory.join("sessions.json.damaged-1"),
        format!("{{{KEY:?}: {{"),
    )
    .unwrap();
    fs::write(
        directory.join("sessions.json.damaged-2"),
        "{\"agent:main:x\": {",
    )
    .unwrap();

    let files = kit.store.files_of_session(KEY).unwrap();
    assert_eq!((files.transcripts.len(), files.ids.len()), (3, 3));
    let held = kit.try_open().unwrap();
    assert!(kit.store.is_in_use(KEY).unwrap());
    assert!(matches!(
        kit.store.forget(KEY),
        Err(StoreError::Busy { .. })
    ));
    assert_eq!(
        kit.store.files_of_session(KEY).unwrap(),
        files,
        "nothing went"
    );
    drop(held);
    assert_eq!(kit.store.forget(KEY).unwrap(), files);
    for text in ids.iter().map(String::as_str).chain(["secret", KEY]) {
        assert_eq!(holders(directory, text), Vec::<String>::new(), "{text}");
    }
    assert!(
        !names(directory)
            .iter()
            .any(|name| ids.iter().any(|id| name.contains(id)))
    );
    assert!(directory.join("sessions.json.damaged-2").exists());
    assert_eq!(kit.store.list().unwrap()[0].0, other);
    assert_eq!(kit.store.read(other).unwrap().entries.len(), 1);
    assert!(matches!(
        kit.store.forget(KEY),
        Err(StoreError::Unknown { .. })
    ));
}

#[test]
fn a_session_that_is_only_in_the_archive_can_be_forgotten() {
    let kit = Kit::new();
    kit.open().append(say("secret"), NOW).unwrap();
    let removal = chitin_store::TranscriptRemoval::Archive { now: NOW };
    kit.store.remove(KEY, removal).unwrap();
    let files = kit.store.forget(KEY).unwrap();
    assert_eq!((files.transcripts.len(), files.entry), (1, None));
    assert_eq!(
        holders(kit.store.directory(), "secret"),
        Vec::<String>::new()
    );
}

#[test]
fn an_interrupted_forgetting_is_completed_by_doing_it_again() {
    let kit = Kit::new();
    kit.open().append(say("secret"), NOW).unwrap();
    let directory = kit.store.directory();
    // As after a crash behind the first step: the index does not know it any more.
    fs::write(directory.join("sessions.json"), "{}\n").unwrap();
    assert_eq!(kit.store.forget(KEY).unwrap().transcripts.len(), 1);
    assert_eq!(holders(directory, KEY), Vec::<String>::new());
}

#[test]
fn while_the_index_is_held_nothing_of_it_changes() {
    let kit = Kit::new();
    kit.open().append(say("hello"), NOW).unwrap();
    let hold = hold_index(kit.store.directory()).unwrap();
    assert!(hold.is_some());
    let store = kit.store.clone();
    let changing = std::thread::spawn(move || {
        store.annotate(KEY, &mut |entry| entry.label = Some("x".to_owned()))
    });
    assert_eq!(kit.store.find(KEY).unwrap().unwrap().label, None);
    drop(hold);
    changing.join().unwrap().unwrap();
    assert!(hold_index(Path::new("/nowhere/at/all")).unwrap().is_none());
    for (name, kind) in [
        ("s1.jsonl", SessionFileKind::Growing),
        ("s1.jsonl.reset.x", SessionFileKind::Growing),
        ("s1.jsonl.torn-1", SessionFileKind::Replaced),
        ("sessions.json", SessionFileKind::Replaced),
        ("sessions.keys", SessionFileKind::Replaced),
        ("sessions.lock", SessionFileKind::LeftOut),
        (".sessions.json.next", SessionFileKind::LeftOut),
    ] {
        assert_eq!(SessionFileKind::of(name), kind, "{name}");
    }
}

fn open(id: &str, session: &str) -> JobChange {
    let id = id.to_owned();
    let body = json!({"sessionKey": session, "words": format!("words of {session}")});
    JobChange::Open { id, body }
}

fn end(id: &str, session: &str) -> JobChange {
    JobChange::End {
        id: id.to_owned(),
        at: 10,
        outcome: json!({"sessionKey": session, "text": format!("reply of {session}")}),
    }
}

fn forget(log: &JobLog, open: StillOpen) -> ForgottenJobs {
    log.forget(ForgetJobs {
        is_meant: Box::new(|value: &Value, found| {
            let merged = value["mergedInto"].as_str();
            value["sessionKey"] == "gone" || merged.is_some_and(|into| found.contains(into))
        }),
        words: vec!["gone".to_owned()],
        open,
    })
    .unwrap()
}

#[test]
fn forgotten_jobs_leave_no_byte_in_the_log() {
    let state = tempfile::tempdir().unwrap();
    let ledger = state.path().join("ledger.jsonl");
    fs::write(state.path().join("ledger.jsonl.damaged-1"), "a gone line").unwrap();
    fs::write(state.path().join("ledger.jsonl.damaged-2"), "another").unwrap();
    let (log, _) = JobLog::open(state.path()).unwrap();
    log.write(vec![
        open("a", "gone"),
        open("b", "stays"),
        open("c", "gone"),
    ])
    .unwrap();
    log.write(vec![JobChange::End {
        id: "m".to_owned(),
        at: 10,
        outcome: json!({"mergedInto": "a"}),
    }])
    .unwrap();
    log.write(vec![
        end("a", "gone"),
        end("b", "stays"),
        open("d", "stays"),
    ])
    .unwrap();
    let kept = forget(&log, StillOpen::Keep);
    assert_eq!(
        (kept.outcomes.len(), kept.open, kept.damaged_logs),
        (2, 0, 1)
    );
    assert!(!log.knows("m", 20));
    assert!(log.is_open("c") && !log.knows("a", 20) && log.knows("b", 20));
    assert_eq!(
        fs::read_to_string(&ledger).unwrap().matches("gone").count(),
        2
    );
    assert_eq!(forget(&log, StillOpen::Close).open, 1);
    assert!(!fs::read_to_string(&ledger).unwrap().contains("gone"));
    drop(log);
    let (log, items) = JobLog::open(state.path()).unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(
        (ids, log.knows("b", 20), log.health().damage),
        (vec!["d"], true, None)
    );
    assert!(state.path().join("ledger.jsonl.damaged-2").exists());
}

#[test]
fn a_copy_of_the_log_has_all_that_was_open_at_any_moment_of_the_copying() {
    let state = tempfile::tempdir().unwrap();
    let (log, _) = JobLog::open(state.path()).unwrap();
    log.write(vec![open("before", "s"), open("over", "s")])
        .unwrap();
    log.write(vec![end("over", "s")]).unwrap();
    let copy = JobLogBackup::begin(state.path()).unwrap().unwrap();
    log.write(vec![end("before", "s"), open("meanwhile", "s")])
        .unwrap();
    log.write(vec![
        JobChange::Mark {
            id: "meanwhile".to_owned(),
            mark: "part".to_owned(),
        },
        open("short", "s"),
    ])
    .unwrap();
    log.write(vec![JobChange::Close {
        id: "short".to_owned(),
    }])
    .unwrap();
    let bytes = copy.finish().unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("ledger.jsonl"), bytes).unwrap();
    let (copied, items) = JobLog::open(other.path()).unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["before", "meanwhile", "short"]);
    assert_eq!(items[1].marks, ["part"]);
    assert!(copied.knows("over", 20));
    assert_eq!(copied.health().damage, None);

    // Written anew meanwhile, because it became too long.
    let copy = JobLogBackup::begin(state.path()).unwrap().unwrap();
    log.write(vec![open("late", "s")]).unwrap();
    forget(&log, StillOpen::Keep);
    let bytes = copy.finish().unwrap();
    fs::write(other.path().join("copy"), &bytes).unwrap();
    let third = tempfile::tempdir().unwrap();
    fs::write(third.path().join("ledger.jsonl"), bytes).unwrap();
    let (copied, items) = JobLog::open(third.path()).unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(
        (ids, copied.health().damage),
        (vec!["meanwhile", "late"], None)
    );
    assert!(
        JobLogBackup::begin(&state.path().join("none"))
            .unwrap()
            .is_none()
    );
}
