//! A process that dies at any moment leaves its ledger and its transcripts, and from them every child is finished and told
//! of exactly once.

use crate::announce_runs::told;
use crate::spawn_runs::{YARD, children};
use crate::stage::{Setting, Stage, message};
use chitin_protocol::message::Message;
use chitin_protocol::transcript::EntryBody;
use chitin_store::SessionStore;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// A model that can be asked again from anywhere: what it says depends on what it is asked only. The later a reply is said,
/// the earlier it stands.
fn replies(tasks: usize) -> Vec<Value> {
    let spawn = |task: String| json!({"name": "sessions_spawn", "arguments": {"task": task}});
    let all: Vec<Value> = (0..tasks).map(|n| spawn(format!("Task {n}."))).collect();
    let mut replies = Vec::new();
    for n in 0..tasks {
        replies.push(json!({"when": format!("[Subagent Task]: Task {n}."), "text": format!("Result {n}."), "delayMs": 10 * n, "times": 0}));
    }
    replies.push(json!({"when": "[Internal task completion event]", "text": "Heard.", "times": 0}));
    // After a crash the model may be told that nobody knows whether the calls happened.
    replies.push(json!({"when": "look before you repeat it", "text": "I wait.", "times": 0}));
    replies.push(json!({"when": "\\\"status\\\":\\\"accepted\\\"", "text": "I wait.", "times": 0}));
    replies.push(json!({"when": "Begin", "text": "", "toolCalls": all, "times": 0}));
    replies
}

/// Runs a stage for a while, then lets everything vanish at once.
fn run_and_die(setting: Setting, first: bool, life: Duration) -> Setting {
    let (replies, config) = (setting.replies.clone(), setting.config.clone());
    // One thread: when it leaves, no task moves any more, as when a process is killed.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let stage = runtime.block_on(async {
        let stage = setting.stage();
        if first {
            let mut begin = message("yard", "Begin");
            begin.message_id = Some("1".to_owned());
            stage.gateway.accept(begin).await.unwrap();
        }
        tokio::time::sleep(life).await;
        stage
    });
    drop(runtime);
    Setting {
        surface: Some(stage.surface),
        env: stage.env,
        config,
        ..Setting::replies(&replies)
    }
}

/// Returns how many answers with words there are in a session.
fn said(stage: &Stage, session_key: &str) -> usize {
    let branch = stage.host.file_store("main").read(session_key);
    let entries = branch.map(|branch| branch.entries).unwrap_or_default();
    let answers = entries.iter().filter(|entry| match &entry.body {
        EntryBody::Message(Message::Assistant(answer)) => !answer.content.text().is_empty(),
        _ => false,
    });
    answers.count()
}

fn settle(setting: Setting, check: impl Fn(&Stage)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let stage = setting.stage();
        stage.rest().await;
        check(&stage);
    });
}

/// A model whose children have children.
fn deep_replies(branches: usize, leaves: usize) -> Vec<Value> {
    let spawn = |task: String| json!({"name": "sessions_spawn", "arguments": {"task": task}});
    let branch: Vec<Value> = (0..branches)
        .map(|n| spawn(format!("Branch {n}.")))
        .collect();
    let leaf: Vec<Value> = (0..leaves).map(|n| spawn(format!("Leaf {n}."))).collect();
    let when = |when: &str, text: &str| json!({"when": when, "text": text, "times": 0});
    vec![
        when("Branch is done.", "Heard."),
        when("Leaf is done.", "Branch is done."),
        json!({"when": "[Subagent Task]: Leaf", "text": "Leaf is done.", "delayMs": 5, "times": 0}),
        when("look before you repeat it", "I wait."),
        when("\\\"status\\\":\\\"accepted\\\"", "I wait."),
        json!({"when": "[Subagent Task]: Branch", "text": "", "toolCalls": leaf, "times": 0}),
        json!({"when": "Begin", "text": "", "toolCalls": branch, "times": 0}),
    ]
}

/// Returns what went wrong in a session.
fn wrong(stage: &Stage, session_key: &str) -> Vec<String> {
    let branch = stage.host.file_store("main").read(session_key);
    let entries = branch.map(|branch| branch.entries).unwrap_or_default();
    let wrong = entries.into_iter().filter_map(|entry| match entry.body {
        EntryBody::Message(Message::Assistant(answer)) => answer.error_message,
        _ => None,
    });
    wrong.collect()
}

/// Checks that every child that ran was told of once, to the session that began it.
fn told_once(stage: &Stage) {
    for key in children(stage)
        .iter()
        .map(|(key, _)| key.as_str())
        .chain([YARD])
    {
        assert_eq!(wrong(stage, key), [""; 0], "{key}");
    }
    for (key, entry) in children(stage) {
        let status = entry.status.as_deref();
        assert_eq!(status, Some("done"), "{key}");
    }
    for message in stage.surface.outgoing() {
        assert!(!message.text.contains("did not work"), "{}", message.text);
    }
    let mut times: HashMap<String, usize> = HashMap::new();
    let run: Vec<(String, String)> = children(stage)
        .into_iter()
        .map(|(key, entry)| (key, entry.spawned_by.unwrap()))
        .collect();
    let mut sessions: Vec<&str> = run.iter().map(|(key, _)| key.as_str()).collect();
    sessions.push(YARD);
    for session in &sessions {
        assert!(stage.gateway.open_children(session).is_empty());
        for (key, _) in told(stage, session) {
            if key.starts_with("announce:v1:") {
                *times.entry(format!("{session} {key}")).or_default() += 1;
            }
        }
    }
    assert!(times.values().all(|times| *times == 1), "{times:?}");
    assert_eq!(run.len(), times.len(), "{run:?} {times:?}");
    for (key, parent) in &run {
        let name = format!("{parent} announce:v1:{key}:");
        assert!(
            times.keys().any(|told| told.starts_with(&name)),
            "{name} {times:?}"
        );
        let tasks = told(stage, key).into_iter();
        let tasks = tasks.filter(|(_, words)| words.contains("[Subagent Task]"));
        assert_eq!(tasks.count(), 1, "its task is said to it once");
    }
}

/// Checks that what the parent said is on the surface. Words may be sent again when nobody knows whether they got out, but
/// then under the same name.
fn sent_once(stage: &Stage) {
    let sent = stage.surface.outgoing().into_iter();
    let sent: HashSet<String> = sent.map(|message| message.key).collect();
    assert_eq!(sent.len(), said(stage, YARD), "{sent:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn every_child_is_told_of_exactly_once_whenever_the_process_dies(
        lives in prop::collection::vec(0_u64..120, 1..4),
        tasks in 1_usize..5,
    ) {
        let mut setting = Setting::replies(&replies(tasks));
        for (number, life) in lives.iter().enumerate() {
            setting = run_and_die(setting, number == 0, Duration::from_millis(*life));
        }
        settle(setting, |stage| {
            told_once(stage);
            sent_once(stage);
        });
    }

    #[test]
    fn so_is_every_child_of_a_child(
        lives in prop::collection::vec(40_u64..300, 1..4),
        branches in 1_usize..4,
        leaves in 1_usize..4,
    ) {
        let mut setting = Setting::replies(&deep_replies(branches, leaves));
        setting.config = json!({"agents": {"defaults": {"subagents": {"maxSpawnDepth": 3}}}});
        for (number, life) in lives.iter().enumerate() {
            setting = run_and_die(setting, number == 0, Duration::from_millis(*life));
        }
        settle(setting, |stage| {
            told_once(stage);
            sent_once(stage);
        });
    }
}
