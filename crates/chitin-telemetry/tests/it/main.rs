//! Spans as a collector gets them: a real gateway, a real socket.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "the stage has a clock of its own"
)]

#[path = "../../../chitin-gateway/tests/it/stage.rs"]
mod stage;

use chitin_net::TlsRoots;
use chitin_telemetry::{Exporter, SettingError, TelemetrySettings};
use serde_json::{Value, json};
use stage::Setting;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Takes one request, answers it, and returns its head and its body.
async fn collect(listener: &TcpListener, status: &str) -> (String, Value) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.unwrap();
        read.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.to_lowercase();
        let length = length.split("content-length: ").nth(1).unwrap();
        let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
        if body.len() >= length {
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
            stream.write_all(answer.as_bytes()).await.unwrap();
            return (head.to_owned(), serde_json::from_str(body).unwrap());
        }
    }
}

fn variables(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
    |name| {
        let found = pairs.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_with_a_tool_is_one_trace_without_a_word_of_what_was_said() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let stage = Setting::replies(&[
        json!({"toolCalls": [{"name": "no_such_tool", "arguments": {"secret": "hush"}}]}),
        json!({"text": "The larch is at berth five."}),
    ])
    .stage();
    let settings = TelemetrySettings {
        url,
        headers: vec![("x-key".to_owned(), "sesame".to_owned().into())],
        service: "yard".to_owned(),
    };
    let exporter = Exporter::new(
        settings,
        &TlsRoots::default(),
        Arc::new(|text: &str| text.replace("no_such", "[redacted]")),
        Arc::new(|_: &str| {}),
    )
    .unwrap();
    let cancel = CancellationToken::new();
    let running = tokio::spawn(exporter.run(&stage.gateway, cancel.clone()));
    stage.say_and_wait("yard", "Where is the larch?").await;
    cancel.cancel();
    let (head, body) = collect(&listener, "200 OK").await;
    running.await.unwrap();

    assert!(head.contains("x-key: sesame"), "{head}");
    let text = body.to_string();
    for word in ["larch", "berth", "hush"] {
        assert!(!text.contains(word), "`{word}` left the house: {text}");
    }
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .unwrap();
    let names: Vec<&str> = spans
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.last(), Some(&"turn"));
    assert_eq!(
        names
            .iter()
            .filter(|name| name.starts_with("chat "))
            .count(),
        2,
        "{names:?}"
    );
    assert!(names.contains(&"execute_tool [redacted]_tool"), "{names:?}");
    let root = spans.last().unwrap();
    assert_eq!(root["traceId"].as_str().unwrap().len(), 32);
    for span in &spans[..spans.len() - 1] {
        assert_eq!(span["traceId"], root["traceId"]);
        assert_eq!(span["parentSpanId"], root["spanId"]);
    }
    let service = &body["resourceSpans"][0]["resource"]["attributes"][0];
    assert_eq!(
        *service,
        json!({"key": "service.name", "value": {"stringValue": "yard"}})
    );
}

#[test]
fn the_usual_variables_say_where_spans_go() {
    let none = TelemetrySettings::read(variables(&[])).unwrap();
    assert!(none.is_none());
    let off = variables(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"),
        ("OTEL_SDK_DISABLED", "true"),
    ]);
    assert!(TelemetrySettings::read(off).unwrap().is_none());
    let on = variables(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/"),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "Authorization=Bearer x, tenant=yard",
        ),
    ]);
    let on = TelemetrySettings::read(on).unwrap().unwrap();
    assert_eq!(on.url, "http://127.0.0.1:4318/v1/traces");
    assert_eq!(on.service, "chitin");
    let names: Vec<&str> = on.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["authorization", "tenant"]);
    assert!(
        !format!("{on:?}").contains("Bearer x"),
        "headers are secrets"
    );
    let bad = TelemetrySettings::read(variables(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector")]));
    assert_eq!(
        bad.unwrap_err(),
        SettingError::BadEndpoint("OTEL_EXPORTER_OTLP_ENDPOINT")
    );
}
