//! A message that will not fit, and what each release does about it before it is sent (C21).

use super::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};

/// What only a request for a summary says.
const SUMMARY: &str = "its memory of a conversation was cleared";

/// Twelve thousand tokens, by the estimate of all contracts.
fn long_message(name: &str) -> String {
    format!("{name}: {}", "counts crates. ".repeat(3_200))
}

fn talk(contract: &str, window: u64, script: &[Value]) -> Talk {
    let talk = Talk::new(Format::Completions, script);
    talk.configure(json!({
        "contract": contract,
        "history": {"compaction": {"memoryFlush": {"enabled": false}}},
        "models": {"yard/test-model": {"contextWindow": window, "maxOutput": 4_000}},
    }));
    talk
}

fn last_request(talk: &Talk) -> Vec<Value> {
    let body = talk.server.requests().pop().unwrap().body;
    let request: Value = serde_json::from_slice(&body).unwrap();
    request["messages"].as_array().unwrap().clone()
}

fn compactions(events: &[Value]) -> Vec<&str> {
    let told = events.iter().filter(|event| event["type"] == "compacted");
    told.filter_map(|event| event["reason"].as_str()).collect()
}

#[test]
fn a_message_that_will_not_fit_compacts_the_conversation_where_the_release_does() {
    for (contract, compacts) in [
        ("openclaw-2026.4", true),
        ("openclaw-2026.9", false),
        ("canonical", false),
    ] {
        let mut script: Vec<Value> = (1..=6)
            .map(|number| json!({"text": format!("Reply {number}.")}))
            .collect();
        script.push(json!({"text": "## Decisions\n\nNone.", "when": SUMMARY, "times": 0}));
        let talk = talk(contract, 100_000, &script);
        for name in ["A", "B", "C", "D", "E"] {
            let events = talk.events(&long_message(name));
            assert_eq!(compactions(&events), [""; 0], "{contract} {name}");
        }
        let events = talk.events(&long_message("F"));
        assert_eq!(
            compactions(&events).len(),
            usize::from(compacts),
            "{contract}"
        );
        let names: Vec<String> = last_request(&talk)
            .iter()
            .filter(|message| message["role"] == "user")
            .map(|message| message["content"].to_string())
            .filter(|said| !said.contains("<summary>"))
            .filter_map(|said| said.split_once(": counts").map(|(name, _)| name.to_owned()))
            .filter_map(|before| before.chars().last().map(String::from))
            .collect();
        // The newest 20,000 tokens stay, and the message that opens the turn does not count among them.
        let kept = if compacts { "DEF" } else { "ABCDEF" };
        assert_eq!(names.concat(), kept, "{contract}");
        let records = talk.transcript();
        let at = |kind: &str| records.iter().rposition(|record| record["type"] == kind);
        assert_eq!(at("compaction").is_some(), compacts, "{contract}");
    }
}

#[test]
fn long_tool_results_are_shortened_before_anything_is_summarised() {
    let read =
        |number: usize| json!({"name": "read", "arguments": {"path": format!("{number}.txt")}});
    let script = [
        json!({"toolCalls": (0..6).map(read).collect::<Vec<_>>()}),
        json!({"text": "Read."}),
        json!({"text": "Yes."}),
    ];
    let talk = talk("openclaw-2026.4", 40_000, &script);
    for number in 0..6 {
        let name = format!("workspace/{number}.txt");
        talk.env
            .file(&name, format!("{number} oak and larch\n").repeat(800));
    }
    talk.answer("Read them.");
    let output = talk.say("Is that all?");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("shortened 5 tool results to make room for the message"),
        "{}",
        text(&output.stderr)
    );
    let request = last_request(&talk);
    let results = request.iter().filter(|message| message["role"] == "tool");
    let lengths: Vec<usize> = results
        .map(|result| result["content"].to_string().len())
        .collect();
    assert_eq!(lengths.len(), 6);
    // All together are as long as one may be: the newest gave way first.
    assert!(lengths.iter().sum::<usize>() < 18_000, "{lengths:?}");
    assert!(lengths[0] > lengths[5], "{lengths:?}");
    let records = talk.transcript();
    assert!(records.iter().all(|record| record["type"] != "compaction"));
    // The transcript is as it was.
    let stored = talk.messages();
    let stored = stored
        .iter()
        .filter(|message| message["role"] == "toolResult");
    assert!(
        stored
            .clone()
            .all(|result| result.to_string().len() > 10_000)
    );
    assert_eq!(stored.count(), 6);
}
