//! A process that dies at any moment leaves its ledger and its transcripts, and from them every child is finished and told
//! of exactly once.

use crate::announcing::told;
use crate::spawning::{YARD, children};
use crate::stage::{Setting, Stage, message};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;
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
    let replies = setting.replies.clone();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
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
        env: stage.env,
        ..Setting::replies(&replies)
    }
}

fn settle(setting: Setting, check: impl Fn(&Stage)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let stage = setting.stage();
        stage.rest().await;
        check(&stage);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 0, ..ProptestConfig::default() })]
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
            let mut times: HashMap<String, usize> = HashMap::new();
            for (key, _) in told(stage, YARD) {
                *times.entry(key).or_default() += 1;
            }
            let open = stage.gateway.open_children(YARD);
            assert!(open.is_empty(), "{open:?}");
            let news = times.iter().filter(|(key, _)| key.starts_with("announce:v1:"));
            let news: HashMap<&String, &usize> = news.collect();
            assert!(news.values().all(|times| **times == 1), "{news:?}");
            // A session that a crash left before its job was in the ledger is no child: nobody was told of it.
            let run: Vec<String> = children(stage)
                .into_iter()
                .filter(|(_, entry)| entry.status.as_deref() == Some("done"))
                .map(|(key, _)| key)
                .collect();
            assert_eq!(run.len(), news.len(), "{run:?} {news:?}");
            for key in &run {
                assert!(news.keys().any(|name| name.contains(key.as_str())));
                assert_eq!(told(stage, key).len(), 1, "its task is said to it once");
            }
        });
    }
}
