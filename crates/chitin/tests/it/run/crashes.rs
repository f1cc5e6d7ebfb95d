//! `kill -9` at any instant of a turn, and two processes at once: what was told as stored is there, and the session goes on.

use super::{Talk, lines, text};
use chitin_test::model_server::Format;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How many times the process is killed: enough for every phase of a turn. `CHITIN_TEST_KILLS=2000` looks longer.
fn kills() -> u64 {
    let given = std::env::var("CHITIN_TEST_KILLS").ok();
    given.map_or(120, |kills| kills.parse().unwrap())
}

fn endless() -> Vec<Value> {
    let look = json!({"name": "read", "arguments": {"path": "board.md"}});
    vec![
        json!({"text": "Three oak.", "when": "\"the end\"", "times": 0}),
        json!({"text": "Let me look.", "toolCalls": [look], "when": "never said", "times": 0}),
        json!({"text": "There are three oak and five larch on the board.", "times": 0}),
    ]
}

#[test]
fn killed_at_any_instant_nothing_that_was_acknowledged_is_lost() {
    let talk = Talk::new(Format::Anthropic, &endless());
    let began = Instant::now();
    talk.answer("How long does this take?");
    let whole_turn = u64::try_from(began.elapsed().as_micros()).unwrap();
    let mut acknowledged: HashSet<String> = HashSet::new();
    let (mut killed, mut seen) = (0, 0);
    // A fixed sequence that looks random: a failure can be repeated.
    let mut dice: u64 = 0x9e37_79b9_7f4a_7c15;
    let kills = kills();
    while killed < kills {
        // A session that grows without end would make every start slower and say nothing more.
        let new_session: &[&str] = if killed % 25 == 0 { &["--new"] } else { &[] };
        if !new_session.is_empty() {
            acknowledged.clear();
        }
        let mut arguments = vec!["-m", "What is on the board?", "--json"];
        arguments.extend(new_session);
        let mut child = talk
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((dice >> 33) % (whole_turn * 3 / 2)));
        let _ = kill_process(Pid::from_child(&child), Signal::KILL);
        let mut said = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
        if child.wait().unwrap().code().is_none() {
            killed += 1;
        }
        // The last line may be cut off: nobody could have read it.
        let whole = said
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        for event in lines(&said[..whole]) {
            if event["type"] == "turn-started" && !new_session.is_empty() {
                acknowledged.clear();
            }
            if event["type"] == "stored" {
                acknowledged.insert(event["entryId"].as_str().unwrap().to_owned());
                seen += 1;
            }
        }
        if !acknowledged.is_empty() {
            let bytes = std::fs::read(talk.transcript_file()).unwrap();
            let whole = bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            let there: HashSet<String> = lines(&bytes[..whole])
                .iter()
                .filter_map(|record| record["id"].as_str().map(str::to_owned))
                .collect();
            let lost: Vec<_> = acknowledged.difference(&there).collect();
            assert!(lost.is_empty(), "after {killed} kills, {lost:?} are lost");
        }
    }
    assert!(talk.answer("What is on the board?").contains("five larch"));
    assert!(
        seen > kills / 5,
        "only {seen} records were acknowledged before a kill"
    );
}

#[test]
fn two_processes_on_one_session_never_interleave() {
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"text": "One after the other.", "delayMs": 120, "times": 0})],
    );
    let started: Vec<_> = (0..4)
        .map(|number| {
            talk.command(&["-m", &format!("Number {number}")])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let roles: Vec<String> = talk
        .messages()
        .iter()
        .map(|message| message["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["user", "assistant"].repeat(4));
    let mut parents = HashSet::new();
    for record in &talk.transcript()[1..] {
        assert!(
            parents.insert(record["parentId"].clone()),
            "two branches: {record}"
        );
    }
}
