//! What is to be done stays to be done, whatever happens to the process.

use chitin_store::{JobChange, JobLog, OpenItem, StoreError};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

fn open(id: &str) -> JobChange {
    JobChange::Open {
        id: id.to_owned(),
        body: json!({"words": id}),
    }
}

fn mark(id: &str, mark: &str) -> JobChange {
    JobChange::Mark {
        id: id.to_owned(),
        mark: mark.to_owned(),
    }
}

fn close(id: &str) -> JobChange {
    JobChange::Close { id: id.to_owned() }
}

fn ids(items: &[OpenItem]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

#[test]
fn what_is_open_comes_back_oldest_first_with_its_marks() {
    let state = tempfile::tempdir().unwrap();
    {
        let (ledger, items) = JobLog::open(state.path()).unwrap();
        assert!(items.is_empty());
        ledger.write(vec![open("a"), open("b")]).unwrap();
        ledger.write(vec![mark("b", "1"), mark("b", "2")]).unwrap();
        // One batch: the end of one thing and the beginning of the next.
        ledger.write(vec![close("a"), open("c")]).unwrap();
        ledger.note(vec![mark("c", "soon")]);
    }
    let (_ledger, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(ids(&items), ["b", "c"]);
    assert_eq!(items[0].marks, ["1", "2"]);
    assert_eq!(items[1].marks, ["soon"]);
}

#[test]
fn a_torn_line_never_counts_and_never_harms_the_next() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("ledger.jsonl");
    {
        let (ledger, _) = JobLog::open(state.path()).unwrap();
        ledger.write(vec![open("a")]).unwrap();
        ledger.write(vec![open("b")]).unwrap();
    }
    let whole = std::fs::read(&file).unwrap();
    let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    // Behind the line that names the format and the first batch.
    let first = ends.map(|(at, _)| at + 1).nth(1).unwrap();
    for cut in first..whole.len() {
        std::fs::write(&file, &whole[..cut]).unwrap();
        let (ledger, items) = JobLog::open(state.path()).unwrap();
        assert_eq!(ids(&items), ["a"], "cut at {cut}");
        ledger.write(vec![open("c")]).unwrap();
        drop(ledger);
        let (_ledger, items) = JobLog::open(state.path()).unwrap();
        assert_eq!(ids(&items), ["a", "c"], "cut at {cut}");
    }
}

#[test]
fn two_processes_never_have_it_at_once() {
    let state = tempfile::tempdir().unwrap();
    let (ledger, _) = JobLog::open(state.path()).unwrap();
    let second = JobLog::open(state.path());
    assert!(matches!(second, Err(StoreError::Busy { .. })));
    drop(ledger);
    JobLog::open(state.path()).unwrap();
}

#[test]
fn a_ledger_of_things_that_are_done_stays_short() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("ledger.jsonl");
    let (ledger, _) = JobLog::open(state.path()).unwrap();
    ledger
        .write(vec![open("kept"), mark("kept", "half")])
        .unwrap();
    let body = json!({"words": "x".repeat(10_000)});
    for round in 0..400 {
        let id = format!("job-{round}");
        let body = body.clone();
        ledger.note(vec![JobChange::Open {
            id: id.clone(),
            body,
        }]);
        ledger.note(vec![close(&id)]);
    }
    ledger.write(vec![open("last")]).unwrap();
    assert!(std::fs::metadata(&file).unwrap().len() < 3 << 20);
    drop(ledger);
    let (_ledger, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(ids(&items), ["kept", "last"]);
    assert_eq!(items[0].marks, ["half"]);
}

#[test]
fn it_says_how_much_is_open() {
    let state = tempfile::tempdir().unwrap();
    let (ledger, _) = JobLog::open(state.path()).unwrap();
    assert_eq!(ledger.open_bytes(), 0);
    let body = json!({"words": "x".repeat(10_000)});
    let id = "large".to_owned();
    ledger.write(vec![JobChange::Open { id, body }]).unwrap();
    assert!((10_000..11_000).contains(&ledger.open_bytes()));
    drop(ledger);
    let (ledger, _) = JobLog::open(state.path()).unwrap();
    assert!((10_000..11_000).contains(&ledger.open_bytes()));
    ledger.write(vec![close("large")]).unwrap();
    assert_eq!(ledger.open_bytes(), 0);
}

#[test]
fn sixty_four_threads_wait_for_the_disk_together() {
    let state = tempfile::tempdir().unwrap();
    let (ledger, _) = JobLog::open(state.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let ledger = &ledger;
            scope.spawn(move || {
                for round in 0..20 {
                    ledger
                        .write(vec![open(&format!("{thread}-{round}"))])
                        .unwrap();
                }
            });
        }
    });
    drop(ledger);
    let (_ledger, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(items.len(), 64 * 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_file_says_what_the_changes_say(
        batches in prop::collection::vec(prop::collection::vec((0_u8..3, 0_u8..5), 1..4), 0..30)
    ) {
        let state = tempfile::tempdir().unwrap();
        let mut expected: BTreeMap<String, usize> = BTreeMap::new();
        {
            let (ledger, _) = JobLog::open(state.path()).unwrap();
            for batch in &batches {
                let mut changes = Vec::new();
                for (kind, id) in batch {
                    let id = id.to_string();
                    match kind {
                        0 => {
                            expected.insert(id.clone(), 0);
                            changes.push(open(&id));
                        }
                        1 => {
                            if let Some(marks) = expected.get_mut(&id) {
                                *marks += 1;
                            }
                            changes.push(mark(&id, "m"));
                        }
                        _ => {
                            expected.remove(&id);
                            changes.push(close(&id));
                        }
                    }
                }
                ledger.write(changes).unwrap();
            }
        }
        let (_ledger, items) = JobLog::open(state.path()).unwrap();
        let found: BTreeMap<String, usize> =
            items.into_iter().map(|item| (item.id, item.marks.len())).collect();
        prop_assert_eq!(found, expected);
    }
}
