//! What goes wrong between us and a provider is said clearly, ends soon, and leaves a valid transcript.

use super::{Talk, text};
use chitin_test::model_server::{Format, ModelServer};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Runs one turn that fails, for every wire format: exit code 6, a sentence that says why, a transcript that can go on.
fn fails(script: &[Value], says: &str) {
    for format in Format::ALL {
        let mut script = script.to_vec();
        script.push(json!({"text": "All well again."}));
        let talk = Talk::new(format, &script);
        talk.configure(json!({"retries": 0}));
        let began = Instant::now();
        let output = talk.say("Hello");
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{format:?} hangs"
        );
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{format:?}: {said}");
        assert!(said.contains(says), "{format:?}: {said}");
        assert!(!said.contains("sk-test-not"), "the key is shown: {said}");
        let last = talk.messages().pop().unwrap();
        assert_eq!(last["stopReason"], "error", "{format:?}: {last}");
        assert_eq!(talk.answer("And now?"), "All well again.\n", "{format:?}");
    }
}

#[test]
fn a_store_that_cannot_be_used_is_said_with_what_to_do() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Hi."})]);
    // A directory in the place of the index.
    talk.env
        .directory_at("home/.chitin/agents/main/sessions/sessions.json");
    let output = talk.say("Hello");
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("sessions.json"), "{said}");
    assert!(said.contains("hint: "), "{said}");
    assert!(!said.contains("os error"), "{said}");
}

#[test]
fn a_model_without_a_name_is_refused_with_a_hint_that_can_be_followed() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let output = talk.say_with("Hello", &["--model", ""]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("hint: name one"), "{said}");
    assert!(!said.contains("`anthropic/`"), "{said}");
}

#[test]
fn a_key_that_is_not_taken() {
    for format in Format::ALL
        .into_iter()
        .filter(|format| *format != Format::Ollama)
    {
        let server = ModelServer::with_key(format, r#"{"text": "Hi."}"#, "sk-another");
        let talk = Talk::with_server(server);
        let output = talk.say("Hello");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains("does not accept the key"), "{said}");
        assert!(said.contains("hint:"), "{said}");
        assert!(!said.contains("sk-test-not"), "the key is shown: {said}");
    }
}

#[test]
fn a_provider_that_fails() {
    fails(
        &[json!({"error": {"status": 500, "message": "the boiler is out"}})],
        "the boiler is out",
    );
}

#[test]
fn a_provider_that_is_overloaded() {
    fails(
        &[json!({"error": {"status": 529, "message": "overloaded"}})],
        "overloaded",
    );
}

#[test]
fn a_request_that_is_refused() {
    fails(
        &[json!({"error": {"status": 400, "message": "no such field"}})],
        "no such field",
    );
}

#[test]
fn a_provider_that_asks_to_wait_is_asked_again() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"error": {"status": 429, "message": "slow down", "retryAfter": "1"}}),
            json!({"text": "Now."}),
        ],
    );
    let events = talk.events("Hello");
    let retry = events
        .iter()
        .find(|event| event["type"] == "retrying")
        .unwrap();
    assert_eq!(retry["waitMs"], 1000);
    assert_eq!(events.last().unwrap()["text"], "Now.");
}

#[test]
fn another_model_answers_where_the_first_cannot() {
    let second = ModelServer::start(Format::Completions, r#"{"text": "I can."}"#);
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"error": {"status": 401, "message": "no"}, "times": 0})],
    );
    talk.configure(json!({
        "fallbacks": ["spare/other"],
        "providers": {
            "yard": {"api": "anthropic-messages", "baseUrl": talk.server.url(), "apiKey": "sk-1"},
            "spare": {"api": "openai-completions", "baseUrl": second.url(), "apiKey": "sk-2"},
        },
    }));
    assert_eq!(talk.answer("Hello"), "I can.\n");
}

#[test]
fn a_connection_that_breaks_in_the_middle_of_a_word() {
    for format in Format::ALL {
        let talk = Talk::new(
            format,
            &[
                json!({"text": "The larch is on the slip", "cutAfter": 12}),
                json!({"text": "All well again."}),
            ],
        );
        let output = talk.say("Hello");
        assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
        let last = talk.messages().pop().unwrap();
        assert_eq!(last["stopReason"], "error", "{last}");
        let kept = last["content"][0]["text"].as_str().unwrap_or_default();
        assert!(
            !kept.is_empty() && "The larch is on the slip".starts_with(kept),
            "{format:?}: {last}"
        );
        assert_eq!(talk.answer("And now?"), "All well again.\n", "{format:?}");
    }
}

#[test]
fn answers_that_are_not_what_the_format_says() {
    for format in Format::ALL {
        let talk = Talk::new(
            format,
            &[
                json!({"text": "Hi.", "fault": "malformed"}),
                json!({"text": "All well again."}),
            ],
        );
        let output = talk.say("Hello");
        assert_eq!(
            output.status.code(),
            Some(6),
            "{format:?}: {}",
            text(&output.stderr)
        );
        assert_eq!(talk.answer("And now?"), "All well again.\n", "{format:?}");
    }
}

#[test]
fn tools_that_do_not_exist_and_arguments_that_are_no_json() {
    for format in Format::ALL {
        let mut broken = json!({"name": "read", "arguments": {}});
        if format != Format::Ollama {
            broken["argumentsText"] = json!("{\"path\": \"bo");
        }
        let talk = Talk::new(
            format,
            &[
                json!({"toolCalls": [{"name": "raed", "arguments": {"path": "board.md"}}]}),
                json!({"toolCalls": [broken]}),
                json!({"text": "I give up."}),
            ],
        );
        assert_eq!(talk.answer("Read the board."), "I give up.\n", "{format:?}");
        let results: Vec<Value> = talk
            .messages()
            .into_iter()
            .filter(|message| message["role"] == "toolResult")
            .collect();
        assert_eq!(results.len(), 2, "{format:?}");
        assert!(
            results.iter().all(|result| result["isError"] == true),
            "{results:?}"
        );
        assert!(
            results[0].to_string().contains("read"),
            "the nearest tool is named: {}",
            results[0]
        );
    }
}

#[test]
fn a_tool_that_hangs_and_one_that_never_stops_talking() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"toolCalls": [{"name": "exec", "arguments": {"command": "sleep 600", "timeout": 1}}]}),
            json!({"toolCalls": [{"name": "exec", "arguments": {"command": "head -c 1000000000 /dev/zero | tr '\\0' x"}}]}),
            json!({"text": "Done."}),
        ],
    );
    let began = Instant::now();
    assert_eq!(talk.answer("Go."), "Done.\n");
    assert!(began.elapsed() < Duration::from_mins(1));
    let size = std::fs::metadata(talk.transcript_file()).unwrap().len();
    assert!(size < 200_000, "{size} bytes");
}

#[test]
fn a_model_that_calls_the_same_tool_for_ever_is_stopped() {
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"toolCalls": [{"name": "read", "arguments": {"path": "board.md"}}], "times": 0})],
    );
    let output = talk.say("Go.");
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("in a row"),
        "{}",
        text(&output.stderr)
    );
    let messages = talk.messages();
    assert!(messages.len() < 30, "{} messages", messages.len());
}

#[test]
fn what_was_typed_is_checked_before_anything_is_sent() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Hi."})]);
    for (arguments, code) in [
        (vec!["-m", "x", "--model", "nobody/none"], 2),
        (vec!["-m", "x", "--session", "agnet:main"], 2),
        (vec!["-m", ""], 2),
    ] {
        let output = talk.command(&arguments).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
    }
    assert_eq!(talk.server.requests().len(), 0);
}
