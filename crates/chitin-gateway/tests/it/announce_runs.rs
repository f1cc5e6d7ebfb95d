//! Who hears of a child's end, when, and where that is said.

use crate::spawn_runs::{YARD, calls, child, children, results, spawns};
use crate::stage::{Setting, Stage};
use chitin_contract::OPENCLAW_2026_4;
use chitin_protocol::message::Message;
use chitin_protocol::transcript::EntryBody;
use chitin_store::SessionStore;
use serde_json::{Value, json};
use std::time::Duration;

/// Returns what a session was told, message by message: its name, and its words.
pub(crate) fn told(stage: &Stage, session_key: &str) -> Vec<(String, String)> {
    let store = stage.host.file_store("main");
    let Ok(branch) = store.read(session_key) else {
        return Vec::new();
    };
    let told = branch.entries.into_iter().filter_map(|entry| {
        let EntryBody::Message(Message::User(message)) = entry.body else {
            return None;
        };
        let key = message.extra.get("idempotencyKey");
        let key = key.and_then(Value::as_str).unwrap_or_default();
        Some((key.to_owned(), message.content.text()))
    });
    told.collect()
}

/// Returns the announces that a session got.
fn announces(stage: &Stage, session_key: &str) -> Vec<String> {
    let told = told(stage, session_key).into_iter();
    let news = told.filter(|(key, _)| key.starts_with("announce:v1:"));
    news.map(|(_, words)| words).collect()
}

/// Runs one child of the yard and returns what its parent was told.
async fn announced(setting: Setting) -> (Stage, Vec<String>) {
    let stage = setting.stage();
    stage.say_and_wait("yard", "Do it").await;
    stage.rest().await;
    let announces = announces(&stage, YARD);
    (stage, announces)
}

#[tokio::test]
async fn a_parent_is_told_in_a_block_that_says_where_it_comes_from() {
    let (stage, announces) = announced(Setting::replies(&[
        child("Count", "Seven."),
        spawns(json!({"task": "Count", "label": "lantern count"})),
        json!({"text": "Asked."}),
        json!({"text": "Seven."}),
    ]))
    .await;
    let child_key = &children(&stage)[0].0;
    let text = announces[0].replace(child_key.as_str(), "CHILD");
    let text: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("session_id:") && !line.starts_with("Stats:"))
        .collect();
    let text = text.join("\n");
    insta::assert_snapshot!(text.split_once("] ").unwrap().1);
    let store = stage.host.file_store("main");
    let entries = store.read(YARD).unwrap().entries;
    let provenance = entries.iter().find_map(|entry| match &entry.body {
        EntryBody::Message(Message::User(message)) => message.extra.get("provenance"),
        _ => None,
    });
    assert_eq!(
        provenance.unwrap(),
        &json!({
            "kind": "inter_session",
            "sourceSessionKey": child_key,
            "sourceChannel": "chat",
            "sourceTool": "subagent_announce"
        })
    );
}

#[tokio::test]
async fn a_child_that_nobody_waits_for_is_silent_but_not_under_2026_4() {
    let replies = [
        child("Count", "Seven."),
        spawns(json!({"task": "Count", "expectsCompletionMessage": false})),
        json!({"text": "Asked."}),
        json!({"text": "By the way: seven."}),
    ];
    let (stage, quiet) = announced(Setting::replies(&replies)).await;
    assert_eq!(quiet, [""; 0]);
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Asked."]);
    let mut setting = Setting::replies(&replies);
    setting.contract = &OPENCLAW_2026_4;
    let (stage, told) = announced(setting).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("reply with exactly NO_REPLY"));
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: By the way: seven."
    );
}

#[tokio::test]
async fn the_user_says_for_an_agent_or_a_spawn_what_is_expected_and_in_which_words() {
    let replies = |arguments: Value| {
        [
            child("Count", "Seven."),
            spawns(arguments),
            json!({"text": "Asked."}),
            json!({"text": "Seven."}),
        ]
    };
    let settings = json!({"chitin": {"subagents": {"main": {"announce": {
        "expectsCompletionMessage": false,
        "action": "Put it into the log."
    }}}}});
    let quiet = Setting::replies(&replies(json!({"task": "Count"}))).config(settings.clone());
    assert_eq!(announced(quiet).await.1, [""; 0], "the agent's setting");
    let wanted = json!({"task": "Count", "expectsCompletionMessage": true});
    let wanted = Setting::replies(&replies(wanted)).config(settings.clone());
    let told = announced(wanted).await.1;
    assert!(told[0].contains("Action:\nPut it into the log.\n"));
    let own =
        json!({"task": "Count", "expectsCompletionMessage": true, "action": "Ring the bell."});
    let own = Setting::replies(&replies(own)).config(settings);
    let told = announced(own).await.1;
    assert!(told[0].contains("Action:\nRing the bell.\n"));
}

/// A parent that never begins to answer the first announce.
fn silent_parent(section: &str) -> Setting {
    Setting::replies(&[
        child("Count", "Seven."),
        spawns(json!({"task": "Count"})),
        json!({"text": "Asked."}),
        json!({"when": "[Internal task completion event]", "text": "Never heard.", "delayMs": 60_000}),
        json!({"when": "[Internal task completion event]", "text": "Seven."}),
    ])
    .config(json!({"agents": {"defaults": {section: {"announceTimeoutMs": 250}}}}))
}

#[tokio::test]
async fn an_announce_that_gets_no_reaction_in_time_is_tried_again() {
    for section in ["subagents", "subagent"] {
        let stage = silent_parent(section).stage();
        stage.say_and_wait("yard", "Do it").await;
        let relayed = "chat:channel:yard: Seven.".to_owned();
        for _ in 0..1_000 {
            if stage.surface.sent().contains(&relayed) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stage.rest().await;
        assert_eq!(
            stage.surface.sent(),
            ["chat:channel:yard: Asked.", "chat:channel:yard: Seven."],
            "{section}"
        );
        assert_eq!(announces(&stage, YARD).len(), 2, "{section}");
    }
}

#[tokio::test]
async fn a_parent_that_reacts_to_an_announce_may_take_longer_than_its_timeout() {
    let setting = Setting::replies(&[
        child("Count", "Seven."),
        spawns(json!({"task": "Count"})),
        json!({"text": "Asked."}),
        json!({"text": "Let me see.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        json!({"text": "Seven.", "delayMs": 2500}),
    ])
    // Its first words must come in time, also where much else runs.
    .config(json!({"agents": {"defaults": {"subagents": {"announceTimeoutMs": 1500}}}}));
    let (stage, told) = announced(setting).await;
    assert_eq!(told.len(), 1);
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: Seven."
    );
}

#[tokio::test]
async fn a_child_that_says_nothing_is_not_announced() {
    for words in ["NO_REPLY", "ANNOUNCE_SKIP"] {
        let (stage, told) = announced(Setting::replies(&[
            child("Look", words),
            spawns(json!({"task": "Look"})),
            json!({"text": "Asked."}),
        ]))
        .await;
        assert_eq!(told, [""; 0], "{words}");
        assert_eq!(stage.surface.sent(), ["chat:channel:yard: Asked."]);
    }
}

#[tokio::test]
async fn a_parent_at_work_hears_of_its_child_in_the_same_turn() {
    let (stage, told) = announced(Setting::replies(&[
        child("Count", "Seven."),
        spawns(json!({"task": "Count"})),
        json!({"text": "I look around.", "delayMs": 600}),
        json!({"text": "Seven, I hear.", "expect": {"contains": ["Seven.", "[Internal task completion event]"]}}),
    ]))
    .await;
    assert_eq!(told.len(), 1);
    assert_eq!(
        stage.surface.sent(),
        [
            "chat:channel:yard: I look around.",
            "chat:channel:yard: Seven, I hear."
        ]
    );
}

#[tokio::test]
async fn a_child_whose_time_is_over_is_told_of_as_timed_out() {
    let (_, told) = announced(Setting::replies(&[
        json!({"when": "[Subagent Task]: Wait", "text": "Never.", "delayMs": 60_000}),
        spawns(json!({"task": "Wait", "runTimeoutSeconds": 0.2})),
        json!({"text": "Asked."}),
        json!({"text": "It took too long."}),
    ]))
    .await;
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("status: timed out"), "{}", told[0]);
}

#[tokio::test]
async fn a_child_that_fails_is_told_of_with_the_reason_and_without_a_part_of_its_words() {
    let (_, told) = announced(Setting::replies(&[
        json!({"when": "[Subagent Task]: Break", "error": {"status": 400, "message": "no such field"}}),
        spawns(json!({"task": "Break"})),
        json!({"text": "Asked."}),
        json!({"text": "It broke."}),
    ]))
    .await;
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("status: failed: "), "{}", told[0]);
    assert!(told[0].contains("no such field"));
    assert!(told[0].contains("(no output)"));
}

/// Waits until a child's turn runs, and returns its session.
async fn running_child(stage: &Stage, parent: &str) -> String {
    for _ in 0..1_000 {
        let open = stage.gateway.open_children(parent);
        let running = open
            .iter()
            .find(|child| json!(child.state) == json!("running"));
        if let Some(child) = running {
            return child.session_key.clone();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    unreachable!("no child of `{parent}` runs");
}

#[tokio::test]
async fn a_child_that_a_person_stops_is_told_of_once() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Wait", "text": "Never.", "delayMs": 60_000}),
        spawns(json!({"task": "Wait"})),
        json!({"text": "Asked."}),
        json!({"text": "Somebody stopped it."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Do it").await;
    let child = running_child(&stage, YARD).await;
    assert_eq!(stage.gateway.stop(&child), 1);
    stage.rest().await;
    let told = announces(&stage, YARD);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("status: failed: it was stopped"));
    assert_eq!(children(&stage)[0].1.status.as_deref(), Some("killed"));
}

#[tokio::test]
async fn a_child_that_its_own_parent_stops_is_not_told_of_again() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Wait", "text": "Never.", "delayMs": 60_000}),
        spawns(json!({"task": "Wait", "label": "waiter"})),
        json!({"text": "Asked."}),
        calls("subagents", json!({"action": "kill", "target": "waiter"})),
        json!({"text": "Stopped it."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Do it").await;
    running_child(&stage, YARD).await;
    stage.say_and_wait("yard", "Stop it").await;
    stage.rest().await;
    assert_eq!(announces(&stage, YARD), [""; 0]);
    assert_eq!(results(&stage, YARD)[1]["killed"], 1);
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: Stopped it."
    );
}

/// Children may begin others.
fn deep() -> Value {
    json!({"agents": {"defaults": {"subagents": {"maxSpawnDepth": 3}}}})
}

#[tokio::test]
async fn a_child_is_done_when_all_below_it_is_and_says_the_last_word_itself() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Leaf", "text": "Leaf is green.", "delayMs": 200}),
        json!({"when": "Leaf is green.", "text": "The branch says: all green."}),
        json!({"when": "[Subagent Task]: Branch", "text": "", "toolCalls": [{"name": "sessions_spawn", "arguments": {"task": "Leaf"}}]}),
        child("Branch", "Branch waits."),
        spawns(json!({"task": "Branch"})),
        json!({"text": "Asked."}),
        json!({"text": "All green."}),
    ])
    .config(deep())
    .stage();
    stage.say_and_wait("yard", "Do it").await;
    stage.rest().await;
    let told = announces(&stage, YARD);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("The branch says: all green."),
        "{}",
        told[0]
    );
    let branch = children(&stage)
        .into_iter()
        .find(|(_, entry)| entry.spawn_depth == Some(1))
        .unwrap();
    assert_eq!(announces(&stage, &branch.0).len(), 1);
    assert_eq!(
        stage.surface.sent(),
        ["chat:channel:yard: Asked.", "chat:channel:yard: All green."],
        "what a child says to its own children's news goes nowhere"
    );
}

#[tokio::test]
async fn stopping_a_session_stops_all_that_it_began_and_nobody_is_told() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Leaf", "text": "Never.", "delayMs": 60_000}),
        json!({"when": "[Subagent Task]: Branch", "text": "", "toolCalls": [{"name": "sessions_spawn", "arguments": {"task": "Leaf"}}]}),
        spawns(json!({"task": "Branch"})),
        json!({"text": "Waiting.", "delayMs": 60_000}),
        json!({"text": "Branch waits.", "delayMs": 60_000}),
    ])
    .config(deep())
    .stage();
    stage.say("yard", "Do it").await;
    let branch = running_child(&stage, YARD).await;
    running_child(&stage, &branch).await;
    assert_eq!(stage.gateway.stop(YARD), 3, "the turn and both runs");
    stage.rest().await;
    assert_eq!(announces(&stage, YARD), [""; 0]);
    assert!(stage.gateway.open_children(YARD).is_empty());
    assert!(stage.surface.sent().is_empty());
}

#[tokio::test]
async fn news_that_fails_is_brought_again_and_a_child_that_is_not_kept_goes_afterwards() {
    let stage = Setting::replies(&[
        child("Count", "Seven."),
        spawns(json!({"task": "Count", "cleanup": "delete"})),
        json!({"text": "Asked."}),
        json!({"error": {"status": 400, "message": "the model is down"}}),
        json!({"text": "Seven."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Do it").await;
    for _ in 0..600 {
        if stage.surface.sent().len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stage.rest().await;
    assert_eq!(
        stage.surface.sent(),
        ["chat:channel:yard: Asked.", "chat:channel:yard: Seven."]
    );
    assert_eq!(
        announces(&stage, YARD).len(),
        1,
        "it is said once all the same"
    );
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(children(&stage).is_empty(), "its session is gone");
}
