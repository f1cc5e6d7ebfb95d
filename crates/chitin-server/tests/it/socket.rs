//! The same over a WebSocket.

use crate::client::{Served, TOKEN};
use crate::stage::Setting;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

pub(crate) struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    async fn open(served: &Served) -> Self {
        let bearer = format!("Bearer {TOKEN}");
        Self::with(served, &[("authorization", &bearer)])
            .await
            .unwrap()
    }

    pub(crate) async fn with(
        served: &Served,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, tungstenite::Error> {
        let mut request = "ws://localhost/api/socket".into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(served.address).await.unwrap();
        Ok(Self(client_async(request, stream).await?.0))
    }

    async fn say(&mut self, value: &Value) {
        self.0.send(Message::text(value.to_string())).await.unwrap();
    }

    async fn message(&mut self) -> Option<Message> {
        let next = tokio::time::timeout(Duration::from_secs(10), self.0.next());
        next.await.unwrap()?.ok()
    }

    /// Returns the next thing that is said.
    async fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.message().await.unwrap() {
                return serde_json::from_str(text.as_str()).unwrap();
            }
        }
    }

    pub(crate) async fn ask(&mut self, value: &Value) -> Value {
        self.say(value).await;
        self.hear().await
    }

    /// Waits for the end, and returns the last words.
    pub(crate) async fn last_words(&mut self) -> String {
        loop {
            if let Message::Close(Some(frame)) = self.message().await.unwrap() {
                return frame.reason.to_string();
            }
        }
    }

    async fn hear_until(&mut self, kind: &str) -> Vec<Value> {
        let mut heard = Vec::new();
        loop {
            heard.push(self.hear().await);
            if heard.last().unwrap()["kind"] == kind {
                return heard;
            }
        }
    }
}

#[tokio::test]
async fn a_message_is_followed_to_its_end_in_order() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "Five larch."}),
        json!({"text": "Six."}),
    ]));
    let mut socket = Socket::open(&served).await;
    let asked = json!({"type": "message", "id": 7, "message": {"text": "Board?"}});
    let accepted = socket.ask(&asked).await;
    assert_eq!(accepted["type"], "accepted");
    assert_eq!(accepted["id"], 7);
    let heard = socket.hear_until("finished").await;
    let seqs: Vec<u64> = heard
        .iter()
        .map(|told| told["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
    assert!(
        heard
            .iter()
            .all(|told| told["type"] == "happening" && told["jobId"] == accepted["jobId"])
    );
    assert_eq!(heard.last().unwrap()["outcome"]["text"], "Five larch.");
    // The job is over: what others say is not heard.
    served.stage.say_and_wait("yard", "Hello").await;
    assert_eq!(
        socket.ask(&json!({"type": "ping", "id": "p"})).await,
        json!({"type": "pong", "id": "p"})
    );
}

#[tokio::test]
async fn topics_are_heard_once_however_many_cover_them() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "One."}),
        json!({"text": "Two."}),
    ]));
    let mut socket = Socket::open(&served).await;
    let yard = json!({"type": "subscribe", "session": "agent:main:chat:channel:yard"});
    assert_eq!(socket.ask(&yard).await["type"], "subscribed");
    assert_eq!(
        socket.ask(&json!({"type": "subscribe", "all": true})).await["type"],
        "subscribed"
    );
    served.stage.say_and_wait("yard", "Hello").await;
    let heard = socket.hear_until("finished").await;
    let mut seqs: Vec<u64> = heard
        .iter()
        .map(|told| told["seq"].as_u64().unwrap())
        .collect();
    let count = seqs.len();
    seqs.dedup();
    assert_eq!(seqs.len(), count);
    let mut off = yard.clone();
    off["type"] = json!("unsubscribe");
    socket.say(&off).await;
    socket
        .say(&json!({"type": "unsubscribe", "all": true}))
        .await;
    let mut gone = 0;
    while gone < 2 {
        gone += u8::from(socket.hear().await["type"] == "unsubscribed");
    }
    served.stage.say_and_wait("yard", "Again").await;
    assert_eq!(socket.ask(&json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test]
async fn a_turn_is_stopped_over_the_socket() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "Never.", "delayMs": 60_000}),
    ]));
    let mut socket = Socket::open(&served).await;
    socket
        .say(&json!({"type": "message", "message": {"text": "Go"}}))
        .await;
    socket.hear_until("turn").await;
    socket
        .say(&json!({"type": "stop", "session": "main"}))
        .await;
    let heard = socket.hear_until("finished").await;
    assert_eq!(heard.last().unwrap()["outcome"]["status"], "stopped");
    assert!(
        heard
            .iter()
            .any(|told| told["type"] == "stopped" && told["stopped"] == 1)
    );
}

#[tokio::test]
async fn what_cannot_be_done_is_said_and_the_socket_goes_on() {
    let served = Served::with(Setting::default(), |limits| limits.topics = 2);
    let mut socket = Socket::open(&served).await;
    let mut said = Vec::new();
    for (asked, name) in [
        (json!({"type": "dance"}), "unknown"),
        (json!([]), "shape"),
        (
            json!({"type": "message", "id": 1, "message": {"text": ""}}),
            "empty",
        ),
        (
            json!({"type": "message", "message": {"text": "Hi", "agent": "nobody"}}),
            "agent",
        ),
        (json!({"type": "subscribe"}), "topic"),
        (json!({"type": "subscribe", "job": "none"}), "job"),
        (json!({"type": "subscribe", "session": "a"}), "first"),
        (json!({"type": "subscribe", "session": "b"}), "second"),
        (
            json!({"type": "subscribe", "id": "c", "session": "c"}),
            "third",
        ),
    ] {
        said.push(format!("{name}: {}", socket.ask(&asked).await));
    }
    insta::assert_snapshot!(said.join("\n"));
    assert_eq!(socket.ask(&json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test]
async fn a_page_carries_the_token_as_a_protocol_and_others_stay_out() {
    let served = Served::new(Setting::default());
    let refused =
        async |headers: &[(&'static str, &str)]| match Socket::with(&served, headers).await {
            Err(tungstenite::Error::Http(response)) => response.status().as_u16(),
            other => unreachable!("{:?}", other.map(|_| ())),
        };
    assert_eq!(refused(&[]).await, 401);
    assert_eq!(
        refused(&[("sec-websocket-protocol", "chitin, chitin.bearer.AAAA")]).await,
        401
    );
    let protocol = format!("chitin, chitin.bearer.{}", URL_SAFE_NO_PAD.encode(TOKEN));
    let evil = [
        ("sec-websocket-protocol", protocol.as_str()),
        ("origin", "https://evil.example"),
    ];
    assert_eq!(refused(&evil).await, 403);
    let own = [
        ("sec-websocket-protocol", protocol.as_str()),
        ("origin", "http://localhost:8080"),
    ];
    let mut socket = Socket::with(&served, &own).await.unwrap();
    assert_eq!(socket.ask(&json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test]
async fn who_is_silent_too_long_sends_bytes_or_sends_too_much_is_cut() {
    let served = Served::with(Setting::default(), |limits| {
        limits.keep_alive = Duration::from_millis(100);
        limits.body = 10_000;
    });
    let mut alive = Socket::open(&served).await;
    // One that does not even answer pings: nobody polls it.
    let silent = Socket::open(&served).await;
    let began = std::time::Instant::now();
    while began.elapsed() < Duration::from_millis(600) {
        let _ = tokio::time::timeout(Duration::from_millis(50), alive.0.next()).await;
    }
    let streams = served.get("/api/status").await.json()["streams"].clone();
    assert_eq!(streams, 1, "only the one that answers pings is left");
    drop(silent);
    alive.0.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    loop {
        if let Message::Close(frame) = alive.message().await.unwrap() {
            assert_eq!(frame.unwrap().code, CloseCode::Unsupported);
            break;
        }
    }
    let mut long = Socket::open(&served).await;
    let _ = long.0.send(Message::text("x".repeat(20_000))).await;
    while let Some(message) = long.message().await {
        assert!(!matches!(message, Message::Text(_)));
    }
    assert_eq!(served.get("/health").await.status, 200);
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_and_others_hear_everything() {
    let long = "word ".repeat(100_000);
    let replies: Vec<Value> = (0..15).map(|_| json!({"text": long})).collect();
    let served = Served::with(Setting::replies(&replies), |limits| {
        limits.stall_time = Duration::from_millis(300);
    });
    let mut deaf = Socket::open(&served).await;
    deaf.ask(&json!({"type": "subscribe", "all": true})).await;
    let mut socket = Socket::open(&served).await;
    for n in 0..15 {
        socket
            .say(&json!({"type": "message", "message": {"text": "Speak", "session": format!("s{n}")}}))
            .await;
        let heard = socket.hear_until("finished").await;
        let text = heard.last().unwrap()["outcome"]["text"].as_str();
        assert_eq!(text.map(str::len), Some(long.len()));
    }
    for _ in 0..200 {
        if served.get("/api/status").await.json()["streams"] == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("the deaf one still has its socket");
}

#[tokio::test]
async fn the_end_of_the_server_is_told() {
    let mut served = Served::new(Setting::replies(&[
        json!({"text": "Done.", "delayMs": 300}),
    ]));
    let mut socket = Socket::open(&served).await;
    socket
        .say(&json!({"type": "message", "message": {"text": "Go"}}))
        .await;
    socket.hear_until("turn").await;
    served.stop();
    let mut draining = false;
    loop {
        let heard = socket.hear().await;
        draining |= heard["type"] == "draining";
        if heard["kind"] == "finished" {
            assert_eq!(heard["outcome"]["text"], "Done.");
            break;
        }
    }
    assert!(draining);
    loop {
        if let Message::Close(frame) = socket.message().await.unwrap() {
            assert_eq!(frame.unwrap().code, CloseCode::Away);
            break;
        }
    }
    assert!(served.ended().await.drained);
}

#[tokio::test]
async fn a_restart_is_told_and_the_socket_ends_so_that_its_client_connects_again() {
    let mut served = Served::new(Setting::replies(&[json!({"text": "Done."})]));
    let mut socket = Socket::open(&served).await;
    let hand_over = served.stage.gateway.hand_over(Duration::from_secs(5)).await;
    let hand_over = hand_over.unwrap();
    hand_over.release().unwrap();
    let _told = hand_over.done();
    socket
        .say(&json!({"type": "message", "id": 1, "message": {"text": "Go"}}))
        .await;
    // It is no more accepted than it is lost: the client sends it again.
    assert_eq!(socket.hear().await["error"]["code"], "restarting");
    served.stop();
    assert_eq!(socket.hear().await["type"], "draining");
    let Message::Close(frame) = socket.message().await.unwrap() else {
        unreachable!("it ends");
    };
    assert_eq!(frame.unwrap().code, CloseCode::Restart);
    assert!(served.ended().await.drained);
}

#[tokio::test]
async fn a_message_that_is_sent_again_is_told_how_it_ended() {
    let served = Served::new(Setting::replies(&[json!({"text": "It is on the board."})]));
    let send =
        json!({"type": "message", "id": 1, "idempotencyKey": "once", "message": {"text": "Hi."}});
    let mut socket = Socket::open(&served).await;
    socket.say(&send).await;
    while socket.hear().await["kind"] != "finished" {}
    served.stage.rest().await;
    let mut socket = Socket::open(&served).await;
    let again = socket.ask(&send).await;
    assert_eq!(
        (&again["type"], &again["place"]),
        (&json!("accepted"), &json!("known"))
    );
    let finished = socket.hear().await;
    assert_eq!(finished["type"], "happening");
    assert_eq!(finished["kind"], "finished");
    assert_eq!(finished["outcome"]["text"], "It is on the board.");
}
