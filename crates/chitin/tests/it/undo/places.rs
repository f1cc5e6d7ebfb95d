//! Whose record is meant, and whether a look ahead says what will happen.

use super::{call, code, exists, json_of, read, said, shown, talk, write};
use crate::process::{chitin, command};
use crate::run::Talk;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

/// Lets an agent of another directory than the usual one take a turn.
fn elsewhere(talk: &Talk, directory: &str) {
    talk.env
        .file(&format!("{directory}/AGENTS.md"), "Keep the yard.\n");
    let output = chitin(&talk.env, &["run", directory, "-m", "Write"]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
}

fn inside(talk: &Talk, directory: &str, arguments: &[&str]) -> Output {
    let mut command = command(&talk.env, arguments);
    command.current_dir(talk.env.path().join(directory));
    command.output().unwrap()
}

#[test]
fn a_directory_with_a_record_of_its_own_is_pointed_at() {
    let talk = talk(&[
        write("yard.md", "of the yard\n"),
        said("Done."),
        write("board.md", "oak: 4\n"),
        said("Done."),
    ]);
    elsewhere(&talk, "yard");
    // The default agent has none yet.
    for (arguments, spelled) in [
        (["undo"].as_slice(), "chitin undo --dir ."),
        (&["changes"], "chitin changes ."),
        (&["blame", "yard.md"], "chitin blame yard.md --dir ."),
    ] {
        let output = inside(&talk, "yard", arguments);
        assert_eq!(code(&output), 3, "{}", shown(&output));
        assert!(shown(&output).contains(spelled), "{}", shown(&output));
    }
    talk.answer("Write");
    let output = inside(&talk, "yard", &["changes"]);
    assert!(shown(&output).contains("board.md"), "{}", shown(&output));
    assert!(
        shown(&output).contains("`chitin changes .`"),
        "{}",
        shown(&output)
    );
    // Nothing is said where it is clear.
    for (directory, arguments) in [
        ("yard", ["changes", "."].as_slice()),
        ("yard", &["changes", "--agent", "main"]),
        ("workspace", &["changes"]),
        ("home", &["changes"]),
    ] {
        let output = inside(&talk, directory, arguments);
        assert!(
            !shown(&output).contains("changes .`"),
            "{directory}: {}",
            shown(&output)
        );
    }
    let undone = inside(&talk, "yard", &["undo", "--dir", "."]);
    assert_eq!(code(&undone), 0, "{}", shown(&undone));
    assert!(!talk.env.path().join("yard/yard.md").exists());
    assert_eq!(read(&talk, "board.md"), "oak: 4\n");
}

#[test]
fn a_dry_run_says_what_the_real_one_does() {
    for force in [[].as_slice(), &["--force"]] {
        let talk = talk(&[
            write("board.md", "oak: 4\n"),
            call(
                "exec",
                json!({"command": "mkdir -p deep/er && echo 1 > deep/er/a && echo 2 > deep/b && mkdir node && mkdir node/node_modules"}),
            ),
            said("Done."),
        ]);
        talk.answer("Write");
        talk.env.file("workspace/board.md", "mine\n");
        talk.env.file("workspace/deep/er/mine.md", "mine\n");
        talk.env.file("workspace/node/node_modules/x.js", "x\n");
        let with = |more: &[&'static str]| [&["undo"], force, more].concat();
        let dry = chitin(&talk.env, &with(&["--dry-run"]));
        let mut planned = json_of(&talk, &with(&["--dry-run", "--json"]));
        assert_eq!(read(&talk, "board.md"), "mine\n");
        assert!(exists(&talk, "deep/b"));
        let text = shown(&dry);
        for expected in [
            "deep/er: the directory is not empty",
            "node: the directory is not empty",
            "Would undo turn 1",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert_eq!(
            text.contains("board.md: was changed by somebody else since"),
            force.is_empty(),
            "{text}"
        );
        let done = chitin(&talk.env, &with(&["--json"]));
        assert_eq!(code(&dry), code(&done), "{text}{}", shown(&done));
        assert_eq!(code(&done), 1);
        let mut done: Value = serde_json::from_slice(&done.stdout).unwrap();
        for (value, own) in [(&mut planned, "dryRun"), (&mut done, "number")] {
            value.as_object_mut().unwrap().remove(own);
        }
        assert_eq!(planned, done);
        assert_eq!(read(&talk, "deep/er/mine.md"), "mine\n");
        assert!(!exists(&talk, "deep/b"));
    }
}

#[test]
fn a_directory_that_was_moved_brings_its_record_along() {
    let talk = talk(&[
        write("a.md", "1\n"),
        said("Done."),
        write("a.md", "2\n"),
        said("Done."),
    ]);
    elsewhere(&talk, "yard");
    let at = |name: &str| talk.env.path().join(name);
    fs::rename(at("yard"), at("moved")).unwrap();
    let listed = chitin(&talk.env, &["changes", "moved"]);
    assert_eq!(code(&listed), 0, "{}", shown(&listed));
    assert!(shown(&listed).contains("a.md"), "{}", shown(&listed));
    // What comes after is recorded behind it, also when a turn is the first to notice.
    fs::rename(at("moved"), at("again")).unwrap();
    elsewhere(&talk, "again");
    let turns = json_of(&talk, &["changes", "again", "--json"]);
    assert_eq!(turns["turns"].as_array().unwrap().len(), 2, "{turns}");
    for left in ["1\n", ""] {
        let undone = chitin(&talk.env, &["undo", "--dir", "again"]);
        assert_eq!(code(&undone), 0, "{}", shown(&undone));
        let found = fs::read_to_string(at("again/a.md")).unwrap_or_default();
        assert_eq!(found, left);
    }
    // A copy is another directory, and so is one that stands where another was.
    fs::create_dir(at("yard")).unwrap();
    fs::copy(at("again/AGENTS.md"), at("yard/AGENTS.md")).unwrap();
    let nothing = chitin(&talk.env, &["changes", "yard"]);
    assert_eq!(code(&nothing), 3, "{}", shown(&nothing));
}

#[test]
fn a_directory_with_a_record_is_pointed_at_where_the_usual_workspace_was_never_made() {
    let talk = talk(&[write("yard.md", "of the yard\n"), said("Done.")]);
    elsewhere(&talk, "yard");
    fs::remove_dir_all(talk.env.workspace()).unwrap();
    for (arguments, spelled) in [
        (["undo"].as_slice(), "chitin undo --dir ."),
        (&["changes"], "chitin changes ."),
    ] {
        let output = inside(&talk, "yard", arguments);
        assert_eq!(code(&output), 3, "{}", shown(&output));
        assert!(shown(&output).contains(spelled), "{}", shown(&output));
        let elsewhere = inside(&talk, "home", arguments);
        assert!(
            !shown(&elsewhere).contains(spelled),
            "{}",
            shown(&elsewhere)
        );
    }
}

#[test]
fn turns_and_lines_that_are_none_are_refused_in_words() {
    let talk = talk(&[write("board.md", "oak: 4\n"), said("Done.")]);
    talk.answer("Write");
    for arguments in [
        ["undo", "--turn", "-1"],
        ["undo", "--turn", "0"],
        ["undo", "--turn", "abc"],
        ["changes", "--turn", "-1"],
        ["undo", "--turn", "99999999999999999999"],
    ] {
        let output = chitin(&talk.env, &arguments);
        assert_eq!(code(&output), 2, "{}", shown(&output));
        assert!(
            shown(&output).contains("turns have numbers from 1 on; `chitin changes` lists them"),
            "{}",
            shown(&output)
        );
    }
    assert_eq!(read(&talk, "board.md"), "oak: 4\n");
    for (place, hint) in [
        (
            "board.md:abc",
            "`abc` is not the number of a line; one is named as in `chitin blame board.md:12`",
        ),
        ("board.md:-1", "`-1` is not the number of a line"),
        ("board.md:", "chitin blame board.md:12"),
    ] {
        let output = chitin(&talk.env, &["blame", place]);
        assert_eq!(code(&output), 3, "{place}: {}", shown(&output));
        assert!(shown(&output).contains(hint), "{place}: {}", shown(&output));
    }
}
