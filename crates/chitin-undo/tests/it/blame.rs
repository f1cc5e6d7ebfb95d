//! Who wrote a line.

use crate::kit::{Stage, path};
use chitin_undo::UndoError;
use std::fs;

fn writers(stage: &Stage, name: &str) -> Vec<Option<u64>> {
    let lines = stage.history().blame(&path(name)).unwrap();
    let first = lines.iter().map(|line| line.turns.first());
    first.map(|turn| turn.map(|turn| turn.number)).collect()
}

#[test]
fn a_line_is_of_the_turn_that_wrote_it_or_of_none() {
    let stage = Stage::new();
    stage.write("a", "mine\nalso mine\n");
    let one = stage.turn("one", |stage| stage.write("a", "mine\nof one\nalso mine\n"));
    stage.write("a", "mine\nof one\nalso mine\nlater mine\n");
    let two = stage.turn("two", |stage| {
        stage.write("a", "mine\nof one\nof two\nalso mine\nlater mine\n");
    });
    stage.write(
        "a",
        "mine\nof one\nof two\nalso mine\nlater mine\nnot recorded yet\n",
    );
    assert_eq!(
        writers(&stage, "a"),
        [None, Some(one), Some(two), None, None, None]
    );
    let line = stage.history().blame_line(&path("a"), 2).unwrap();
    assert_eq!(
        (line.text.as_str(), line.turns[0].message.as_str()),
        ("of one", "one")
    );
    assert!(matches!(
        stage.history().blame_line(&path("a"), 9),
        Err(UndoError::NoSuchLine { lines: 6, .. })
    ));
}

#[test]
fn a_line_that_an_undo_brought_back_is_of_those_who_wrote_it() {
    let stage = Stage::new();
    stage.write("a", "mine\n");
    let one = stage.turn("one", |stage| stage.write("a", "mine\nof one\n"));
    stage.turn("two", |stage| stage.write("a", "all new\n"));
    stage.undo().unwrap();
    assert_eq!(writers(&stage, "a"), [None, Some(one)]);
}

#[test]
fn a_file_that_was_moved_keeps_its_writers() {
    let stage = Stage::new();
    let one = stage.turn("one", |stage| stage.write("old", "line\n"));
    stage.turn("move", |stage| {
        fs::rename(stage.path("old"), stage.path("new")).unwrap();
    });
    assert_eq!(writers(&stage, "new"), [Some(one)]);
}

#[test]
fn what_is_not_text_is_refused() {
    let stage = Stage::new();
    stage.write("a", [0, 1, 2]);
    stage.history().checkpoint(stage.now()).unwrap();
    let blamed = stage.history().blame(&path("a"));
    assert!(matches!(blamed, Err(UndoError::NotText { .. })));
}
