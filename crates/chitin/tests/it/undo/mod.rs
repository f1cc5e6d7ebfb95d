//! Turns that write, and taking them back: the real binary, a model that calls tools by a script.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and changed between the steps"
)]

pub(crate) mod kills;
mod leftovers;
mod patches;
mod places;
mod serving;

use crate::process::{chitin, command};
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

/// A reply that calls a tool.
fn call(name: &str, arguments: Value) -> Value {
    json!({"toolCalls": [Value::from_iter([("name", name.into()), ("arguments", arguments)])]})
}

fn write(path: &str, content: &str) -> Value {
    call("write", json!({"path": path, "content": content}))
}

fn said(text: &str) -> Value {
    json!({"text": text})
}

/// A talk in which every turn writes what the script says.
fn talk(script: &[Value]) -> Talk {
    Talk::new(Format::Anthropic, script)
}

fn read(talk: &Talk, name: &str) -> String {
    talk.env.read(&format!("workspace/{name}"))
}

fn exists(talk: &Talk, name: &str) -> bool {
    talk.env.workspace().join(name).exists()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn shown(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

fn json_of(talk: &Talk, arguments: &[&str]) -> Value {
    let output = chitin(&talk.env, arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| unreachable!("{}", shown(&output)))
}

#[test]
fn a_turn_that_wrote_a_file_and_ran_a_command_is_listed_shown_and_undone() {
    let talk = talk(&[
        write("board.md", "oak: 4\nlarch: 5\n"),
        call(
            "exec",
            json!({"command": "mkdir -p logs && echo hello > logs/new.txt && chmod 600 logs/new.txt && rm MEMORY.md"}),
        ),
        said("Done."),
    ]);
    let memory = read(&talk, "MEMORY.md");
    talk.answer("Count the oak again, and tidy up");
    assert_eq!(read(&talk, "board.md"), "oak: 4\nlarch: 5\n");
    assert!(!exists(&talk, "MEMORY.md"));

    let listed = chitin(&talk.env, &["changes"]);
    let list = shown(&listed);
    assert_eq!(code(&listed), 0, "{list}");
    for expected in [
        "\"Count the oak again, and tidy up\"",
        "agent:main:main",
        "changed  board.md  +1 -1",
        "removed  MEMORY.md  +0 -1",
        "added    logs/new.txt  +1 -0",
    ] {
        assert!(list.contains(expected), "{expected}: {list}");
    }
    let diff = shown(&chitin(&talk.env, &["changes", "--turn", "1"]));
    for expected in [
        "--- a/board.md",
        "+++ b/board.md",
        "-oak: 3",
        "+oak: 4",
        " larch: 5",
    ] {
        assert!(diff.contains(expected), "{expected}: {diff}");
    }
    let blame = shown(&chitin(&talk.env, &["blame", "board.md:1"]));
    assert!(
        blame.contains("turn 1") && blame.contains("Count the oak again"),
        "{blame}"
    );
    let blame = shown(&chitin(&talk.env, &["blame", "board.md:2"]));
    assert!(
        blame.contains("Not written by a turn that is recorded"),
        "{blame}"
    );

    let dry = chitin(&talk.env, &["undo", "--dry-run"]);
    assert!(shown(&dry).contains("Would undo turn 1"), "{}", shown(&dry));
    assert!(!exists(&talk, "MEMORY.md"));
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 0, "{}", shown(&undone));
    assert_eq!(read(&talk, "board.md"), "oak: 3\nlarch: 5\n");
    assert_eq!(read(&talk, "MEMORY.md"), memory);
    assert!(!exists(&talk, "logs"));

    // The undo is a change like any other.
    let redone = chitin(&talk.env, &["undo", "--turn", "2"]);
    assert_eq!(code(&redone), 0, "{}", shown(&redone));
    assert_eq!(read(&talk, "board.md"), "oak: 4\nlarch: 5\n");
    let mode = std::fs::metadata(talk.env.workspace().join("logs/new.txt")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_the_user_changed_since_is_left_alone_and_the_exit_code_says_so() {
    let talk = talk(&[
        write("board.md", "oak: 4\n"),
        write("note.md", "of the turn\n"),
        said("Done."),
    ]);
    talk.answer("Write");
    talk.env.file("workspace/board.md", "mine\n");
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 1, "{}", shown(&undone));
    assert!(shown(&undone).contains("board.md: was changed by somebody else since"));
    assert_eq!(read(&talk, "board.md"), "mine\n");
    assert!(!exists(&talk, "note.md"));
    let forced = chitin(&talk.env, &["undo", "--turn", "1", "--force"]);
    assert_eq!(code(&forced), 0, "{}", shown(&forced));
    assert_eq!(read(&talk, "board.md"), "oak: 3\nlarch: 5\n");
    // Forced, and still not lost.
    let redone = chitin(&talk.env, &["undo", "--turn", "3"]);
    assert_eq!(code(&redone), 0, "{}", shown(&redone));
    assert_eq!(read(&talk, "board.md"), "mine\n");
}

#[test]
fn one_file_is_taken_back_from_within_the_workspace_or_by_its_whole_path() {
    let talk = talk(&[
        write("notes/a.md", "a\n"),
        write("board.md", "oak: 4\n"),
        write("SOUL.md", "cold\n"),
        said("Done."),
    ]);
    talk.answer("Write three");
    let inside = command(&talk.env, &["undo", "a.md"])
        .current_dir(talk.env.workspace().join("notes"))
        .output()
        .unwrap();
    assert_eq!(code(&inside), 0, "{}", shown(&inside));
    assert!(!exists(&talk, "notes/a.md"));
    let whole = talk.env.workspace().join("board.md");
    let by_path = chitin(&talk.env, &["undo", whole.to_str().unwrap(), "--turn", "1"]);
    assert_eq!(code(&by_path), 0, "{}", shown(&by_path));
    assert_eq!(read(&talk, "board.md"), "oak: 3\nlarch: 5\n");
    assert_eq!(read(&talk, "SOUL.md"), "cold\n");
    for outside in ["/etc/passwd", "../secret"] {
        let refused = chitin(&talk.env, &["undo", outside]);
        assert_eq!(code(&refused), 3, "{}", shown(&refused));
    }
}

#[test]
fn git_is_left_alone_and_not_needed() {
    let talk = talk(&[
        call(
            "exec",
            json!({"command": "mkdir -p .git node_modules && echo x > node_modules/x && echo y > a.txt"}),
        ),
        said("Done."),
    ]);
    talk.env
        .file("workspace/.git/HEAD", "ref: refs/heads/main\n");
    talk.answer("Build");
    talk.env
        .file("workspace/.git/HEAD", "ref: refs/heads/other\n");
    let undone = json_of(&talk, &["undo", "--json"]);
    let paths: Vec<&str> = undone["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["a.txt"]);
    assert_eq!(read(&talk, ".git/HEAD"), "ref: refs/heads/other\n");
    assert!(exists(&talk, "node_modules/x"));
}

#[test]
fn the_record_lies_in_the_home_of_the_agent_is_private_and_survives_the_cache() {
    let talk = talk(&[
        write(".env", "TOKEN=after\n"),
        call(
            "exec",
            json!({"command": format!("cat {}", "~/.chitin/agents/main/undo/*/index")}),
        ),
        said("Done."),
    ]);
    talk.env.file("workspace/.env", "TOKEN=before\n");
    talk.answer("Rotate");
    let undo = talk.env.home().join(".chitin/agents/main/undo");
    let mode = std::fs::metadata(&undo).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    let results: Vec<Value> = talk.messages();
    let of_exec = results
        .iter()
        .rfind(|one| one["toolName"] == "exec")
        .unwrap();
    assert!(!of_exec.to_string().contains("chitin undo 01"), "{of_exec}");
    chitin(&talk.env, &["cache", "gc"]);
    assert_eq!(code(&chitin(&talk.env, &["undo"])), 0);
    assert_eq!(read(&talk, ".env"), "TOKEN=before\n");
}

#[test]
fn a_turn_that_only_talks_or_reads_is_not_listed() {
    let talk = talk(&[
        said("Hello."),
        call("read", json!({"path": "board.md"})),
        said("Three oak."),
    ]);
    talk.answer("Hi");
    talk.answer("What is on the board?");
    let list = chitin(&talk.env, &["changes", "--json"]);
    assert!(!shown(&list).contains("\"number\""), "{}", shown(&list));
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 3, "{}", shown(&undone));
}

#[test]
fn it_can_be_turned_off() {
    let talk = talk(&[write("a.md", "a\n"), said("Done.")]);
    talk.configure(json!({"undo": {"enabled": false}}));
    talk.answer("Write");
    assert!(!talk.env.home().join(".chitin/agents/main/undo").exists());
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 3, "{}", shown(&undone));
}

#[test]
fn settings_say_what_is_ignored_and_how_large_a_file_may_be() {
    let talk = talk(&[
        call(
            "exec",
            json!({"command": "echo 2 > gen/a && echo 2222222222222222 > big && echo 2 > small"}),
        ),
        said("Done."),
    ]);
    talk.configure(json!({"undo": {"ignore": ["gen"], "maxFileBytes": 10}}));
    talk.env.file("workspace/gen/a", "1\n");
    talk.env.file("workspace/big", "1111111111111111\n");
    talk.env.file("workspace/small", "1\n");
    let output = talk.say("Run");
    assert!(
        shown(&output).contains("undo does not cover"),
        "{}",
        shown(&output)
    );
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 1, "{}", shown(&undone));
    assert_eq!(read(&talk, "small"), "1\n");
    assert_eq!(read(&talk, "gen/a"), "2\n");
    assert_eq!(read(&talk, "big"), "2222222222222222\n");
    assert!(
        shown(&undone).contains("big: had a content that was not kept"),
        "{}",
        shown(&undone)
    );
}

/// Returns where the record of the workspace is.
fn record(talk: &Talk) -> std::path::PathBuf {
    let agents = talk.env.home().join(".chitin/agents");
    let agent = std::fs::read_dir(agents).unwrap().next().unwrap().unwrap();
    let undo = std::fs::read_dir(agent.path().join("undo")).unwrap();
    undo.map(|entry| entry.unwrap().path()).next().unwrap()
}

#[test]
fn a_turn_that_could_not_be_recorded_is_not_passed_over() {
    let talk = talk(&[
        write("a.md", "1"),
        said("one"),
        write("a.md", "2"),
        said("two"),
    ]);
    talk.say("first");
    let lock = record(&talk).join("lock");
    std::fs::rename(&lock, lock.with_extension("aside")).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let second = talk.say("second");
    assert!(
        shown(&second).contains("cannot be undone"),
        "{}",
        shown(&second)
    );
    assert_eq!(read(&talk, "a.md"), "2");
    std::fs::remove_dir(&lock).unwrap();
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 3, "{}", shown(&undone));
    assert!(
        shown(&undone).contains("What the last turn changed could not be recorded when it ran."),
        "{}",
        shown(&undone)
    );
    assert_eq!(read(&talk, "a.md"), "2");
}

#[test]
fn a_damaged_record_is_told_and_what_can_be_read_is_used() {
    let talk = talk(&[
        write("a.md", "1"),
        said("one"),
        write("b.md", "2"),
        said("two"),
    ]);
    talk.say("first");
    talk.say("second");
    // The index is lost: the log is enough.
    std::fs::write(record(&talk).join("index"), "garbage").unwrap();
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 0, "{}", shown(&undone));
    assert!(!exists(&talk, "b.md") && exists(&talk, "a.md"));
    // A record is lost: it is told.
    let log = record(&talk).join("changes.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(
        &log,
        format!("damaged\n{}", text.split_once('\n').unwrap().1),
    )
    .unwrap();
    let listed = chitin(&talk.env, &["changes"]);
    assert!(
        shown(&listed).contains("One entry of the record of changes is damaged"),
        "{}",
        shown(&listed)
    );
}
