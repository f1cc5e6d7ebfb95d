//! Anthropic's Messages.

use super::parts::{Parts, SIGNATURE, call_id, deltas, event, stop_reason, usage};
use chitin_protocol::message::StopReason;
use chitin_protocol::script::ScriptReply;
use serde_json::{Value, json};

pub(super) fn parts(reply: &ScriptReply, model: &str, number: usize) -> Vec<String> {
    let mut parts = Parts::default();
    let tokens = usage(reply);
    let typed = |data: Value| event(data["type"].as_str(), &data);
    parts.push(typed(json!({
        "type": "message_start",
        "message": {
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": tokens.input, "cache_creation_input_tokens": tokens.cache_write,
                "cache_read_input_tokens": tokens.cache_read, "output_tokens": 1,
            },
        },
    })));
    parts.push(typed(json!({"type": "ping"})));
    let mut index = 0;
    let start = |index: usize, block: Value| {
        typed(json!({"type": "content_block_start", "index": index, "content_block": block}))
    };
    let delta = |index: usize, delta: Value| {
        typed(json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    let stop = |index: usize| typed(json!({"type": "content_block_stop", "index": index}));
    if let Some(thinking) = &reply.thinking {
        parts.push(start(
            index,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ));
        for piece in deltas(thinking, None) {
            parts.push(delta(
                index,
                json!({"type": "thinking_delta", "thinking": piece}),
            ));
        }
        parts.push(delta(
            index,
            json!({"type": "signature_delta", "signature": SIGNATURE}),
        ));
        parts.push(stop(index));
        index += 1;
    }
    if let Some(text) = &reply.text {
        parts.push(start(index, json!({"type": "text", "text": ""})));
        for piece in deltas(text, reply.cut_after) {
            parts.push_text(
                delta(index, json!({"type": "text_delta", "text": piece})),
                &piece,
            );
        }
        parts.push(stop(index));
        index += 1;
    }
    for (place, call) in reply.tool_calls.iter().enumerate() {
        let id = call_id(call, "toolu_", number, place);
        parts.push(start(
            index,
            json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}),
        ));
        for piece in deltas(&call.arguments_as_sent(), None) {
            parts.push(delta(
                index,
                json!({"type": "input_json_delta", "partial_json": piece}),
            ));
        }
        parts.push(stop(index));
        index += 1;
    }
    let reason = match stop_reason(reply) {
        StopReason::Stop => "end_turn".to_owned(),
        StopReason::ToolUse => "tool_use".to_owned(),
        StopReason::Length => "max_tokens".to_owned(),
        StopReason::Error | StopReason::Aborted => "refusal".to_owned(),
        StopReason::Other(word) => word,
    };
    parts.push(typed(json!({
        "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": tokens.output},
    })));
    parts.push(typed(json!({"type": "message_stop"})));
    parts.finish(reply)
}

pub(super) fn error_part(message: &str) -> String {
    let data = json!({"type": "error", "error": {"type": "overloaded_error", "message": message}});
    event(Some("error"), &data)
}

pub(super) fn error_body(status: u16, message: &str) -> String {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
        .to_string()
}
