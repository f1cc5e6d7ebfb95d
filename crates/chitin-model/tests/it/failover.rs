//! Asking again, asking others, and who learns of it.

use crate::asking::{Conversation, KEY, LONG, SHORT, collect, done, failed, model, run};
use chitin_model::{
    Answered, Failover, Jitter, Model, ModelError, Prepared, Request, Retry, RetryPolicy,
    ScriptedModel, Unwatched, Watch,
};
use chitin_protocol::script;
use chitin_test::model_server::{Format, ModelServer};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Writes down what it sees.
#[derive(Default)]
struct Diary {
    bodies: Vec<Vec<u8>>,
    retries: Vec<Retry>,
    lines: Vec<String>,
}

impl Watch for Diary {
    fn fit<'a>(&mut self, model: &dyn Model, request: Request<'a>) -> Request<'a> {
        Request {
            max_tokens: if model.provider() == "acme" { 77 } else { 88 },
            ..request
        }
    }

    fn sending(&mut self, model: &dyn Model, attempt: u32, prepared: &mut Prepared) {
        self.bodies.push(prepared.body.to_vec());
        self.lines.push(format!("{attempt} {}", model.provider()));
    }

    fn retrying(&mut self, retry: &Retry) {
        self.lines.push(format!(
            "then {} {} after {} ms",
            retry.attempt,
            retry.model,
            retry.wait.as_millis()
        ));
        self.retries.push(retry.clone());
    }
}

fn quick() -> RetryPolicy {
    RetryPolicy {
        attempts: 3,
        first_wait: Duration::from_millis(20),
        jitter: Jitter::fixed(0.0),
        ..RetryPolicy::default()
    }
}

fn scripted(name: &str, script: &str) -> Arc<dyn Model> {
    Arc::new(ScriptedModel::new(name, script::parse(script).unwrap()))
}

/// Asks, whoever looks on.
async fn hear(failover: &Failover, watch: &mut dyn Watch) -> Result<Answered, ModelError> {
    let conversation = Conversation::saying("hi");
    let cancel = CancellationToken::new();
    failover.ask(&conversation.request(), &cancel, watch).await
}

const BUSY: &str = r#"{"error":{"status":500,"message":"busy"}}"#;

#[test]
fn a_transient_error_is_tried_again_and_every_try_is_seen_with_its_bytes() {
    for format in Format::ALL {
        let overloaded = r#"{"error":{"status":529,"message":"Overloaded"}}"#;
        let script = format!("{BUSY}\n{overloaded}\n{{\"text\":\"at last\"}}");
        let server = ModelServer::start(format, &script);
        let failover = Failover::new(Arc::new(model(&server, LONG)), []).with_policy(quick());
        let mut diary = Diary::default();
        let (answered, events) = run(async {
            let mut answered = hear(&failover, &mut diary).await.unwrap();
            let events = std::mem::replace(
                &mut answered.events,
                Box::pin(futures_util::stream::empty()),
            );
            (answered, collect(events).await.unwrap())
        });
        assert_eq!(done(&events).content.text(), "at last");
        assert_eq!(answered.attempt, 3);
        assert_eq!(answered.model.provider(), "acme");
        assert_eq!(
            diary.lines,
            [
                "1 acme",
                "then 2 acme/test-model after 20 ms",
                "2 acme",
                "then 3 acme/test-model after 40 ms",
                "3 acme"
            ]
        );
        let sent: Vec<Vec<u8>> = server.requests().into_iter().map(|r| r.body).collect();
        assert_eq!(diary.bodies, sent, "{format:?}");
        assert!(
            String::from_utf8_lossy(&sent[0]).contains("77"),
            "the request was fitted"
        );
    }
}

#[test]
fn the_provider_says_how_long_to_wait() {
    let limited = r#"{"error":{"status":429,"message":"slow down","retryAfter":"0.3"}}"#;
    let server = ModelServer::start(
        Format::Anthropic,
        &format!("{limited}\n{{\"text\":\"ok\"}}"),
    );
    let failover = Failover::new(Arc::new(model(&server, LONG)), []).with_policy(quick());
    let mut diary = Diary::default();
    run(async {
        hear(&failover, &mut diary).await.unwrap();
    });
    assert_eq!(diary.retries[0].wait, Duration::from_millis(300));
    let requests = server.requests();
    let apart = requests[1]
        .first_byte_at
        .duration_since(requests[0].first_byte_at);
    assert!(apart >= Duration::from_millis(300), "{apart:?}");
}

#[test]
fn a_provider_that_asks_for_an_hour_is_not_asked_again() {
    let limited = r#"{"error":{"status":429,"message":"tomorrow","retryAfter":"3600"},"times":0}"#;
    let server = ModelServer::start(Format::Responses, limited);
    let failover = Failover::new(Arc::new(model(&server, LONG)), []).with_policy(quick());
    let start = Instant::now();
    let error = run(async { hear(&failover, &mut Unwatched).await.unwrap_err() });
    assert!(matches!(error, ModelError::RateLimited { .. }), "{error:?}");
    assert_eq!(server.requests().len(), 1);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn tries_are_bounded() {
    let server = ModelServer::start(Format::Ollama, &BUSY.replace("}}", "},\"times\":0}"));
    let failover = Failover::new(Arc::new(model(&server, LONG)), []).with_policy(quick());
    let error = run(async { hear(&failover, &mut Unwatched).await.unwrap_err() });
    assert!(matches!(error, ModelError::Upstream { status: 500, .. }));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn others_stand_in_in_their_order_and_the_caller_learns_who_answers() {
    let wrong_key = ModelServer::with_key(Format::Anthropic, r#"{"text":"never"}"#, "another");
    let first = Arc::new(model(&wrong_key, LONG));
    let second = scripted("busy", &BUSY.replace("}}", "},\"times\":0}"));
    let third = scripted("calm", r#"{"text":"I can"}"#);
    let never = scripted("never", r#"{"text":"not asked"}"#);
    let failover = Failover::new(first, [second, third, never]).with_policy(RetryPolicy {
        attempts: 2,
        ..quick()
    });
    let mut diary = Diary::default();
    let answered = run(async { hear(&failover, &mut diary).await.unwrap() });
    assert_eq!(answered.model.name(), "calm");
    assert_eq!(answered.attempt, 4);
    assert_eq!(
        diary.lines,
        [
            "1 acme",
            "then 2 scripted/busy after 0 ms",
            "2 scripted",
            "then 3 scripted/busy after 20 ms",
            "3 scripted",
            "then 4 scripted/calm after 0 ms",
            "4 scripted"
        ]
    );
    assert!(!format!("{:?} {:?}", diary.retries, failover).contains(KEY));
}

#[test]
fn a_request_that_is_wrong_helps_nobody_else() {
    let wrong = scripted(
        "wrong",
        r#"{"error":{"status":400,"message":"no such field"}}"#,
    );
    let other = scripted("other", r#"{"text":"not asked"}"#);
    let failover = Failover::new(wrong, [other]).with_policy(quick());
    let error = run(async { hear(&failover, &mut Unwatched).await.unwrap_err() });
    assert!(matches!(error, ModelError::Rejected { status: 400, .. }));
}

#[test]
fn nobody_is_asked_again_once_an_answer_has_begun() {
    for format in Format::ALL {
        let script = "{\"text\":\"Half of this.\",\"cutAfter\":4}\n{\"text\":\"again\"}";
        let server = ModelServer::start(format, script);
        let failover = Failover::new(Arc::new(model(&server, LONG)), []).with_policy(quick());
        let events = run(async {
            collect(hear(&failover, &mut Unwatched).await.unwrap().events)
                .await
                .unwrap()
        });
        assert_eq!(failed(&events).content.text(), "Half", "{format:?}");
        assert_eq!(server.requests().len(), 1, "{format:?}");
    }
}

#[test]
fn a_server_that_hangs_up_or_hangs_is_tried_again() {
    let script = "{\"fault\":\"drop\"}\n{\"fault\":\"hang\"}\n{\"text\":\"ok\"}";
    let server = ModelServer::start(Format::Completions, script);
    let failover = Failover::new(Arc::new(model(&server, SHORT)), []).with_policy(quick());
    let answered = run(async { hear(&failover, &mut Unwatched).await.unwrap() });
    assert_eq!(answered.attempt, 3);
}

#[test]
fn cancelling_ends_the_wait_between_two_tries() {
    let limited = r#"{"error":{"status":429,"message":"slow down","retryAfter":"30"},"times":0}"#;
    let server = ModelServer::start(Format::Anthropic, limited);
    let failover = Failover::new(Arc::new(model(&server, LONG)), []);
    let cancel = CancellationToken::new();
    let start = Instant::now();
    let error = run(async {
        let conversation = Conversation::saying("hi");
        let request = conversation.request();
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
        };
        let mut watch = Unwatched;
        let (answered, ()) = tokio::join!(failover.ask(&request, &cancel, &mut watch), stopping);
        answered.unwrap_err()
    });
    assert!(matches!(error, ModelError::Cancelled));
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn an_error_in_place_of_an_answer_is_tried_again() {
    for format in Format::ALL {
        let script = "{\"fault\":\"error-at-once\"}\n{\"text\":\"ok\"}";
        let server = ModelServer::start(format, script);
        let failover = Failover::new(Arc::new(model(&server, LONG)), []).with_policy(quick());
        let mut diary = Diary::default();
        let answered = run(async { hear(&failover, &mut diary).await.unwrap() });
        assert_eq!(answered.attempt, 2, "{format:?}");
        let error = &diary.retries[0].error;
        assert!(
            error.to_string().contains("Overloaded"),
            "{format:?}: {error:?}"
        );
    }
}
