//! Spans in the JSON form of OTLP.

use crate::spans::{Span, SpanKind};
use serde_json::{Value, json};

/// Writes spans as one request to a collector.
pub(crate) fn body(service: &str, spans: &[Span]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let resource = [
        ("service.name", service.into()),
        ("service.version", version.into()),
    ];
    json!({"resourceSpans": [{
        "resource": {"attributes": attributes(&resource)},
        "scopeSpans": [{
            "scope": {"name": "chitin", "version": version},
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }]})
}

fn span(span: &Span) -> Value {
    let mut value = json!({
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": match span.kind { SpanKind::Inside => 1, SpanKind::Client => 3 },
        "startTimeUnixNano": nanoseconds(span.began),
        "endTimeUnixNano": nanoseconds(span.ended),
        "attributes": attributes(&span.facts),
        "status": match &span.failed {
            None => json!({"code": 1}),
            Some(message) => json!({"code": 2, "message": message}),
        },
    });
    if let Some(parent) = &span.parent {
        value["parentSpanId"] = json!(parent);
    }
    value
}

/// Numbers of 64 bits are texts in this form.
fn nanoseconds(milliseconds: i64) -> String {
    format!("{}000000", milliseconds.max(0))
}

fn attributes(facts: &[(&str, Value)]) -> Vec<Value> {
    let facts = facts.iter().map(|(key, value)| {
        let value = match value {
            Value::Number(number) => json!({"intValue": number.to_string()}),
            Value::Bool(flag) => json!({"boolValue": flag}),
            Value::String(text) => json!({"stringValue": text}),
            other => json!({"stringValue": other.to_string()}),
        };
        json!({"key": key, "value": value})
    });
    facts.collect()
}
