//! The log that `--log` and `CHITIN_LOG` ask for.

use crate::run::{Talk, lines, text};
use crate::serve::Serving;
use chitin_test::model_server::Format;
use serde_json::{Value, json};

const SECRET: &str = "sk-test-not-a-real-key-0123456789";

/// A turn that reads a file and answers.
fn talk() -> Talk {
    let call = json!({"toolCalls": [{"name": "read", "arguments": {"path": "board.md"}}]});
    Talk::new(
        Format::Anthropic,
        &[call, json!({"text": "Three oak.", "times": 0})],
    )
}

/// The spans that were closed, each with those around it: `turn > model_call`.
fn closed(log: &[Value]) -> Vec<String> {
    let closed = log
        .iter()
        .filter(|line| line["fields"]["message"] == "close");
    closed
        .map(|line| {
            let around = line["spans"].as_array().into_iter().flatten();
            let mut names: Vec<&str> = around.filter_map(|span| span["name"].as_str()).collect();
            names.extend(line["span"]["name"].as_str());
            names.dedup();
            names.join(" > ")
        })
        .collect()
}

#[test]
fn spans_of_a_turn_are_json_lines_and_nothing_that_was_said_is_in_them() {
    let talk = talk();
    let output = talk.say_with("What is on the quiet board?", &["--json", "--log", "trace"]);
    assert!(output.status.success());
    let said = text(&output.stderr);
    let log = lines(&output.stderr);
    assert_eq!(
        closed(&log),
        [
            "turn > model_call",
            "turn > tool",
            "turn > model_call",
            "turn"
        ]
    );
    for private in [SECRET, "quiet board", "Three oak", "larch", "board.md"] {
        assert!(!said.contains(private), "`{private}` is in {said}");
    }
    let only_ours = |line: &Value| line["target"].as_str().unwrap().starts_with("chitin");
    assert!(log.iter().all(only_ours), "{said}");
}

#[test]
fn the_variable_filters_by_library_and_the_option_goes_before_it() {
    let talk = talk();
    let with = |filter: &str, more: &[&str]| {
        let mut command = talk.command(&[&["-m", "Hello"], more].concat());
        text(&command.env("CHITIN_LOG", filter).output().unwrap().stderr)
    };
    let log = with("chitin_agent=info", &[]);
    assert!(log.contains(" turn{agent=\"main\""), "{log}");
    assert!(log.contains("model_call"), "{log}");
    assert_eq!(with("chitin_gateway=trace", &[]), "");
    assert_eq!(with("info", &["--log", "off"]), "");
    assert_eq!(with("", &[]), "");
}

#[test]
fn a_filter_that_is_none_is_a_usage_error() {
    let talk = talk();
    for (arguments, variable) in [
        (vec!["--log", "verbose"], ""),
        (vec![], "chitin_agent=loud"),
    ] {
        let mut command = talk.command(&[&["-m", "Hello"], arguments.as_slice()].concat());
        let output = command.env("CHITIN_LOG", variable).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains("is not a log filter"), "{said}");
    }
    assert!(talk.server.requests().is_empty());
}

#[test]
fn a_delivery_of_the_server_is_a_span() {
    let talk = talk();
    let serving = Serving::start(&talk, &["--log", "info"]);
    serving.say("yard", "What is on the board?");
    serving.rest();
    let log = lines(Serving::log(&talk).as_bytes());
    let spans = closed(&log);
    assert!(
        spans.iter().any(|span| span.ends_with("delivery")),
        "{log:?}"
    );
    assert!(spans.contains(&"turn > tool".to_owned()), "{spans:?}");
}
