//! Numbers for those who watch, and whether the server can be used.

use crate::client::Served;
use crate::stage::{Chat, Setting};
use chitin_gateway::surface::{
    Account, Connection, Network, Probed, SurfaceAction, SurfaceOutcome,
};
use chitin_gateway::{
    Address, Gateway, OutgoingMessage, Sent, Surface, SurfaceCapabilities, SurfaceError,
};
use chitin_server::Attached;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Reads Prometheus' text, line by line, as strictly as the format is.
fn parse(text: &str) -> BTreeMap<String, String> {
    let mut samples = BTreeMap::new();
    let mut family = String::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            name.clone_into(&mut family);
            continue;
        }
        if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(
                rest.split_once(' ')
                    .is_some_and(|(_, help)| !help.is_empty()),
                "{line}"
            );
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with(&family), "{line} is not of {family}");
        let (bare, labels) = name.split_once('{').unwrap_or((name, "}"));
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(bare.chars().all(plain), "{line}");
        let labels = labels.strip_suffix('}').unwrap();
        for label in labels.split("\",").filter(|label| !label.is_empty()) {
            let (key, value) = label.split_once("=\"").unwrap();
            assert!(key.chars().all(plain) && !value.contains('\n'), "{line}");
        }
        value.parse::<f64>().unwrap();
        assert!(
            samples.insert(name.to_owned(), value.to_owned()).is_none(),
            "{line} is there twice"
        );
    }
    samples
}

#[tokio::test]
async fn what_happens_is_counted_and_prometheus_can_read_it() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "Five."}),
        json!({"text": "Six."}),
    ]));
    let from = json!({"peer": {"kind": "direct", "id": "ada"}});
    for text in ["one", "two"] {
        let body = json!({"text": text, "wait": true, "from": from});
        assert_eq!(served.post("/api/messages", &body).await.status, 200);
    }
    let nobody = [("authorization", "")];
    let refused = served
        .connect()
        .await
        .ask("GET", "/metrics", &nobody, "")
        .await;
    assert_eq!(refused.status, 401, "who has no token learns nothing");
    // What is counted is heard like any other happening: a moment later.
    let metrics = loop {
        let answer = served.get("/metrics").await;
        assert_eq!(
            answer.header("content-type"),
            Some("text/plain; version=0.0.4; charset=utf-8")
        );
        let metrics = parse(&answer.body);
        if metrics["chitin_jobs_finished_total{status=\"ok\"}"] == "2" {
            break metrics;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(metrics["chitin_jobs_accepted_total"], "2");
    assert_eq!(metrics["chitin_turn_seconds_count"], "2");
    assert_eq!(metrics["chitin_turn_seconds_bucket{le=\"+Inf\"}"], "2");
    assert!(metrics["chitin_tokens_total{direction=\"output\"}"] != "0");
    assert_eq!(
        metrics["chitin_deliveries_total{channel=\"web\",outcome=\"delivered\"}"],
        "2"
    );
    assert_eq!(
        metrics["chitin_http_requests_total{route=\"messages\",code=\"200\"}"],
        "2"
    );
    assert_eq!(
        metrics["chitin_http_requests_total{route=\"metrics\",code=\"401\"}"],
        "1"
    );
    assert_eq!(metrics["chitin_happenings_missed_total"], "0");
    let mut last = 0;
    for bound in [
        "1", "2", "5", "10", "20", "30", "60", "120", "300", "600", "1800", "+Inf",
    ] {
        let count = &metrics[&format!("chitin_turn_seconds_bucket{{le=\"{bound}\"}}")];
        let count: u64 = count.parse().unwrap();
        assert!(count >= last, "buckets add up");
        last = count;
    }
    for name in [
        "chitin_uptime_seconds",
        "chitin_sessions_busy",
        "chitin_connections",
        "chitin_streams",
    ] {
        assert!(metrics.contains_key(name), "{name}");
    }
}

/// A network that stands as it is told to.
struct Pier {
    chat: Chat,
    connection: Mutex<Connection>,
}

impl Surface for Pier {
    fn id(&self) -> &str {
        self.chat.id()
    }

    fn capabilities(&self) -> &SurfaceCapabilities {
        self.chat.capabilities()
    }

    fn send<'a>(
        &'a self,
        to: &'a Address,
        message: &'a OutgoingMessage,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>> {
        self.chat.send(to, message)
    }

    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a SurfaceAction,
    ) -> BoxFuture<'a, Result<SurfaceOutcome, SurfaceError>> {
        self.chat.act(to, action)
    }
}

impl Network for Pier {
    fn run(self: Arc<Self>, _: Gateway, _: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn accounts(&self) -> Vec<Account> {
        vec![Account {
            channel: "pier".to_owned(),
            account_id: "the \"old\" one".to_owned(),
            name: None,
            connection: self.connection.lock().unwrap().clone(),
        }]
    }

    fn probe(&self) -> BoxFuture<'_, Vec<Probed>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

#[tokio::test]
async fn a_network_that_gave_up_shows_and_the_server_is_not_ready() {
    let pier = Arc::new(Pier {
        chat: Chat::new("pier"),
        connection: Mutex::new(Connection::Connected),
    });
    let attached = Attached {
        networks: vec![Arc::clone(&pier) as Arc<dyn Network>],
        ..Attached::default()
    };
    let served = Served::attached(Setting::replies(&[]), attached);
    let connected = "chitin_channel_connected{channel=\"pier\",account=\"the \\\"old\\\" one\"}";
    let nobody = [("authorization", "")];
    let stand = |connection: Connection| *pier.connection.lock().unwrap() = connection;
    let ready = async || {
        served
            .connect()
            .await
            .ask("GET", "/ready", &nobody, "")
            .await
    };
    let metrics = async || parse(&served.get("/metrics").await.body);
    assert_eq!(ready().await.status, 200);
    assert_eq!(metrics().await[connected], "1");
    stand(Connection::Connecting {
        reason: Some("a storm".to_owned()),
    });
    assert_eq!(ready().await.status, 200, "it comes back by itself");
    assert_eq!(metrics().await[connected], "0");
    let reason = "the token of captain-bob was taken back".to_owned();
    stand(Connection::Failed { reason, hint: None });
    let answer = ready().await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["reasons"][0]["channel"], "pier");
    assert!(
        !answer.body.contains("captain-bob"),
        "nobody without a token hears why"
    );
    let channels = served.get("/api/channels").await;
    assert_eq!(channels.json()["channels"][0]["connection"], "failed");
    assert!(channels.body.contains("captain-bob"));
}
