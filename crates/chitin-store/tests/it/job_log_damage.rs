//! A job log that is damaged, deleted or cannot be written: nothing is lost without a word.

use chitin_store::{JobChange, JobLog, JobLogEvent, OpenItem, StoreError, job_log};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

fn open(id: &str) -> JobChange {
    JobChange::Open {
        id: id.to_owned(),
        body: json!({"words": id}),
    }
}

fn close(id: &str) -> JobChange {
    JobChange::Close { id: id.to_owned() }
}

fn ids(items: &[OpenItem]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

fn file(state: &Path) -> PathBuf {
    state.join("ledger.jsonl")
}

/// Writes a log of four lines, the first of which is closed by the last.
fn written(state: &Path) -> Vec<u8> {
    let (log, _) = JobLog::open(state).unwrap();
    for id in ["a", "b", "c"] {
        log.write(vec![open(id)]).unwrap();
    }
    log.write(vec![close("a")]).unwrap();
    drop(log);
    std::fs::read(file(state)).unwrap()
}

fn set_aside(state: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(state).unwrap();
    let paths = names.map(|entry| entry.unwrap().path());
    let damaged = |path: &PathBuf| path.to_str().unwrap().contains("ledger.jsonl.damaged-");
    paths.filter(damaged).collect()
}

#[test]
fn a_changed_byte_anywhere_is_noticed_or_changes_nothing() {
    let state = tempfile::tempdir().unwrap();
    let whole = written(state.path());
    let is_end = |at: usize| whole.get(at) == Some(&b'\n');
    let places = (0..whole.len()).filter(|at| at % 7 == 0 || is_end(*at) || is_end(at + 1));
    for at in places {
        for with in [0, b'\n', b'[', whole[at] ^ 1] {
            if whole[at] == with {
                continue;
            }
            let mut bytes = whole.clone();
            bytes[at] = with;
            std::fs::write(file(state.path()), &bytes).unwrap();
            let (log, items) = JobLog::open(state.path()).unwrap();
            assert!(log.health().damage.is_some(), "{at} {with}: {items:?}");
            // A newline keeps two lines apart; what is lost besides is one line.
            let lost = if is_end(at) { 2 } else { 1 };
            assert!(items.len() + lost >= 2, "{at} {with}: {items:?}");
            log.write(vec![open("next")]).unwrap();
            drop(log);
            let (log, again) = JobLog::open(state.path()).unwrap();
            assert_eq!(log.health().damage, None, "it was mended");
            assert_eq!(again.len(), items.len() + 1);
        }
    }
}

#[test]
fn zeros_are_noticed() {
    let state = tempfile::tempdir().unwrap();
    let whole = written(state.path());
    std::fs::write(file(state.path()), vec![0; whole.len()]).unwrap();
    let (log, items) = JobLog::open(state.path()).unwrap();
    assert!(items.is_empty());
    let damage = log.health().damage.unwrap();
    assert_eq!(damage.bytes, whole.len() as u64);
    let aside = damage.set_aside.unwrap();
    assert_eq!(std::fs::read(&aside).unwrap(), vec![0; whole.len()]);
    // Zeros behind what is there: a file that grew before its content was on the disk.
    let mut bytes = whole;
    bytes.extend([0; 100]);
    std::fs::write(file(state.path()), bytes).unwrap();
    drop(log);
    let (log, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(ids(&items), ["b", "c"]);
    assert_eq!(log.health().damage.unwrap().bytes, 100);
}

#[test]
fn a_file_without_its_beginning_is_noticed() {
    let state = tempfile::tempdir().unwrap();
    let whole = written(state.path());
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in 1..=first {
        std::fs::write(file(state.path()), &whole[..cut]).unwrap();
        let (log, _) = JobLog::open(state.path()).unwrap();
        assert!(log.health().damage.is_some(), "cut at {cut}");
    }
    std::fs::write(file(state.path()), &whole[first + 1..]).unwrap();
    let (log, items) = JobLog::open(state.path()).unwrap();
    assert!(log.health().damage.is_some());
    assert_eq!(ids(&items), ["b", "c"], "what is there still counts");
}

#[test]
fn lines_that_are_gone_or_there_twice_are_noticed() {
    let state = tempfile::tempdir().unwrap();
    let whole = String::from_utf8(written(state.path())).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let with = |kept: &[usize]| {
        let text: String = kept.iter().map(|at| lines[*at]).collect();
        std::fs::write(file(state.path()), text).unwrap();
        let (log, items) = JobLog::open(state.path()).unwrap();
        let found = ids(&items).join(" ");
        (found, log.health().damage.map(|damage| damage.lines))
    };
    assert_eq!(with(&[0, 1, 2, 3, 4]), ("b c".to_owned(), None));
    assert_eq!(with(&[0, 1, 3, 4]), ("c".to_owned(), Some(1)));
    assert_eq!(with(&[0, 4]), (String::new(), Some(3)));
    // What is there twice is done once: `a` was closed.
    assert_eq!(with(&[0, 1, 2, 3, 4, 1]), ("b c".to_owned(), Some(0)));
}

#[test]
fn whole_lines_count_in_any_order_and_with_any_line_ends() {
    let state = tempfile::tempdir().unwrap();
    let whole = String::from_utf8(written(state.path())).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let damaged_lines = whole.replacen("\"words\":\"b\"", "\"words\":\"x\"", 1);
    let reversed: Vec<&str> = lines.iter().rev().copied().collect();
    let shuffled = [lines[0], lines[4], lines[2], lines[2], lines[1], lines[3]];
    let with = |text: String| {
        std::fs::write(file(state.path()), &text).unwrap();
        let seen = job_log::inspect(state.path()).unwrap().unwrap();
        let (log, items) = JobLog::open(state.path()).unwrap();
        let damage = log.health().damage.unwrap();
        assert_eq!(seen.damage.unwrap().misplaced, damage.misplaced);
        let aside = damage.set_aside.clone().unwrap();
        assert_eq!(std::fs::read_to_string(aside).unwrap(), text);
        let found = (
            ids(&items).join(" "),
            damage.bytes,
            damage.lines,
            damage.misplaced,
        );
        // It goes on, and is whole again.
        log.write(vec![open("next")]).unwrap();
        drop(log);
        let (log, again) = JobLog::open(state.path()).unwrap();
        assert_eq!((log.health().damage, again.len()), (None, items.len() + 1));
        (found.0, found.1, found.2, found.3, damage.to_string())
    };
    for end in ["\r\n", "\r"] {
        let (found, bytes, lost, misplaced, said) = with(whole.replace('\n', end));
        assert_eq!((found.as_str(), bytes, lost, misplaced), ("b c", 0, 0, 5));
        assert!(
            said.contains("5 lines that count are out of order"),
            "{said}"
        );
        // The last line end may be missing in part.
        let (found, ..) = with(whole.replace('\n', end).trim_end_matches('\n').to_owned());
        assert_eq!(found, "b c");
        // A line that is damaged is lost by itself.
        let (found, bytes, lost, ..) = with(damaged_lines.replace('\n', end));
        assert_eq!((found.as_str(), lost), ("c", 1));
        assert_eq!(bytes, (lines[2].len() + end.len()) as u64);
    }
    for end in ["\n", "\r\n"] {
        let (found, bytes, lost, ..) = with(reversed.join(end) + end);
        assert_eq!((found.as_str(), bytes, lost), ("b c", 0, 0), "{end:?}");
        let (found, bytes, lost, ..) = with(shuffled.join(end) + end);
        assert_eq!((found.as_str(), bytes, lost), ("b c", 0, 0), "{end:?}");
    }
    // Another log behind this one: its lines have the same numbers and other content.
    let other = tempfile::tempdir().unwrap();
    let (log, _) = JobLog::open(other.path()).unwrap();
    log.write(vec![open("other")]).unwrap();
    drop(log);
    let other = std::fs::read_to_string(file(other.path())).unwrap();
    let (found, bytes, lost, misplaced, _) = with(whole + &other);
    let mut found: Vec<&str> = found.split(' ').collect();
    found.sort_unstable();
    assert_eq!((found.join(" ").as_str(), bytes, lost), ("b c other", 0, 0));
    assert!(misplaced > 0);
}

#[test]
fn outcomes_are_found_in_a_log_with_other_line_ends() {
    let state = tempfile::tempdir().unwrap();
    let (log, _) = JobLog::open(state.path()).unwrap();
    log.write(vec![open("a")]).unwrap();
    let end = JobChange::End {
        id: "a".to_owned(),
        at: 1,
        outcome: json!({"reply": "Done."}),
    };
    log.write(vec![end, open("b")]).unwrap();
    drop(log);
    let whole = std::fs::read_to_string(file(state.path())).unwrap();
    for end in ["\r\n", "\r"] {
        std::fs::write(file(state.path()), whole.replace('\n', end)).unwrap();
        let (log, items) = JobLog::open(state.path()).unwrap();
        assert_eq!(ids(&items), ["b"]);
        let (sender, outcome) = mpsc::channel();
        log.outcome("a", 2, move |found| sender.send(found).unwrap());
        let outcome = outcome.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(outcome.unwrap()["reply"], "Done.", "{end:?}");
    }
}

#[test]
fn damage_is_kept_beside_the_log_in_private_and_not_without_end() {
    use std::os::unix::fs::PermissionsExt;
    let state = tempfile::tempdir().unwrap();
    let whole = written(state.path());
    for round in 0..20_u8 {
        let mut bytes = whole.clone();
        bytes[60] = round;
        std::fs::write(file(state.path()), &bytes).unwrap();
        let (log, _) = JobLog::open(state.path()).unwrap();
        let aside = log.health().damage.unwrap().set_aside.unwrap();
        assert_eq!(std::fs::read(&aside).unwrap(), bytes);
        let mode = std::fs::metadata(&aside).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(set_aside(state.path()).len(), 8);
    let seen = job_log::inspect(state.path()).unwrap().unwrap();
    assert_eq!(seen.set_aside.len(), 8);
    assert_eq!(seen.damage, None, "the log itself was mended");
}

#[test]
fn an_interrupted_write_is_counted_and_is_no_damage() {
    let state = tempfile::tempdir().unwrap();
    let whole = written(state.path());
    std::fs::write(file(state.path()), &whole[..whole.len() - 5]).unwrap();
    let (log, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(ids(&items), ["a", "b", "c"]);
    assert_eq!((log.health().torn, log.health().damage), (1, None));
    assert!(set_aside(state.path()).is_empty());
}

#[test]
fn a_log_of_an_earlier_version_is_read_and_can_be_written_back() {
    let state = tempfile::tempdir().unwrap();
    let earlier = concat!(
        r#"[{"do":"open","id":"a","body":{"words":"a"}},{"do":"mark","id":"a","mark":"half"}]"#,
        "\n",
        r#"[{"do":"open","id":"b","body":{"words":"b"}}]"#,
        "\n",
        r#"[{"do":"op"#
    );
    std::fs::write(file(state.path()), earlier).unwrap();
    {
        let (log, items) = JobLog::open(state.path()).unwrap();
        assert_eq!(ids(&items), ["a", "b"]);
        assert_eq!(log.health().damage, None);
        assert_eq!(
            std::fs::read_to_string(file(state.path())).unwrap(),
            earlier
        );
        log.write(vec![close("b"), open("c")]).unwrap();
        let new = std::fs::read_to_string(file(state.path())).unwrap();
        assert!(
            new.lines().next().unwrap().contains(r#""version":2"#),
            "{new}"
        );
        let locked = job_log::downgrade(state.path());
        assert!(matches!(locked, Err(StoreError::Busy { .. })));
    }
    assert_eq!(job_log::downgrade(state.path()).unwrap(), Some(2));
    let back = std::fs::read_to_string(file(state.path())).unwrap();
    let lines: Vec<Vec<JobChange>> = back
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].len(), 2, "with its mark: {back}");
    // What an earlier version appends to a newer log counts when the newer version is back.
    {
        let (log, items) = JobLog::open(state.path()).unwrap();
        assert_eq!(ids(&items), ["a", "c"]);
        log.write(vec![open("d")]).unwrap();
    }
    let mut mixed = std::fs::read_to_string(file(state.path())).unwrap();
    mixed.push_str("[{\"do\":\"open\",\"id\":\"e\",\"body\":null}]\n");
    std::fs::write(file(state.path()), mixed).unwrap();
    let (log, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(ids(&items), ["a", "c", "d", "e"]);
    assert_eq!(log.health().damage, None);
}

#[test]
fn a_log_of_a_newer_version_is_refused_and_left_alone() {
    let state = tempfile::tempdir().unwrap();
    let json = r#"{"format":"chitin-job-log","version":3}"#;
    let content = format!("0 {json}");
    let sum = blake3::hash(content.as_bytes()).to_hex();
    let line = format!("{} {content}\n", &sum[..16]);
    std::fs::write(file(state.path()), &line).unwrap();
    let refused = JobLog::open(state.path()).unwrap_err().to_string();
    assert!(refused.contains("newer version"), "{refused}");
    assert_eq!(std::fs::read_to_string(file(state.path())).unwrap(), line);
}

#[test]
fn a_log_that_vanished_between_two_runs_is_noticed() {
    let state = tempfile::tempdir().unwrap();
    written(state.path());
    for empty in [false, true] {
        if empty {
            std::fs::write(file(state.path()), "").unwrap();
        } else {
            std::fs::remove_file(file(state.path())).unwrap();
        }
        let (log, items) = JobLog::open(state.path()).unwrap();
        assert!(items.is_empty());
        assert!(log.health().damage.unwrap().is_gone, "empty: {empty}");
    }
    // After a downgrade an earlier version may leave an empty one.
    job_log::downgrade(state.path()).unwrap();
    std::fs::write(file(state.path()), "").unwrap();
    let (log, _) = JobLog::open(state.path()).unwrap();
    assert_eq!(log.health().damage, None);
}

#[test]
fn a_log_that_cannot_be_shortened_goes_on_as_it_is() {
    let state = tempfile::tempdir().unwrap();
    // Nothing can have the name under which the log is written anew.
    std::fs::create_dir_all(state.path().join(".ledger.jsonl.next/in-the-way")).unwrap();
    let body = json!({"words": "x".repeat(10_000)});
    let big = |id: &str| JobChange::Open {
        id: id.to_owned(),
        body: body.clone(),
    };
    // The first log needs that name too.
    JobLog::open(state.path()).unwrap_err();
    std::fs::remove_dir_all(state.path().join(".ledger.jsonl.next")).unwrap();
    let (log, _) = JobLog::open(state.path()).unwrap();
    std::fs::create_dir_all(state.path().join(".ledger.jsonl.next/in-the-way")).unwrap();
    for round in 0..300 {
        log.write(vec![big("big")]).unwrap();
        log.write(vec![open(&round.to_string()), close("big")])
            .unwrap();
    }
    let health = log.health();
    assert!(
        health.failed_rewrites > 0 && health.failed_rewrites < 5,
        "{health:?}"
    );
    assert_eq!((health.failed_writes, health.failing), (0, None));
    drop(log);
    let (_log, items) = JobLog::open(state.path()).unwrap();
    assert_eq!(items.len(), 300);
}

#[test]
fn a_log_that_is_deleted_or_replaced_while_it_is_open_is_made_again() {
    let outside = tempfile::tempdir().unwrap();
    let state = outside.path().join("gateway");
    let (log, _) = JobLog::open(&state).unwrap();
    let events: Arc<Mutex<Vec<JobLogEvent>>> = Arc::default();
    let heard = Arc::clone(&events);
    log.watch(move |event| heard.lock().unwrap().push(event.clone()));
    log.write(vec![open("a")]).unwrap();
    std::fs::remove_dir_all(&state).unwrap();
    log.write(vec![open("b")]).unwrap();
    assert_eq!(job_log::inspect(&state).unwrap().unwrap().open, 2);
    std::fs::remove_file(file(&state)).unwrap();
    log.write(vec![open("c")]).unwrap();
    std::fs::write(outside.path().join("other"), "another file").unwrap();
    std::fs::rename(outside.path().join("other"), file(&state)).unwrap();
    log.write(vec![close("a")]).unwrap();
    assert_eq!(log.health().recreated, 3);
    assert_eq!(events.lock().unwrap().len(), 3);
    let aside = set_aside(&state);
    assert_eq!(std::fs::read_to_string(&aside[0]).unwrap(), "another file");
    assert!(matches!(JobLog::open(&state), Err(StoreError::Busy { .. })));
    drop(log);
    let (_log, items) = JobLog::open(&state).unwrap();
    assert_eq!(ids(&items), ["b", "c"]);
}

#[test]
fn what_nobody_waits_for_is_written_when_the_log_can_be_written_again() {
    let outside = tempfile::tempdir().unwrap();
    let state = outside.path().join("gateway");
    let (log, _) = JobLog::open(&state).unwrap();
    let (sender, events) = mpsc::channel();
    log.watch(move |event| sender.send(event.clone()).unwrap());
    let next = || events.recv_timeout(Duration::from_secs(20)).unwrap();
    log.write(vec![open("a"), open("b")]).unwrap();
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::write(&state, "a file stands where the directory was").unwrap();
    log.note(vec![close("a")]);
    assert!(matches!(next(), JobLogEvent::Failing(_)));
    log.write(vec![open("refused")]).unwrap_err();
    assert!(log.health().failing.is_some());
    std::fs::remove_file(&state).unwrap();
    // It finds out by itself.
    assert!(matches!(next(), JobLogEvent::Recreated(_)));
    assert_eq!(next(), JobLogEvent::Works);
    assert_eq!(log.health().failing, None);
    drop(log);
    let (_log, items) = JobLog::open(&state).unwrap();
    assert_eq!(ids(&items), ["b"]);
}
