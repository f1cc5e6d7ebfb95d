//! `contextInjection: "continuation-skip"` through the binary: what later turns leave out of the system prompt is in the
//! conversation that is sent, or the program says what is lost.

use super::{Talk, text};
use crate::process::command;
use chitin_test::model_server::Format;
use serde_json::{Value, json};

const RULES: &str = "Keep the board.";

fn talk() -> Talk {
    let talk = Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Aye."})]);
    talk.env.file(
        "home/.openclaw/openclaw.json",
        "{ agents: { defaults: { contextInjection: 'continuation-skip' } } }",
    );
    talk
}

/// The request that a turn would send, as the program prints it.
fn dry_run(talk: &Talk, more: &[&str]) -> Value {
    let mut arguments = vec!["--dry-run", "--json"];
    arguments.extend(more);
    let output = talk.say_with("And then?", &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn context_knows_which_turn_of_a_session_is_next() {
    let talk = talk();
    let shown = |more: &[&str]| -> Value {
        let mut arguments = vec!["context", "workspace", "--json"];
        arguments.extend(more);
        let output = command(&talk.env, &arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(shown(&[])["turn"], "first");
    talk.answer("One");
    assert_eq!(shown(&[])["turn"], "next");
    // The marker of the first turn counts as it does in a run.
    let release = ["--contract", "openclaw-2026.9"];
    let files = |more: &[&str]| shown(&[&release[..], more].concat())["files"].clone();
    assert_eq!(files(&[]), files(&["--turn", "next"]));
    assert_ne!(files(&[]), files(&["--turn", "first"]));
    assert_eq!(shown(&["--turn", "first"])["turn"], "first");
    let other = shown(&["--session", "agent:main:discord:channel:1"]);
    assert_eq!(other["turn"], "first");
    let table = command(&talk.env, &["context", "workspace"])
        .output()
        .unwrap();
    assert!(
        text(&table.stdout).contains("next turn"),
        "{}",
        text(&table.stdout)
    );
}

#[test]
fn the_second_turn_still_sends_the_operating_rules() {
    let talk = talk();
    talk.answer("One");
    talk.answer("Two");
    let bodies: Vec<Value> = talk
        .server
        .requests()
        .iter()
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect();
    let (first, second) = (&bodies[0], &bodies[1]);
    for body in &bodies {
        assert!(body["system"].to_string().contains("Short and warm."));
        assert!(!body["system"].to_string().contains(RULES));
        let messages = body["messages"].to_string();
        assert_eq!(messages.matches(RULES).count(), 1, "{messages}");
        assert!(body["messages"][0].to_string().contains(RULES));
        assert!(messages.contains("The board is board.md."));
        assert!(messages.contains("The larch came on Monday."));
    }
    // What a provider has cached of the first request still holds.
    let system = |body: &Value| body["system"].to_string();
    assert_eq!(system(first), system(second));
    let told = |body: &Value, at: usize| {
        let content = &body["messages"][at]["content"];
        content[0]["text"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| content.as_str().map(str::to_owned))
    };
    assert_eq!(told(first, 0), told(second, 0));
    assert_eq!(told(first, 1), told(second, 1));
    let third = dry_run(&talk, &[]).to_string();
    assert_eq!(third.matches(RULES).count(), 1, "{third}");
    // Nothing of it is repeated in the transcript.
    let held = talk
        .transcript()
        .into_iter()
        .filter(|record| record.to_string().contains(RULES));
    assert_eq!(held.count(), 1);
}

#[test]
fn an_edit_between_two_turns_is_sent() {
    let talk = talk();
    talk.answer("One");
    talk.env
        .file("workspace/AGENTS.md", "# Rules\n\nPaint the board.\n");
    talk.answer("Two");
    let requests = talk.server.requests();
    let second = text(&requests[1].body);
    assert_eq!(second.matches("Paint the board.").count(), 1, "{second}");
}

#[test]
fn the_context_of_the_next_turn_says_where_the_files_are() {
    let talk = talk();
    let output = |more: &[&str]| {
        let mut arguments = vec!["context", "workspace", "--turn", "next"];
        arguments.extend(more);
        let output = command(&talk.env, &arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (table, notes) = output(&[]);
    let rules = table
        .lines()
        .find(|line| line.contains("AGENTS.md"))
        .unwrap();
    assert!(rules.contains("in the conversation"), "{table}");
    assert!(!notes.contains("continuation-skip"), "{notes}");
    let (view, _) = output(&["--text", "--json"]);
    let view: Value = serde_json::from_str(&view).unwrap();
    assert!(view["conversation"].as_str().unwrap().contains(RULES));
    // A release that drops them for good: the program says so.
    let (_, notes) = output(&["--contract", "openclaw-2026.4"]);
    assert!(
        notes.contains("this turn is sent without AGENTS.md"),
        "{notes}"
    );
    assert!(notes.contains("`always`"), "{notes}");
}
