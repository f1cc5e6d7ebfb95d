//! OpenAI's Chat Completions.

use super::parts::{Parts, call_id, deltas, event, stop_reason, usage};
use chitin_protocol::message::StopReason;
use chitin_protocol::script::ScriptReply;
use serde_json::{Value, json};

pub(super) fn parts(reply: &ScriptReply, model: &str, number: usize) -> Vec<String> {
    let mut parts = Parts::default();
    let chunk = |choices: Value, usage: Value| {
        event(
            None,
            &json!({
                "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_763_200_000,
                "model": model, "choices": choices, "usage": usage,
            }),
        )
    };
    let delta = |delta: Value| {
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
            Value::Null,
        )
    };
    parts.push(delta(json!({"role": "assistant", "content": ""})));
    if let Some(thinking) = &reply.thinking {
        for piece in deltas(thinking, None) {
            parts.push(delta(json!({"reasoning_content": piece})));
        }
    }
    if let Some(text) = &reply.text {
        for piece in deltas(text, reply.cut_after) {
            parts.push_text(delta(json!({"content": piece})), &piece);
        }
    }
    for (index, call) in reply.tool_calls.iter().enumerate() {
        parts.push(delta(json!({"tool_calls": [{
            "index": index, "id": call_id(call, "call_", number, index), "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]})));
        for piece in deltas(&call.arguments_as_sent(), None) {
            parts.push(delta(
                json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
            ));
        }
    }
    let reason = match stop_reason(reply) {
        StopReason::Stop => "stop".to_owned(),
        StopReason::ToolUse => "tool_calls".to_owned(),
        StopReason::Length => "length".to_owned(),
        StopReason::Error | StopReason::Aborted => "content_filter".to_owned(),
        StopReason::Other(word) => word,
    };
    parts.push(chunk(
        json!([{"index": 0, "delta": {}, "finish_reason": reason}]),
        Value::Null,
    ));
    let tokens = usage(reply);
    let prompt = tokens.input + tokens.cache_read;
    parts.push(chunk(
        json!([]),
        json!({
            "prompt_tokens": prompt, "completion_tokens": tokens.output, "total_tokens": prompt + tokens.output,
            "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
        }),
    ));
    parts.push("data: [DONE]\n\n".to_owned());
    parts.finish(reply)
}

pub(super) fn error_part(message: &str) -> String {
    event(
        None,
        &json!({"error": {"message": message, "type": "server_error", "code": 529}}),
    )
}

pub(super) fn error_body(status: u16, message: &str) -> String {
    let (kind, code) = match status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        429 => ("requests", Some("rate_limit_exceeded")),
        400..=499 => ("invalid_request_error", None),
        _ => ("server_error", None),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}}).to_string()
}
