//! What goes wrong over real sockets: a clear error, no hang, what had come is kept, and the key is never shown.

use crate::asking::{self, Conversation, KEY, LONG, SHORT, collect, done, failed, model, run};
use chitin_model::{Api, HttpModel, Model, ModelEndpoint, ModelError, ModelTimeouts, StreamEvent};
use chitin_protocol::message::{AssistantMessage, StopReason};
use chitin_test::model_server::{Format, ModelServer};
use futures_util::StreamExt;
use secrecy::SecretString;
use serde_json::json;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn error_of(format: Format, script: &str) -> ModelError {
    let server = ModelServer::start(format, script);
    run(asking::ask(
        &model(&server, SHORT),
        &Conversation::saying("hi"),
    ))
    .unwrap_err()
}

fn partial(format: Format, script: &str, timeouts: ModelTimeouts) -> AssistantMessage {
    let server = ModelServer::start(format, script);
    let events = run(asking::ask(
        &model(&server, timeouts),
        &Conversation::saying("hi"),
    ))
    .unwrap();
    failed(&events).clone()
}

#[test]
fn a_wrong_key_is_said_and_not_shown() {
    for format in Format::ALL {
        let server = ModelServer::with_key(format, r#"{"text":"in"}"#, "another-key");
        let error = run(asking::ask(
            &model(&server, SHORT),
            &Conversation::saying("hi"),
        ))
        .unwrap_err();
        assert!(
            matches!(&error, ModelError::Unauthorized { provider, message } if provider == "acme" && message.contains("the key is wrong")),
            "{error:?}"
        );
        assert!(!error.is_transient() && error.others_may_help());
    }
}

#[test]
fn a_provider_that_repeats_the_key_does_not_get_it_into_the_error() {
    for format in Format::ALL {
        let script =
            json!({"error": {"status": 401, "message": format!("bad key {KEY}, try another")}});
        let error = error_of(format, &script.to_string());
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert!(shown.contains("try another"), "{shown}");
    }
}

#[test]
fn statuses_become_errors_of_the_right_kind() {
    for format in Format::ALL {
        let error = |status: u16| {
            let script =
                json!({"error": {"status": status, "message": "as told", "retryAfter": "3"}});
            error_of(format, &script.to_string())
        };
        let wait = Some(Duration::from_secs(3));
        for status in [429, 529] {
            let limited = error(status);
            assert!(
                matches!(limited, ModelError::RateLimited { retry_after, .. } if retry_after == wait),
                "{limited:?}"
            );
        }
        for status in [500, 502, 503] {
            let upstream = error(status);
            assert!(
                matches!(upstream, ModelError::Upstream { retry_after, status: s, .. } if retry_after == wait && s == status),
                "{upstream:?}"
            );
        }
        assert!(matches!(
            error(400),
            ModelError::Rejected { status: 400, .. }
        ));
        assert!(matches!(error(413), ModelError::TooLong { .. }));
    }
}

#[test]
fn a_date_to_wait_for_is_reckoned_from_the_clock_of_the_server() {
    let script = json!({"error": {"status": 429, "message": "wait", "retryAfter": "Sun, 15 Nov 2026 10:00:09 GMT"}});
    let error = error_of(Format::Anthropic, &script.to_string());
    assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));
}

#[test]
fn a_connection_that_is_cut_keeps_what_had_come() {
    for format in Format::ALL {
        let message = partial(
            format,
            r#"{"text":"Half of this is all there is.","cutAfter":12}"#,
            LONG,
        );
        assert_eq!(message.content.text(), "Half of this", "{format:?}");
        assert_eq!(message.stop_reason, Some(StopReason::Error), "{format:?}");
        assert!(message.error_message.is_some(), "{format:?}");
    }
}

#[test]
fn a_connection_that_is_dropped_at_once_is_an_error() {
    for format in Format::ALL {
        let error = error_of(format, r#"{"fault":"drop"}"#);
        assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
        assert!(error.is_transient());
    }
}

#[test]
fn nonsense_in_the_middle_ends_the_answer_with_what_had_come() {
    for format in Format::ALL {
        let message = partial(
            format,
            r#"{"text":"A first half. A second half.","fault":"malformed"}"#,
            LONG,
        );
        assert_eq!(message.stop_reason, Some(StopReason::Error), "{format:?}");
        let text = message.content.text();
        assert!(
            "A first half. A second half.".starts_with(&text) && !text.is_empty(),
            "{format:?}: {text}"
        );
    }
}

#[test]
fn an_error_in_the_middle_is_said_with_what_had_come() {
    for format in Format::ALL {
        let message = partial(
            format,
            r#"{"text":"A first half. A second half.","fault":"error-event"}"#,
            LONG,
        );
        assert_eq!(message.stop_reason, Some(StopReason::Error), "{format:?}");
        let said = message.error_message.unwrap();
        assert!(said.contains("Overloaded"), "{format:?}: {said}");
    }
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let start = Instant::now();
    for format in Format::ALL {
        let error = error_of(format, r#"{"fault":"hang"}"#);
        assert!(
            matches!(error, ModelError::TimedOut { seconds: 1, .. }),
            "{error:?}"
        );
    }
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_server_that_stops_in_the_middle_is_given_up_with_what_had_come() {
    for format in Format::ALL {
        let message = partial(
            format,
            r#"{"text":"Half of this is all there is.","cutAfter":12,"fault":"stall"}"#,
            SHORT,
        );
        assert_eq!(message.content.text(), "Half of this", "{format:?}");
        let said = message.error_message.unwrap();
        assert!(said.contains("did not answer within"), "{said}");
    }
}

#[test]
fn a_slow_answer_is_waited_for_as_long_as_it_moves() {
    for format in Format::ALL {
        // Longer than each of the waits in all, with no pause that is.
        let script = r#"{"text":"slow but steady wins","pieces":{"bytes":60,"pauseMs":20}}"#;
        let server = ModelServer::start(format, script);
        let start = Instant::now();
        let events = run(asking::ask(
            &model(&server, SHORT),
            &Conversation::saying("hi"),
        ))
        .unwrap();
        assert_eq!(done(&events).content.text(), "slow but steady wins");
        assert!(
            start.elapsed() > SHORT.idle,
            "{format:?}: {:?}",
            start.elapsed()
        );
    }
}

#[test]
fn a_page_in_place_of_an_answer_is_shown_in_part() {
    for format in Format::ALL {
        let error = error_of(format, r#"{"fault":"html"}"#);
        assert!(
            matches!(&error, ModelError::Malformed { message, .. } if message.contains("nobody is home")),
            "{error:?}"
        );
    }
}

#[test]
fn a_redirect_is_not_followed() {
    for format in Format::ALL {
        let error = error_of(format, r#"{"fault":"redirect"}"#);
        assert!(
            matches!(&error, ModelError::Rejected { status: 307, message, .. } if message.contains("baseUrl")),
            "{error:?}"
        );
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let endpoint = ModelEndpoint::new(format!("http://{address}")).with_key(KEY.into());
    let model = HttpModel::new(Api::AnthropicMessages, "acme", "m", endpoint).unwrap();
    let error = run(asking::ask(&model, &Conversation::saying("hi"))).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert!(
        text.contains(&address.to_string()) && text.contains("refused"),
        "{text}"
    );
}

#[test]
fn cancelling_closes_the_connection_within_a_tenth_of_a_second() {
    let tenth = Duration::from_millis(100);
    for format in Format::ALL {
        for script in [
            r#"{"fault":"hang"}"#,
            r#"{"text":"Half of this is all there is.","cutAfter":12,"fault":"stall"}"#,
        ] {
            let server = ModelServer::start(format, script);
            let model = model(&server, LONG);
            let cancel = CancellationToken::new();
            run(async {
                let prepared = model
                    .prepare(&Conversation::saying("hi").request())
                    .unwrap();
                let asking = async {
                    let events = model.send(prepared, cancel.clone()).await?;
                    collect(events).await
                };
                let stopping = async {
                    while server.requests().is_empty() {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    cancel.cancel();
                    Instant::now()
                };
                let (answer, stopped) = tokio::join!(asking, stopping);
                assert!(
                    stopped.elapsed() < tenth,
                    "{format:?}: {:?}",
                    stopped.elapsed()
                );
                match answer {
                    Ok(events) => {
                        let message = failed(&events);
                        assert_eq!(message.stop_reason, Some(StopReason::Aborted));
                        assert_eq!(message.content.text(), "Half of this", "{format:?}");
                    }
                    Err(error) => assert!(matches!(error, ModelError::Cancelled), "{error:?}"),
                }
                // The connection's own task closes it.
                tokio::time::sleep(Duration::from_millis(10)).await;
                assert!(server.wait_for_close(0, tenth), "{format:?} {script}");
                let closed = server.requests()[0].closed_at.unwrap();
                assert!(
                    closed.duration_since(stopped) < tenth,
                    "{format:?} {script}"
                );
            });
        }
    }
}

#[test]
fn dropping_the_answer_closes_the_connection() {
    let server = ModelServer::start(
        Format::Anthropic,
        r#"{"text":"Half of this.","cutAfter":5,"fault":"stall"}"#,
    );
    let model = model(&server, LONG);
    run(async {
        let (_, mut events) = asking::send(&model, &Conversation::saying("hi"))
            .await
            .unwrap();
        assert!(matches!(events.next().await, Some(Ok(StreamEvent::Start))));
        drop(events);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(server.wait_for_close(0, Duration::from_millis(500)));
    });
}

#[test]
fn broken_arguments_are_passed_on_as_such() {
    for format in Format::ALL {
        let script =
            r#"{"toolCalls":[{"name":"nobody-knows-me","argumentsText":"{\"path\": \"AGEN"}]}"#;
        let server = ModelServer::start(format, script);
        let events = run(asking::ask(
            &model(&server, LONG),
            &Conversation::saying("hi"),
        ))
        .unwrap();
        let call = done(&events).tool_calls().next().unwrap();
        assert_eq!(call.name, "nobody-knows-me");
        assert_eq!(
            chitin_model::wire::broken_arguments(call),
            Some("{\"path\": \"AGEN"),
            "{format:?}: {call:?}"
        );
    }
}

#[test]
fn further_headers_are_sent_and_kept_like_keys() {
    let server = ModelServer::start(Format::Completions, r#"{"text":"in"}"#);
    let mut endpoint = ModelEndpoint::new(server.url());
    endpoint.headers = vec![("x-team".to_owned(), SecretString::from("team-secret"))];
    let model = HttpModel::new(Api::OpenaiCompletions, "acme", "m", endpoint).unwrap();
    let (prepared, _) = run(async {
        let (prepared, events) = asking::send(&model, &Conversation::saying("hi"))
            .await
            .unwrap();
        (prepared, collect(events).await.unwrap())
    });
    assert_eq!(prepared.secret_headers, ["x-team"]);
    assert!(!format!("{prepared:?} {model:?}").contains("team-secret"));
    let request = &server.requests()[0];
    assert_eq!(request.header("x-team"), Some("team-secret"));
    assert_eq!(request.header("authorization"), None);
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_unseen() {
    let endpoint = ModelEndpoint::new("http://127.0.0.1:9").with_key("ключ-ключ-ключ".into());
    let model = HttpModel::new(Api::Ollama, "acme", "m", endpoint).unwrap();
    let error = run(asking::ask(&model, &Conversation::saying("hi"))).unwrap_err();
    assert!(
        matches!(&error, ModelError::Unbuildable(text) if text.contains("look at the key")),
        "{error:?}"
    );
    assert!(!error.to_string().contains("ключ"));
}

#[test]
fn a_server_without_tls_is_not_talked_to_in_clear() {
    let server = ModelServer::start(Format::Anthropic, r#"{"text":"in"}"#);
    let endpoint = ModelEndpoint::new(server.url().replacen("http:", "https:", 1))
        .with_key(KEY.into())
        .with_timeouts(SHORT);
    let model = HttpModel::new(Api::AnthropicMessages, "acme", "m", endpoint).unwrap();
    let error = run(asking::ask(&model, &Conversation::saying("hi"))).unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    let heard: Vec<_> = server.requests();
    assert!(
        heard
            .iter()
            .all(|request| !format!("{request:?}").contains(KEY))
    );
}

#[test]
fn a_proxy_is_used_when_it_is_handed_in() {
    let proxy = ModelServer::start(Format::Anthropic, "");
    let mut endpoint = ModelEndpoint::new("http://models.invalid:8080").with_key(KEY.into());
    endpoint.proxy = Some(SecretString::from(format!(
        "http://me:hunter2-hunter2@{}",
        proxy.origin().trim_start_matches("http://")
    )));
    let model = HttpModel::new(Api::AnthropicMessages, "acme", "m", endpoint).unwrap();
    let error = run(asking::ask(&model, &Conversation::saying("hi"))).unwrap_err();
    assert!(
        matches!(error, ModelError::Rejected { status: 404, .. }),
        "{error:?}"
    );
    let request = &proxy.requests()[0];
    assert_eq!(request.path, "http://models.invalid:8080/v1/messages");
    assert!(request.header("proxy-authorization").is_some());
    assert!(!format!("{model:?} {error:?}").contains("hunter2"));
}
