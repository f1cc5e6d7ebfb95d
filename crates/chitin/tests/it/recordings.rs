//! Recordings of a home: how they grow, how long they are kept, what they hold.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and changed between the steps"
)]

use crate::process::{chitin, command, readable};
use crate::run::{Talk, text};
use crate::serve::Serving;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Words that no other turn has.
fn words(turn: usize, count: usize) -> String {
    let word = |at: usize| format!("{:x}", (turn + 1) * 7_368_787 + at * 104_729);
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// The files below a directory, with their lengths.
fn files(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path, entry.metadata().unwrap().len()));
        }
    }
    found
}

fn home(talk: &Talk) -> PathBuf {
    talk.env.home().join(".chitin")
}

fn trajectories(talk: &Talk) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = files(&home(talk).join("logs/trajectory"))
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    found.sort();
    found
}

fn told(talk: &Talk, arguments: &[&str]) -> Value {
    let output = chitin(&talk.env, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_home_of_two_hundred_turns_is_at_most_three_times_its_transcript() {
    const TURNS: usize = 200;
    let script: Vec<Value> = (0..TURNS)
        .map(|turn| {
            json!({"when": format!("turn-{turn};"), "text": words(2 * turn, 60), "times": 0})
        })
        .collect();
    let talk = Talk::new(Format::Anthropic, &script);
    talk.configure(json!({}));
    let serving = Serving::start(&talk, &[]);
    for turn in 0..TURNS {
        let body = json!({
            "text": format!("turn-{turn}; {}", words(2 * turn + 1, 40)),
            "session": "agent:main:long",
            "wait": true,
        });
        let (status, reply) = serving.ask("POST", "/api/messages", Some(&body));
        assert_eq!(status, 200, "{reply}");
    }
    serving.rest();
    let all = files(&home(&talk));
    let is_transcript = |path: &Path| {
        path.parent()
            .is_some_and(|parent| parent.ends_with("sessions"))
            && path.extension().is_some_and(|kind| kind == "jsonl")
    };
    let transcript: u64 = all
        .iter()
        .filter(|(path, _)| is_transcript(path))
        .map(|(_, length)| length)
        .sum();
    let state: u64 = all.iter().map(|(_, length)| length).sum();
    let recorded: u64 = trajectories(&talk)
        .iter()
        .map(|path| std::fs::metadata(path).unwrap().len())
        .sum();
    assert!(
        state <= 3 * transcript,
        "transcript {transcript}, recording {recorded}, state {state}: {all:?}"
    );
    // All of it is there: the last request, to the byte.
    let request = told(
        &talk,
        &["trace", "show", "agent:main:long", "--request", "200"],
    );
    assert_eq!(request["exact"], true);
    let sent = talk.server.requests();
    assert_eq!(
        request["body"].as_str().unwrap(),
        text(&sent[TURNS - 1].body)
    );
}

#[test]
fn a_request_is_built_again_to_the_byte_under_every_contract() {
    for contract in chitin_contract::ALL {
        let talk = Talk::new(
            Format::Anthropic,
            &[
                json!({"when": "one", "toolCalls": [{"name": "read", "arguments": {"path": "AGENTS.md"}}]}),
                json!({"text": "Read.", "times": 0}),
            ],
        );
        talk.configure(json!({"contract": contract.name}));
        for message in ["one", "two", "three"] {
            talk.say(message);
        }
        let sent = talk.server.requests();
        assert_eq!(sent.len(), 4, "{}", contract.name);
        let listed = told(&talk, &["trace", "list"]);
        let key = listed["traces"][0]["sessionKey"].as_str().unwrap();
        for (number, request) in (1..).zip(&sent) {
            let number = format!("{number}");
            let shown = told(&talk, &["trace", "show", key, "--request", &number]);
            assert_eq!(shown["exact"], true, "{}", contract.name);
            assert_eq!(shown["body"].as_str().unwrap(), text(&request.body));
        }
    }
}

#[test]
fn a_file_is_shown_as_a_turn_read_it() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    let long = format!("# Before\n{}\n", words(1, 9_000));
    talk.env.file("workspace/AGENTS.md", &long);
    talk.answer("one");
    talk.env.file("workspace/AGENTS.md", "# After\n");
    talk.answer("two");
    let key = told(&talk, &["trace", "list"])["traces"][0]["sessionKey"].clone();
    let key = key.as_str().unwrap();
    let shown = |more: &[&str]| {
        let arguments = [&["trace", "show", key, "--file"], more].concat();
        chitin(&talk.env, &arguments)
    };
    assert_eq!(text(&shown(&["AGENTS.md", "--turn", "1"]).stdout), long);
    assert_eq!(text(&shown(&["AGENTS.md"]).stdout), "# After\n");
    let unknown = shown(&["NOBODY.md"]);
    assert_eq!(unknown.status.code(), Some(3));
    let said = text(&unknown.stderr);
    assert!(said.contains("it has `AGENTS.md`"), "{said}");
    let late = shown(&["AGENTS.md", "--turn", "9"]);
    assert!(text(&late.stderr).contains("There is no turn 9"));
    // The same content is kept at most once, whichever session reads it: here, unless it is kept for undo already.
    talk.say_with("three", &["--session", "agent:main:other"]);
    let kept = files(&home(&talk).join("logs/trajectory/files"));
    assert!(kept.iter().all(|(_, length)| *length > 0));
    let large = kept.iter().filter(|(_, length)| *length > 20_000).count();
    assert!(large <= 1, "{kept:?}");
}

/// Makes a file look as if nobody had changed it for days.
fn age(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(then).unwrap();
}

#[test]
fn the_oldest_recordings_go_when_all_are_too_old_or_too_large() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    talk.configure(json!({}));
    for session in ["a", "b", "c"] {
        talk.say_with("Hi.", &["--session", &format!("agent:main:{session}")]);
    }
    let names = |talk: &Talk| -> Vec<String> {
        let listed = told(talk, &["trace", "list"]);
        let mut names: Vec<String> = listed["traces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|trace| trace["sessionKey"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let path_of = |key: &str| -> PathBuf {
        let listed = told(&talk, &["trace", "list"]);
        let traces = listed["traces"].as_array().unwrap();
        let found = traces.iter().find(|trace| trace["sessionKey"] == key);
        PathBuf::from(found.unwrap()["path"].as_str().unwrap())
    };
    let stamp = home(&talk).join("logs/trajectory/.swept");
    age(&path_of("agent:main:a"), 31);
    age(&path_of("agent:main:b"), 3);
    age(&path_of("agent:main:c"), 2);
    assert_eq!(names(&talk).len(), 3);
    // It was swept a moment ago, so that nothing happens yet.
    talk.say_with("Hi.", &["--session", "agent:main:d"]);
    assert_eq!(names(&talk).len(), 4);
    age(&stamp, 1);
    talk.say_with("Hi.", &["--session", "agent:main:d"]);
    assert_eq!(
        names(&talk),
        ["agent:main:b", "agent:main:c", "agent:main:d"],
        "what is older than 30 days is gone"
    );
    let length = |key: &str| std::fs::metadata(path_of(key)).unwrap().len();
    let contents: u64 = files(&home(&talk).join("logs/trajectory/files"))
        .iter()
        .map(|(_, length)| length)
        .sum();
    // Room for all but one; a turn adds to its own meanwhile.
    let most = length("agent:main:c") + 2 * length("agent:main:d") + contents;
    talk.configure(json!({"trace": {"maxBytes": most}}));
    age(&stamp, 1);
    // One that a turn writes stays, however old it looks.
    let held = std::fs::File::open(path_of("agent:main:b")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    talk.say_with("Hi.", &["--session", "agent:main:d"]);
    assert!(names(&talk).contains(&"agent:main:b".to_owned()));
    drop(held);
    age(&stamp, 1);
    talk.say_with("Hi.", &["--session", "agent:main:d"]);
    assert!(!names(&talk).contains(&"agent:main:b".to_owned()));
    assert!(names(&talk).contains(&"agent:main:d".to_owned()));
    let doctor = chitin(&talk.env, &["doctor", "--offline"]);
    let said = text(&doctor.stdout);
    assert!(said.contains("recorded sessions: "), "{said}");
}

#[test]
fn a_secret_that_becomes_known_later_is_taken_out_of_a_recording() {
    let secret = "a-plain-word-that-nobody-would-take-for-a-key";
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    talk.configure(json!({}));
    for turn in 0..5 {
        talk.say(&format!(
            "{turn}: the word is {secret}, and {}",
            words(turn, 400)
        ));
    }
    let listed = told(&talk, &["trace", "list"]);
    let path = PathBuf::from(listed["traces"][0]["path"].as_str().unwrap());
    let key = listed["traces"][0]["sessionKey"].as_str().unwrap();
    assert!(readable(&path).contains(secret));
    let doctor = |more: &[&str]| {
        let arguments = [&["doctor", "--offline"], more].concat();
        let mut command = command(&talk.env, &arguments);
        let output = command.env("CHITIN_TEST_API_KEY", secret).output().unwrap();
        text(&output.stdout).clone()
    };
    let said = doctor(&[]);
    assert!(said.contains("older recordings hold secrets"), "{said}");
    let said = doctor(&["--fix"]);
    assert!(said.contains("took secrets out of"), "{said}");
    assert!(!readable(&path).contains(secret));
    let request = told(&talk, &["trace", "show", key, "--request", "5"]);
    let body = request["body"].as_str().unwrap();
    assert!(body.contains("4: the word is [redacted], and"), "{body}");
    assert_eq!(request["exact"], false);
    assert_eq!(listed["traces"][0]["turns"], 5);
    let said = doctor(&[]);
    assert!(said.contains("no secrets in"), "{said}");
}
