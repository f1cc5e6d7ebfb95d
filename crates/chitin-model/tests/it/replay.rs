//! What was recorded is answered again, also when times and ids have changed.

use crate::asking::{self, Conversation, LONG, done, model, run};
use chitin_model::{ModelError, RecordModel, ReplayModel};
use chitin_test::TestEnv;
use chitin_test::model_server::{Format, ModelServer};
use proptest::prelude::*;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

/// A conversation with everything in it that changes from run to run.
fn conversation(day: u32, id: &str, path: &str) -> Conversation {
    let mut conversation = Conversation::saying("hi")
        .then(json!({"role": "assistant", "content": [{"type": "toolCall", "id": id, "name": "read", "arguments": {"path": "a"}}], "timestamp": day, "usage": {"input": day}}))
        .then(json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "content": format!("in {path}"), "isError": false, "timestamp": day}))
        .then(json!({"role": "user", "content": format!("[Sun 2026-11-{day} 10:{day} GMT+1] go on"), "timestamp": day}));
    conversation.system = format!("Today is 2026-11-{day}.");
    conversation
}

#[test]
fn a_recording_of_every_format_is_played_again() {
    for format in Format::ALL {
        let env = TestEnv::new();
        let path = env.path().join("recording.jsonl");
        let server = ModelServer::start(
            format,
            "{\"thinking\":\"hm\",\"text\":\"Hello.\",\"toolCalls\":[{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}]}\n{\"text\":\"second\"}\n{\"error\":{\"status\":429,\"message\":\"slow down\"}}",
        );
        let recorder = RecordModel::new(Arc::new(model(&server, LONG)), &path);
        let (first, second) = run(async {
            let first = asking::ask(&recorder, &conversation(11, "call_1", "/tmp/x1/w"))
                .await
                .unwrap();
            let second = asking::ask(&recorder, &Conversation::saying("other"))
                .await
                .unwrap();
            asking::ask(&recorder, &Conversation::saying("third"))
                .await
                .unwrap_err();
            (first, second)
        });
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let replay = ReplayModel::open(&path).unwrap();
        run(async {
            let other_times = conversation(28, "toolu_zz", "/tmp/y2/w");
            assert_eq!(asking::ask(&replay, &other_times).await.unwrap(), first);
            assert_eq!(
                asking::ask(&replay, &Conversation::saying("other"))
                    .await
                    .unwrap(),
                second
            );
            let error = asking::ask(&replay, &Conversation::saying("third"))
                .await
                .unwrap_err();
            assert!(matches!(error, ModelError::RateLimited { .. }), "{error:?}");
        });
    }
}

#[test]
fn the_same_request_gets_its_answers_in_their_order() {
    let env = TestEnv::new();
    let path = env.path().join("recording.jsonl");
    let server = ModelServer::start(Format::Ollama, "{\"text\":\"one\"}\n{\"text\":\"two\"}");
    let recorder = RecordModel::new(Arc::new(model(&server, LONG)), &path);
    let texts = run(async {
        let conversation = Conversation::saying("hi");
        for _ in 0..2 {
            asking::ask(&recorder, &conversation).await.unwrap();
        }
        let replay = ReplayModel::open(&path).unwrap();
        let mut texts = Vec::new();
        for _ in 0..3 {
            let events = asking::ask(&replay, &conversation).await.unwrap();
            texts.push(done(&events).content.text());
        }
        texts
    });
    assert_eq!(texts, ["one", "two", "two"]);
}

#[test]
fn an_unknown_request_is_compared_with_the_nearest() {
    let env = TestEnv::new();
    let path = env.path().join("recording.jsonl");
    let server = ModelServer::start(Format::Anthropic, "{\"text\":\"one\"}\n{\"text\":\"two\"}");
    let recorder = RecordModel::new(Arc::new(model(&server, LONG)), &path);
    let error = run(async {
        asking::ask(&recorder, &Conversation::saying("good morning"))
            .await
            .unwrap();
        asking::ask(&recorder, &conversation(11, "a", "b"))
            .await
            .unwrap();
        let replay = ReplayModel::open(&path).unwrap();
        let mut changed = conversation(11, "a", "b");
        changed.system = "Today is another day.".to_owned();
        asking::ask(&replay, &changed).await.unwrap_err()
    });
    assert_eq!(
        error.to_string(),
        "the recording `recording.jsonl` has 2 exchanges, but not this request; the nearest is number 2: \
         `system` was `Today is <time>.` and is `Today is another day.`"
    );
}

#[test]
fn a_recording_that_cannot_be_read_names_the_line() {
    let env = TestEnv::new();
    let path = env.file("home/r.jsonl", "\n{}\n");
    let error = ReplayModel::open(&path).unwrap_err().to_string();
    assert!(error.starts_with("line 2 of "), "{error}");
    let empty = ReplayModel::open(&env.file("home/e.jsonl", "")).unwrap();
    let error = run(asking::ask(&empty, &Conversation::saying("hi"))).unwrap_err();
    assert_eq!(error.to_string(), "the recording `e.jsonl` is empty");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_was_said_is_found_again(text in "\\PC{0,80}", day in 10_u32..30, id in "[a-zA-Z0-9_]{1,20}") {
        let env = TestEnv::new();
        let path = env.path().join("recording.jsonl");
        let inner = chitin_model::OfflineModel;
        let recorder = RecordModel::new(Arc::new(inner), &path);
        let with = |day, id: &str| {
            let mut conversation = conversation(day, id, "here");
            conversation.messages[0] = chitin_protocol::message::Message::user(text.clone(), 1);
            conversation
        };
        let (first, again) = run(async {
            let first = asking::ask(&recorder, &with(day, &id)).await.unwrap();
            let replay = ReplayModel::open(&path).unwrap();
            (first, asking::ask(&replay, &with(10, "other")).await.unwrap())
        });
        prop_assert_eq!(first, again);
    }
}
