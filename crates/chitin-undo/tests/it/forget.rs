//! Turns of one session are forgotten; those of others can still be taken back.

use crate::kit::Stage;
use chitin_undo::{TurnInfo, UndoError, content_of, forget, is_kept_in_copies, turns_of};
use std::fs;
use std::io::Read;
use std::path::Path;

fn turn(stage: &Stage, session: &str, message: &str, work: impl FnOnce(&Stage)) {
    let history = stage.history();
    history.checkpoint(stage.now()).unwrap();
    let info = TurnInfo::new("run", session, message);
    let active = history.begin(info, stage.now()).unwrap();
    work(stage);
    history.end(active, stage.now()).unwrap();
}

/// Says which files of the store hold a text, unpacked.
fn holders(stage: &Stage, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![stage.store()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let below = path.strip_prefix(stage.store()).unwrap();
            let mut content = Vec::new();
            if let Some(mut read) = content_of(below, &bytes[..]).unwrap() {
                read.read_to_end(&mut content).unwrap();
            }
            if [bytes, content]
                .iter()
                .any(|bytes| String::from_utf8_lossy(bytes).contains(text))
            {
                found.push(below.display().to_string());
            }
        }
    }
    found
}

fn is_gone(turn: &TurnInfo) -> bool {
    turn.session == "gone"
}

#[test]
fn contents_and_words_of_forgotten_turns_go_and_other_turns_are_taken_back() {
    let stage = Stage::new();
    let long = |text: &str| format!("{text}\n{}", "again and again\n".repeat(100));
    stage.write("shared", long("first"));
    turn(&stage, "stays", "begin", |stage| {
        stage.write("shared", long("mine"));
    });
    turn(&stage, "gone", "do secret-words", |stage| {
        stage.write("shared", long("secret-shared"));
        stage.write("own", long("secret-own"));
        stage.write("passing", long("secret-passing"));
    });
    turn(&stage, "gone", "do more secret-words", |stage| {
        fs::remove_file(stage.path("passing")).unwrap();
    });
    turn(&stage, "stays", "go on", |stage| {
        stage.write("other", "other\n");
    });
    assert_eq!(turns_of(&stage.store(), &is_gone).unwrap().len(), 2);
    let forgotten = forget(&stage.store(), &is_gone).unwrap();
    assert_eq!((forgotten.turns.len(), forgotten.contents), (2, 3));
    assert!(forgotten.bytes > 0);
    for text in [
        "secret-words",
        "secret-shared",
        "secret-own",
        "secret-passing",
        "passing",
    ] {
        assert_eq!(holders(&stage, text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(turns_of(&stage.store(), &is_gone).unwrap(), []);
    assert_eq!(forget(&stage.store(), &is_gone).unwrap().turns, []);
    // The newest turn of the others goes back as before.
    let undone = stage.undo().unwrap();
    assert!(
        undone.failed.is_empty() && undone.conflicts.is_empty(),
        "{undone:?}"
    );
    assert!(!stage.path("other").exists());
    assert_eq!(
        stage.read("own"),
        long("secret-own"),
        "the workspace is the user's"
    );
    // What stands there is recorded again before another turn writes over it, and comes back.
    turn(&stage, "stays", "write over it", |stage| {
        stage.write("own", "mine");
    });
    stage.undo().unwrap();
    assert_eq!(stage.read("own"), long("secret-own"));
}

#[test]
fn a_content_that_another_turn_needs_stays() {
    let stage = Stage::new();
    turn(&stage, "gone", "write", |stage| {
        stage.write("a", "needed words");
    });
    turn(&stage, "stays", "write over", |stage| {
        stage.write("a", "mine");
    });
    forget(&stage.store(), &is_gone).unwrap();
    assert_eq!(holders(&stage, "needed words").len(), 1);
    stage.undo().unwrap();
    assert_eq!(stage.read("a"), "needed words");
}

#[test]
fn a_running_turn_is_not_forgotten() {
    let stage = Stage::new();
    let history = stage.history();
    history.checkpoint(stage.now()).unwrap();
    let active = history
        .begin(TurnInfo::new("run", "gone", "secret"), stage.now())
        .unwrap();
    let refused = forget(&stage.store(), &is_gone).unwrap_err();
    assert!(matches!(refused, UndoError::Running { .. }), "{refused}");
    history.end(active, stage.now()).unwrap();
    assert_eq!(
        forget(Path::new("/nowhere/at/all"), &is_gone)
            .unwrap()
            .turns,
        []
    );
}

#[test]
fn copies_have_no_moments() {
    for kept in ["index", "changes.jsonl", "objects/ab/cd", "recorded"] {
        assert!(is_kept_in_copies(Path::new(kept)), "{kept}");
    }
    for left in ["lock", "running/1", "undo.journal", "unfinished"] {
        assert!(!is_kept_in_copies(Path::new(left)), "{left}");
    }
}
