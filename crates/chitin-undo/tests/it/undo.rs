//! Taking turns back.

use crate::kit::{Stage, path};
use chitin_undo::{ConflictReason, Force, UndoError, UndoRequest};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_turn_is_taken_back_to_the_byte_with_modes_links_and_empty_directories() {
    let stage = Stage::new();
    stage.write("notes.md", "one\n");
    stage.write("bin/run", "#!/bin/sh\n");
    stage.chmod("bin/run", 0o750);
    stage.write("big.bin", vec![7; 3 << 20]);
    symlink("notes.md", stage.path("link")).unwrap();
    fs::create_dir(stage.path("empty")).unwrap();
    stage.chmod("empty", 0o711);
    let before = stage.tree();
    stage.turn("tear it apart", |stage| {
        stage.write("notes.md", "two\n");
        fs::remove_file(stage.path("bin/run")).unwrap();
        fs::remove_dir(stage.path("bin")).unwrap();
        stage.write("bin", "a file by now");
        stage.write("big.bin", vec![8; 3 << 20]);
        fs::remove_file(stage.path("link")).unwrap();
        symlink("/etc/passwd", stage.path("link")).unwrap();
        fs::remove_dir(stage.path("empty")).unwrap();
        stage.write("new/deep/file", "new");
        stage.chmod("notes.md", 0o600);
    });
    let after = stage.tree();
    let undone = stage.undo().unwrap();
    assert!(
        undone.failed.is_empty() && undone.conflicts.is_empty(),
        "{undone:?}"
    );
    assert_eq!(stage.tree(), before);
    // An undo is taken back like a turn.
    let redone = stage.undo_to(undone.number.unwrap(), Force::No).unwrap();
    assert!(
        redone.failed.is_empty() && redone.conflicts.is_empty(),
        "{redone:?}"
    );
    assert_eq!(stage.tree(), after);
}

#[test]
fn one_undo_after_another_goes_back_turn_by_turn() {
    let stage = Stage::new();
    stage.write("a", "0");
    for turn in 1..=3 {
        stage.turn("count", |stage| stage.write("a", turn.to_string()));
    }
    for expected in ["2", "1", "0"] {
        stage.undo().unwrap();
        assert_eq!(stage.read("a"), expected);
    }
    assert!(matches!(stage.undo(), Err(UndoError::NothingToUndo)));
}

#[test]
fn going_back_to_an_older_turn_takes_all_later_ones_back_too() {
    let stage = Stage::new();
    stage.write("a", "0");
    let first = stage.turn("one", |stage| stage.write("a", "1"));
    let second = stage.turn("two", |stage| stage.write("b", "new"));
    let undone = stage.undo_to(first, Force::No).unwrap();
    assert_eq!(undone.turns, [first, second]);
    assert_eq!(stage.read("a"), "0");
    assert!(!stage.path("b").exists());
}

#[test]
fn what_the_user_changed_since_is_left_alone_unless_forced_and_never_lost() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.write("b", "0");
    let turn = stage.turn("edit", |stage| {
        stage.write("a", "turn");
        stage.write("b", "turn");
    });
    stage.write("a", "mine");
    let undone = stage.undo().unwrap();
    assert_eq!(undone.conflicts.len(), 1);
    assert_eq!(undone.conflicts[0].change.path, path("a"));
    assert_eq!(undone.conflicts[0].reason, ConflictReason::ChangedSince);
    assert_eq!(
        (stage.read("a"), stage.read("b")),
        ("mine".into(), "0".into())
    );
    let forced = stage.undo_to(turn, Force::Yes).unwrap();
    assert_eq!(stage.read("a"), "0");
    stage.undo_to(forced.number.unwrap(), Force::No).unwrap();
    assert_eq!(stage.read("a"), "mine");
}

#[test]
fn an_edit_between_two_turns_survives_the_undo_of_the_second() {
    let stage = Stage::new();
    stage.write("a", "0");
    let first = stage.turn("one", |stage| stage.write("a", "1"));
    stage.write("a", "mine");
    stage.turn("two", |stage| stage.write("a", "2"));
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "mine");
    let undone = stage.undo_to(first, Force::No).unwrap();
    assert_eq!(undone.conflicts.len(), 1);
    assert_eq!(stage.read("a"), "mine");
}

#[test]
fn only_a_file_or_a_directory_is_taken_back_if_it_is_named() {
    let stage = Stage::new();
    stage.write("sub/dir/a", "0");
    stage.write("sub/b", "0");
    stage.write("c", "0");
    stage.turn("edit", |stage| {
        fs::remove_dir_all(stage.path("sub")).unwrap();
        stage.write("c", "1");
    });
    let request = UndoRequest {
        turn: None,
        path: Some(path("sub/dir")),
    };
    stage
        .history()
        .undo(&request, Force::No, stage.now())
        .unwrap();
    assert_eq!(stage.read("sub/dir/a"), "0");
    assert!(!stage.path("sub/b").exists());
    assert_eq!(stage.read("c"), "1");
    stage.undo().unwrap();
    assert_eq!(
        (stage.read("sub/b"), stage.read("c")),
        ("0".into(), "0".into())
    );
}

#[test]
fn an_undo_is_refused_while_a_turn_writes_and_names_it() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.turn("first", |stage| stage.write("a", "1"));
    let running = stage.begin("the long one");
    match stage.undo() {
        Err(UndoError::Running {
            number, message, ..
        }) => {
            assert_eq!(
                (number, message.as_str()),
                (running.info().number, "the long one")
            );
        }
        other => panic!("{other:?}"),
    }
    stage.history().end(running, stage.now()).unwrap();
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "0");
}

#[test]
fn git_and_ignored_trees_are_neither_recorded_nor_changed() {
    let stage = Stage::new();
    stage.write(".git/HEAD", "ref: main\n");
    stage.write("node_modules/x/index.js", "1");
    stage.write("a", "0");
    stage.turn("build", |stage| {
        stage.write(".git/HEAD", "ref: other\n");
        stage.write("node_modules/x/index.js", "2");
        stage.write("a", "1");
    });
    let undone = stage.undo().unwrap();
    let paths: Vec<String> = undone
        .changes
        .iter()
        .map(|one| one.path.to_string())
        .collect();
    assert_eq!(paths, ["a"]);
    assert_eq!(stage.read(".git/HEAD"), "ref: other\n");
    assert_eq!(stage.read("node_modules/x/index.js"), "2");
}

#[test]
fn a_directory_that_holds_something_else_stays() {
    let stage = Stage::new();
    stage.turn("make", |stage| stage.write("new/a", "1"));
    stage.write("new/mine", "mine");
    let undone = stage.undo().unwrap();
    assert!(!stage.path("new/a").exists());
    assert_eq!(stage.read("new/mine"), "mine");
    assert_eq!(undone.failed.len(), 1, "{undone:?}");
    assert!(undone.failed[0].reason.contains("not empty"));
}

#[test]
fn a_link_that_took_the_place_of_a_directory_is_not_followed() {
    let stage = Stage::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a"), "outside").unwrap();
    stage.write("sub/a", "0");
    stage.turn("edit", |stage| stage.write("sub/a", "1"));
    fs::remove_dir_all(stage.path("sub")).unwrap();
    symlink(outside.path(), stage.path("sub")).unwrap();
    let turns = stage.history().turns().unwrap();
    let _ = stage.undo_to(turns[0].turn.number, Force::Yes);
    assert_eq!(
        fs::read_to_string(outside.path().join("a")).unwrap(),
        "outside"
    );
}

#[test]
fn a_store_belongs_to_the_user_alone() {
    use std::os::unix::fs::MetadataExt;
    let stage = Stage::new();
    stage.write(".env", "KEY=secret\n".repeat(200));
    stage.turn("edit", |stage| stage.write(".env", "KEY=other\n"));
    let mut directories = vec![stage.store()];
    let mut files = 0;
    while let Some(directory) = directories.pop() {
        assert_eq!(
            fs::metadata(&directory).unwrap().mode() & 0o777,
            0o700,
            "{directory:?}"
        );
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                files += 1;
                assert_eq!(
                    fs::metadata(&path).unwrap().mode() & 0o777,
                    0o600,
                    "{path:?}"
                );
            }
        }
    }
    assert!(files >= 4, "{files}");
}
