//! First turn and continuation: what later turns do not repeat in the system prompt is in the conversation that is sent.

use crate::flush_stage::{SESSION, Setting, Stage};
use chitin_contract::CANONICAL;
use chitin_test::TestEnv;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const RULE: &str = "Moor at the north pier.";

fn setting() -> Setting {
    Setting {
        contract: &CANONICAL,
        flush: None,
        rules: "# Harbor\n\nMoor at the north pier.\n",
        injection: Some("continuation-skip"),
        ..Setting::default()
    }
}

fn env() -> TestEnv {
    let env = TestEnv::new();
    env.file("workspace/SOUL.md", "Calm.\n");
    env.file("workspace/TOOLS.md", "The crane is slow.\n");
    env
}

fn small(text: &str) -> Value {
    json!({"text": text, "times": 0, "usage": {"input": 900, "output": 10}})
}

/// Returns the requests: the system prompt, and the texts of the messages.
fn requests(stage: &Stage) -> Vec<(String, Vec<String>)> {
    let asked = stage.model.asked().into_iter();
    let read = asked.map(|body| {
        let body: Value = serde_json::from_str(&body).unwrap();
        let messages = body["messages"].as_array().unwrap().iter();
        let texts = messages.map(|message| message["content"].to_string());
        (body["system"].to_string(), texts.collect())
    });
    read.collect()
}

fn holding(messages: &[String], needle: &str) -> Vec<usize> {
    let found = messages.iter().enumerate();
    let found = found.filter(|(_, text)| text.contains(needle));
    found.map(|(at, _)| at).collect()
}

#[tokio::test]
async fn what_later_turns_leave_out_is_in_the_conversation_and_the_prefix_stays() {
    let env = env();
    let stage = Stage::set(&env, &setting(), &[small("Aye.")]);
    stage.say("One").await.report.unwrap();
    stage.say("Two").await.report.unwrap();
    let asked = requests(&stage);
    let (first, second) = (&asked[0], &asked[1]);
    assert!(first.0.contains("Calm."), "the persona stays: {}", first.0);
    assert!(!first.0.contains(RULE));
    assert_eq!(first.0, second.0, "the same system prompt on both turns");
    assert_eq!(holding(&first.1, RULE), [0]);
    assert_eq!(holding(&second.1, RULE), [0]);
    assert!(second.1[0].contains("The crane is slow."));
    assert!(
        second.1.starts_with(&first.1),
        "the conversation only grows: {second:?}"
    );
    assert_eq!(second.1.len(), first.1.len() + 2);
}

#[tokio::test]
async fn a_file_that_changed_is_put_into_the_conversation_again_and_the_others_are_not() {
    let env = env();
    let stage = Stage::set(&env, &setting(), &[small("Aye.")]);
    stage.say("One").await.report.unwrap();
    env.file(
        "workspace/AGENTS.md",
        "# Harbor\n\nMoor at the south pier.\n",
    );
    stage.say("Two").await.report.unwrap();
    stage.say("Three").await.report.unwrap();
    let asked = requests(&stage);
    for (_, messages) in &asked[1..] {
        assert_eq!(holding(messages, RULE), [0], "what was sent stays");
        assert_eq!(holding(messages, "Moor at the south pier."), [3]);
        assert!(messages[3].contains("replaces their earlier text"));
        assert_eq!(holding(messages, "The crane is slow."), [0]);
    }
    assert!(asked[2].1.starts_with(&asked[1].1));
}

#[tokio::test]
async fn a_summary_takes_nothing_of_it_away() {
    let env = env();
    let stage = Stage::set(&env, &setting(), &[small("Aye.")]);
    for words in ["One", "Two", "Three"] {
        stage.say(words).await.report.unwrap();
    }
    let (events, _told) = mpsc::channel(1024);
    let compacted = stage
        .agent
        .compact_session(SESSION, None, events, CancellationToken::new())
        .await;
    assert!(compacted.unwrap().is_some());
    let summaries = requests(&stage).split_off(3);
    for (_, messages) in &summaries {
        assert_eq!(holding(messages, RULE), [0; 0], "files are not summarised");
    }
    let before = stage.model.asked().len();
    stage.say("Four").await.report.unwrap();
    stage.say("Five").await.report.unwrap();
    let after = requests(&stage).split_off(before);
    for (system, messages) in &after {
        assert!(!system.contains(RULE));
        assert_eq!(holding(messages, RULE).len(), 1, "{messages:?}");
        assert_eq!(holding(messages, "<summary>").len(), 1);
    }
    assert!(after[1].1.starts_with(&after[0].1));
}

#[tokio::test]
async fn a_limit_of_turns_does_not_cut_it_off() {
    let env = env();
    let setting = Setting {
        turns: Some(1),
        ..setting()
    };
    let stage = Stage::set(&env, &setting, &[small("Aye.")]);
    for words in ["One", "Two", "Three", "Four"] {
        stage.say(words).await.report.unwrap();
    }
    for (_, messages) in requests(&stage) {
        assert_eq!(holding(&messages, RULE), [0], "{messages:?}");
    }
}
