//! Guardrails as their author meets them: what `chitin check` says of `PERMISSIONS.md` and `CHANNELS.md` is what a turn does with them.
#![expect(
    clippy::disallowed_methods,
    reason = "files are changed between the steps"
)]

use crate::process::{chitin, command, transcript};
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

fn talk() -> Talk {
    Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Fine."})])
}

/// What `chitin check` prints about a workspace.
fn checked(talk: &Talk) -> String {
    transcript(&talk.env, &["check", &talk.env.workspace().to_string_lossy()])
}

#[test]
fn a_line_that_looks_like_a_rule_and_is_none_is_said_by_check_run_and_serve() {
    let talk = talk();
    let rules = "- deny: sword\n1. deny: hello\n- **deny**: hello\n* [ ] deny: hello\n- deny = hello\n2) message-length: 3\n";
    talk.env
        .files([("PERMISSIONS.md", rules), ("CHANNELS.md", "1. web\n")]);
    let found = checked(&talk);
    for (place, spelled) in [
        ("PERMISSIONS.md:2:1 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:3:3 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:4:3 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:5:3 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:6:1 error", "Write `- message-length: 3`."),
        ("CHANNELS.md:1:1 error", "Write `- web`"),
    ] {
        assert!(found.contains(place), "{place}: {found}");
        assert!(found.contains(spelled), "{spelled}: {found}");
    }
    let output = talk.say("hello");
    assert!(output.status.success(), "the grammar is what it was");
    let error = text(&output.stderr);
    let note = "`PERMISSIONS.md`, line 2: this looks like a rule and is none, so it has no effect; write it as `- deny: …`.";
    assert!(error.contains(note), "{error}");
    let mut serving = command(&talk.env, &["serve", "--listen", "127.0.0.1:0"])
        .arg(talk.env.workspace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(serving.stderr.take().unwrap());
    let is_said = said
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("line 2: this looks like a rule"));
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(is_said, "the server said nothing");
}

#[test]
fn check_says_of_a_guardrail_what_a_turn_makes_of_it() {
    for name in ["PERMISSIONS.md", "CHANNELS.md"] {
        let talk = talk();
        std::fs::create_dir(talk.env.workspace().join(name)).unwrap();
        let output = chitin(&talk.env, &["check", &talk.env.workspace().to_string_lossy()]);
        let found = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{found}");
        assert!(found.contains(name) && found.contains("cannot be used"), "{found}");
    }
    // With a byte order mark the first rule holds, and nobody says that there is none.
    let talk = talk();
    talk.env
        .file("workspace/PERMISSIONS.md", "\u{feff}deny: swordfish\n");
    assert_eq!(talk.say("the swordfish").status.code(), Some(5));
    let found = checked(&talk);
    assert!(!found.contains("nothing is guarded"), "{found}");
    // A link inside the workspace is followed, by both.
    let workspace = talk.env.workspace();
    std::fs::remove_file(workspace.join("PERMISSIONS.md")).unwrap();
    talk.env.file("workspace/rules/ours.md", "deny: swordfish\n");
    std::os::unix::fs::symlink("rules/ours.md", workspace.join("PERMISSIONS.md")).unwrap();
    assert_eq!(talk.say("the swordfish").status.code(), Some(5));
    let output = chitin(&talk.env, &["check", &workspace.to_string_lossy()]);
    let found = text(&output.stdout);
    assert!(!found.contains("PERMISSIONS.md"), "{found}");
    assert_eq!(output.status.code(), Some(0), "{found}");
}
