//! Many changes of the index at once: none is lost, none is told before it is stored, and they are written together.

use crate::children::{Role, add_one, numbered, start, words};
use crate::kit::{KEY, Kit, SOON, begin, store_at};
use chitin_contract::TranscriptRules;
use chitin_store::{FileStore, SessionStore, StoreError, TranscriptRemoval};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

fn begin_all(store: &FileStore, count: usize) {
    for number in 0..count {
        drop(store.open(&numbered(number), &begin(), SOON).unwrap());
    }
}

fn count(store: &FileStore, key: &str) -> Option<u64> {
    store.find(key).unwrap().unwrap().compaction_count
}

#[test]
fn changes_of_many_threads_are_all_there_and_are_written_together() {
    let kit = Kit::new();
    begin_all(&kit.store, 65);
    let before = kit.store.index_writes();
    std::thread::scope(|scope| {
        for number in 0..64 {
            let store = kit.store.clone();
            scope.spawn(move || {
                let key = numbered(number);
                let mut session = store.open(&key, &begin(), SOON).unwrap();
                for round in 1..=50 {
                    let mut add = |entry: &mut chitin_store::SessionEntry| {
                        entry.compaction_count = Some(entry.compaction_count.unwrap_or(0) + 1);
                    };
                    session.update(&mut add).unwrap();
                    // What was acknowledged can be seen, by this store and by any other.
                    assert_eq!(count(&store, &key), Some(round));
                }
                add_one(&store, &numbered(64));
            });
        }
    });
    let writes = kit.store.index_writes() - before;
    assert!(writes < 64 * 51, "{writes}");
    let other = store_at(kit.store.directory(), &TranscriptRules::CANONICAL);
    for number in 0..=64 {
        let expected = if number == 64 { 64 } else { 50 };
        assert_eq!(count(&other, &numbered(number)), Some(expected));
    }
}

#[test]
fn two_processes_that_change_the_same_sessions_lose_nothing() {
    let kit = Kit::new();
    begin_all(&kit.store, 200);
    let mut child = start(Role::Count, kit.store.directory());
    // This process takes part, with two stores that do not know each other.
    let other = store_at(kit.store.directory(), &TranscriptRules::CANONICAL);
    std::thread::scope(|scope| {
        for store in [&kit.store, &other] {
            scope.spawn(move || {
                for number in 0..200 {
                    add_one(store, &numbered(number));
                }
            });
        }
    });
    words(&mut child).for_each(drop);
    assert!(child.wait().unwrap().success());
    for number in 0..200 {
        assert_eq!(count(&kit.store, &numbered(number)), Some(3));
    }
}

#[test]
fn an_edit_by_hand_is_seen_however_soon_it_comes() {
    let kit = Kit::new();
    drop(kit.open());
    let path = kit.store.directory().join("sessions.json");
    // The same length each time, in the same file, faster than clocks tick.
    for number in 1_000..1_300 {
        let mut index = kit.index();
        index[KEY]["compactionCount"] = json!(number);
        fs::write(&path, serde_json::to_vec_pretty(&index).unwrap()).unwrap();
        assert_eq!(count(&kit.store, KEY), Some(number));
        if number % 3 == 0 {
            // Right after a change of our own, too.
            assert_eq!(add_one(&kit.store, KEY), number + 1);
        }
    }
}

#[test]
fn a_change_that_cannot_be_written_fails_for_all_and_is_not_seen() {
    let kit = Kit::new();
    begin_all(&kit.store, 8);
    let in_the_way = kit.store.directory().join(".sessions.json.next");
    fs::create_dir_all(in_the_way.join("full")).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let store = &kit.store;
            scope.spawn(move || {
                let key = numbered(number);
                let mut label = |entry: &mut chitin_store::SessionEntry| {
                    entry.label = Some("x".to_owned());
                };
                store.annotate(&key, &mut label).unwrap_err();
                assert_eq!(store.find(&key).unwrap().unwrap().label, None);
                let new = numbered(number + 100);
                assert!(store.open(&new, &begin(), SOON).is_err());
            });
        }
    });
    fs::remove_dir_all(in_the_way).unwrap();
    // Nothing of the sessions that did not begin is left behind.
    let transcripts = kit.names();
    let transcripts = transcripts.iter().filter(|name| name.ends_with(".jsonl"));
    assert_eq!(transcripts.count(), 8);
    assert_eq!(add_one(&kit.store, &numbered(3)), 1);
}

#[test]
fn a_change_that_panics_stops_nobody_else() {
    let kit = Kit::new();
    begin_all(&kit.store, 16);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let store = &kit.store;
                scope.spawn(move || {
                    let key = numbered(number);
                    for round in 0..20 {
                        // Whoever shares a batch with the one that panics may be refused, and knows it.
                        let _ = store.annotate(&key, &mut |entry| {
                            entry.label = Some("half".to_owned());
                            assert!(number != 5 || round != 10, "on purpose");
                        });
                    }
                })
            })
            .collect();
        let panicked = threads.into_iter().map(|thread| thread.join().is_err());
        assert_eq!(panicked.filter(|panicked| *panicked).count(), 1);
    });
    for number in 0..16 {
        assert_eq!(add_one(&kit.store, &numbered(number)), 1);
    }
}

#[test]
fn a_note_about_a_session_leaves_its_transcript_alone() {
    let kit = Kit::new();
    let session = kit.open();
    let entry = session.entry().clone();
    kit.store
        .annotate(KEY, &mut |entry| {
            entry.session_id = "other".to_owned();
            entry.session_file = None;
            entry.label = Some("mine".to_owned());
            entry.spawn_depth = Some(1);
            entry.subagent_role = Some("leaf".to_owned());
            entry.delivery_context = Some(json!({"channel": "web"}));
        })
        .unwrap();
    assert_eq!(
        kit.index()[KEY],
        json!({
            "sessionId": entry.session_id, "updatedAt": entry.updated_at, "sessionFile": entry.session_file,
            "label": "mine", "deliveryContext": {"channel": "web"}, "spawnDepth": 1, "subagentRole": "leaf",
        })
    );
    let writes = kit.store.index_writes();
    kit.store.annotate(KEY, &mut |_| {}).unwrap();
    assert_eq!(kit.store.index_writes(), writes);
    let error = kit.store.annotate("other", &mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::Unknown { .. }), "{error}");
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Begin,
    Annotate(u64),
    Remove,
}

fn steps() -> impl Strategy<Value = Vec<(usize, usize, Step)>> {
    let step = prop_oneof![
        Just(Step::Begin),
        (1..100_u64).prop_map(Step::Annotate),
        (1..100_u64).prop_map(Step::Annotate),
        Just(Step::Remove),
    ];
    prop::collection::vec((0..2_usize, 0..4_usize, step), 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Whatever two stores do in turns, both see what one would see that did all of it.
    #[test]
    fn two_stores_are_as_one(steps in steps()) {
        let kit = Kit::new();
        let other = store_at(kit.store.directory(), &TranscriptRules::CANONICAL);
        let stores = [&kit.store, &other];
        let mut expected: BTreeMap<String, Option<u64>> = BTreeMap::new();
        for (store, number, step) in steps {
            let (store, key) = (stores[store], numbered(number));
            match step {
                Step::Begin => {
                    drop(store.open(&key, &begin(), SOON).unwrap());
                    expected.entry(key).or_default();
                }
                Step::Annotate(value) => {
                    let done = store.annotate(&key, &mut |entry| entry.compaction_count = Some(value));
                    let there = expected.get_mut(&key);
                    prop_assert_eq!(done.is_ok(), there.is_some());
                    if let Some(there) = there {
                        *there = Some(value);
                    }
                }
                Step::Remove => {
                    let done = store.remove(&key, TranscriptRemoval::Delete);
                    prop_assert_eq!(done.is_ok(), expected.remove(&key).is_some());
                }
            }
            for store in stores {
                let list = store.list().unwrap();
                let seen: BTreeMap<String, Option<u64>> =
                    list.into_iter().map(|(key, entry)| (key, entry.compaction_count)).collect();
                prop_assert_eq!(&seen, &expected);
            }
        }
        if let Ok(names) = fs::read_dir(kit.store.directory()) {
            let transcripts = names.filter(|name| {
                name.as_ref().unwrap().file_name().to_string_lossy().ends_with(".jsonl")
            });
            prop_assert_eq!(transcripts.count(), expected.len());
        }
    }
}
