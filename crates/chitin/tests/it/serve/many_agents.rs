//! Many agents under one server: those that rest hold nothing, and come back as they were.
#![expect(clippy::print_stdout, reason = "figures for whoever runs it by hand")]

use super::{PATIENCE, Serving};
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// How many agents there are. `CHITIN_TEST_AGENTS=1000` looks longer.
fn agents() -> usize {
    let given = std::env::var("CHITIN_TEST_AGENTS").ok();
    given.map_or(40, |agents| agents.parse().unwrap())
}

fn name(number: usize) -> String {
    format!("clerk-{number}")
}

/// A server with many agents, each with a workspace and a memory of its own.
fn office(script: &[Value], server: &Value) -> Talk {
    let talk = Talk::new(Format::Anthropic, script);
    let mut configured = Map::new();
    for number in 0..agents() {
        let directory = format!("clerks/{number}");
        talk.env
            .file(&format!("{directory}/AGENTS.md"), "# Rules\n\nCount.\n");
        talk.env.file(
            &format!("{directory}/MEMORY.md"),
            format!("- The desk of clerk {number} is by the window.\n"),
        );
        let workspace = talk.env.path().join(directory);
        configured.insert(name(number), json!({"workspace": workspace}));
    }
    talk.configure(json!({"agents": configured, "server": server}));
    talk
}

fn say(serving: &Serving, agent: &str, text: &str) -> Value {
    let body = json!({"text": text, "agent": agent, "wait": true});
    let (status, answer) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(status, 200, "{agent}: {answer}");
    answer
}

fn descriptors(serving: &Serving) -> usize {
    let directory = format!("/proc/{}/fd", serving.id());
    std::fs::read_dir(directory).unwrap().count()
}

/// How many indexes of memories a server has open.
fn memories(serving: &Serving) -> usize {
    let directory = format!("/proc/{}/fd", serving.process.id());
    let open = std::fs::read_dir(directory).unwrap();
    let open = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    open.filter(|path| path.to_string_lossy().contains(".sqlite"))
        .count()
}

/// The memory that a server has, in KiB.
fn memory(serving: &Serving) -> usize {
    let status = format!("/proc/{}/status", serving.id());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.unwrap().split_whitespace().nth(1);
    words.unwrap().parse().unwrap()
}

#[test]
fn agents_that_rest_hold_nothing_and_come_back_as_they_were() {
    let search = json!([{"name": "memory_search", "arguments": {"query": "desk"}}]);
    let script = [
        json!({"when": "Where is the desk", "toolCalls": search}),
        json!({"times": 0, "text": "Counted."}),
    ];
    let talk = office(&script, &json!({"idleAgentSeconds": 1}));
    let serving = Serving::start(&talk, &[]);
    let (at_first, small) = (descriptors(&serving), memory(&serving));
    say(&serving, &name(0), "Where is the desk?");
    assert!(memories(&serving) > 0);
    for number in 0..agents() {
        say(&serving, &name(number), &format!("Lantern {number} is lit"));
    }
    let busy = descriptors(&serving);
    serving.wait_until("no memory is open", |serving| memories(serving) == 0);
    let began = Instant::now();
    while descriptors(&serving) > at_first + 8 {
        assert!(
            began.elapsed() < PATIENCE,
            "{at_first} descriptors at first, {busy} at most, {} at rest",
            descriptors(&serving)
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    println!(
        "{} agents at rest: {} KiB, {} descriptors; at first {small} KiB, {at_first}",
        agents(),
        memory(&serving),
        descriptors(&serving)
    );
    // However many there are.
    let grown = memory(&serving).saturating_sub(small);
    assert!(
        grown < 48 * 1024,
        "{small} KiB at first, {grown} KiB more at rest"
    );
    for number in (0..agents()).step_by(agents() / 10) {
        say(&serving, &name(number), "And now?");
        let sent = text(&talk.server.requests().last().unwrap().body);
        assert!(sent.contains(&format!("Lantern {number} is lit")), "{sent}");
        assert!(sent.contains("And now?"), "{sent}");
    }
}

#[test]
fn no_more_agents_are_kept_than_is_set_and_the_latest_stay() {
    let script = [json!({"times": 0, "text": "Counted."})];
    let talk = office(&script, &json!({"idleAgents": 4, "idleAgentSeconds": 3600}));
    let serving = Serving::start(&talk, &[]);
    let at_first = descriptors(&serving);
    for number in 0..8 {
        say(&serving, &name(number), "Count");
    }
    let of_eight = descriptors(&serving);
    for number in 8..agents() {
        say(&serving, &name(number), "Count");
    }
    let of_all = descriptors(&serving);
    assert!(
        of_all <= of_eight + 8,
        "{at_first} descriptors at first, {of_eight} after eight, {of_all} after all"
    );
}

#[test]
fn an_agent_whose_turn_runs_is_not_let_go() {
    let slow = json!({"when": "Think", "text": "Thought.", "delayMs": 4_000});
    let talk = office(
        &[slow, json!({"times": 0, "text": "Counted."})],
        &json!({"idleAgents": 1, "idleAgentSeconds": 1}),
    );
    let serving = Serving::start(&talk, &[]);
    std::thread::scope(|threads| {
        let thinking = threads.spawn(|| say(&serving, &name(0), "Think"));
        for number in 1..agents().min(12) {
            say(&serving, &name(number), "Count");
        }
        let thought = thinking.join().unwrap();
        assert!(thought.to_string().contains("Thought."), "{thought}");
    });
    say(&serving, &name(0), "What did you think?");
    let sent = text(&talk.server.requests().last().unwrap().body);
    assert!(sent.contains("Thought."), "{sent}");
}

#[test]
fn an_agent_whose_command_runs_in_the_background_is_not_let_go() {
    let call = |name: &str, arguments: Value| json!([{"name": name, "arguments": arguments}]);
    let command = json!({"command": "sleep 55.5", "background": true});
    let talk = office(
        &[
            json!({"when": "Wait for it", "toolCalls": call("exec", command)}),
            json!({"when": "Is it there", "toolCalls": call("process", json!({"action": "list"}))}),
            json!({"times": 0, "text": "Done."}),
        ],
        &json!({"idleAgentSeconds": 1}),
    );
    let serving = Serving::start(&talk, &[]);
    say(&serving, &name(0), "Wait for it");
    let with_one = descriptors(&serving);
    say(&serving, &name(1), "Count");
    assert!(descriptors(&serving) > with_one);
    // The other one rested for a shorter time, and goes.
    serving.wait_until("the other one is let go", |serving| {
        descriptors(serving) <= with_one
    });
    say(&serving, &name(0), "Is it there");
    let sent = text(&talk.server.requests().last().unwrap().body);
    let listed = sent.split("Is it there").nth(1).unwrap();
    assert!(listed.contains("sleep 55.5"), "{listed}");
    assert!(listed.contains("running"), "{listed}");
}
