//! Answers of model providers: server-sent events and lines of JSON, in pieces of any size.
//!
//! The first three bytes choose the wire format, the contract and the size of the pieces; the rest is the answer.

use crate::novelty;
use chitin_contract::ProviderRules;
use chitin_model::stream::StreamEvent;
use chitin_model::{Api, wire};
use chitin_protocol::message::{AssistantMessage, Block, Content};
use std::collections::HashMap;

/// What answers are made of.
pub const DICTIONARY: &[&str] = &[
    "data: ",
    "data:{",
    "event: error\n",
    "\n\n",
    "\r\n",
    "\r",
    ": comment\n",
    "[DONE]",
    "\u{feff}",
    "\"type\":\"message_start\"",
    "\"type\":\"content_block_start\"",
    "\"type\":\"content_block_delta\"",
    "\"type\":\"content_block_stop\"",
    "\"type\":\"message_stop\"",
    "\"type\":\"error\"",
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}",
    "\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"x\"}",
    "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}",
    "\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}",
    "\"index\":0",
    "\"index\":1",
    "\"choices\":[{\"delta\":{\"content\":\"x\"}}]",
    "\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"n\",\"arguments\":\"{\"}}]",
    "\"finish_reason\":\"tool_calls\"",
    "\"reasoning_content\":\"x\"",
    "\"usage\":{\"prompt_tokens\":18446744073709551615}",
    "\"type\":\"response.output_item.added\"",
    "\"type\":\"response.output_item.done\"",
    "\"type\":\"response.output_text.delta\"",
    "\"type\":\"response.function_call_arguments.delta\"",
    "\"type\":\"response.completed\"",
    "\"item\":{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"c\",\"arguments\":\"{}\"}",
    "\"output_index\":0",
    "\"message\":{\"content\":\"x\"}",
    "\"done\":true",
    "\"thinking\":\"x\"",
    "\\ud83d",
    "\\ude00",
    "1e400",
    "-1",
    "null",
    "[[[[[[[[",
];

const APIS: [Api; 4] = [
    Api::AnthropicMessages,
    Api::OpenaiCompletions,
    Api::OpenaiResponses,
    Api::Ollama,
];

const RULES: [&ProviderRules; 3] = [
    &ProviderRules::CANONICAL,
    &ProviderRules::OPENCLAW_2026_4,
    &ProviderRules::OPENCLAW_2026_9,
];

/// Reads an answer whole and in pieces.
pub fn run(data: &[u8]) {
    let [api, rules, piece, answer @ ..] = data else {
        return;
    };
    let api = APIS[usize::from(*api) % APIS.len()];
    let rules = RULES[usize::from(*rules) % RULES.len()];
    let whole = read(api, rules, answer, answer.len());
    let pieces = read(api, rules, answer, usize::from(*piece) % 16);
    assert_eq!(whole, pieces, "the split changes the answer");
    let (events, error) = whole;
    if error.is_some() {
        assert!(events.is_empty(), "an error after events: {events:?}");
        novelty::note("nothing");
        return;
    }
    check(&events);
    let _ = wire::classify(u16::from(*piece) * 3, None, answer, "x");
}

fn read(
    api: Api,
    rules: &ProviderRules,
    answer: &[u8],
    piece: usize,
) -> (Vec<StreamEvent>, Option<String>) {
    let mut decoder = wire::of(api).decoder_by("p", "m", rules);
    let mut events = Vec::new();
    for piece in answer.chunks(piece.max(1)) {
        if let Err(error) = decoder.feed(piece, &mut events) {
            return (events, Some(error.to_string()));
        }
    }
    let end = decoder.finish(&mut events);
    (events, end.err().map(|error| error.to_string()))
}

fn check(events: &[StreamEvent]) {
    let mut begun: HashMap<usize, String> = HashMap::new();
    let mut ends = 0;
    for event in events {
        novelty::note(event.name());
        match event {
            StreamEvent::Start => assert!(begun.is_empty(), "a second start"),
            StreamEvent::TextStart { index }
            | StreamEvent::ThinkingStart { index }
            | StreamEvent::ToolCallStart { index } => {
                assert!(
                    begun.insert(*index, String::new()).is_none(),
                    "block {index} begins twice"
                );
            }
            StreamEvent::TextDelta { index, delta }
            | StreamEvent::ThinkingDelta { index, delta }
            | StreamEvent::ToolCallDelta { index, delta } => {
                assert!(!delta.is_empty(), "nothing is told");
                let text = begun.get_mut(index);
                let text = text.unwrap_or_else(|| panic!("block {index} did not begin"));
                text.push_str(delta);
            }
            StreamEvent::TextEnd { index, .. }
            | StreamEvent::ThinkingEnd { index, .. }
            | StreamEvent::ToolCallEnd { index, .. } => {
                assert!(begun.contains_key(index), "block {index} did not begin");
            }
            StreamEvent::Done(message) | StreamEvent::Failed(message) => {
                ends += 1;
                check_message(message, &begun);
            }
        }
    }
    assert_eq!(ends, 1, "the answer has one end");
}

fn check_message(message: &AssistantMessage, begun: &HashMap<usize, String>) {
    let Content::Blocks(blocks) = &message.content else {
        panic!("an answer without blocks");
    };
    assert!(begun.keys().all(|index| *index < blocks.len()));
    for (index, block) in blocks.iter().enumerate() {
        if let (Block::Text(text), Some(told)) = (block, begun.get(&index)) {
            // The provider may say something else at the end than it did before; it never says less.
            assert!(told.is_empty() || !text.text.is_empty());
        }
        if let Block::ToolCall(call) = block {
            assert!(
                call.arguments
                    .as_ref()
                    .is_some_and(serde_json::Value::is_object)
            );
        }
    }
    let text = serde_json::to_string(message).unwrap_or_else(|error| panic!("{error}"));
    let again: AssistantMessage =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        again.content, message.content,
        "the message is not readable again"
    );
    novelty::note((blocks.len().min(6), format!("{:?}", message.stop_reason)));
}
