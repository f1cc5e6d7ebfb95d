//! Many sessions under one server: each that rests costs little, and none makes the others slower.
#![expect(clippy::print_stdout, reason = "figures for whoever runs it by hand")]

use super::{PATIENCE, Serving};
use crate::process::chitin;
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How many sessions there are. `CHITIN_TEST_SESSIONS=100000` looks longer.
fn many() -> usize {
    let given = std::env::var("CHITIN_TEST_SESSIONS").ok();
    given.map_or(5_000, |sessions| sessions.parse().unwrap())
}

fn key(number: usize) -> String {
    format!("agent:main:explicit:{number}")
}

fn sessions(talk: &Talk) -> PathBuf {
    talk.env.home().join(".chitin/agents/main/sessions")
}

/// A home with so many sessions that rest, each with what the index says of one that was used.
fn archive(count: usize) -> Talk {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    let directory = sessions(&talk);
    let mut index = Map::new();
    for number in 0..count {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let entry = json!({
            "sessionId": id, "updatedAt": 1_700_000_000_000_u64 + number as u64,
            "sessionFile": directory.join(format!("{id}.jsonl")), "modelProvider": "yard", "model": "test-model",
            "contextTokens": 200_000, "inputTokens": 900, "outputTokens": 80, "totalTokens": 12_980,
            "totalTokensFresh": true, "cacheRead": 12_000, "cacheWrite": 0, "estimatedCostUsd": 0.0075,
            "totals": {"turns": 3, "input": 900, "output": 80, "cacheRead": 12_000, "cacheWrite": 0},
            "abortedLastRun": false,
        });
        index.insert(key(number), entry);
    }
    let text = serde_json::to_string_pretty(&Value::Object(index)).unwrap();
    talk.env
        .file("home/.chitin/agents/main/sessions/sessions.json", text);
    talk
}

fn say(serving: &Serving, session: &str) {
    let body = json!({"text": "Still there?", "session": session, "wait": true});
    let (status, answer) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(status, 200, "{answer}");
}

fn get(serving: &Serving, path: &str) -> Value {
    let (status, answer) = serving.ask("GET", path, None);
    assert_eq!(status, 200, "{answer}");
    answer
}

/// The memory that a server has, in KiB.
fn memory(serving: &Serving) -> usize {
    let status = format!("/proc/{}/status", serving.process.id());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.unwrap().split_whitespace().nth(1);
    words.unwrap().parse().unwrap()
}

/// The quickest of many: what other programs do on the machine meanwhile only adds to it.
fn quickest(times: Vec<Duration>) -> Duration {
    times.into_iter().min().unwrap()
}

/// How long something takes with few sessions and with many, by turns.
fn compared(few: &Serving, many: &Serving, rounds: usize, act: impl Fn(&Serving)) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (serving, times) in [few, many].into_iter().zip(&mut times) {
            let began = Instant::now();
            act(serving);
            times.push(began.elapsed());
        }
    }
    times.map(quickest)
}

#[test]
fn sessions_that_rest_cost_little_and_slow_nobody_down() {
    let talks = [archive(100), archive(many())];
    let [few, large] = [&talks[0], &talks[1]].map(|talk| Serving::start(talk, &[]));
    // Both have read their index, answered and listed.
    for serving in [&few, &large] {
        for _ in 0..3 {
            say(serving, "main");
            get(serving, "/api/sessions");
            get(serving, "/api/tree");
        }
    }
    let pages = compared(&few, &large, 15, |serving| {
        get(serving, "/api/sessions?limit=100");
    });
    let trees = compared(&few, &large, 15, |serving| {
        get(serving, "/api/tree");
    });
    let messages = compared(&few, &large, 15, |serving| say(serving, "main"));
    println!(
        "{} sessions: page {pages:?}, tree {trees:?}, message {messages:?}",
        many()
    );
    // A page may take twice as long and a message half as much again; a few milliseconds are the machine's.
    let spare = Duration::from_millis(4);
    assert!(pages[1] <= pages[0] * 2 + spare, "{pages:?}");
    assert!(trees[1] <= trees[0] * 2 + spare, "{trees:?}");
    assert!(messages[1] <= messages[0] * 3 / 2 + spare, "{messages:?}");

    // What an index takes while it is read is given back.
    let began = Instant::now();
    let (per_session, of_few, of_many) = loop {
        let (of_few, of_many) = (memory(&few), memory(&large));
        let per_session = of_many.saturating_sub(of_few) * 1024 / (many() - 100);
        if per_session <= 1024 || began.elapsed() > PATIENCE {
            break (per_session, of_few, of_many);
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    println!(
        "{of_few} KiB with 100 sessions, {of_many} KiB with {}: {per_session} B each",
        many()
    );
    assert!(per_session <= 1024, "{per_session} B");
}

#[test]
fn all_sessions_are_on_the_pages_and_each_on_one() {
    let talk = archive(1_234);
    let serving = Serving::start(&talk, &[]);
    let first = get(&serving, "/api/sessions");
    assert_eq!(first["sessions"].as_array().unwrap().len(), 100);
    assert_eq!(first["total"], 1_234);
    assert_eq!(first["sessions"][0]["key"], key(1_233));
    let mut seen: Vec<String> = Vec::new();
    let mut path = "/api/sessions?limit=500".to_owned();
    loop {
        let page = get(&serving, &path);
        let keys = page["sessions"].as_array().unwrap().iter();
        seen.extend(keys.map(|session| session["key"].as_str().unwrap().to_owned()));
        // It goes to the front, and not onto the next page.
        say(&serving, &key(0));
        match page["next"].as_str() {
            Some(next) => path = format!("/api/sessions?limit=500&after={next}"),
            None => break,
        }
    }
    let expected: Vec<String> = (1..1_234).rev().map(key).collect();
    assert_eq!(seen, expected);
    assert_eq!(
        get(&serving, "/api/sessions?limit=1")["sessions"][0]["key"],
        key(0)
    );

    let tree = get(&serving, "/api/tree?limit=2");
    assert_eq!(tree["total"], 1_234);
    let next = tree["next"].as_str().unwrap();
    let rest = get(&serving, &format!("/api/tree?limit=2&after={next}"));
    let keys = |tree: &Value| -> Vec<Value> {
        let sessions = tree["sessions"].as_array().unwrap().iter();
        sessions.map(|session| session["key"].clone()).collect()
    };
    assert_eq!(keys(&tree), [key(0), key(1_233)]);
    assert_eq!(keys(&rest), [key(1_232), key(1_231)]);
    let (status, refused) = serving.ask("GET", "/api/sessions?after=nowhere", None);
    assert_eq!(status, 400);
    assert_eq!(
        refused["error"]["message"],
        "`after` must be `next` of an earlier reply."
    );
    assert_eq!(serving.end(), Some(0));

    let list = |more: &[&str]| {
        let arguments = [&["sessions", "list", "--json"], more].concat();
        let said = chitin(&talk.env, &arguments);
        assert!(
            said.status.success(),
            "{}",
            String::from_utf8_lossy(&said.stderr)
        );
        serde_json::from_slice::<Value>(&said.stdout).unwrap()
    };
    let first = list(&[]);
    assert_eq!(first["sessions"].as_array().unwrap().len(), 100);
    assert_eq!(first["total"], 1_234);
    let next = first["next"].as_str().unwrap();
    let rest = list(&["--limit", "2000", "--after", next]);
    assert_eq!(rest["sessions"].as_array().unwrap().len(), 1_134);
    assert_eq!(rest["next"], Value::Null);
}

/// Other programs read and write `sessions.json`.
#[test]
fn the_index_says_everything_at_rest_and_at_the_end_and_a_kill_loses_nothing() {
    let talk = archive(1_000);
    let index = || -> Value {
        let bytes = std::fs::read(sessions(&talk).join("sessions.json")).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    let beside = || sessions(&talk).join("sessions.changes").exists();
    let turns = |session: &str| index()[session]["totals"]["turns"].clone();
    talk.configure(json!({"server": {"idleAgentSeconds": 1}}));
    let serving = Serving::start(&talk, &[]);
    say(&serving, "one");
    serving.wait_until("the index says it", |_| {
        !beside() && turns("agent:main:one") == 1
    });
    say(&serving, "one");
    assert_eq!(serving.end(), Some(0));
    assert!(!beside());
    assert_eq!(turns("agent:main:one"), 2);

    // A command leaves nothing beside it either.
    talk.answer("Still there?");
    assert!(!beside());
    assert_eq!(turns("agent:main:main"), 1);

    // A server whose agents do not rest: the changes lie beside the index when it is killed.
    talk.configure(json!({}));
    let serving = Serving::start(&talk, &[]);
    say(&serving, "one");
    let (_, before) = serving.ask("GET", "/api/sessions/one", None);
    assert_eq!(before["totals"]["turns"], 3);
    assert_eq!(turns("agent:main:one"), 2);
    serving.kill();
    assert!(beside());
    // Another program uses a session meanwhile.
    let mut theirs = index();
    theirs[key(5)]["label"] = json!("theirs");
    let path = sessions(&talk).join("sessions.json");
    std::fs::write(&path, serde_json::to_vec_pretty(&theirs).unwrap()).unwrap();
    let serving = Serving::start(&talk, &[]);
    assert_eq!(get(&serving, "/api/sessions/one")["totals"]["turns"], 3);
    say(&serving, "one");
    assert_eq!(serving.end(), Some(0));
    assert!(!beside());
    assert_eq!(turns("agent:main:one"), 4);
    assert_eq!(index()[key(5)]["label"], "theirs");
    assert_eq!(index().as_object().unwrap().len(), 1_002);
}
