//! What networks call over HTTP.

use crate::client::Served;
use crate::stage::Setting;
use chitin_gateway::Gateway;
use chitin_gateway::surface::{Webhook, WebhookAnswer, WebhookCall};
use chitin_server::Attached;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex};

/// Remembers what it was called with.
#[derive(Default)]
struct Bell {
    calls: Mutex<Vec<WebhookCall>>,
}

impl Webhook for Bell {
    fn path(&self) -> &'static str {
        "/bell/events"
    }

    fn call(&self, _: Gateway, call: WebhookCall) -> BoxFuture<'_, WebhookAnswer> {
        self.calls.lock().unwrap().push(call);
        let answer = WebhookAnswer {
            status: 202,
            mime: "text/plain",
            body: "heard".to_owned(),
        };
        Box::pin(std::future::ready(answer))
    }
}

fn served() -> (Served, Arc<Bell>) {
    let bell = Arc::new(Bell::default());
    let webhook = Arc::clone(&bell) as Arc<dyn Webhook>;
    let attached = Attached {
        webhooks: vec![webhook],
        ..Attached::default()
    };
    (Served::attached(Setting::replies(&[]), attached), bell)
}

#[tokio::test]
async fn a_network_calls_without_a_token_and_every_byte_arrives() {
    let (served, bell) = served();
    let body = "payload=%7B%22a%22%3A1%7D \u{e9}\n";
    let headers = [
        ("authorization", ""),
        ("content-type", "application/x-www-form-urlencoded"),
        ("X-Bell-Signature", "v0=0123"),
    ];
    let mut connection = served.connect().await;
    let answer = connection.ask("POST", "/bell/events", &headers, body).await;
    assert_eq!((answer.status, answer.body.as_str()), (202, "heard"));
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    let calls = bell.calls.lock().unwrap();
    assert_eq!(calls[0].body, body.as_bytes());
    let signature = ("x-bell-signature".to_owned(), "v0=0123".to_owned());
    assert!(calls[0].headers.contains(&signature));
}

#[tokio::test]
async fn other_methods_paths_names_and_too_much_are_refused() {
    let (served, bell) = served();
    let nobody = [("authorization", "")];
    let get = served
        .connect()
        .await
        .ask("GET", "/bell/events", &nobody, "")
        .await;
    assert_eq!(get.status, 401);
    assert_eq!(
        served.get("/bell/events").await.problem(),
        "405 method_not_allowed"
    );
    let other = served
        .connect()
        .await
        .ask("POST", "/bell/event", &nobody, "")
        .await;
    assert_eq!(other.status, 401);
    let foreign = [("authorization", ""), ("host", "evil.example")];
    let foreign = served
        .connect()
        .await
        .ask("POST", "/bell/events", &foreign, "x")
        .await;
    assert_eq!(foreign.problem(), "403 bad_host");
    let long = "x".repeat((1 << 20) + 1);
    let long = served
        .connect()
        .await
        .ask("POST", "/bell/events", &nobody, &long)
        .await;
    assert_eq!(long.problem(), "413 too_large");
    assert!(bell.calls.lock().unwrap().is_empty());
}
