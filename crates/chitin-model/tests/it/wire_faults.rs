//! Answers that break off, or were none.

use crate::wire_given::{APIS, answer, last, names, read};
use chitin_contract::ProviderRules;
use chitin_model::stream::StreamEvent;
use chitin_model::wire::{self, LineLimits};
use chitin_model::{Api, ModelError};
use chitin_protocol::message::{Block, StopReason};
use serde_json::json;

fn canonical(api: Api, text: &str) -> (Vec<StreamEvent>, Result<(), ModelError>) {
    read(api, &ProviderRules::CANONICAL, text.as_bytes(), 5)
}

/// The part of an answer up to and including some text.
fn until(api: Api, text: &str) -> &'static str {
    let whole = answer(api);
    let at = whole.find(text).expect("the text") + text.len();
    &whole[..whole[at..]
        .find('\n')
        .map_or(whole.len(), |end| at + end + 1)]
}

#[test]
fn a_cut_connection_keeps_what_had_come() {
    for api in APIS {
        let (events, end) = canonical(api, &format!("{}\n", until(api, "Größe ")));
        end.expect("something had come");
        assert_eq!(names(&events).last(), Some(&"error"), "{api}");
        let message = last(&events);
        assert_eq!(message.stop_reason, Some(StopReason::Error), "{api}");
        assert_eq!(message.content.text(), "Größe ", "{api}");
        let words = message.error_message.as_deref().expect("words");
        assert!(words.contains("closed"), "{api}: {words}");
    }
}

#[test]
fn a_cut_call_is_kept_as_far_as_it_came() {
    for api in [
        Api::AnthropicMessages,
        Api::OpenaiCompletions,
        Api::OpenaiResponses,
    ] {
        let (events, _) = canonical(api, &format!("{}\n", until(api, "{\\\"path\\\":")));
        let Some(Block::ToolCall(call)) = last(&events).content.blocks().last() else {
            panic!("{api}: {events:?}");
        };
        assert_eq!(call.name, "read", "{api}");
        assert_eq!(call.arguments, Some(json!({})), "{api}");
        assert_eq!(call.extra["partialJson"], "{\"path\":", "{api}");
    }
}

#[test]
fn an_answer_of_which_nothing_came_is_an_error() {
    for api in APIS {
        for text in ["", ": comment\n\n", "\n\n"] {
            // To a format of lines a comment is a line.
            if api == Api::Ollama && text.starts_with(':') {
                continue;
            }
            let (events, end) = canonical(api, text);
            assert!(events.is_empty(), "{api}: {events:?}");
            let error = end.expect_err("nothing came");
            assert!(matches!(error, ModelError::Malformed { .. }), "{error}");
            assert!(error.to_string().contains("empty"), "{error}");
        }
    }
}

#[test]
fn a_page_instead_of_a_stream_is_quoted() {
    let (_, end) = canonical(
        Api::OpenaiCompletions,
        "<html>\n<b>Bad gateway</b>\n</html>\n",
    );
    let error = end.expect_err("no stream").to_string();
    assert!(error.contains("Bad gateway"), "{error}");
    let body = "{\"error\":{\"message\":\"no such\\u001b[31m model\"}}";
    let (_, end) = canonical(Api::AnthropicMessages, body);
    let error = end.expect_err("no stream").to_string();
    assert!(error.contains("no such [31m model"), "{error}");
}

#[test]
fn what_is_not_json_is_an_error_or_ends_the_answer() {
    for api in APIS {
        let nonsense = if api == Api::Ollama {
            "nonsense\n"
        } else {
            "data: nonsense\n\n"
        };
        let (events, end) = canonical(api, nonsense);
        assert!(events.is_empty(), "{api}");
        assert!(end.is_err(), "{api}");
        let (events, end) = canonical(api, &format!("{}\n{nonsense}", until(api, "Größe ")));
        end.expect("something had come");
        assert_eq!(last(&events).stop_reason, Some(StopReason::Error), "{api}");
        assert_eq!(last(&events).content.text(), "Größe ", "{api}");
    }
}

#[test]
fn an_error_in_the_stream_is_told_in_the_providers_words() {
    let streams = [
        (
            Api::AnthropicMessages,
            "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}\n\n",
            json!("overloaded_error"),
        ),
        (
            Api::OpenaiCompletions,
            "data: {\"error\":{\"message\":\"Busy\",\"code\":\"x\"}}\n\n",
            json!("x"),
        ),
        (
            Api::OpenaiResponses,
            "data: {\"type\":\"error\",\"code\":\"x\",\"message\":\"Busy\"}\n\n",
            json!("x"),
        ),
        (
            Api::OpenaiResponses,
            "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"x\",\"message\":\"Busy\"}}}\n\n",
            json!("x"),
        ),
        (Api::Ollama, "{\"error\":\"Busy\"}\n", json!(null)),
    ];
    for (api, stream, kind) in streams {
        for before in ["", until(api, "Größe ")] {
            let (events, end) = canonical(api, &format!("{before}\n{stream}"));
            end.expect("the provider spoke");
            let message = last(&events);
            assert_eq!(message.stop_reason, Some(StopReason::Error), "{api}");
            assert_eq!(message.error_message.as_deref(), Some("Busy"), "{api}");
            let told = message.extra.get("errorType").cloned();
            assert_eq!(told.unwrap_or_default(), kind, "{api}");
        }
    }
}

#[test]
fn a_refusal_is_no_answer() {
    let stream = concat!(
        "data: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    let (events, _) = canonical(Api::AnthropicMessages, stream);
    assert_eq!(last(&events).stop_reason, Some(StopReason::Error));
}

#[test]
fn whoever_stops_gets_what_had_come() {
    for api in APIS {
        let mut decoder = wire::of(api).decoder("acme", "m");
        let mut events = Vec::new();
        let text = format!("{}\n", until(api, "Größe "));
        decoder.feed(text.as_bytes(), &mut events).expect("bytes");
        let StreamEvent::Failed(message) = decoder.abort() else {
            panic!("{api}");
        };
        assert_eq!(message.stop_reason, Some(StopReason::Aborted), "{api}");
        assert_eq!(message.content.text(), "Größe ", "{api}");
        // Nothing follows.
        events.clear();
        decoder
            .feed(answer(api).as_bytes(), &mut events)
            .expect("bytes");
        decoder.finish(&mut events).expect("the end");
        assert!(events.is_empty(), "{api}: {events:?}");
    }
}

#[test]
fn what_comes_after_the_end_is_ignored() {
    for api in APIS {
        let twice = [answer(api), answer(api)].concat();
        let (once, _) = canonical(api, answer(api));
        let (events, end) = canonical(api, &twice);
        end.expect("a good answer");
        assert_eq!(events, once, "{api}");
    }
}

#[test]
fn a_line_without_end_is_not_kept_forever() {
    let piece = vec![b'x'; 1 << 20];
    for api in APIS {
        for begin in ["", until(api, "Größe ")] {
            let mut decoder = wire::of(api).decoder("acme", "m");
            let mut events = Vec::new();
            decoder.feed(begin.as_bytes(), &mut events).expect("bytes");
            decoder.feed(b"\ndata: \"", &mut events).expect("bytes");
            let mut result = Ok(());
            for _ in 0..=LineLimits::DEFAULT.line / piece.len() {
                result = decoder.feed(&piece, &mut events);
                if result.is_err() || matches!(events.last(), Some(StreamEvent::Failed(_))) {
                    break;
                }
            }
            if begin.is_empty() || api == Api::Ollama && result.is_err() {
                let error = result.expect_err("too long");
                assert!(matches!(error, ModelError::Malformed { .. }), "{error}");
            } else {
                result.expect("what had come is not lost");
                assert_eq!(last(&events).stop_reason, Some(StopReason::Error), "{api}");
            }
        }
    }
}

#[test]
fn blocks_without_end_are_not_kept_forever() {
    let begin = json!({"type": "message_start", "message": {}});
    let mut stream = format!("data: {begin}\n\n");
    for index in 0..=LineLimits::DEFAULT.blocks {
        let block = json!({"type": "content_block_start", "index": index, "content_block": {"type": "text"}});
        stream.extend(["data: ", &block.to_string(), "\n\n"]);
    }
    let api = Api::AnthropicMessages;
    let (events, end) = read(api, &ProviderRules::CANONICAL, stream.as_bytes(), 1 << 16);
    end.expect("something had come");
    assert_eq!(last(&events).stop_reason, Some(StopReason::Error));
    assert_eq!(
        last(&events).content.blocks().len(),
        LineLimits::DEFAULT.blocks
    );
}
