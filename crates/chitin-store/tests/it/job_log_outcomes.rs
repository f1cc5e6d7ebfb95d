//! How finished things ended is kept for a while, in the log itself.

use chitin_store::{JobChange, JobLog, OutcomeLimits};
use serde_json::{Value, json};
use std::sync::mpsc;

fn open(id: &str) -> JobChange {
    JobChange::Open {
        id: id.to_owned(),
        body: json!({"words": "x".repeat(5_000)}),
    }
}

fn end(id: &str, at: i64) -> JobChange {
    JobChange::End {
        id: id.to_owned(),
        at,
        outcome: json!({"text": format!("The end of {id}.")}),
    }
}

fn asked(log: &JobLog, id: &str, now_ms: i64) -> Option<Value> {
    let (sender, receiver) = mpsc::channel();
    log.outcome(id, now_ms, move |outcome| sender.send(outcome).unwrap());
    let outcome = receiver.recv().unwrap();
    assert!(outcome.is_none() || log.knows(id, now_ms));
    outcome
}

#[test]
fn an_outcome_is_there_after_the_log_was_written_anew_and_opened_again() {
    let state = tempfile::tempdir().unwrap();
    let limits = OutcomeLimits {
        keep_ms: 1_000,
        ..OutcomeLimits::default()
    };
    let (log, _) = JobLog::open_with(state.path(), limits).unwrap();
    log.write(vec![open("kept"), open("open")]).unwrap();
    log.write(vec![end("kept", 10), open("next")]).unwrap();
    assert_eq!(asked(&log, "kept", 20).unwrap()["text"], "The end of kept.");
    for round in 0..600 {
        let id = round.to_string();
        log.write(vec![open(&id)]).unwrap();
        log.write(vec![JobChange::Close { id }]).unwrap();
    }
    let length = std::fs::metadata(state.path().join("ledger.jsonl"))
        .unwrap()
        .len();
    assert!(length < 2 << 20, "it was written anew: {length}");
    assert!(asked(&log, "kept", 20).is_some());
    std::fs::remove_file(state.path().join("ledger.jsonl")).unwrap();
    log.write(vec![JobChange::Close {
        id: "next".to_owned(),
    }])
    .unwrap();
    drop(log);
    let (log, items) = JobLog::open_with(state.path(), limits).unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(asked(&log, "kept", 20).unwrap()["text"], "The end of kept.");
    assert!(log.knows("open", 20) && !log.knows("next", 20));
    // Its time is over, and a new one of the same name begins.
    assert_eq!(asked(&log, "kept", 1_010), None);
    assert!(!log.knows("kept", 1_010));
    log.write(vec![open("kept")]).unwrap();
    assert_eq!(asked(&log, "kept", 20), None, "it is open again");
}

#[test]
fn outcomes_are_bounded_in_number_and_size() {
    let state = tempfile::tempdir().unwrap();
    let few = OutcomeLimits {
        most: 3,
        ..OutcomeLimits::default()
    };
    let kept = |log: &JobLog| {
        (0..10)
            .filter(|id| log.knows(&id.to_string(), 0))
            .collect::<Vec<_>>()
    };
    {
        let (log, _) = JobLog::open_with(state.path(), few).unwrap();
        for id in 0..10 {
            log.write(vec![end(&id.to_string(), 0)]).unwrap();
        }
        assert_eq!(kept(&log), [7, 8, 9]);
    }
    let small = OutcomeLimits {
        most_bytes: 250,
        ..OutcomeLimits::default()
    };
    let (log, _) = JobLog::open_with(state.path(), small).unwrap();
    assert_eq!(kept(&log), [8, 9]);
}

#[test]
fn outcomes_that_stand_in_one_line_count_for_what_they_are() {
    let state = tempfile::tempdir().unwrap();
    let limits = OutcomeLimits {
        most_bytes: 20_000,
        ..OutcomeLimits::default()
    };
    let (log, _) = JobLog::open_with(state.path(), limits).unwrap();
    log.write(vec![end("first", 0)]).unwrap();
    // As messages that get one turn: what it was asked is long, and what became of each is short.
    let mut merged = vec![JobChange::Open {
        id: "merged".to_owned(),
        body: json!({"words": "x".repeat(10_000)}),
    }];
    merged.extend((0..20).map(|id| end(&id.to_string(), 0)));
    log.write(merged).unwrap();
    for id in ["first", "0", "19"] {
        assert!(asked(&log, id, 0).is_some(), "{id} is not kept");
    }
    drop(log);
    let (log, _) = JobLog::open_with(state.path(), limits).unwrap();
    assert!(asked(&log, "first", 0).is_some());
}
