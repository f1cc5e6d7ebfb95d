//! The job log goes from one process of a server to the next, and may come back.

use chitin_store::{JobChange, JobLog, LockMode, OpenItem, OutcomeLimits, StoreError};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex};

fn open(id: &str) -> JobChange {
    JobChange::Open {
        id: id.to_owned(),
        body: json!({"words": id}),
    }
}

fn mark(id: &str) -> JobChange {
    JobChange::Mark {
        id: id.to_owned(),
        mark: "sent".to_owned(),
    }
}

fn ids(items: &[OpenItem]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

fn second(state: &Path) -> Result<(JobLog, Vec<OpenItem>), StoreError> {
    JobLog::open_within(state, OutcomeLimits::default(), LockMode::Wait(2_000))
}

#[test]
fn a_log_that_is_let_go_of_has_everything_and_one_process_at_a_time() {
    let state = tempfile::tempdir().unwrap();
    let (first, _) = JobLog::open(state.path()).unwrap();
    first.write(vec![open("a")]).unwrap();
    first.note(vec![open("b")]);
    let refused = JobLog::open(state.path());
    assert!(matches!(refused, Err(StoreError::Busy { .. })));
    first.release().unwrap();
    let (next, items) = second(state.path()).unwrap();
    assert_eq!(ids(&items), ["a", "b"]);
    // What the first one still has to say it says to the next one, and nobody waits for more than that.
    let told: Arc<Mutex<Vec<JobChange>>> = Arc::default();
    first.note(vec![mark("a")]);
    let hears = Arc::clone(&told);
    first.gone_to(move |changes| hears.lock().unwrap().extend(changes));
    first.write(vec![mark("b")]).unwrap();
    assert_eq!(*told.lock().unwrap(), [mark("a"), mark("b")]);
    next.write(vec![open("c")]).unwrap();
    drop((first, next));
    let (_, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(ids(&items), ["a", "b", "c"]);
    assert!(
        items.iter().all(|item| item.marks.is_empty()),
        "only the next one writes"
    );
}

#[test]
fn a_log_that_nobody_took_comes_back_with_what_was_said_meanwhile() {
    let state = tempfile::tempdir().unwrap();
    let (first, _) = JobLog::open(state.path()).unwrap();
    first.write(vec![open("a")]).unwrap();
    first.release().unwrap();
    first.note(vec![mark("a")]);
    // Somebody had it for a moment.
    drop(second(state.path()).unwrap());
    first.take_back().unwrap();
    assert!(first.knows("a", 0));
    first.write(vec![open("b")]).unwrap();
    drop(first);
    let (_, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(ids(&items), ["a", "b"]);
    assert_eq!(items[0].marks, ["sent"]);
}

#[test]
fn a_log_that_is_taken_and_not_let_go_of_can_be_asked_for_again() {
    let state = tempfile::tempdir().unwrap();
    let (first, _) = JobLog::open(state.path()).unwrap();
    first.release().unwrap();
    let (next, _) = second(state.path()).unwrap();
    assert!(matches!(first.take_back(), Err(StoreError::Busy { .. })));
    drop(next);
    first.take_back().unwrap();
    first.write(vec![open("a")]).unwrap();
}

#[test]
fn a_log_whose_directory_was_deleted_is_there_for_the_next_process() {
    let state = tempfile::tempdir().unwrap();
    let log = state.path().join("gateway");
    let (first, _) = JobLog::open(&log).unwrap();
    first.write(vec![open("a")]).unwrap();
    std::fs::remove_dir_all(&log).unwrap();
    first.release().unwrap();
    let (_, items) = second(&log).unwrap();
    assert_eq!(ids(&items), ["a"]);
}
