//! Answers become events and a message, alike in every format.

use crate::wire_given::{APIS, answer, last, names, read};
use chitin_contract::ProviderRules;
use chitin_model::Api;
use chitin_model::stream::StreamEvent;
use chitin_model::wire::{broken_arguments, partial_json};
use chitin_protocol::message::{Block, StopReason};
use serde_json::json;

#[test]
fn every_format_tells_the_same_story() {
    for api in APIS {
        let (events, end) = read(api, &ProviderRules::CANONICAL, answer(api).as_bytes(), 4096);
        end.expect("a good answer");
        let names = names(&events);
        let expected = [
            "start",
            "thinking_start",
            "thinking_delta",
            "thinking_end",
            "text_start",
            "text_delta",
            "text_end",
            "toolcall_start",
        ];
        assert_eq!(names[..8], expected, "{api}");
        assert_eq!(names.last(), Some(&"done"), "{api}");
        let message = last(&events);
        assert_eq!(message.stop_reason, Some(StopReason::ToolUse), "{api}");
        assert_eq!(message.api.as_deref(), Some(api.name()));
        assert_eq!(message.provider.as_deref(), Some("acme"));
        assert_eq!(message.model.as_deref(), Some("m"));
        assert_eq!(message.timestamp, None, "the caller knows the time");
        let [Block::Thinking(thought), Block::Text(text), ..] = message.content.blocks() else {
            panic!("{api}: {:?}", message.content);
        };
        assert_eq!(thought.thinking, "Hmm", "{api}");
        assert_eq!(text.text, "Größe 😀", "{api}");
        let usage = message.usage.expect("usage");
        let sum = usage.input + usage.cache_read + usage.cache_write;
        assert_eq!((sum, usage.output), (127, 30), "{api}");
        assert_eq!(usage.total_tokens, 157, "{api}");
    }
}

#[test]
fn a_call_with_broken_arguments_is_kept_with_what_the_model_wrote() {
    for api in APIS {
        let (events, _) = read(api, &ProviderRules::CANONICAL, answer(api).as_bytes(), 4096);
        let calls: Vec<_> = last(&events).tool_calls().collect();
        let [good, broken] = calls.as_slice() else {
            panic!("{api}: {calls:?}");
        };
        assert_eq!(good.arguments, Some(json!({"path": "a"})), "{api}");
        assert_eq!(broken_arguments(good), None, "{api}");
        assert_eq!(broken.arguments, Some(json!({})), "{api}");
        assert_eq!(broken_arguments(broken), Some("{path: a"), "{api}");
        assert_ne!(good.id, broken.id, "{api}");
        let told = events.iter().filter_map(|event| match event {
            StreamEvent::ToolCallEnd { call, .. } => Some(call),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), calls, "{api}");
    }
}

#[test]
fn each_format_keeps_what_it_wants_back() {
    let message = |api: Api| {
        let (events, _) = read(api, &ProviderRules::CANONICAL, answer(api).as_bytes(), 4096);
        last(&events).clone()
    };
    let signature = |api: Api| match &message(api).content.blocks()[0] {
        Block::Thinking(block) => block.thinking_signature.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(signature(Api::AnthropicMessages).as_deref(), Some("c2ln"));
    let field = signature(Api::OpenaiCompletions);
    assert_eq!(field.as_deref(), Some("reasoning_content"));
    let item = signature(Api::OpenaiResponses).expect("an item");
    assert!(item.contains("\"encrypted_content\":\"c2ln\""), "{item}");
    assert_eq!(signature(Api::Ollama), None);
    let responses = message(Api::OpenaiResponses);
    assert_eq!(responses.response_id.as_deref(), Some("resp_9"));
    let Block::Text(text) = &responses.content.blocks()[1] else {
        panic!("{:?}", responses.content);
    };
    assert_eq!(
        text.text_signature.as_deref(),
        Some("{\"v\":1,\"id\":\"m1\"}")
    );
    let ids: Vec<_> = responses
        .tool_calls()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["call_1|fc_1", "call_2|fc_2"]);
}

#[test]
fn sealed_thoughts_are_kept_sealed() {
    let stream = concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"x\"}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":",
        "{\"type\":\"redacted_thinking\",\"data\":\"c2VhbA==\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    let api = Api::AnthropicMessages;
    let (events, _) = read(api, &ProviderRules::CANONICAL, stream.as_bytes(), 7);
    let [Block::Thinking(block)] = last(&events).content.blocks() else {
        panic!("{events:?}");
    };
    assert_eq!(block.redacted, Some(true));
    assert_eq!(block.thinking_signature.as_deref(), Some("c2VhbA=="));
}

#[test]
fn commentary_is_marked_where_the_contract_says_so_and_the_same_each_time() {
    for api in [Api::AnthropicMessages, Api::OpenaiCompletions] {
        let mark = |piece| {
            let rules = &ProviderRules::OPENCLAW_2026_9;
            let (events, _) = read(api, rules, answer(api).as_bytes(), piece);
            match &last(&events).content.blocks()[1] {
                Block::Text(text) => text.text_signature.clone().expect("a mark"),
                other => panic!("{other:?}"),
            }
        };
        assert!(mark(4096).contains("\"phase\":\"commentary\""), "{api}");
        assert_eq!(mark(4096), mark(3), "{api}");
    }
    // Ollama's answers are never marked.
    let api = Api::Ollama;
    let rules = &ProviderRules::OPENCLAW_2026_9;
    let (events, _) = read(api, rules, answer(api).as_bytes(), 4096);
    let blocks = last(&events).content.blocks();
    assert!(
        matches!(&blocks[1], Block::Text(text) if text.text_signature.is_none()),
        "{blocks:?}"
    );
}

#[test]
fn an_answer_that_ran_out_of_room_says_so() {
    let streams = [
        (
            Api::AnthropicMessages,
            concat!(
                "data: {\"type\":\"message_start\",\"message\":{}}\n\n",
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n",
                "data: {\"type\":\"message_stop\"}\n\n"
            ),
        ),
        (
            Api::OpenaiCompletions,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n",
        ),
        (
            Api::OpenaiResponses,
            "data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\"}}\n\n",
        ),
        (
            Api::Ollama,
            "{\"message\":{\"content\":\"a\"},\"done\":true,\"done_reason\":\"length\"}",
        ),
    ];
    for (api, stream) in streams {
        let (events, end) = read(api, &ProviderRules::CANONICAL, stream.as_bytes(), 4096);
        end.expect("a good answer");
        let reason = last(&events).stop_reason.clone();
        assert_eq!(reason, Some(StopReason::Length), "{api}");
        assert_eq!(names(&events).last(), Some(&"done"), "{api}");
    }
}

#[test]
fn servers_that_are_only_nearly_compatible_are_understood() {
    // Every call is numbered 0; arguments come as an object; the last line has no end; there is no `[DONE]`.
    let stream = concat!(
        "data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":",
        "{\"name\":\"x\",\"arguments\":{\"n\":1}}}]}}]}\n\n",
        "data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":",
        "{\"name\":\"y\",\"arguments\":\"\"}}]},\"finish_reason\":\"stop\"}]}",
    );
    let api = Api::OpenaiCompletions;
    let (events, end) = read(api, &ProviderRules::CANONICAL, stream.as_bytes(), 4096);
    end.expect("a good answer");
    let message = last(&events);
    assert_eq!(message.stop_reason, Some(StopReason::ToolUse));
    let calls: Vec<_> = message
        .tool_calls()
        .map(|call| (call.id.as_str(), call.arguments.clone()))
        .collect();
    assert_eq!(
        calls,
        [("a", Some(json!({"n": 1}))), ("b", Some(json!({})))]
    );
}

#[test]
fn half_a_surrogate_pair_is_a_replacement_character() {
    let stream = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\\ud83d\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\\ude00 \\\\ud83d\"}}]}\n\n",
        "data: [DONE]\n\n",
    );
    let api = Api::OpenaiCompletions;
    let (events, _) = read(api, &ProviderRules::CANONICAL, stream.as_bytes(), 4096);
    assert_eq!(last(&events).content.text(), "a\u{fffd}😀 \\ud83d");
}

#[test]
fn json_that_is_not_complete_is_read_as_far_as_it_goes() {
    assert_eq!(
        partial_json("{\"a\": [1, 2.5, \"x"),
        json!({"a": [1, 2.5, "x"]})
    );
    assert_eq!(partial_json(""), json!(null));
    assert_eq!(partial_json("nonsense"), json!(null));
}
