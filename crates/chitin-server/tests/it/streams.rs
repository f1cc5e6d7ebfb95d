//! Server-sent events: in order, complete, and nobody waits for a slow reader.

use crate::client::{Served, events};
use crate::stage::Setting;
use serde_json::{Value, json};
use std::time::Duration;

/// Names events, those of a turn by their own names.
fn names(events: &[(String, Value)]) -> Vec<String> {
    let name = |(name, data): &(String, Value)| match data["event"]["type"].as_str() {
        Some(of_turn) => of_turn.to_owned(),
        None => name.clone(),
    };
    events.iter().map(name).collect()
}

const STREAM: [(&str, &str); 1] = [("accept", "text/event-stream")];

#[tokio::test]
async fn a_message_can_be_followed_to_its_end() {
    let served = Served::new(Setting::replies(&[json!({"text": "Five larch."})]));
    let body = json!({"text": "Board?", "from": {"peer": {"kind": "direct", "id": "ada"}}});
    let mut client = served.connect().await;
    let answer = client
        .ask("POST", "/api/messages", &STREAM, &body.to_string())
        .await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events = events(&answer.body);
    let seqs: Vec<u64> = events
        .iter()
        .filter_map(|(_, data)| data["seq"].as_u64())
        .collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
    let mut names = names(&events);
    // When a message is taken in is told beside its turn, not before it.
    names.retain(|name| name != "accepted" && name != "stored" && name != "text-delta");
    let expected = [
        "turn-started",
        "request-sent",
        "said",
        "delivered",
        "turn-finished",
        "finished",
    ];
    assert_eq!(names, expected);
    let delivered = events.iter().find(|(name, _)| name == "delivered");
    assert_eq!(delivered.unwrap().1["to"], "web:direct:ada");
    assert_eq!(events.last().unwrap().1["outcome"]["text"], "Five larch.");
    // The connection is good for more.
    assert_eq!(client.ask("GET", "/api/agents", &[], "").await.status, 200);
}

#[tokio::test]
async fn a_session_is_heard_from_afar_and_others_are_not() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "One."}),
        json!({"text": "Two."}),
        json!({"text": "Three."}),
    ]));
    let mut listener = served.connect().await;
    let path = "/api/events?session=agent%3Amain%3Achat%3Achannel%3Ayard";
    listener.request("GET", path, &[], "").await;
    listener.head().await;
    served.stage.say_and_wait("pier", "Hello").await;
    served.stage.say_and_wait("yard", "Hello").await;
    served.stage.say_and_wait("yard", "Again").await;
    let mut finished = Vec::new();
    while finished.len() < 2 {
        let (name, data) = listener.event().await.unwrap();
        assert_eq!(data["sessionKey"], "agent:main:chat:channel:yard");
        if name == "finished" {
            finished.push(data["outcome"]["text"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(finished, ["Two.", "Three."]);
}

#[tokio::test]
async fn whose_words_another_turn_hears_or_takes_along_hears_of_that_turn() {
    let config = json!({"messages": {"queue": {"mode": "collect", "debounceMs": 0}}});
    let setting = Setting::replies(&[
        json!({"text": "First.", "delayMs": 400}),
        json!({"text": "All of it.", "expect": {"contains": ["two", "three"]}}),
        json!({"text": "Left.", "delayMs": 400}),
        json!({"text": "Right.", "expect": {"contains": ["No, right"]}}),
    ]);
    let served = Served::new(setting.config(config));
    let send = async |text: &str, queue: &str, after: u64| {
        tokio::time::sleep(Duration::from_millis(after)).await;
        let body = json!({"text": text, "queue": queue, "wait": true});
        let answer = served.post("/api/messages", &body).await;
        answer.json()["text"].as_str().unwrap().to_owned()
    };
    let said = tokio::join!(
        send("one", "collect", 0),
        send("two", "collect", 100),
        send("three", "collect", 150)
    );
    assert_eq!(
        said,
        ("First.".into(), "All of it.".into(), "All of it.".into())
    );
    let said = tokio::join!(send("Go", "steer", 0), send("No, right", "steer", 100));
    assert_eq!(said, ("Right.".into(), "Right.".into()));
}

#[tokio::test]
async fn a_reader_that_never_reads_is_cut_and_nobody_waits_for_it() {
    let long = "word ".repeat(100_000);
    let replies: Vec<Value> = (0..15).map(|_| json!({"text": long})).collect();
    let served = Served::with(Setting::replies(&replies), |limits| {
        limits.stall_time = Duration::from_millis(300);
    });
    let mut sleeper = served.connect().await;
    sleeper.request("GET", "/api/events", &[], "").await;
    let began = std::time::Instant::now();
    for n in 0..15 {
        let body = json!({"text": "Speak", "session": format!("s{n}"), "wait": true});
        let done = served.post("/api/messages", &body).await.json();
        assert_eq!(done["text"].as_str().map(str::len), Some(long.len()));
    }
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    for _ in 0..200 {
        let status = served.get("/api/status").await.json();
        if status["streams"] == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("the reader still has its stream");
}

#[tokio::test]
async fn a_quiet_stream_says_that_it_is_there_and_one_who_leaves_is_noticed() {
    let served = Served::with(Setting::default(), |limits| {
        limits.keep_alive = Duration::from_millis(50);
        limits.streams = 1;
    });
    let mut listener = served.connect().await;
    listener.request("GET", "/api/events", &[], "").await;
    listener.head().await;
    for _ in 0..3 {
        assert_eq!(listener.chunk().await.unwrap(), b": here\n\n");
    }
    let full = served.get("/api/events").await;
    assert_eq!(full.problem(), "503 too_many_streams");
    drop(listener);
    for _ in 0..100 {
        if served.get("/api/status").await.json()["streams"] == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("the stream is still open");
}

#[tokio::test]
async fn a_slow_reader_hears_that_it_missed_something_and_goes_on() {
    let long = "word ".repeat(100_000);
    let served = Served::new(Setting::replies(&[
        json!({"text": long, "times": 15}),
        json!({"text": "Short.", "times": 0}),
    ]));
    let mut slow = served.connect().await;
    slow.request("GET", "/api/events", &[], "").await;
    // The first fill what lies between the server and its reader, the others come on top.
    for n in 0..150 {
        let body = json!({"text": "Speak", "session": format!("s{n}"), "wait": true});
        assert_eq!(
            served.post("/api/messages", &body).await.json()["status"],
            "ok"
        );
    }
    slow.head().await;
    let mut missed = 0;
    let mut last = None;
    while last.is_none() {
        let (name, data) = slow.event().await.unwrap();
        missed += data["count"].as_u64().unwrap_or_default();
        let ends = name == "finished" && data["sessionKey"] == "agent:main:s149";
        last = ends.then_some(data);
    }
    assert!(missed > 0);
    assert_eq!(last.unwrap()["outcome"]["text"], "Short.");
}
