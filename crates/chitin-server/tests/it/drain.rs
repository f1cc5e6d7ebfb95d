//! The end: what runs goes on for a while, streams are told, what is not done is kept.

use crate::client::Served;
use crate::stage::Setting;
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpStream;

#[tokio::test]
async fn what_runs_is_finished_and_streams_are_told() {
    let setting = Setting::replies(&[json!({"text": "Done in time.", "delayMs": 500})]);
    let mut served = Served::new(setting);
    let mut listener = served.connect().await;
    listener.request("GET", "/api/events", &[], "").await;
    listener.head().await;
    let mut waits = served.connect().await;
    let body = json!({"text": "Go", "wait": true}).to_string();
    waits.request("POST", "/api/messages", &[], &body).await;
    // One whose body is still on its way when the end begins.
    let mut late = served.connect().await;
    let body = json!({"text": "Me too"}).to_string();
    let length = body.len().to_string();
    let half = [("content-length", length.as_str())];
    late.request("POST", "/api/messages", &half, &body[..5])
        .await;
    let mut idle = served.connect().await;
    assert_eq!(idle.ask("GET", "/health", &[], "").await.status, 200);
    while served.stage.gateway.busy().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    served.stop();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(
        TcpStream::connect(served.address).await.is_err(),
        "no longer accepted"
    );
    assert!(idle.chunk().await.is_none(), "idle ones end");
    late.write(&body[5..]).await;
    assert_eq!(late.response().await.problem(), "503 draining");
    assert_eq!(waits.response().await.json()["text"], "Done in time.");
    let mut names = Vec::new();
    while let Some((name, _)) = listener.event().await {
        names.push(name);
    }
    let at = |name: &str| names.iter().position(|one| one == name).unwrap();
    assert!(at("draining") < at("finished"), "{names:?}");
    assert_eq!(at("closing"), names.len() - 1);
    assert!(served.ended().await.drained);
}

#[test]
fn what_is_not_done_in_time_is_kept_and_done_after_the_next_start() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let first = runtime();
    let served = first.block_on(async {
        let setting = Setting::replies(&[json!({"text": "Too late.", "delayMs": 60_000})]);
        let mut served = Served::with(setting, |limits| {
            limits.drain_time = Duration::from_millis(200);
        });
        let mut waits = served.connect().await;
        let body = json!({"text": "Go", "wait": true}).to_string();
        waits.request("POST", "/api/messages", &[], &body).await;
        while served.stage.gateway.busy().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        served.stop();
        assert_eq!(waits.response().await.problem(), "503 unfinished");
        assert!(!served.ended().await.drained);
        served
    });
    // The process ends: nothing of it goes on.
    drop(first);
    let env = served.stage.env;
    drop(served.stage.gateway);
    runtime().block_on(async {
        let again = Setting {
            env,
            ..Setting::replies(&[json!({"text": "Done at last."})])
        };
        let served = Served::new(again);
        served.stage.rest().await;
        let session = served.get("/api/sessions/main").await;
        assert!(session.body.contains("Done at last."), "{}", session.body);
        assert_eq!(
            session.body.matches("] Go\"").count(),
            1,
            "{}",
            session.body
        );
    });
}

#[test]
fn a_message_that_is_sent_again_after_a_restart_is_still_the_same() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let ask = async |served: &Served| {
        let body = json!({"text": "Order five larch.", "wait": true}).to_string();
        let key = [("idempotency-key", "order-77")];
        let mut client = served.connect().await;
        client
            .ask("POST", "/api/messages", &key, &body)
            .await
            .json()
    };
    let first = runtime();
    let served = first.block_on(async {
        let mut served = Served::new(Setting::replies(&[json!({"text": "Ordered."})]));
        assert_eq!(ask(&served).await["text"], "Ordered.");
        served.stop();
        served.ended().await;
        served
    });
    drop(first);
    let env = served.stage.env;
    drop(served.stage.gateway);
    runtime().block_on(async {
        let again = Setting {
            env,
            ..Setting::replies(&[json!({"text": "Ordered again!"})])
        };
        let served = Served::new(again);
        assert_eq!(ask(&served).await["text"], "Ordered.");
        assert_eq!(ask(&served).await["place"], "known");
        let session = served.get("/api/sessions/main").await;
        assert_eq!(session.body.matches("Order five larch.").count(), 1);
    });
}
