//! The endpoints that OpenAI's clients know.

use crate::client::{Served, events};
use crate::stage::Setting;
use chitin_store::SessionStore;
use serde_json::{Value, json};
use std::time::Duration;

const PATH: &str = "/v1/chat/completions";

fn said(text: &str) -> Value {
    json!({"model": "chitin", "messages": [{"role": "user", "content": text}]})
}

#[tokio::test]
async fn models_are_agents() {
    let config = json!({"agents": {"list": [{"id": "main", "default": true}, {"id": "dock"}]}});
    let served = Served::new(Setting::default().config(config));
    let models = served.get("/v1/models").await.json();
    let ids: Vec<&Value> = models["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| &model["id"])
        .collect();
    assert_eq!(ids, ["chitin", "chitin/main", "chitin/dock"]);
    assert_eq!(
        served.get("/v1/models/chitin%2Fdock").await.json()["object"],
        "model"
    );
    assert_eq!(served.get("/v1/models/chitin/dock").await.status, 200);
    assert_eq!(
        served.get("/v1/models/gpt-4").await.problem(),
        "404 model_not_found"
    );
}

#[tokio::test]
async fn an_answer_has_the_shape_that_clients_expect() {
    let served = Served::new(Setting::replies(&[json!({"text": "Five larch."})]));
    let mut answer = served.post(PATH, &said("Board?")).await.json();
    assert!(answer["id"].as_str().unwrap().starts_with("chatcmpl-"));
    assert!(answer["created"].as_i64().unwrap() > 1_700_000_000);
    let usage = answer["usage"].take();
    let total =
        usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"], total);
    assert!(total > 0);
    answer["id"].take();
    answer["created"].take();
    insta::assert_json_snapshot!(answer);
}

#[tokio::test]
async fn pieces_make_up_the_answer_and_end_as_clients_expect() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "Let me look.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        json!({"text": "Five larch, and a long list of other things that come in several pieces."}),
    ]));
    let mut body = said("Board?");
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let answer = served.post(PATH, &body).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
    let pieces: Vec<Value> = events(&answer.body)
        .into_iter()
        .map(|(_, data)| data)
        .collect();
    let (done, pieces) = pieces.split_last().unwrap();
    assert_eq!(done, "[DONE]");
    let (count, pieces) = pieces.split_last().unwrap();
    assert_eq!(count["choices"], json!([]));
    assert!(count["usage"]["total_tokens"].as_u64().unwrap() > 0);
    assert_eq!(
        pieces[0]["choices"][0]["delta"],
        json!({"role": "assistant", "content": ""})
    );
    let text: String = pieces
        .iter()
        .filter_map(|piece| piece["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(
        text,
        "Let me look.\n\nFive larch, and a long list of other things that come in several pieces."
    );
    let last = pieces.last().unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    for piece in pieces {
        assert_eq!(piece["id"], pieces[0]["id"]);
        assert_eq!(piece["object"], "chat.completion.chunk");
        assert_eq!(piece["usage"], Value::Null);
    }
}

#[tokio::test]
async fn a_new_session_is_told_what_was_said_before_and_one_that_remembers_is_not() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "One.", "expect": {"contains": ["Speak like a sailor", "User: Hello", "Assistant: Ahoy", "[The message to answer]"]}}),
        json!({"text": "Two."}),
        json!({"text": "Three."}),
    ]));
    let messages = json!([
        {"role": "system", "content": "Speak like a sailor."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Ahoy"},
        {"role": "user", "content": [{"type": "text", "text": "What is"}, {"type": "text", "text": "on the board?"}]},
    ]);
    let body = json!({"model": "chitin/main", "messages": messages, "user": "ada"});
    for expected in ["One.", "Two."] {
        let answer = served.post(PATH, &body).await.json();
        assert_eq!(answer["choices"][0]["message"]["content"], expected);
    }
    let store = served.stage.host.file_store("main");
    let branch = store.read("agent:main:openai-user:ada").unwrap();
    let told = format!("{:?}", branch.entries);
    assert_eq!(told.matches("Speak like a sailor").count(), 1);
    assert_eq!(told.matches("on the board?").count(), 2);
    let named = [("x-session-key", "agent:main:watch")];
    let mut client = served.connect().await;
    let answer = client
        .ask("POST", PATH, &named, &said("And now?").to_string())
        .await;
    assert_eq!(answer.status, 200);
    assert!(store.find("agent:main:watch").unwrap().is_some());
}

#[tokio::test]
async fn every_request_of_one_session_has_its_own_answer() {
    let replies: Vec<Value> = (0..5)
        .map(|n| json!({"text": format!("Answer {n}."), "delayMs": 20}))
        .collect();
    let served = Served::new(Setting::replies(&replies));
    let ask = async |n: usize| {
        let mut body = said(&format!("Question {n}"));
        body["user"] = json!("ada");
        let answer = served.post(PATH, &body).await.json();
        answer["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut answers = futures_util::future::join_all((0..5).map(ask)).await;
    answers.sort();
    let expected: Vec<String> = (0..5).map(|n| format!("Answer {n}.")).collect();
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn a_turn_that_only_its_caller_can_hear_ends_with_the_caller() {
    for stream in [false, true] {
        let replies = [json!({"text": "Never heard.", "delayMs": 60_000})];
        let served = Served::new(Setting::replies(&replies));
        let mut body = said("Go");
        body["stream"] = json!(stream);
        let mut client = served.connect().await;
        client.request("POST", PATH, &[], &body.to_string()).await;
        while served.get("/api/status").await.json()["queue"]["running"] == 0 {}
        drop(client);
        served.stage.rest().await;
    }
}

#[tokio::test]
async fn a_turn_that_fails_has_a_status_and_is_not_to_be_tried_again() {
    for stream in [false, true] {
        let replies = [json!({"error": {"message": "no such luck", "status": 400}})];
        let served = Served::new(Setting::replies(&replies));
        let mut body = said("Go");
        body["stream"] = json!(stream);
        let answer = served.post(PATH, &body).await;
        assert_eq!(answer.problem(), "502 turn_failed");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
        assert_eq!(answer.json()["error"]["type"], "server_error");
    }
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_in_the_shape_that_clients_read() {
    let served = Served::new(Setting::default());
    let picture = |url: &str| json!({"model": "chitin", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]});
    let with = |key: &str, value: Value| {
        let mut body = said("Hi");
        body[key] = value;
        body
    };
    let mut said = Vec::new();
    for body in [
        json!({}),
        json!({"model": "chitin"}),
        json!({"model": "chitin", "messages": []}),
        json!({"model": "chitin", "messages": [{"role": "assistant", "content": "Hi"}]}),
        json!({"model": "chitin", "messages": [{"role": "user", "content": " "}]}),
        json!({"model": "chitin", "messages": [{"role": "king", "content": "a"}, {"role": "user", "content": "Hi"}]}),
        json!({"model": "chitin", "messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}),
        with("model", json!("gpt-4")),
        with("model", json!("chitin/nobody")),
        with("n", json!(2)),
        with(
            "tools",
            json!([{"type": "function", "function": {"name": "f"}}]),
        ),
        with("response_format", json!({"type": "json_object"})),
        with("user", json!("a\u{7}b")),
        with("stream", json!("yes")),
        picture("https://example.org/a.png"),
        picture("data:text/html;base64,AAAA"),
        picture("data:image/png;base64,%%"),
    ] {
        let answer = served.post(PATH, &body).await;
        said.push(format!("{} {}", answer.status, answer.body));
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn pictures_come_with_the_message() {
    let served = Served::new(Setting::replies(&[json!({"text": "A crane."})]));
    let body = json!({"model": "chitin", "user": "ada", "messages": [{"role": "user", "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}},
    ]}]});
    assert_eq!(served.post(PATH, &body).await.status, 200);
    let store = served.stage.host.file_store("main");
    let branch = store.read("agent:main:openai-user:ada").unwrap();
    assert!(format!("{:?}", branch.entries).contains("iVBORw0KGgo="));
}

#[tokio::test]
async fn silence_is_an_empty_answer() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "NO_REPLY"}),
        json!({"text": "NO_REPLY"}),
    ]));
    let answer = served.post(PATH, &said("Psst")).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "");
    let mut body = said("Psst");
    body["stream"] = json!(true);
    let answer = tokio::time::timeout(Duration::from_secs(10), served.post(PATH, &body)).await;
    assert!(!answer.unwrap().body.contains("NO"));
}

#[tokio::test]
async fn a_slow_client_gets_the_whole_answer() {
    let words: Vec<String> = (0..150_000).map(|n| format!("word{n}")).collect();
    let long = words.join(" ");
    let served = Served::new(Setting::replies(&[json!({"text": long})]));
    let mut body = said("Speak");
    body["stream"] = json!(true);
    let mut slow = served.connect().await;
    slow.request("POST", PATH, &[], &body.to_string()).await;
    served.stage.rest().await;
    let answer = slow.response().await;
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
    let text: String = events(&answer.body)
        .iter()
        .filter_map(|(_, piece)| piece["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert!(text == long, "{} of {}", text.len(), long.len());
}
