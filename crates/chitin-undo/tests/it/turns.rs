//! Which turn changed what.

use crate::kit::Stage;
use chitin_undo::{Entry, TurnInfo};
use std::fs;

#[test]
fn a_turn_has_its_own_changes_also_if_the_user_edits_before_and_after() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.history().checkpoint(stage.now()).unwrap();
    stage.write("mine", "before");
    let turn = stage.turn("fix the door", |stage| stage.write("a", "1"));
    stage.write("mine", "after");
    assert_eq!(stage.changed(turn), ["a"]);
    let turns = stage.history().turns().unwrap();
    assert_eq!(turns[0].turn.message, "fix the door");
    let count = stage
        .history()
        .count(&turns[0].changes[0])
        .unwrap()
        .unwrap();
    assert_eq!((count.added, count.removed), (1, 1));
}

#[test]
fn a_turn_that_changed_nothing_is_not_listed_and_costs_no_number() {
    let stage = Stage::new();
    stage.write("a", "0");
    let idle = stage.turn("look", |_| {});
    assert!(stage.history().turns().unwrap().is_empty());
    let next = stage.turn("edit", |stage| stage.write("a", "1"));
    assert_eq!(idle, next);
}

#[test]
fn changes_of_turns_that_write_at_the_same_time_are_told_of_both() {
    let stage = Stage::new();
    stage.write("a", "0");
    let one = stage.begin("one");
    stage.write("a", "of one");
    let two = stage.begin("two");
    stage.write("b", "of one or two");
    let (first, second) = (one.info().number, two.info().number);
    stage.history().end(one, stage.now()).unwrap();
    stage.write("c", "of two");
    stage.history().end(two, stage.now()).unwrap();
    assert_eq!(stage.changed(first), ["a", "b"]);
    assert_eq!(stage.changed(second), ["b", "c"]);
    let turns = stage.history().turns().unwrap();
    assert_eq!(turns[0].together_with, [second]);
    assert_eq!(turns[1].together_with, [first]);
}

#[test]
fn an_unchanged_file_is_not_read_and_a_changed_one_is_never_missed() {
    let stage = Stage::new();
    stage.write("a", "same length");
    let first = stage.history().checkpoint(stage.now()).unwrap();
    assert!(first.is_first);
    // At once, within a tick of the clock, and of the same length.
    stage.write("a", "SAME LENGTH");
    assert_eq!(stage.history().checkpoint(stage.now()).unwrap().changed, 1);
    assert_eq!(stage.history().checkpoint(stage.now()).unwrap().changed, 0);
}

#[test]
fn an_undo_says_which_turns_it_took_back_until_it_is_taken_back_itself() {
    let stage = Stage::new();
    stage.write("a", "0");
    let turn = stage.turn("edit", |stage| stage.write("a", "1"));
    let undo = stage.undo().unwrap().number.unwrap();
    let undone_by = |stage: &Stage| {
        let turns = stage.history().turns().unwrap();
        turns
            .iter()
            .find(|one| one.turn.number == turn)
            .unwrap()
            .undone_by
    };
    assert_eq!(undone_by(&stage), Some(undo));
    stage.undo_to(undo, chitin_undo::Force::No).unwrap();
    assert_eq!(undone_by(&stage), None);
}

#[test]
fn what_is_neither_file_directory_nor_link_is_left_out_and_said() {
    let stage = Stage::new();
    let fifo = stage.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let checkpoint = stage.history().checkpoint(stage.now()).unwrap();
    assert_eq!(checkpoint.special.len(), 1);
    assert_eq!(checkpoint.entries, 0);
}

#[test]
fn a_name_that_is_not_utf_8_is_recorded_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let stage = Stage::new();
    let name = stage
        .workspace()
        .join(std::ffi::OsStr::from_bytes(b"n\xffme"));
    if fs::write(&name, "0").is_err() {
        return;
    }
    let before = stage.tree();
    stage.turn("edit", |_| fs::write(&name, "1").unwrap());
    stage.undo().unwrap();
    assert_eq!(stage.tree(), before);
}

#[test]
fn the_state_directory_is_not_looked_into_wherever_it_lies() {
    let mut stage = Stage::new();
    stage.write("home/keys", "secret");
    stage.write("a", "0");
    stage.options.excluded = vec![stage.path("home")];
    let turn = stage.turn("edit", |stage| {
        stage.write("home/keys", "other");
        stage.write("a", "1");
    });
    assert_eq!(stage.changed(turn), ["a"]);
}

#[test]
fn a_second_process_that_records_waits_and_nothing_is_counted_twice() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.history().checkpoint(0).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let stage = stage.history();
            let workspace = stage.workspace().to_path_buf();
            scope.spawn(move || {
                for round in 0..10 {
                    let info = TurnInfo::new("run", &format!("s{thread}"), "write");
                    stage.checkpoint(1).unwrap();
                    let turn = stage.begin(info, 1).unwrap();
                    fs::write(workspace.join(format!("f{thread}")), round.to_string()).unwrap();
                    stage.end(turn, 2).unwrap();
                }
            });
        }
    });
    // Every content that a file had in the end is the last of the log.
    for thread in 0..4 {
        let name = format!("f{thread}");
        let turns = stage.history().turns().unwrap();
        let last = turns.iter().rev().flat_map(|one| &one.changes);
        let last = last
            .into_iter()
            .find(|one| one.path.to_string() == name)
            .unwrap();
        let content = chitin_undo::ContentId::of(b"9");
        assert!(
            matches!(&last.after, Some(Entry::File { content: found, .. }) if *found == content)
        );
    }
}
