//! What the machine does to a user: directories that may not be listed, a home that cannot be written to, files that are damaged.
//! Each is the user's to mend, so each is said with its place and a way out.
#![expect(
    clippy::disallowed_methods,
    reason = "files are damaged between the steps"
)]

use crate::process::transcript;
use crate::run::{Talk, text};
use chitin_test::TestEnv;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

fn talk() -> Talk {
    Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Fine."})])
}

/// Runs the program as somebody whom permissions bind, whoever runs the test.
fn bound(env: &TestEnv, more: &[&str], arguments: &[&str]) -> Output {
    let mut command = Command::new("bwrap");
    command.args(["--dev-bind", "/", "/", "--unshare-user", "--uid", "1000"]);
    command.args(["--cap-drop", "ALL"]).args(more);
    command.args(["--", env!("CARGO_BIN_EXE_chitin")]);
    command.args(arguments).current_dir(env.path());
    command.env_clear().env("HOME", env.home());
    command.env("PATH", "/usr/bin:/bin");
    command.output().unwrap()
}

/// The transcript of the only session.
fn session_file(talk: &Talk) -> PathBuf {
    let sessions = talk.env.home().join(".chitin/agents/main/sessions");
    let files = fs::read_dir(sessions).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    let is_transcript = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.ends_with(".jsonl")
            && !name.contains("trajectory")
            && !name.starts_with('.')
            && name.len() > 36
    };
    files.find(is_transcript).unwrap()
}

#[test]
fn check_says_that_a_directory_may_not_be_listed_as_run_and_context_do() {
    if !chitin_test::needs::bwrap() {
        return;
    }
    let talk = talk();
    let workspace = talk.env.workspace();
    let directory = workspace.to_string_lossy().into_owned();
    fs::set_permissions(&workspace, fs::Permissions::from_mode(0o311)).unwrap();
    let refused = bound(&talk.env, &[], &["context", &directory]);
    let checked = bound(&talk.env, &[], &["check", &directory]);
    let run = bound(&talk.env, &[], &["run", &directory, "-m", "hi"]);
    fs::set_permissions(&workspace, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    let found = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(1), "{found}");
    assert!(
        found.contains("CH103") && found.contains("cannot be listed"),
        "{found}"
    );
    let error = text(&run.stderr);
    let said = format!(
        "Could not use `{directory}` as a workspace: the workspace `{directory}` cannot be read: Permission denied"
    );
    assert!(error.contains(&said), "{error}");
}

#[test]
fn a_home_that_cannot_be_written_to_is_a_users_error_with_a_way_out() {
    if !chitin_test::needs::bwrap() {
        return;
    }
    let talk = talk();
    assert_eq!(talk.answer("hello").trim(), "Fine.");
    let home = talk.env.home().to_string_lossy().into_owned();
    let workspace = talk.env.workspace().to_string_lossy().into_owned();
    let read_only = [
        "--ro-bind",
        &home,
        &home,
        "--setenv",
        "CHITIN_WORKSPACE",
        &workspace,
    ];
    let output = bound(&talk.env, &read_only, &["run", &workspace, "-m", "hi"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("read-only file system"), "{error}");
    assert!(
        error.contains(&home) && error.contains("CHITIN_HOME"),
        "{error}"
    );
}

#[test]
fn an_empty_transcript_is_said_with_the_way_out() {
    let talk = talk();
    assert_eq!(talk.answer("hello").trim(), "Fine.");
    fs::write(session_file(&talk), "").unwrap();
    let output = talk.say("hello");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("is empty"), "{error}");
    assert!(error.contains("`--new` starts a new session"), "{error}");
    let output = talk.say_with("hello", &["--new"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_session_index_that_is_made_again_is_told_in_a_sentence_and_claims_no_figures() {
    let talk = talk();
    for _ in 0..2 {
        assert_eq!(talk.answer("hello").trim(), "Fine.");
    }
    let index = talk
        .env
        .home()
        .join(".chitin/agents/main/sessions/sessions.json");
    fs::write(index, "").unwrap();
    let output = talk.say("hello");
    let error = text(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert!(
        error.contains("the session index was damaged") && !error.contains("indexRebuilt"),
        "{error}"
    );
    let listed = transcript(&talk.env, &["sessions"]);
    assert!(listed.contains('≥'), "{listed}");
    let json = crate::process::chitin(&talk.env, &["sessions", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["sessions"][0]["tokensUnknown"], true, "{json}");
}

#[test]
fn errors_of_the_system_are_said_without_their_numbers_and_with_what_helps() {
    let talk = talk();
    let file = talk.env.workspace().join("AGENTS.md");
    let file = file.to_string_lossy().into_owned();
    for arguments in [
        &["run", &file, "-m", "hi"][..],
        &["check", &file, "--json"],
        &["init", "new", "--templates", &file],
    ] {
        let said = transcript(&talk.env, arguments);
        assert!(said.contains("Not a directory"), "{said}");
        assert!(!said.contains("os error"), "{said}");
    }
    let said = transcript(&talk.env, &["doctor", "nowhere"]);
    assert!(said.contains("the sandbox cannot use"), "{said}");
    assert!(!said.contains("os error"), "{said}");
    // A process that may open too few files is told of the limit, and not of rights.
    let limited = format!(
        "ulimit -n 16; exec {} run {} -m hi",
        env!("CARGO_BIN_EXE_chitin"),
        talk.env.workspace().display()
    );
    let output = Command::new("sh")
        .args(["-c", &limited])
        .env_clear()
        .env("HOME", talk.env.home())
        .env("CHITIN_WORKSPACE", talk.env.workspace())
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("too many open files"), "{said}");
    assert!(said.contains("`ulimit -n`"), "{said}");
}
