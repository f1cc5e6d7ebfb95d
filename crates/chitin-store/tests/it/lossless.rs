//! Any JSON record that is read and written gives the same JSON value, quickly or slowly read.

use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0u64..3).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!(0.0)),
        Just(json!(-0.0)),
        "[a-z\\\\\"\u{e9}\n]{0,6}".prop_map(Value::from),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object_of(inner),
        ]
    })
}

fn object_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("type".to_owned()),
        Just("text".to_owned()),
        Just("id".to_owned()),
        "[a-z]{1,3}"
    ];
    prop::collection::vec((name, value), 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// An object with some of these fields: each the right kind, or anything, or absent.
fn fields(known: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let fields: Vec<_> = known
        .into_iter()
        .map(|(name, right)| {
            let value = prop_oneof![
                6 => right.prop_map(Some),
                1 => any_value().prop_map(Some),
                1 => Just(None),
            ];
            value.prop_map(move |value| value.map(|value| (name.to_owned(), value)))
        })
        .collect();
    let more = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(("[a-z]{2}", any_value()), 1..3)];
    (fields, more)
        .prop_map(|(fields, more)| {
            let mut object: Map<String, Value> = fields.into_iter().flatten().collect();
            object.extend(more);
            Value::Object(object)
        })
        .boxed()
}

fn text() -> BoxedStrategy<Value> {
    "[a-z\"\u{1f600}]{0,5}".prop_map(Value::from).boxed()
}

fn word(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(words).prop_map(Value::from).boxed()
}

fn number() -> BoxedStrategy<Value> {
    (0u64..1000).prop_map(Value::from).boxed()
}

fn block() -> BoxedStrategy<Value> {
    fields(vec![
        (
            "type",
            word(&["text", "thinking", "image", "toolCall", "odd"]),
        ),
        ("text", text()),
        ("textSignature", text()),
        ("thinking", text()),
        ("redacted", any::<bool>().prop_map(Value::from).boxed()),
        ("data", text()),
        ("mimeType", text()),
        ("id", text()),
        ("name", text()),
        ("arguments", any_value().boxed()),
    ])
}

/// A block that has only the fields of its kind, as real ones do.
fn usual_block() -> BoxedStrategy<Value> {
    prop_oneof![
        fields(vec![("type", word(&["text"])), ("text", text())]),
        fields(vec![
            ("type", word(&["toolCall"])),
            ("id", text()),
            ("name", text()),
            ("arguments", any_value().boxed())
        ]),
        fields(vec![
            ("type", word(&["image"])),
            ("data", text()),
            ("mimeType", text())
        ]),
        fields(vec![
            ("type", word(&["thinking"])),
            ("thinking", text()),
            ("thinkingSignature", text())
        ]),
    ]
    .boxed()
}

fn content() -> BoxedStrategy<Value> {
    let blocks = prop_oneof![4 => usual_block(), 1 => block()];
    prop_oneof![
        text(),
        prop::collection::vec(blocks, 0..3).prop_map(Value::from)
    ]
    .boxed()
}

fn usage() -> BoxedStrategy<Value> {
    let cost = fields(vec![
        ("input", any::<f64>().prop_map(Value::from).boxed()),
        ("output", Just(json!(0)).boxed()),
        ("cacheRead", Just(json!(0)).boxed()),
        ("cacheWrite", Just(json!(0)).boxed()),
        ("total", any::<f64>().prop_map(Value::from).boxed()),
    ]);
    fields(vec![
        ("input", number()),
        ("output", number()),
        ("cacheRead", number()),
        ("cacheWrite", number()),
        ("totalTokens", number()),
        ("cost", cost),
    ])
}

fn message() -> BoxedStrategy<Value> {
    prop_oneof![
        fields(vec![
            ("role", word(&["user"])),
            ("content", content()),
            ("timestamp", number())
        ]),
        fields(vec![
            ("role", word(&["assistant", "custom"])),
            ("content", content()),
            ("api", text()),
            ("provider", text()),
            ("model", text()),
            ("usage", usage()),
            ("stopReason", word(&["stop", "toolUse", "odd"])),
            ("timestamp", number()),
            ("responseId", text()),
        ]),
        fields(vec![
            ("role", word(&["toolResult"])),
            ("toolCallId", text()),
            ("toolName", text()),
            ("content", content()),
            ("details", any_value().boxed()),
            ("isError", any::<bool>().prop_map(Value::from).boxed()),
            ("timestamp", number()),
        ]),
    ]
    .boxed()
}

fn record() -> BoxedStrategy<Value> {
    let with = |kind: &'static [&'static str], more: Vec<(&'static str, BoxedStrategy<Value>)>| {
        let mut all = vec![
            ("type", word(kind)),
            ("id", text()),
            (
                "parentId",
                prop_oneof![text(), Just(Value::Null).boxed()].boxed(),
            ),
            ("timestamp", text()),
        ];
        all.extend(more);
        fields(all)
    };
    prop_oneof![
        4 => with(&["message"], vec![("message", message())]),
        1 => with(&["model_change"], vec![("provider", text()), ("modelId", text())]),
        1 => with(&["thinking_level_change"], vec![("thinkingLevel", text())]),
        1 => with(&["custom"], vec![("customType", text()), ("data", any_value().boxed())]),
        1 => with(&["compaction"], vec![
            ("summary", text()), ("firstKeptEntryId", text()), ("tokensBefore", number()),
            ("details", any_value().boxed()), ("fromHook", any::<bool>().prop_map(Value::from).boxed()),
        ]),
        1 => with(&["label", "branch_summary"], vec![("label", text())]),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn a_record_is_written_as_it_was_read(record in record()) {
        let line = record.to_string();
        // What the text says, not what made it: numbers are parsed once.
        let record: Value = serde_json::from_str(&line).unwrap();
        let slow = TranscriptEntry::from_value(record.clone());
        let quick = TranscriptEntry::from_line(line.as_bytes());
        match (slow, quick) {
            (Ok(slow), Ok(quick)) => {
                prop_assert_eq!(serde_json::to_value(&slow).unwrap(), record);
                let text = serde_json::to_string(&quick).unwrap();
                prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), serde_json::to_value(&slow).unwrap());
                prop_assert_eq!(quick, slow);
            }
            (slow, quick) => prop_assert!(slow.is_err() && quick.is_err(), "{slow:?} {quick:?}"),
        }
    }
}

#[test]
fn records_of_real_runs_are_understood_and_written_as_they_were() {
    let samples =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/runtime/samples");
    let mut messages = 0;
    for file in [
        "2026.4.23/transcript.jsonl",
        "2026.4.23/transcript-subagent.jsonl",
        "2026.9.6/transcript.jsonl",
        "2026.9.6/transcript-subagent.jsonl",
    ] {
        let text = std::fs::read_to_string(samples.join(file)).unwrap();
        for line in text.lines().skip(1) {
            let entry = TranscriptEntry::from_line(line.as_bytes()).unwrap();
            let original: Value = serde_json::from_str(line).unwrap();
            assert!(!matches!(entry.body, EntryBody::Other(_)), "{line}");
            assert!(entry.extra.is_empty(), "{line}");
            messages += usize::from(entry.message().is_some());
            assert_eq!(serde_json::to_value(&entry).unwrap(), original);
        }
    }
    assert!(messages > 20);
}
