//! Facts that several commands tell, and must tell alike: tokens, turns, costs, what started a turn, where things are.
#![expect(
    clippy::disallowed_methods,
    reason = "trajectories are looked at behind the program's back"
)]

use crate::process::{chitin, command};
use crate::run::{Talk, lines, text};
use crate::serve::Serving;
use chitin_test::TestEnv;
use chitin_test::model_server::Format;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// A model of which nothing is known but its window.
fn without_price(talk: &Talk) {
    talk.configure(json!({"models": {"yard/test-model": {"contextWindow": 200_000}}}));
}

fn reply(words: &str, input: u64, output: u64) -> Value {
    json!({"text": words, "usage": {"input": input, "output": output}})
}

/// What a command prints as JSON; it must end well.
fn told(talk: &Talk, arguments: &[&str]) -> Value {
    let output = chitin(&talk.env, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn shown(talk: &Talk, arguments: &[&str]) -> String {
    let output = chitin(&talk.env, arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Starts a turn, waits for the first words of the answer, and sends Ctrl-C; returns the last event.
fn stopped(talk: &Talk) -> Value {
    let mut child = talk
        .command(&["-m", "Tell me a long story.", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("text-delta") {
        assert!(out.read_line(&mut said).unwrap() > 0, "ended early: {said}");
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    while out.read_line(&mut said).unwrap() > 0 {}
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    lines(said.as_bytes()).pop().unwrap()
}

fn long_story() -> Value {
    json!({
        "text": "This takes a while, and then it takes longer, and then",
        "usage": {"input": 1_234, "output": 99},
        "pieces": {"bytes": 40, "pauseMs": 40},
    })
}

#[test]
fn trace_and_sessions_agree_on_turns_tokens_and_cost() {
    let script = [
        reply("One.", 100, 10),
        json!({"toolCalls": [{"name": "read", "arguments": {"path": "board.md"}}], "usage": {"input": 200, "output": 20}}),
        reply("Two.", 300, 30),
        reply("Three.", 400, 40),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    for words in ["Say one.", "Look at the board.", "Say three."] {
        talk.answer(words);
    }
    let trace = &told(&talk, &["trace", "list"])["traces"][0];
    let session = &told(&talk, &["sessions", "list"])["sessions"][0];
    let sum = ["input", "output", "cacheRead", "cacheWrite"];
    let sum: u64 = sum.iter().map(|kind| trace[*kind].as_u64().unwrap()).sum();
    assert_eq!((sum, &trace["turns"]), (1_100, &json!(3)));
    assert_eq!(
        (&session["tokens"], &session["turns"]),
        (&json!(1_100), &json!(3))
    );
    // What stands in the window is another figure.
    assert_eq!(session["contextTokens"], 400);
    let (left, right) = (&trace["cost"], &session["costUsd"]);
    assert!((left.as_f64().unwrap() - right.as_f64().unwrap()).abs() < 1e-9);
    let table = shown(&talk, &["sessions", "list"]);
    assert!(
        table.contains("CONTEXT") && table.contains("1,100"),
        "{table}"
    );
    assert!(shown(&talk, &["trace", "list"]).contains("1,100"));
}

#[test]
fn a_price_that_nobody_knows_is_unknown_and_not_nothing() {
    let talk = Talk::new(
        Format::Anthropic,
        &[reply("One.", 100, 10), reply("Two.", 100, 10)],
    );
    without_price(&talk);
    let end = talk.events("Say one.").pop().unwrap();
    assert_eq!(end["costUnknown"], true, "{end}");
    assert!(end.get("tokensUnknown").is_none(), "{end}");
    for arguments in [["trace", "list"], ["sessions", "list"]] {
        let table = shown(&talk, &arguments);
        assert!(table.contains("unknown") && !table.contains('$'), "{table}");
    }
    let key = end_key(&talk);
    let events = shown(&talk, &["trace", "show", &key]);
    assert!(
        events.contains("110 tokens, unknown") && !events.contains('$'),
        "{events}"
    );
    assert_eq!(
        told(&talk, &["trace", "list"])["traces"][0]["cost"],
        Value::Null
    );
    let session = told(&talk, &["sessions", "list"])["sessions"][0].clone();
    assert!(session.get("costUsd").is_none(), "{session}");
    // A price that comes later does not make the sum known.
    talk.configure(json!({}));
    talk.answer("Say two.");
    assert_eq!(
        told(&talk, &["trace", "list"])["traces"][0]["cost"],
        Value::Null
    );
    assert!(shown(&talk, &["sessions", "list"]).contains("unknown"));
}

fn end_key(talk: &Talk) -> String {
    let listed = told(talk, &["trace", "list"]);
    listed["traces"][0]["sessionKey"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn the_page_tells_of_unknown_prices_too() {
    let talk = Talk::new(Format::Anthropic, &[reply("One.", 100, 10)]);
    without_price(&talk);
    talk.answer("Say one.");
    let serving = Serving::start(&talk, &[]);
    let (status, listed) = serving.ask("GET", "/api/traces", None);
    assert_eq!(status, 200, "{listed}");
    let trace = &listed["traces"][0];
    assert_eq!(
        (&trace["costUsd"], &trace["tokens"]),
        (&Value::Null, &json!(110)),
        "{listed}"
    );
}

#[test]
fn session_status_counts_the_turns_and_tokens_of_the_whole_session() {
    let script = [
        reply("One.", 100, 10),
        reply("Two.", 200, 20),
        json!({"toolCalls": [{"name": "session_status", "arguments": {}}]}),
        json!({"text": "Three."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    for words in ["Say one.", "Say two.", "How are we?"] {
        talk.answer(words);
    }
    let messages = talk.messages();
    let result = messages
        .iter()
        .find(|message| message["role"] == "toolResult")
        .unwrap();
    let said = result["content"].to_string();
    assert!(said.contains("Turns: 3"), "{said}");
    assert!(said.contains("300 input, 30 output"), "{said}");
    assert!(said.contains("Cost: $0.0"), "{said}");
}

#[test]
fn a_stopped_turn_has_the_tokens_that_the_provider_reported_until_then() {
    let talk = Talk::new(Format::Anthropic, &[long_story()]);
    let end = stopped(&talk);
    assert_eq!(
        (&end["stopReason"], &end["usage"]["input"]),
        (&json!("aborted"), &json!(1_234))
    );
    assert!(end.get("tokensUnknown").is_none(), "{end}");
    assert_eq!(told(&talk, &["trace", "list"])["traces"][0]["input"], 1_234);
}

#[test]
fn a_stopped_turn_without_a_report_has_unknown_tokens() {
    let talk = Talk::new(Format::Completions, &[long_story()]);
    let end = stopped(&talk);
    assert_eq!(end["stopReason"], "aborted");
    assert_eq!(
        (&end["tokensUnknown"], &end["costUnknown"]),
        (&json!(true), &json!(true)),
        "{end}"
    );
    assert_eq!(
        told(&talk, &["trace", "list"])["traces"][0]["tokensUnknown"],
        true
    );
    for arguments in [["trace", "list"], ["sessions", "list"]] {
        let table = shown(&talk, &arguments);
        assert!(table.contains("unknown") && !table.contains('$'), "{table}");
    }
}

/// What started each recorded turn, and on which channel.
fn started(talk: &Talk) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for trace in told(talk, &["trace", "list"])["traces"].as_array().unwrap() {
        let path = std::path::Path::new(trace["path"].as_str().unwrap());
        let file = chitin_agent::journal::read(path).unwrap();
        let begun = file
            .events()
            .filter(|event| event.kind() == "session.started");
        found.extend(begun.map(|event| {
            let word = |name: &str| event.data()[name].as_str().unwrap_or("none").to_owned();
            (word("trigger"), word("messageChannel"))
        }));
    }
    found.sort();
    found
}

#[test]
fn a_trajectory_says_what_started_a_turn_and_on_which_channel() {
    let script = [
        // The child is still at work when the turn that began it ends: else its result would be told within that turn.
        json!({"when": "[Subagent Task]: Count the lanterns", "times": 0, "text": "Seven lanterns.", "delayMs": 2_000}),
        json!({"when": "[Internal task completion event]", "times": 0, "text": "Noted."}),
        json!({"when": "Hello from the terminal", "text": "Hello."}),
        json!({"when": "Begin", "text": "Off it goes.", "toolCalls": [
            {"name": "sessions_spawn", "arguments": {"task": "Count the lanterns", "label": "lanterns"}},
        ]}),
        json!({"when": "Begin", "times": 0, "text": "It is at work."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.answer("Hello from the terminal.");
    assert_eq!(started(&talk)[0], ("user".to_owned(), "none".to_owned()));
    let serving = Serving::start(&talk, &[]);
    serving.say("yard", "Begin");
    serving.wait_until("the announce has run", |_| {
        started(&talk)
            .iter()
            .any(|(trigger, _)| trigger == "announce")
    });
    serving.rest();
    let all = started(&talk);
    let has = |trigger: &str, channel: &str| {
        let wanted = (trigger.to_owned(), channel.to_owned());
        assert!(all.contains(&wanted), "{wanted:?} in {all:?}");
    };
    has("user", "web");
    has("announce", "web");
    assert!(
        all.iter().any(|(trigger, _)| trigger == "subagent"),
        "{all:?}"
    );
    let events = shown(&talk, &["trace", "show", &key_on(&talk, "web")]);
    assert!(events.contains("by user on web"), "{events}");
}

/// The key of a recorded session of a channel.
fn key_on(talk: &Talk, channel: &str) -> String {
    let listed = told(talk, &["trace", "list"]);
    let keys = listed["traces"].as_array().unwrap().iter();
    let mut keys = keys.filter_map(|trace| trace["sessionKey"].as_str());
    keys.find(|key| key.contains(&format!(":{channel}:")))
        .unwrap()
        .to_owned()
}

#[test]
fn a_trajectory_is_exported_by_the_command_of_the_seed_too() {
    let talk = Talk::new(Format::Anthropic, &[reply("One.", 100, 10)]);
    talk.answer("Say one.");
    let key = end_key(&talk);
    let by = |arguments: &[&str], out: &str| {
        let arguments = [arguments, &["--out", out]].concat();
        let exported = told(&talk, &arguments);
        let files: Vec<String> = exported["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["name"].as_str().unwrap().to_owned())
            .collect();
        assert!(talk.env.path().join(out).join("events.jsonl").is_file());
        (
            exported["sessionKey"].clone(),
            exported["events"].clone(),
            files,
        )
    };
    let here = by(&["trace", "export", &key], "one");
    assert_eq!(
        by(&["export-trajectory", "--sessionKey", &key], "two"),
        here
    );
    let unknown = chitin(
        &talk.env,
        &["export-trajectory", "--sessionKey", "agent:main:nobody"],
    );
    assert_eq!(unknown.status.code(), Some(3), "{}", text(&unknown.stderr));
}

#[test]
fn agents_json_names_the_directory_in_which_sessions_are_kept() {
    let talk = Talk::new(Format::Anthropic, &[reply("One.", 100, 10)]);
    talk.answer("Say one.");
    let agents = told(&talk, &["agents"]);
    let state = agents["agents"][0]["state"].as_str().unwrap();
    assert!(
        state.starts_with(talk.env.home().join(".chitin").to_str().unwrap()),
        "{state}"
    );
    // OpenClaw's own directory is another one, and nothing of ours is in it.
    assert!(!talk.env.home().join(".openclaw").exists());
}

#[test]
fn a_typed_tilde_is_home_wherever_a_directory_is_named() {
    let env = TestEnv::new();
    env.file("home/agents/ada/AGENTS.md", "# Rules\n\nKeep the board.\n");
    env.file("home/agents/ada/SOUL.md", "Short and warm.\n");
    let model = ["--model", "offline/echo"];
    for arguments in [
        &["context", "~/agents/ada"][..],
        &["check", "~/agents/ada"],
        &["skills", "list", "~/agents/ada"],
        &["run", "~/agents/ada", "-m", "Hello.", model[0], model[1]],
        &["pack", "~/agents/ada", "--output", "~/ada.tar"],
        &["diff", "~/agents/ada", "~/agents/ada"],
        &["context", "~/agents/ada", "--html", "~/ada.html"],
        &["init", "~/agents/new", "--no-git"],
    ] {
        let output = chitin(&env, arguments);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
    }
    assert!(!env.path().join("~").exists());
    for made in ["ada.html", "ada.tar", "agents/new/AGENTS.md"] {
        assert!(env.home().join(made).is_file(), "{made}");
    }
}

#[test]
fn a_directory_that_is_not_there_is_said_with_what_to_do() {
    let env = TestEnv::new();
    env.file("plain.txt", "no directory");
    for arguments in [
        &["run", "nowhere", "-m", "Hello.", "--model", "offline/echo"][..],
        &["context", "nowhere"],
        &["skills", "list", "nowhere"],
        &["memory", "search", "board", "nowhere"],
        &["serve", "nowhere", "--listen", "127.0.0.1:0"],
        &[
            "run",
            "plain.txt",
            "-m",
            "Hello.",
            "--model",
            "offline/echo",
        ],
    ] {
        let mut process = command(&env, arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = {
            let _ = process.stdin.take();
            process.wait_with_output().unwrap()
        };
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(!said.contains("sandbox"), "{arguments:?}: {said}");
        if arguments.contains(&"nowhere") {
            assert!(said.contains("does not exist"), "{arguments:?}: {said}");
            assert!(said.contains("`chitin init"), "{arguments:?}: {said}");
        } else {
            assert!(
                said.contains("plain.txt") && said.contains("Not a directory"),
                "{said}"
            );
        }
    }
    assert!(!env.path().join("nowhere").exists());
}
