//! What holds for any bytes and any conversation.

use crate::wire_given::{APIS, Given, RULES, answer, read};
use chitin_contract::ProviderRules;
use chitin_model::stream::StreamEvent;
use chitin_model::wire;
use chitin_model::{Api, ModelError};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

fn api() -> impl Strategy<Value = Api> {
    (0..APIS.len()).prop_map(|at| APIS[at])
}

fn rules() -> impl Strategy<Value = &'static ProviderRules> {
    (0..RULES.len()).prop_map(|at| RULES[at])
}

/// Reads bytes in pieces that end at the given places.
fn read_cut(
    api: Api,
    rules: &ProviderRules,
    bytes: &[u8],
    cuts: &[usize],
) -> (Vec<StreamEvent>, Option<String>) {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let mut decoder = wire::of(api).decoder_by("acme", "m", rules);
    let mut events = Vec::new();
    let mut result = Ok(());
    for pair in cuts.windows(2) {
        result = result.and_then(|()| decoder.feed(&bytes[pair[0]..pair[1]], &mut events));
    }
    let result = result.and_then(|()| decoder.finish(&mut events));
    (events, result.err().map(|error| error.to_string()))
}

/// Either the last event ends the answer, and no other does; or there are no events, and an error.
fn check_end(events: &[StreamEvent], error: Option<&String>) {
    let ends = |event: &StreamEvent| matches!(event, StreamEvent::Done(_) | StreamEvent::Failed(_));
    if error.is_some() {
        assert!(events.is_empty(), "{events:?}");
    } else {
        assert_eq!(events.iter().filter(|event| ends(event)).count(), 1);
        assert!(events.last().is_some_and(ends));
    }
}

/// A piece of an answer, or something else.
fn piece(api: Api) -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&'static str> = answer(api).split_inclusive('\n').collect();
    let words = [
        "\n",
        "\r",
        "data: ",
        "{}",
        "[DONE]",
        "[",
        "null",
        "\u{feff}",
        "data: {\"type\":",
        "\\ud800",
    ];
    prop_oneof![
        4 => proptest::sample::select(lines).prop_map(|line| line.as_bytes().to_vec()),
        1 => proptest::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..40),
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((field(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Names that mean something to some format.
fn field() -> impl Strategy<Value = String> {
    proptest::sample::select(
        [
            "type",
            "index",
            "delta",
            "text",
            "content",
            "content_block",
            "message",
            "usage",
            "choices",
            "tool_calls",
            "function",
            "arguments",
            "id",
            "error",
            "response",
            "output_index",
            "item",
            "done",
            "thinking",
            "input_tokens",
            "finish_reason",
        ]
        .to_vec(),
    )
    .prop_map(str::to_owned)
}

fn message() -> impl Strategy<Value = Value> {
    let block = prop_oneof![
        ".{0,12}".prop_map(|text| json!({"type": "text", "text": text})),
        (".{0,12}", proptest::option::of(".{0,6}"), any::<bool>()).prop_map(|(text, signature, redacted)| {
            json!({"type": "thinking", "thinking": text, "thinkingSignature": signature, "redacted": redacted})
        }),
        (".{0,70}", "[a-z]{1,6}", json_value())
            .prop_map(|(id, name, arguments)| json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})),
        "[A-Za-z0-9]{0,8}".prop_map(|data| json!({"type": "image", "data": data, "mimeType": "image/png"})),
        json_value().prop_map(|value| json!({"type": "odd", "value": value})),
    ];
    let content = prop_oneof![
        ".{0,12}".prop_map(Value::from),
        vec(block, 0..4).prop_map(Value::from),
        json_value(),
    ];
    let role = proptest::sample::select(vec!["user", "assistant", "toolResult", "custom"]);
    let stop = proptest::sample::select(vec!["stop", "toolUse", "error", "aborted", "odd"]);
    (
        role,
        content,
        stop,
        ".{0,70}",
        proptest::sample::select(APIS.to_vec()),
    )
        .prop_map(|(role, content, stop, id, api)| {
            json!({"role": role, "content": content, "stopReason": stop, "toolCallId": id,
                "api": api.name(), "model": "m"})
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_split_gives_the_same_events(api in api(), rules in rules(), cuts in vec(any::<usize>(), 0..20)) {
        let bytes = answer(api).as_bytes();
        let whole = read_cut(api, rules, bytes, &[]);
        prop_assert_eq!(whole.1.as_ref(), None);
        prop_assert_eq!(read_cut(api, rules, bytes, &cuts), whole);
    }

    #[test]
    fn any_pieces_are_survived_and_have_one_end(
        (api, pieces) in api().prop_flat_map(|api| (Just(api), vec(piece(api), 0..30))),
        rules in rules(),
        cuts in vec(any::<usize>(), 0..10),
    ) {
        let bytes = pieces.concat();
        let whole = read_cut(api, rules, &bytes, &[]);
        check_end(&whole.0, whole.1.as_ref());
        prop_assert_eq!(read_cut(api, rules, &bytes, &cuts), whole);
    }

    #[test]
    fn any_json_is_survived(api in api(), rules in rules(), frames in vec(json_value(), 0..12)) {
        let before = if api == Api::Ollama { "" } else { "data: " };
        let mut text = String::new();
        for frame in &frames {
            text.extend([before, &frame.to_string(), "\n\n"]);
        }
        let (events, end) = read(api, rules, text.as_bytes(), 11);
        check_end(&events, end.err().map(|error| error.to_string()).as_ref());
    }

    #[test]
    fn any_error_body_is_survived(status in any::<u16>(), body in vec(any::<u8>(), 0..200), value in json_value()) {
        for body in [body, value.to_string().into_bytes()] {
            let words = wire::classify(status, None, &body, "acme").to_string();
            prop_assert!(!words.chars().any(char::is_control), "{words:?}");
            prop_assert!(words.chars().count() < 700);
        }
    }

    #[test]
    fn any_conversation_gives_one_body(
        api in api(),
        rules in rules(),
        messages in vec(message(), 0..8),
        system in ".{0,20}",
        level in proptest::option::of(proptest::sample::select(vec!["off", "low", "high"])),
    ) {
        let mut given = Given::new(Value::from(messages));
        given.system = system;
        given.thinking = level;
        let build = || wire::of(api).body(&given.request(rules));
        match (build(), build()) {
            (Ok(one), Ok(other)) => {
                prop_assert_eq!(&one, &other);
                let body: Value = serde_json::from_slice(&one).expect("JSON");
                prop_assert_eq!(&body["stream"], &json!(true));
            }
            (Err(ModelError::Unbuildable(_)), Err(_)) => prop_assert_eq!(api, Api::AnthropicMessages),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn what_is_said_later_does_not_change_the_prefix(
        api in api(),
        rules in rules(),
        messages in vec(message(), 1..6),
    ) {
        // Breakpoints move on purpose; everything else stays where it is.
        let list = if api == Api::OpenaiResponses { "input" } else { "messages" };
        let items = |given: &Given| match wire::of(api).body(&given.request(rules)) {
            Ok(body) => {
                let body: Value = serde_json::from_slice(&body).expect("JSON");
                body[list].as_array().cloned().unwrap_or_default()
            }
            Err(_) => Vec::new(),
        };
        let mut given = Given::new(Value::from(messages));
        given.retention = chitin_model::Retention::None;
        let before = items(&given);
        given.messages.push(chitin_protocol::message::Message::user("More.", 1));
        let after = items(&given);
        prop_assert_eq!(&after[..before.len()], &before[..]);
    }
}
