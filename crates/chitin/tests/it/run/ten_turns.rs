//! Ten turns with tool calls, an aborted turn, a compaction and a resume, on each wire format.

use super::{Talk, kinds, lines, text};
use chitin_test::model_server::{Captured, Format};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

/// What only a request for a summary says.
const SUMMARY: &str = "its memory of a conversation was cleared";

/// What the model says, in order. The summary is asked for out of turn.
pub(super) fn script() -> Vec<Value> {
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    vec![
        // 1: a plain answer.
        json!({"text": "Good morning."}),
        // 2: reads, then says what it read.
        json!({"text": "Let me look.", "toolCalls": [call("read", json!({"path": "board.md"}))]}),
        json!({"text": "There are 3 oak and 5 larch."}),
        // 3: two tools in one answer.
        json!({"toolCalls": [
            call("write", json!({"path": "note.md", "content": "oak is low\n"})),
            call("read", json!({"path": "SOUL.md"})),
        ]}),
        json!({"text": "Noted."}),
        // 4: runs a command.
        json!({"toolCalls": [call("exec", json!({"command": "wc -l < board.md"}))]}),
        json!({"thinking": "Two lines.", "text": "The board has two lines."}),
        // 5: is stopped in the middle.
        json!({"text": "This takes a while, and then", "pieces": {"bytes": 40, "pauseMs": 40}}),
        // 6 to 10.
        json!({"text": "Back again."}),
        json!({"toolCalls": [call("edit", json!({
            "path": "note.md", "edits": [{"oldText": "low", "newText": "short"}],
        }))]}),
        json!({"text": "Changed."}),
        json!({"text": "Eight."}),
        json!({"text": "Nine."}),
        json!({"text": "Ten."}),
        json!({"text": "## Decisions\n\nOak is short.", "when": SUMMARY, "times": 0}),
    ]
}

/// Starts a turn, waits for the first words of the answer, and sends Ctrl-C.
fn stop_in_the_middle(talk: &Talk, words: &str) -> Vec<Value> {
    let mut child = talk
        .command(&["-m", words, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    loop {
        let start = said.len();
        assert!(out.read_line(&mut said).unwrap() > 0, "ended early: {said}");
        if said[start..].contains("text-delta") {
            break;
        }
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    while out.read_line(&mut said).unwrap() > 0 {}
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{said}");
    lines(said.as_bytes())
}

fn run(format: Format) {
    let talk = Talk::new(format, &script());
    let before = ten_turns(&talk);
    let requests = talk.server.requests();
    assert!(requests.iter().all(|request| request.path == format.path()));
    assert_prefixes_never_shrink(&requests, before);
}

/// Ten turns; returns how many requests there were before the compaction.
pub(super) fn ten_turns(talk: &Talk) -> usize {
    assert_eq!(talk.answer("Hello"), "Good morning.\n");
    assert_eq!(
        talk.answer("What is on the board?")
            .trim_end()
            .lines()
            .last(),
        Some("There are 3 oak and 5 larch.")
    );
    talk.answer("Note that oak is low.");
    assert_eq!(talk.env.read("workspace/note.md"), "oak is low\n");
    let counted = talk.events("How many lines?");
    let finished = counted
        .iter()
        .find(|event| event["type"] == "tool-finished")
        .unwrap();
    assert_eq!(finished["isError"], false, "{finished}");
    assert!(
        finished["summary"].as_str().unwrap().contains('2'),
        "{finished}"
    );

    let stopped = stop_in_the_middle(talk, "Tell me a long story.");
    assert_eq!(stopped.last().unwrap()["stopReason"], "aborted");
    let last = talk.messages().pop().unwrap();
    assert_eq!(
        (last["role"].as_str(), last["stopReason"].as_str()),
        (Some("assistant"), Some("aborted"))
    );
    let kept = last["content"][0]["text"].as_str().unwrap();
    assert!(
        !kept.is_empty() && "This takes a while, and then".starts_with(kept),
        "{kept}"
    );

    assert_eq!(talk.answer("Are you there?"), "Back again.\n");
    talk.answer("Say short instead of low.");
    assert_eq!(talk.env.read("workspace/note.md"), "oak is short\n");
    assert_eq!(talk.answer("Eight?"), "Eight.\n");
    let before = talk.server.requests().len();
    let compacted = talk.command(&["--compact"]).output().unwrap();
    assert!(compacted.status.success(), "{}", text(&compacted.stderr));
    assert_eq!(talk.answer("Nine?"), "Nine.\n");
    assert_eq!(talk.answer("Ten?"), "Ten.\n");

    let records = talk.transcript();
    let compactions = records
        .iter()
        .filter(|record| record["type"] == "compaction");
    assert_eq!(compactions.count(), 1);
    assert_is_a_valid_tree(&records);
    let requests = talk.server.requests();
    let after = &requests.last().unwrap().body;
    assert!(text(after).contains("Oak is short."), "the summary is sent");
    before
}

/// Every record is the child of one before it, and every call of a tool has its result.
fn assert_is_a_valid_tree(records: &[Value]) {
    assert_eq!(records[0]["type"], "session");
    let mut ids: Vec<&str> = Vec::new();
    for record in &records[1..] {
        if let Some(parent) = record["parentId"].as_str() {
            assert!(ids.contains(&parent), "{record}");
        }
        ids.push(record["id"].as_str().unwrap());
    }
    let messages = || records.iter().map(|record| &record["message"]);
    let blocks = messages()
        .filter_map(|message| message["content"].as_array())
        .flatten();
    let calls = blocks.filter(|block| block["type"] == "toolCall").count();
    let results = messages()
        .filter(|message| message["role"] == "toolResult")
        .count();
    assert_eq!(calls, results);
}

/// Each request begins with what the one before it said, except where the conversation was put into a summary.
fn assert_prefixes_never_shrink(requests: &[Captured], compaction: usize) {
    let conversation = |request: &Captured| {
        let mut body: Value = serde_json::from_slice(&request.body).unwrap();
        strip_cache_marks(&mut body);
        let list = if body.get("input").is_some() {
            "input"
        } else {
            "messages"
        };
        let items = body[list].as_array().unwrap().clone();
        body[list] = Value::Null;
        (body, items)
    };
    // The requests for the summary are conversations of their own.
    let is_summary = |request: &&Captured| text(&request.body).contains(SUMMARY);
    let requests: Vec<&Captured> = requests.iter().filter(|one| !is_summary(one)).collect();
    for (at, pair) in requests.windows(2).enumerate() {
        if at + 1 == compaction {
            continue;
        }
        let ((head, earlier), (next_head, later)) = (conversation(pair[0]), conversation(pair[1]));
        assert_eq!(
            head, next_head,
            "what stands around the conversation changed at request {at}"
        );
        assert!(
            later.len() > earlier.len() && later[..earlier.len()] == earlier[..],
            "request {} does not begin like the one before it:\n{}\n{}",
            at + 1,
            text(&pair[0].body),
            text(&pair[1].body),
        );
    }
}

/// A mark for the provider's cache moves on with the conversation; it is no part of what is said.
fn strip_cache_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(strip_cache_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_cache_marks),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn ten_turns_in_the_format_of_anthropic() {
    run(Format::Anthropic);
}

#[test]
fn ten_turns_in_the_format_of_chat_completions() {
    run(Format::Completions);
}

#[test]
fn ten_turns_in_the_format_of_responses() {
    run(Format::Responses);
}

#[test]
fn ten_turns_in_the_format_of_ollama() {
    run(Format::Ollama);
}

#[test]
fn a_turn_is_told_event_by_event() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"text": "Let me look.", "toolCalls": [{"name": "read", "arguments": {"path": "board.md"}}]}),
            json!({"text": "Five larch."}),
        ],
    );
    let events = talk.events("What is on the board?");
    assert_eq!(
        kinds(&events),
        [
            "turn-started",
            "stored",
            "request-sent",
            "text-delta",
            "stored",
            "said",
            "tool-started",
            "stored",
            "tool-finished",
            "request-sent",
            "text-delta",
            "stored",
            "said",
            "stored",
            "turn-finished",
        ]
    );
    assert!(talk.server.wait_for_requests(2, Duration::from_secs(5)));
}
