//! What a process leaves that dies.

use crate::kit::{Stage, path};
use chitin_undo::{Force, UndoError, UndoRequest};
use std::fs;
use std::time::Duration;

#[test]
fn a_turn_whose_process_died_has_its_changes_and_can_be_taken_back() {
    let stage = Stage::new();
    stage.write("a", "0");
    let turn = stage.begin("dies");
    stage.write("a", "1");
    // What the kernel does with the claim of a process that is gone.
    drop(turn);
    stage.history().settle(stage.now()).unwrap();
    let turns = stage.history().turns().unwrap();
    assert!(turns[0].turn.interrupted);
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "0");
}

#[test]
fn what_is_changed_long_after_a_process_died_is_not_counted_to_its_turn() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.write("b", "0");
    let turn = stage.begin("dies");
    let number = turn.info().number;
    stage.write("a", "1");
    drop(turn);
    std::thread::sleep(Duration::from_millis(2_300));
    stage.write("a", "mine");
    stage.write("b", "mine");
    let undone = stage.undo();
    assert!(undone.is_err(), "{undone:?}");
    assert_eq!(
        (stage.read("a"), stage.read("b")),
        ("mine".into(), "mine".into())
    );
    assert!(stage.changed(number).is_empty());
}

#[test]
fn an_index_that_is_behind_the_log_is_brought_up_to_date() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.turn("one", |stage| stage.write("a", "1"));
    let index = fs::read(stage.store().join("index")).unwrap();
    stage.turn("two", |stage| stage.write("a", "2"));
    // The process died between the record and the index.
    fs::write(stage.store().join("index"), index).unwrap();
    assert_eq!(stage.history().checkpoint(stage.now()).unwrap().changed, 0);
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "1");
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "0");
}

#[test]
fn without_an_index_the_log_says_what_turns_left_and_what_somebody_else_changed() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.write("b", "0");
    let turn = stage.turn("one", |stage| {
        stage.write("a", "1");
        stage.write("b", "1");
        stage.write("gone", "1");
    });
    let index = stage.store().join("index");
    let mut bytes = fs::read(&index).unwrap();
    bytes[40] ^= 1;
    fs::write(&index, bytes).unwrap();
    stage.write("b", "the user's");
    stage.history().settle(stage.now()).unwrap();
    assert!(stage.history().is_recorded());
    let undone = stage.undo().unwrap();
    assert_eq!(undone.turns, [turn]);
    let left: Vec<String> = undone
        .conflicts
        .iter()
        .map(|one| one.change.path.to_string())
        .collect();
    assert_eq!(left, ["b"]);
    assert_eq!(
        (stage.read("a"), stage.read("b")),
        ("0".into(), "the user's".into())
    );
    assert!(!stage.path("gone").exists());
}

#[test]
fn a_damaged_record_is_counted_and_no_older_turn_is_taken_for_the_last() {
    let stage = Stage::new();
    stage.write("a", "0");
    let first = stage.turn("one", |stage| stage.write("a", "1"));
    stage.turn("two", |stage| stage.write("b", "2"));
    let log = stage.store().join("changes.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let (one, two) = text.split_once('\n').unwrap();
    let zeros = "\0".repeat(two.trim_end().len());
    fs::write(&log, format!("{one}\n{zeros}\n")).unwrap();
    assert_eq!(stage.history().damaged().unwrap(), 1);
    let refused = stage.undo().unwrap_err();
    assert!(matches!(refused, UndoError::DamagedLog), "{refused}");
    // By its number it is taken back as far as nobody can have changed anything since.
    let undone = stage.undo_to(first, Force::No).unwrap();
    assert_eq!(undone.conflicts.len(), 1);
    assert_eq!((stage.read("a"), stage.read("b")), ("1".into(), "2".into()));
    stage.undo_to(first, Force::Yes).unwrap();
    assert_eq!(stage.read("a"), "0");
}

#[test]
fn after_a_turn_that_was_not_recorded_no_older_one_is_taken_for_the_last() {
    let stage = Stage::new();
    stage.write("a", "0");
    let first = stage.turn("one", |stage| stage.write("a", "1"));
    stage.history().miss().unwrap();
    stage.history().miss().unwrap();
    stage.write("a", "of the turn without a record");
    let refused = stage.undo().unwrap_err();
    assert!(matches!(refused, UndoError::NotRecorded), "{refused}");
    assert_eq!(stage.undo_to(first, Force::No).unwrap().conflicts.len(), 1);
    // The next turn with a record is the last one again.
    let third = stage.turn("three", |stage| stage.write("c", "3"));
    assert_eq!(stage.undo().unwrap().turns, [third]);
}

#[test]
fn a_damaged_content_is_not_put_into_a_file() {
    let stage = Stage::new();
    stage.write("a", "zero");
    stage.turn("one", |stage| stage.write("a", "one"));
    let id = chitin_undo::ContentId::of(b"zero").to_string();
    let object = stage.store().join("objects").join(&id[..2]).join(&id[2..]);
    fs::write(object, b"\0zerO").unwrap();
    let undone = stage.undo().unwrap();
    assert_eq!(undone.failed.len(), 1);
    assert_eq!(stage.read("a"), "one");
    let names = fs::read_dir(stage.workspace()).unwrap().count();
    assert_eq!(names, 1, "a temporary file stayed");
}

#[test]
fn contents_that_no_record_names_are_removed() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.history().checkpoint(stage.now()).unwrap();
    let shelf = stage.store().join("objects/ab");
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join("cd".repeat(31)), "left").unwrap();
    fs::write(stage.store().join("unfinished"), "").unwrap();
    stage.history().checkpoint(stage.now()).unwrap();
    assert_eq!(fs::read_dir(shelf).unwrap().count(), 0);
    assert!(!stage.store().join("unfinished").exists());
}

#[test]
fn a_plan_changes_nothing_in_the_workspace() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.turn("one", |stage| stage.write("a", "1"));
    let before = stage.tree();
    let plan = stage
        .history()
        .plan(&UndoRequest::default(), Force::No, stage.now())
        .unwrap();
    assert_eq!(plan.changes[0].path, path("a"));
    assert_eq!(stage.tree(), before);
}
