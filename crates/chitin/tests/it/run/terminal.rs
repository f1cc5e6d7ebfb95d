//! Pipes, dry runs, sessions and conversations from the command line.

use super::{Talk, lines, text};
use crate::process::command;
use chitin_test::TestEnv;
use chitin_test::model_server::Format;
use serde_json::json;
use std::io::Write;
use std::process::Stdio;

#[test]
fn a_newcomer_sees_a_whole_turn_without_key_and_network() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "# Rules\n\nKeep the board.\n"),
        ("board.md", "oak: 3\n"),
    ]);
    let output = command(
        &env,
        &[
            "run",
            "workspace",
            "-m",
            "call read {\"path\": \"board.md\"}",
        ],
    )
    .output()
    .unwrap();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{error}");
    assert!(out.contains("oak: 3"), "{out}");
    assert!(error.contains("offline"), "it says who answers: {error}");
}

#[test]
fn what_is_piped_in_is_what_is_said() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Read."})]);
    let mut child = talk
        .command(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all("Zeile eins\nZeile zwei\n".as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "Read.\n");
    let sent = text(&talk.server.requests()[0].body);
    assert!(sent.contains("Zeile eins\\nZeile zwei"), "{sent}");
}

#[test]
fn a_dry_run_prints_the_bytes_that_a_run_sends_and_touches_nothing() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Hi."})]);
    let dry = talk.say_with("Hello", &["--dry-run", "--json"]);
    assert!(dry.status.success(), "{}", text(&dry.stderr));
    assert_eq!(talk.server.requests().len(), 0);
    assert!(!talk.env.home().join(".chitin/agents").exists());
    let shown: serde_json::Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert!(
        !text(&dry.stdout).contains("sk-test-not"),
        "the key is shown"
    );
    talk.answer("Hello");
    let sent = &talk.server.requests()[0];
    assert_eq!(shown["body"].as_str().unwrap().as_bytes(), &sent.body[..]);
    assert_eq!(
        shown["url"].as_str().unwrap(),
        format!("{}/v1/messages", talk.server.origin())
    );
}

#[test]
fn what_chitin_context_shows_is_what_is_sent() {
    for contract in ["canonical", "openclaw-2026.4", "openclaw-2026.9"] {
        let talk = Talk::new(Format::Completions, &[json!({"text": "Hi."})]);
        talk.configure(json!({"contract": contract, "tools": {"deny": ["process"], "webFetch": {"enabled": true}}}));
        talk.answer("Hello");
        let sent: serde_json::Value =
            serde_json::from_slice(&talk.server.requests()[0].body).unwrap();
        let system = sent["messages"][0]["content"].as_str().unwrap();
        let shown = command(&talk.env, &["context", "workspace", "--text"])
            .output()
            .unwrap();
        let shown = text(&shown.stdout).replace("\n<!-- OPENCLAW_CACHE_BOUNDARY -->\n", "\n");
        assert_eq!(shown.trim_end(), system.trim_end(), "{contract}");
    }
}

#[test]
fn a_recorded_run_is_replayed_without_the_provider() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Three oak."})]);
    let said = talk.say_with("What is on the board?", &["--record", "tape.jsonl"]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    let replayed = talk.say_with(
        "What is on the board?",
        &["--model", "replay/tape.jsonl", "--new"],
    );
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    assert_eq!(text(&replayed.stdout), "Three oak.\n");
    assert_eq!(talk.server.requests().len(), 1);
    let unknown = talk.say_with("And larch?", &["--model", "replay/tape.jsonl", "--new"]);
    assert_eq!(unknown.status.code(), Some(6), "{}", text(&unknown.stderr));
}

#[test]
fn sessions_are_kept_apart_continued_and_begun_anew() {
    let talk = Talk::new(Format::Completions, &[json!({"text": "Yes.", "times": 0})]);
    talk.answer("one");
    talk.say_with("two", &["--session", "agent:main:discord:channel:7"]);
    talk.say_with("three", &["--continue"]);
    talk.say_with("four", &["--new"]);
    let bodies: Vec<String> = talk
        .server
        .requests()
        .iter()
        .map(|one| text(&one.body))
        .collect();
    assert!(!bodies[1].contains("\"one\""), "another session");
    assert!(
        bodies[2].contains("two") && bodies[2].contains("three"),
        "the one used last"
    );
    assert!(
        !bodies[3].contains("\"one\"") && bodies[3].contains("four"),
        "begun anew"
    );
    let listed = command(&talk.env, &["sessions", "list", "--json"])
        .output()
        .unwrap();
    let listed = text(&listed.stdout);
    assert!(
        listed.contains("agent:main:main") && listed.contains("discord:channel:7"),
        "{listed}"
    );
}

#[test]
fn edits_of_the_workspace_show_on_the_next_turn() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Yes.", "times": 0})]);
    talk.answer("one");
    talk.env.file("workspace/SOUL.md", "Loud and cold.\n");
    talk.answer("two");
    let bodies: Vec<String> = talk
        .server
        .requests()
        .iter()
        .map(|one| text(&one.body))
        .collect();
    assert!(bodies[0].contains("Short and warm.") && !bodies[0].contains("Loud and cold."));
    assert!(bodies[1].contains("Loud and cold.") && !bodies[1].contains("Short and warm."));
}

#[test]
fn a_reader_that_goes_away_ends_the_turn_and_nothing_is_lost() {
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"text": "word ".repeat(200), "pieces": {"bytes": 50, "pauseMs": 2}})],
    );
    let mut child = talk
        .command(&["-m", "Talk.", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(101), "{}", text(&output.stderr));
    let records = lines(&std::fs::read(talk.transcript_file()).unwrap());
    assert!(records.len() >= 2);
}
