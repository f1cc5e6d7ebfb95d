//! Changes that lie beside a long index: they count at once, survive kills, and end up in the index, whoever wrote to it meanwhile.

use crate::children::{add_one, numbered};
use crate::kit::{KEY, Kit, SOON, begin, store_at};
use chitin_contract::TranscriptRules;
use chitin_store::{FileStore, SessionCursor, SessionStore, StoreError, TranscriptRemoval};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const CHANGES: &str = "sessions.changes";

/// A store that puts every change beside the index, once there is one.
fn beside(kit: &Kit) -> FileStore {
    another(kit).with_changes_beside_from(0)
}

fn another(kit: &Kit) -> FileStore {
    store_at(kit.store.directory(), &TranscriptRules::CANONICAL)
}

fn changes(kit: &Kit) -> PathBuf {
    kit.store.directory().join(CHANGES)
}

fn index_path(kit: &Kit) -> PathBuf {
    kit.store.directory().join("sessions.json")
}

fn label(store: &FileStore, key: &str, label: &str) {
    let mut change = |entry: &mut chitin_store::SessionEntry| entry.label = Some(label.to_owned());
    store.annotate(key, &mut change).unwrap();
}

fn labelled(store: &FileStore, key: &str) -> Option<String> {
    store.find(key).unwrap()?.label
}

fn use_at(store: &FileStore, key: &str, time: i64) {
    let mut change = |entry: &mut chitin_store::SessionEntry| entry.updated_at = time;
    store.annotate(key, &mut change).unwrap();
}

/// Forgets a store as a kill would: nothing is put in order.
fn kill(store: FileStore) {
    std::mem::forget(store);
}

#[test]
fn a_change_of_a_long_index_is_one_line_and_is_seen_by_all() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    let before = fs::read(index_path(&kit)).unwrap();
    label(&store, KEY, "one");
    assert_eq!(fs::read(index_path(&kit)).unwrap(), before);
    assert_eq!(labelled(&store, KEY).as_deref(), Some("one"));
    let other = beside(&kit);
    assert_eq!(labelled(&other, KEY).as_deref(), Some("one"));
    label(&other, KEY, "two");
    assert_eq!(labelled(&store, KEY).as_deref(), Some("two"));
    // One line more each time, after the one that says what the file is.
    assert_eq!(
        fs::read_to_string(changes(&kit)).unwrap().lines().count(),
        3
    );
}

#[test]
fn a_forgotten_session_is_in_no_line_beside_the_index() {
    let kit = Kit::new();
    let store = beside(&kit);
    let gone = numbered(1);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    drop(store.open(&gone, &begin(), SOON).unwrap());
    label(&store, &gone, "a secret title");
    assert!(fs::read_to_string(changes(&kit)).unwrap().contains(&gone));
    store.forget(&gone).unwrap();
    for file in fs::read_dir(kit.store.directory()).unwrap() {
        let file = file.unwrap().path();
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        assert!(
            !text.contains(&gone) && !text.contains("secret"),
            "{file:?}"
        );
    }
    assert!(store.find(KEY).unwrap().is_some());
}

#[test]
fn whoever_holds_the_index_to_copy_it_has_all_changes_in_it() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    label(&store, KEY, "one");
    let hold = chitin_store::hold_index(kit.store.directory()).unwrap();
    assert!(hold.is_some());
    assert!(!changes(&kit).exists());
    let index: Value = serde_json::from_slice(&fs::read(index_path(&kit)).unwrap()).unwrap();
    assert_eq!(index[KEY]["label"], "one");
    drop(hold);
    assert_eq!(labelled(&store, KEY).as_deref(), Some("one"));
}

#[test]
fn who_ends_leaves_an_index_that_says_everything() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    drop(store.open(&numbered(1), &begin(), SOON).unwrap());
    label(&store, KEY, "one");
    store
        .remove(&numbered(1), TranscriptRemoval::Delete)
        .unwrap();
    drop(store);
    assert!(!changes(&kit).exists());
    assert_eq!(kit.index()[KEY]["label"], "one");
    assert_eq!(kit.index().as_object().unwrap().len(), 1);
}

#[test]
fn the_index_is_the_same_to_the_byte_whether_changes_lay_beside_it_or_not() {
    let (kit, other) = (Kit::new(), Kit::new());
    let (one, two) = (beside(&kit), another(&other));
    for store in [&one, &two] {
        for number in 0..3 {
            drop(store.open(&numbered(number), &begin(), SOON).unwrap());
        }
        label(store, &numbered(1), "x");
        store
            .remove(&numbered(0), TranscriptRemoval::Delete)
            .unwrap();
    }
    one.fold_index().unwrap();
    // Ids and paths differ; everything else must not.
    let plain = |kit: &Kit, store: &FileStore| {
        let mut text = fs::read_to_string(index_path(kit)).unwrap();
        text = text.replace(&*kit.state.to_string_lossy(), "STATE");
        for (number, (_, entry)) in store.list().unwrap().iter().enumerate() {
            text = text.replace(&entry.session_id, &format!("ID{number}"));
        }
        text
    };
    assert_eq!(plain(&kit, &one), plain(&other, &two));
}

#[test]
fn a_kill_loses_no_change_and_the_next_one_goes_on() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    label(&store, KEY, "one");
    kill(store);
    // What a kill in the middle of a line leaves.
    let mut torn = fs::read(changes(&kit)).unwrap();
    torn.extend_from_slice(b"0123456789abcdef {\"set\":{\"key\":\"a");
    fs::write(changes(&kit), torn).unwrap();
    let store = beside(&kit);
    assert_eq!(labelled(&store, KEY).as_deref(), Some("one"));
    assert_eq!(add_one(&store, KEY), 1);
    kill(store);
    let store = another(&kit);
    assert_eq!(labelled(&store, KEY).as_deref(), Some("one"));
    assert_eq!(add_one(&store, KEY), 2);
    drop(store);
    assert_eq!(kit.index()[KEY]["compactionCount"], 2);
    assert_eq!(kit.index()[KEY]["label"], "one");
}

/// After the index was put in its place and before the changes were taken away.
#[test]
fn changes_that_the_index_says_already_count_no_more() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    label(&store, KEY, "one");
    let aside = kit.store.directory().join("kept");
    fs::hard_link(changes(&kit), &aside).unwrap();
    store.fold_index().unwrap();
    assert!(!changes(&kit).exists());
    kill(store);
    fs::rename(&aside, changes(&kit)).unwrap();
    let store = beside(&kit);
    assert_eq!(labelled(&store, KEY).as_deref(), Some("one"));
    label(&store, KEY, "two");
    kill(store);
    assert_eq!(labelled(&another(&kit), KEY).as_deref(), Some("two"));
}

#[test]
fn an_index_that_another_program_wrote_meanwhile_and_our_changes_both_count() {
    let kit = Kit::new();
    let store = beside(&kit);
    for number in 0..4 {
        drop(store.open(&numbered(number), &begin(), SOON).unwrap());
        use_at(&store, &numbered(number), 100);
    }
    store.fold_index().unwrap();
    let mut theirs = kit.index();
    use_at(&store, &numbered(0), 200);
    label(&store, &numbered(0), "ours");
    label(&store, &numbered(1), "ours");
    store
        .remove(&numbered(2), TranscriptRemoval::Delete)
        .unwrap();
    // They know nothing of these changes, use one of the sessions later, and begin one.
    for (number, time) in [(0, 150), (1, 300), (3, 300)] {
        theirs[numbered(number)]["updatedAt"] = json!(time);
        theirs[numbered(number)]["label"] = json!("theirs");
    }
    theirs["agent:main:new"] = json!({"sessionId": "n", "updatedAt": 5});
    fs::write(index_path(&kit), theirs.to_string()).unwrap();
    let expected: BTreeMap<String, Option<&str>> = [
        (numbered(0), Some("ours")),
        (numbered(1), Some("theirs")),
        (numbered(3), Some("theirs")),
        ("agent:main:new".to_owned(), None),
    ]
    .into();
    let seen = |store: &FileStore| -> BTreeMap<String, Option<String>> {
        let list = store.list().unwrap().into_iter();
        list.map(|(key, entry)| (key, entry.label)).collect()
    };
    let expected: BTreeMap<String, Option<String>> = expected
        .into_iter()
        .map(|(key, label)| (key, label.map(str::to_owned)))
        .collect();
    assert_eq!(seen(&store), expected);
    assert_eq!(seen(&another(&kit)), expected);
    // The next change makes one index of both.
    label(&store, &numbered(3), "later");
    assert!(!changes(&kit).exists());
    assert_eq!(kit.index()[numbered(0)]["label"], "ours");
    assert_eq!(kit.index()["agent:main:new"]["sessionId"], "n");
    assert_eq!(kit.index().get(numbered(2)), None);
}

#[test]
fn an_index_that_is_lost_is_made_again_with_the_changes_beside_it() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    label(&store, KEY, "one");
    kill(store);
    fs::remove_file(index_path(&kit)).unwrap();
    let store = another(&kit);
    assert_eq!(labelled(&store, KEY).as_deref(), Some("one"));
    assert_eq!(add_one(&store, KEY), 1);
    assert_eq!(kit.index()[KEY]["label"], "one");
}

#[test]
fn changes_of_a_later_version_are_left_alone() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    label(&store, KEY, "one");
    kill(store);
    let content = r#"{"header":{"format":"chitin-session-changes","version":2,"base":null}}"#;
    let sum = blake3::hash(content.as_bytes()).to_hex();
    let line = format!("{} {content}\n", &sum[..16]);
    fs::write(changes(&kit), &line).unwrap();
    let error = another(&kit).find(KEY).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(fs::read_to_string(changes(&kit)).unwrap(), line);
}

#[test]
fn many_changes_are_put_into_the_index_by_themselves() {
    let kit = Kit::new();
    let store = beside(&kit);
    drop(store.open(KEY, &begin(), SOON).unwrap());
    let long = "x".repeat(10_000);
    let mut longest = 0;
    for number in 0..60 {
        label(&store, KEY, &format!("{number}{long}"));
        let length = fs::metadata(changes(&kit)).map_or(0, |found| found.len());
        longest = longest.max(length);
    }
    assert!(longest > 100_000, "{longest}");
    assert!(longest < 300_000, "{longest}");
    assert!(labelled(&store, KEY).unwrap().starts_with("59x"));
}

#[test]
fn a_page_of_sessions_goes_on_where_the_last_one_ended_whatever_changes_meanwhile() {
    let kit = Kit::new();
    let store = beside(&kit);
    for number in 0..10 {
        drop(store.open(&numbered(number), &begin(), SOON).unwrap());
        // Two at a time were used at the same moment.
        use_at(
            &store,
            &numbered(number),
            1_000 + i64::try_from(number / 2).unwrap(),
        );
    }
    let mut seen: Vec<String> = Vec::new();
    let mut after: Option<SessionCursor> = None;
    loop {
        let page = store.page(after.as_ref(), 3).unwrap();
        assert_eq!(page.total, 10);
        seen.extend(page.sessions.iter().map(|(key, _)| key.clone()));
        let (key, entry) = page.sessions.last().unwrap();
        after = Some(SessionCursor::behind(key, entry));
        // One of the first page is used again and again.
        use_at(
            &store,
            &numbered(9),
            5_000 + i64::try_from(seen.len()).unwrap(),
        );
        if !page.has_more {
            break;
        }
    }
    let expected = [8, 9, 6, 7, 4, 5, 2, 3, 0, 1].map(numbered);
    assert_eq!(seen, expected);
    assert_eq!(store.page(None, 1).unwrap().sessions[0].0, numbered(9));
    let all: Vec<String> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(all[0], numbered(9));
    assert_eq!(all.len(), 10);
}

#[derive(Debug, Clone)]
enum Step {
    Begin(usize),
    Label(usize, u8),
    Remove(usize),
    Fold,
    Kill,
    /// A program rewrites the index as it is, in another form.
    Rewrite,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        4 => (0..6_usize).prop_map(Step::Begin),
        6 => (0..6_usize, any::<u8>()).prop_map(|(key, label)| Step::Label(key, label)),
        2 => (0..6_usize).prop_map(Step::Remove),
        1 => Just(Step::Fold),
        1 => Just(Step::Kill),
        1 => Just(Step::Rewrite),
    ];
    prop::collection::vec((0..2_usize, step), 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// One that writes lines and one that writes the whole, kills and foreign programs between: all see the same, always.
    #[test]
    fn stores_that_write_in_both_ways_are_as_one(steps in steps()) {
        let kit = Kit::new();
        let mut stores = [beside(&kit), another(&kit)];
        let mut expected: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (at, step) in steps {
            let store = &stores[at];
            match step {
                Step::Begin(number) => {
                    drop(store.open(&numbered(number), &begin(), SOON).unwrap());
                    expected.entry(numbered(number)).or_default();
                }
                Step::Label(number, text) => {
                    if let Some(label) = expected.get_mut(&numbered(number)) {
                        let text = text.to_string();
                        self::label(store, &numbered(number), &text);
                        *label = Some(text);
                    }
                }
                Step::Remove(number) => {
                    let done = store.remove(&numbered(number), TranscriptRemoval::Delete);
                    prop_assert_eq!(done.is_ok(), expected.remove(&numbered(number)).is_some());
                }
                Step::Fold => store.fold_index().unwrap(),
                Step::Kill => {
                    let fresh = if at == 0 { beside(&kit) } else { another(&kit) };
                    kill(std::mem::replace(&mut stores[at], fresh));
                }
                Step::Rewrite => {
                    if let Ok(bytes) = fs::read(index_path(&kit)) {
                        let index: Value = serde_json::from_slice(&bytes).unwrap();
                        let next = index_path(&kit).with_extension("other");
                        fs::write(&next, index.to_string()).unwrap();
                        fs::rename(next, index_path(&kit)).unwrap();
                    }
                }
            }
            for store in &stores {
                let list = store.list().unwrap().into_iter();
                let seen: BTreeMap<String, Option<String>> =
                    list.map(|(key, entry)| (key, entry.label)).collect();
                prop_assert_eq!(&seen, &expected);
                let page = store.page(None, 100).unwrap();
                prop_assert_eq!(page.sessions.len(), expected.len());
                for (key, label) in &expected {
                    let found = store.find(key).unwrap().unwrap();
                    prop_assert_eq!(&found.label, label);
                }
            }
        }
        let [one, two] = stores;
        drop(one);
        drop(two);
        if !expected.is_empty() {
            another(&kit).fold_index().unwrap();
            let index = kit.index();
            for (key, label) in &expected {
                prop_assert_eq!(index[key]["label"].as_str(), label.as_deref());
            }
        }
    }
}
