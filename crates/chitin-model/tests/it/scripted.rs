//! Replies from a script, without a network.

use crate::asking::{self, Conversation, collect, done, failed, run};
use chitin_model::{Model, ModelError, ScriptedModel, StreamEvent};
use chitin_protocol::message::StopReason;
use chitin_protocol::script;
use chitin_test::TestEnv;
use futures_util::StreamExt;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn scripted(text: &str) -> ScriptedModel {
    ScriptedModel::new("s.jsonl", script::parse(text).unwrap())
}

#[test]
fn replies_come_in_their_order() {
    let env = TestEnv::new();
    let path = env.file(
        "home/replies.jsonl",
        "{\"thinking\":\"hm\",\"text\":\"one\",\"toolCalls\":[{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}],\"usage\":{\"input\":9,\"output\":2}}\n\n# then\n{\"text\":\"two\",\"stopReason\":\"length\"}\n",
    );
    let model = ScriptedModel::open(&path).unwrap();
    run(async {
        let conversation = Conversation::saying("hi");
        let events = asking::ask(&model, &conversation).await.unwrap();
        let message = done(&events);
        assert_eq!(message.content.text(), "one");
        assert_eq!(message.content.blocks().len(), 3);
        assert_eq!(message.stop_reason, Some(StopReason::ToolUse));
        assert_eq!(message.usage.unwrap().total_tokens, 11);
        assert_eq!(message.provider.as_deref(), Some("scripted"));
        let events = asking::ask(&model, &conversation).await.unwrap();
        assert_eq!(done(&events).stop_reason, Some(StopReason::Length));
        let error = asking::ask(&model, &conversation).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the script `replies.jsonl` has 2 replies and no more for request 3"
        );
    });
}

#[test]
fn errors_cuts_and_broken_arguments_are_as_with_a_provider() {
    let model = scripted(
        "{\"error\":{\"status\":429,\"message\":\"slow down\",\"retryAfter\":\"2\"}}\n{\"text\":\"Half of this.\",\"cutAfter\":4}\n{\"toolCalls\":[{\"name\":\"x\",\"argumentsText\":\"{oops\"}]}",
    );
    run(async {
        let conversation = Conversation::saying("hi");
        let error = asking::ask(&model, &conversation).await.unwrap_err();
        assert_eq!(error.retry_after(), Some(Duration::from_secs(2)));
        let events = asking::ask(&model, &conversation).await.unwrap();
        assert_eq!(failed(&events).content.text(), "Half");
        let events = asking::ask(&model, &conversation).await.unwrap();
        let call = done(&events).tool_calls().next().unwrap();
        assert_eq!(call.arguments, Some(json!({})));
        assert_eq!(chitin_model::wire::broken_arguments(call), Some("{oops"));
    });
}

#[test]
fn a_script_can_insist_on_what_it_is_asked() {
    let model = scripted(
        r#"{"text":"ok","times":0,"expect":{"contains":["Be brief.\n\n## Tooling"],"lacks":["goodbye"]}}"#,
    );
    run(async {
        done(
            &asking::ask(&model, &Conversation::saying("hi"))
                .await
                .unwrap(),
        );
        let error = asking::ask(&model, &Conversation::saying("goodbye"))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "request 2 is not what the script `s.jsonl` expects: the request holds `goodbye`"
        );
    });
}

#[test]
fn a_script_that_cannot_be_read_names_the_line() {
    let env = TestEnv::new();
    let path = env.file("home/bad.jsonl", "{\"text\":\"a\"}\n{\"text\":");
    let error = ScriptedModel::open(&path).unwrap_err().to_string();
    assert!(
        error.contains("bad.jsonl") && error.contains("line 2"),
        "{error}"
    );
    let missing = ScriptedModel::open(&env.path().join("none.jsonl")).unwrap_err();
    assert!(matches!(missing, ModelError::Unscripted(_)));
}

#[test]
fn cancelling_ends_a_delay_and_an_answer() {
    let model = scripted(
        "{\"text\":\"late\",\"delayMs\":60000}\n{\"text\":\"a long answer in many pieces that come one by one\"}",
    );
    let conversation = Conversation::saying("hi");
    run(async {
        let start = Instant::now();
        let cancel = CancellationToken::new();
        let prepared = model.prepare(&conversation.request()).unwrap();
        let events = model.send(prepared.clone(), cancel.clone()).await.unwrap();
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            cancel.cancel();
        };
        let (answer, ()) = tokio::join!(collect(events), stopping);
        assert!(matches!(answer, Err(ModelError::Cancelled)));
        assert!(start.elapsed() < Duration::from_secs(1));

        let cancel = CancellationToken::new();
        let mut events = model.send(prepared, cancel.clone()).await.unwrap();
        let mut text = String::new();
        while text.is_empty() {
            if let Some(Ok(StreamEvent::TextDelta { delta, .. })) = events.next().await {
                text = delta;
            }
        }
        cancel.cancel();
        let rest = collect(events).await.unwrap();
        let message = failed(&rest);
        assert_eq!(message.stop_reason, Some(StopReason::Aborted));
        assert_eq!(message.content.text(), text);
    });
}
