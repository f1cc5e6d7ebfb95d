//! What an HTTP answer means that is not a success.

use chitin_model::ModelError;
use chitin_model::wire::{classify, retry_after};
use std::time::{Duration, UNIX_EPOCH};

fn kind(status: u16, body: &str) -> &'static str {
    match classify(status, None, body.as_bytes(), "acme") {
        ModelError::Unauthorized { .. } => "key",
        ModelError::RateLimited { .. } => "wait",
        ModelError::Rejected { .. } => "rejected",
        ModelError::TooLong { .. } => "long",
        ModelError::Upstream { .. } => "upstream",
        other => panic!("{other}"),
    }
}

#[test]
fn every_provider_is_understood() {
    let cases = [
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            "key",
        ),
        (403, "", "key"),
        (
            400,
            r#"{"error":{"status":"INVALID_ARGUMENT","message":"API key not valid."}}"#,
            "key",
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#,
            "wait",
        ),
        (
            429,
            r#"{"error":{"code":"insufficient_quota","message":"You have no money."}}"#,
            "rejected",
        ),
        (
            429,
            r#"{"error":{"message":"Request too large: context window of tokens per minute"}}"#,
            "wait",
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "wait",
        ),
        (
            503,
            r#"{"error":{"message":"The model is overloaded."}}"#,
            "wait",
        ),
        (503, "<html>upstream connect error</html>", "upstream"),
        (
            500,
            r#"{"error":"llama runner process has terminated"}"#,
            "upstream",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#,
            "long",
        ),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"too much"}}"#,
            "long",
        ),
        (
            400,
            r#"{"error":"the input length exceeds the context length"}"#,
            "long",
        ),
        (
            500,
            r#"{"error":{"type":"exceed_context_size_error","message":"too much"}}"#,
            "long",
        ),
        (413, "", "long"),
        (404, r#"{"error":"model 'x' not found"}"#, "rejected"),
        (
            400,
            r#"{"error":{"message":"messages: roles must alternate"}}"#,
            "rejected",
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient balance"}}"#,
            "rejected",
        ),
        (400, r#"[{"error":{"message":"bad"}}]"#, "rejected"),
    ];
    for (status, body, expected) in cases {
        assert_eq!(kind(status, body), expected, "{status} {body}");
    }
}

#[test]
fn messages_are_short_and_plain() {
    let said = |body: &str| match classify(400, None, body.as_bytes(), "acme") {
        ModelError::Rejected { message, .. } => message,
        other => panic!("{other}"),
    };
    assert_eq!(
        said(r#"{"error":{"message":"a\u001b[2Jb\r\n\tc\u202ed"}}"#),
        "a [2Jb c d"
    );
    assert_eq!(said(r#"{"detail":"what"}"#), "what");
    assert_eq!(said(""), "HTTP status 400");
    let long = "ä".repeat(100_000);
    assert_eq!(said(&long).chars().count(), 501);
}

#[test]
fn the_time_to_wait_is_read() {
    let wait = Some(Duration::from_millis(1500));
    assert_eq!(retry_after(" 1.5 ", None), wait);
    assert_eq!(retry_after("-1", None), None);
    assert_eq!(retry_after("NaN", None), None);
    assert_eq!(retry_after("1e300", None), None);
    assert_eq!(retry_after("soon", None), None);
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777 - 30);
    assert_eq!(retry_after(date, Some(now)), Some(Duration::from_secs(30)));
    let late = UNIX_EPOCH + Duration::from_secs(2_000_000_000);
    assert_eq!(retry_after(date, Some(late)), Some(Duration::ZERO));
    assert_eq!(retry_after(date, None), None);
    assert_eq!(
        retry_after("Sun, 99 Nov 1994 08:49:37 GMT", Some(now)),
        None
    );
    let error = classify(429, wait, b"", "acme");
    assert!(matches!(error, ModelError::RateLimited { retry_after, .. } if retry_after == wait));
}
