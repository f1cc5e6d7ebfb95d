//! Every endpoint, one request each.

use crate::client::Served;
use crate::stage::Setting;
use chitin_store::SessionStore;
use serde_json::{Value, json};

fn harbour() -> Setting {
    let config = json!({
        "agents": {"list": [{"id": "main", "default": true}, {"id": "dock"}]},
        "bindings": [{"agentId": "dock", "match": {"channel": "web", "peer": {"kind": "direct", "id": "ada"}}}],
    });
    Setting::replies(&[
        json!({"text": "Five larch."}),
        json!({"text": "Six now."}),
        json!({"text": "Seven."}),
    ])
    .config(config)
}

#[tokio::test]
async fn health_needs_no_token_and_says_little() {
    let served = Served::new(harbour());
    let health = served
        .connect()
        .await
        .ask("GET", "/health", &[("authorization", "")], "")
        .await;
    assert_eq!(health.status, 200);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(health.json(), json!({"status": "ok", "version": version}));
}

#[tokio::test]
async fn a_message_is_taken_in_and_its_session_shows_what_was_said() {
    let served = Served::new(harbour());
    let sent = served
        .post("/api/messages", &json!({"text": "What is on the board?"}))
        .await;
    assert_eq!(sent.status, 202);
    let accepted = sent.json();
    assert_eq!(accepted["sessionKey"], "agent:main:main");
    assert_eq!(accepted["agentId"], "main");
    assert_eq!(accepted["place"], "runs");
    served.stage.rest().await;
    let listed = served.get("/api/sessions").await.json();
    assert_eq!(listed["total"], 1);
    assert_eq!(listed["sessions"][0]["key"], "agent:main:main");
    let session = served.get("/api/sessions/agent%3Amain%3Amain").await.json();
    let history = session["history"].as_array().unwrap();
    let said: Vec<&Value> = history
        .iter()
        .map(|entry| &entry["message"]["role"])
        .collect();
    assert_eq!(said.last().unwrap(), &"assistant", "{session:#}");
    assert!(history.last().unwrap().to_string().contains("Five larch."));
    let short = served.get("/api/sessions/main?limit=1").await.json();
    assert_eq!(short["history"].as_array().unwrap().len(), 1);
    assert_eq!(short["hasOlder"], true);
}

#[tokio::test]
async fn who_waits_gets_the_last_answer() {
    let served = Served::new(harbour());
    let body = json!({"text": "What is on the board?", "wait": true});
    let done = served.post("/api/messages", &body).await;
    assert_eq!(done.status, 200);
    let mut done = done.json();
    for volatile in ["jobId", "runtimeMs", "inputTokens", "outputTokens"] {
        assert!(done.as_object_mut().unwrap().remove(volatile).is_some());
    }
    let expected = json!({
        "sessionKey": "agent:main:main", "agentId": "main", "place": "runs", "status": "ok", "text": "Five larch.",
    });
    assert_eq!(done, expected);
}

#[tokio::test]
async fn a_message_from_a_place_goes_where_bindings_send_it_and_is_answered_there() {
    let served = Served::new(harbour());
    let body = json!({
        "text": "Anything in?", "from": {"peer": {"kind": "direct", "id": "ada"}}, "wait": true,
    });
    let done = served.post("/api/messages", &body).await.json();
    assert_eq!(done["agentId"], "dock");
    assert_eq!(done["sessionKey"], "agent:dock:main");
    let other = json!({"text": "And here?", "from": {"channel": "chat", "peer": {"kind": "channel", "id": "yard"}}, "wait": true});
    let done = served.post("/api/messages", &other).await.json();
    assert_eq!(done["sessionKey"], "agent:main:chat:channel:yard");
    assert_eq!(served.stage.surface.sent(), ["chat:channel:yard: Six now."]);
}

#[tokio::test]
async fn the_same_key_is_the_same_message_also_when_its_turn_is_over() {
    let served = Served::new(harbour());
    let body = json!({"text": "What is on the board?", "wait": true}).to_string();
    let key = [("idempotency-key", "order-77")];
    let mut client = served.connect().await;
    let first = client
        .ask("POST", "/api/messages", &key, &body)
        .await
        .json();
    let second = client.ask("POST", "/api/messages", &key, &body).await;
    assert_eq!(second.status, 200);
    let second = second.json();
    assert_eq!(first["jobId"], second["jobId"]);
    assert_eq!(second["place"], "known");
    assert_eq!(second["text"], "Five larch.");
    let third = [key[0], ("accept", "text/event-stream")];
    let third = client.ask("POST", "/api/messages", &third, &body).await;
    let events = crate::client::events(&third.body);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].1["outcome"]["text"], "Five larch.");
    let store = served.stage.host.file_store("main");
    let told = format!("{:?}", store.read("agent:main:main").unwrap().entries);
    assert_eq!(told.matches("What is on the board?").count(), 1, "one turn");
}

#[tokio::test]
async fn agents_status_routes_and_context_are_told() {
    let served = Served::new(harbour());
    let agents = served.get("/api/agents").await.json();
    assert_eq!(agents["agents"][1]["id"], "dock");
    let status = served.get("/api/status").await.json();
    assert_eq!(
        status["queue"],
        json!({"running": 0, "waiting": 0, "delayed": 0})
    );
    assert_eq!(status["connections"], 1);
    assert_eq!(status["surfaces"], json!(["chat", "web"]));
    let route = served.get("/api/route?channel=web&peer=direct%3Aada").await;
    assert_eq!(route.json()["key"], "agent:dock:main");
    let route = served.get("/api/route?peer=ada").await;
    assert_eq!(route.problem(), "400 bad_request");
    let context = served.get("/api/sessions/main/context").await;
    assert_eq!(context.status, 200);
}

#[tokio::test]
async fn a_turn_can_be_stopped() {
    let setting = Setting::replies(&[json!({"text": "Never.", "delayMs": 60_000})]);
    let served = Served::new(setting);
    let sent = served.post("/api/messages", &json!({"text": "Wait"})).await;
    let job = sent.json()["jobId"].as_str().unwrap().to_owned();
    let mut listener = served.connect().await;
    let path = format!("/api/events?job={job}");
    listener.request("GET", &path, &[], "").await;
    listener.head().await;
    while served.get("/api/status").await.json()["queue"]["running"] == 0 {}
    let stopped = served
        .connect()
        .await
        .ask("POST", "/api/sessions/main/stop", &[], "")
        .await
        .json();
    assert_eq!(
        stopped,
        json!({"sessionKey": "agent:main:main", "stopped": 1})
    );
    let mut last = None;
    while let Some(event) = listener.event().await {
        last = Some(event);
    }
    let (name, data) = last.unwrap();
    assert_eq!(name, "finished");
    assert_eq!(data["outcome"]["status"], "stopped");
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_clearly() {
    let served = Served::new(harbour());
    let mut said = Vec::new();
    for body in [
        json!({"text": ""}),
        json!({"text": "Hi", "agent": "dcok"}),
        json!({"text": "Hi", "session": "agent:nobody:main"}),
        json!({"text": "Hi", "agent": "dock", "session": "agent:main:main"}),
        json!({"text": "Hi", "txet": "Hi"}),
        json!({"text": "Hi", "queue": "sideways"}),
        json!({"text": "Hi", "images": [{"data": "%%%", "mimeType": "image/png"}]}),
        json!({"text": "Hi", "images": [{"data": "AAAA", "mimeType": "text/html"}]}),
        json!({"text": "x".repeat(2 << 20)}),
    ] {
        let answer = served.post("/api/messages", &body).await;
        said.push(format!("{} {}", answer.status, answer.body));
    }
    let mut client = served.connect().await;
    for (method, path, headers, body) in [
        ("POST", "/api/messages", vec![], "{"),
        (
            "POST",
            "/api/messages",
            vec![("content-type", "text/plain")],
            "{}",
        ),
        ("POST", "/api/messages", vec![("content-length", "")], ""),
        ("GET", "/api/messages", vec![], ""),
        ("GET", "/nothing", vec![], ""),
        ("GET", "/api/sessions/agent%3Amain%3Anone", vec![], ""),
        ("GET", "/api/sessions/agent%3Anobody%3Anone", vec![], ""),
        ("GET", "/api/sessions?limit=x", vec![], ""),
        ("GET", "/api/sessions?agent=nobody", vec![], ""),
        ("GET", "/api/events?job=none", vec![], ""),
        ("GET", "/api/socket", vec![], ""),
        (
            "POST",
            "/api/messages",
            vec![("idempotency-key", &*"k".repeat(300))],
            "{\"text\": \"Hi\"}",
        ),
    ] {
        let answer = client.ask(method, path, &headers, body).await;
        said.push(format!("{} {}", answer.status, answer.body));
    }
    insta::assert_snapshot!(said.join("\n"));
}
