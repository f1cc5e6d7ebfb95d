//! What is not kept, and what goes first.

use crate::kit::Stage;
use chitin_undo::{ConflictReason, NotCovered, UndoError};
use std::fs;

#[test]
fn a_file_over_the_limit_is_said_and_not_pretended_to_be_restored() {
    let mut stage = Stage::new();
    stage.options.limits.max_file_bytes = 100;
    stage.write("big", [1; 200]);
    stage.write("small", "0");
    let checkpoint = stage.history().checkpoint(stage.now()).unwrap();
    assert_eq!(checkpoint.uncovered[0].reason, NotCovered::TooLarge);
    stage.turn("edit", |stage| {
        stage.write("big", [2; 201]);
        stage.write("small", "1");
    });
    let undone = stage.undo().unwrap();
    assert_eq!(stage.read("small"), "0");
    assert_eq!(undone.conflicts[0].reason, ConflictReason::NotKept);
    assert_eq!(fs::read(stage.path("big")).unwrap(), [2; 201]);
}

#[test]
fn a_file_that_would_be_lost_for_good_is_overwritten_only_by_force() {
    let mut stage = Stage::new();
    stage.options.limits.max_file_bytes = 100;
    stage.write("a", "small");
    let turn = stage.turn("grow", |stage| stage.write("a", [2; 200]));
    let undone = stage.undo().unwrap();
    assert_eq!(undone.conflicts[0].reason, ConflictReason::WouldBeLost);
    stage.undo_to(turn, chitin_undo::Force::Yes).unwrap();
    assert_eq!(stage.read("a"), "small");
}

#[test]
fn old_turns_go_by_age_and_the_newest_never() {
    let mut stage = Stage::new();
    stage.options.limits.max_age_ms = 1_000_000;
    stage.write("a", "0");
    stage.turn("one", |stage| stage.write("a", "1"));
    stage.wait(2_000_000);
    stage.turn("two", |stage| stage.write("a", "2"));
    stage.wait(2_000_000);
    stage.history().checkpoint(stage.now()).unwrap();
    let turns = stage.history().turns().unwrap();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].turn.message, "two");
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "1");
}

#[test]
fn old_turns_go_when_there_are_too_many_bytes_and_the_room_is_given_back() {
    let mut stage = Stage::new();
    stage.options.limits.max_bytes = 200_000;
    // Text that does not compress well.
    let noise = |seed: u64| {
        let mut dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let bytes = (0..30_000).map(|_| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            dice.to_le_bytes()[0]
        });
        bytes.collect::<Vec<u8>>()
    };
    stage.write("a", noise(1));
    for turn in 2..30 {
        stage.turn("rewrite", |stage| stage.write("a", noise(turn)));
        let mut stored = 0;
        for shelf in fs::read_dir(stage.store().join("objects")).unwrap() {
            for file in fs::read_dir(shelf.unwrap().path()).unwrap() {
                stored += file.unwrap().metadata().unwrap().len();
            }
        }
        assert!(stored <= 200_000, "{stored}");
    }
    let turns = stage.history().turns().unwrap();
    assert!(turns.len() >= 3 && turns.len() < 10, "{}", turns.len());
    for turn in turns.iter().rev() {
        stage.undo().unwrap();
        let number = turn.turn.number;
        assert!(
            fs::read(stage.path("a")).unwrap() == noise(number),
            "{number}"
        );
    }
}

#[test]
fn what_has_no_room_is_said_and_taken_when_there_is_room() {
    let mut stage = Stage::new();
    stage.options.limits.max_bytes = 10;
    stage.write("a", "0123456789 and more");
    let checkpoint = stage.history().checkpoint(stage.now()).unwrap();
    assert_eq!(checkpoint.uncovered[0].reason, NotCovered::NoRoom);
    stage.options.limits.max_bytes = 1 << 20;
    stage.history().checkpoint(stage.now()).unwrap();
    stage.turn("edit", |stage| stage.write("a", "x"));
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "0123456789 and more");
}

#[test]
fn a_workspace_with_too_many_entries_is_not_recorded_and_says_so() {
    let mut stage = Stage::new();
    stage.options.limits.max_entries = 5;
    for file in 0..7 {
        stage.write(&format!("f{file}"), "");
    }
    match stage.history().checkpoint(stage.now()) {
        Err(UndoError::TooMany { limit: 5 }) => {}
        other => panic!("{other:?}"),
    }
}
