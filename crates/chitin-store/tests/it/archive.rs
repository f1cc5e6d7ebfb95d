//! Resetting a session, the archive, taking away, and an index that was lost.

use crate::kit::{KEY, Kit, NOW, NOW_MS, begin, new_session, say, texts};
use chitin_store::{
    ArchiveReason, LockMode, Prune, PruneMode, PrunedKind, SessionStore, StoreError, StoreNote,
};
use serde_json::json;
use std::fs;
use std::time::{Duration, SystemTime};

const DAY_MS: i64 = 86_400_000;

#[test]
fn a_session_that_is_reset_leaves_its_transcript_in_the_archive() {
    let kit = Kit::new();
    let mut old = kit.open();
    old.append(say("before"), NOW).unwrap();
    old.update(&mut |entry| {
        entry.input_tokens = Some(5);
        entry.model = Some("m".to_owned());
        entry.label = Some("mine".to_owned());
        entry.status = Some("done".to_owned());
        entry.extra.insert("own".to_owned(), json!("kept"));
    })
    .unwrap();
    let (old_id, path) = (old.header().id.clone(), old.transcript());
    let content = fs::read(&path).unwrap();
    let busy = kit.store.open(KEY, &new_session(), LockMode::Refuse);
    assert!(matches!(busy.err().unwrap(), StoreError::Busy { .. }));
    drop(old);

    let new = kit
        .store
        .open(KEY, &new_session(), LockMode::Refuse)
        .unwrap();
    assert_ne!(new.header().id, old_id);
    assert_eq!(new.branch().entries, []);
    assert_eq!(
        (new.entry().input_tokens, new.entry().model.as_deref()),
        (None, Some("m"))
    );
    assert_eq!(
        (new.entry().label.as_deref(), new.entry().status.as_deref()),
        (Some("mine"), None)
    );
    assert_eq!(new.entry().extra["own"], "kept");
    let archive = kit.store.archive().unwrap();
    assert_eq!(archive.len(), 1);
    assert_eq!(
        archive[0].name,
        format!("{old_id}.jsonl.reset.2026-04-01T12-00-00.000Z")
    );
    assert_eq!(archive[0].reason, ArchiveReason::Reset);
    assert_eq!(fs::read(&archive[0].path).unwrap(), content);
    assert!(!path.exists());
}

#[test]
fn a_damaged_session_can_be_reset() {
    let kit = Kit::new();
    let path = kit.transcript("no header\n");
    kit.try_open().err().unwrap();
    let session = kit
        .store
        .open(KEY, &new_session(), LockMode::Refuse)
        .unwrap();
    assert_ne!(session.transcript(), path);
    let archive = kit.store.archive().unwrap();
    assert_eq!(fs::read_to_string(&archive[0].path).unwrap(), "no header\n");
}

#[test]
fn a_transcript_that_is_gone_begins_anew_and_that_is_told() {
    let kit = Kit::new();
    let path = kit.transcript("");
    fs::remove_file(&path).unwrap();
    let session = kit.open();
    assert_eq!(session.notes(), [StoreNote::LostTranscript { path }]);
    assert_eq!(session.branch().entries, []);
}

/// Five sessions of one record each, used one to five days ago; the oldest has a torn line and a trajectory beside it.
fn five_sessions() -> Kit {
    let kit = Kit::new();
    for days in 1..=5 {
        let key = format!("agent:main:explicit:{days}");
        let mut session = kit.store.open(&key, &begin(), LockMode::Refuse).unwrap();
        session.append(say("x"), NOW).unwrap();
        let used_at = NOW_MS - i64::from(days) * DAY_MS;
        session
            .update(&mut |entry| entry.updated_at = used_at)
            .unwrap();
        let path = session.transcript();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(used_at.unsigned_abs());
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        if days == 5 {
            fs::write(path.with_extension("jsonl.torn-1"), "torn").unwrap();
            fs::write(path.with_extension("trajectory.jsonl"), "{}").unwrap();
        }
    }
    kit
}

fn gone(kit: &Kit, prune: &Prune<'_>) -> Vec<String> {
    let report = kit.store.prune(prune).unwrap();
    report
        .gone
        .into_iter()
        .map(|one| match one.kind {
            PrunedKind::Session { key } => key.rsplit(':').next().unwrap().to_owned(),
            PrunedKind::Archived => "archived".to_owned(),
        })
        .collect()
}

#[test]
fn what_is_taken_away_goes_by_age_count_and_size_the_oldest_first() {
    let kit = five_sessions();
    let prune = Prune {
        now_ms: NOW_MS,
        ..Prune::default()
    };
    assert_eq!(gone(&kit, &prune), [""; 0]);
    let by_age = Prune {
        older_than_ms: Some(3 * DAY_MS),
        ..prune
    };
    assert_eq!(gone(&kit, &by_age), ["5", "4"]);
    let by_count = Prune {
        keep_at_most: Some(2),
        ..prune
    };
    assert_eq!(gone(&kit, &by_count), ["5", "4", "3"]);
    let by_size = Prune {
        total_bytes: Some(1000),
        ..prune
    };
    let left = kit.store.prune(&by_size).unwrap();
    assert!(left.kept_bytes <= 1000 && left.kept_bytes > 500, "{left:?}");
    assert_eq!(left.kept + left.gone.len(), 5);
}

#[test]
fn a_dry_run_takes_nothing_and_a_real_one_takes_all_that_belongs_to_a_session() {
    let kit = five_sessions();
    let before = kit.names();
    let mut prune = Prune {
        now_ms: NOW_MS,
        older_than_ms: Some(0),
        keep: &["agent:main:explicit:2"],
        ..Prune::default()
    };
    let open = kit
        .store
        .open("agent:main:explicit:3", &begin(), LockMode::Refuse)
        .unwrap();
    let dry = kit.store.prune(&prune).unwrap();
    assert_eq!(kit.names(), before);
    prune.mode = PruneMode::Delete;
    let real = kit.store.prune(&prune).unwrap();
    assert_eq!(real, dry);
    assert_eq!((real.gone.len(), real.busy.len(), real.kept), (3, 1, 2));
    let left: Vec<String> = kit
        .store
        .list()
        .unwrap()
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(left, ["agent:main:explicit:2", "agent:main:explicit:3"]);
    let transcripts = kit
        .names()
        .iter()
        .filter(|name| name.contains(".jsonl"))
        .count();
    assert_eq!(transcripts, 2, "{:?}", kit.names());
    drop(open);
}

#[test]
fn a_lost_or_damaged_index_is_made_again_with_the_same_keys() {
    for damage in [
        None,
        Some("{\"agent:main:main\": {\"sess"),
        Some("[]"),
        Some(""),
    ] {
        let kit = Kit::new();
        kit.open().append(say("first"), NOW).unwrap();
        let mut session = kit
            .store
            .open(KEY, &new_session(), LockMode::Refuse)
            .unwrap();
        session.append(say("second"), NOW).unwrap();
        drop(session);
        let path = kit.store.directory().join("sessions.json");
        match damage {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        // Reading does not write, not even this.
        let list = kit.store.list().unwrap();
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].0, KEY);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), damage);

        let session = kit.open();
        assert_eq!(texts(&session.branch().entries), ["second"]);
        let aside = path.with_file_name("sessions.json.damaged-1");
        let set_aside = damage.map(|_| aside.clone());
        assert_eq!(session.notes(), [StoreNote::IndexRebuilt { set_aside }]);
        assert_eq!(fs::read_to_string(aside).ok().as_deref(), damage);
        assert_eq!(kit.index().as_object().unwrap().len(), 1);
    }
}

#[test]
fn a_transcript_that_no_key_claims_gets_one_of_its_own() {
    let kit = Kit::new();
    let path = kit.transcript(crate::kit::HEADER);
    fs::remove_file(path.with_file_name("sessions.json")).unwrap();
    let key = "agent:main:explicit:s1";
    assert_eq!(kit.store.list().unwrap()[0].0, key);
    let session = kit.store.open(key, &begin(), LockMode::Refuse).unwrap();
    assert_eq!(session.transcript(), path);
}

#[test]
fn a_key_that_was_noted_for_a_session_that_did_not_begin_keeps_the_one_it_has() {
    let kit = Kit::new();
    let id = kit.open().header().id.clone();
    let keys = kit.store.directory().join("sessions.keys");
    let noted = fs::read_to_string(&keys).unwrap();
    let never = json!({"key": KEY, "transcript": "never"});
    fs::write(&keys, format!("{noted}{never}\n")).unwrap();
    fs::remove_file(kit.store.directory().join("sessions.json")).unwrap();
    assert_eq!(kit.store.find(KEY).unwrap().unwrap().session_id, id);
}
