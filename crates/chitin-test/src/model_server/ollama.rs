//! Ollama's chat.

use super::parts::{Parts, deltas, stop_reason, usage};
use chitin_protocol::message::StopReason;
use chitin_protocol::script::ScriptReply;
use serde_json::{Value, json};

pub(super) fn parts(reply: &ScriptReply, model: &str) -> Vec<String> {
    let mut parts = Parts::default();
    let line = |message: Value| {
        let data = json!({
            "model": model, "created_at": "2026-11-15T10:00:00Z", "message": message, "done": false,
        });
        format!("{data}\n")
    };
    if let Some(thinking) = &reply.thinking {
        for piece in deltas(thinking, None) {
            parts.push(line(
                json!({"role": "assistant", "content": "", "thinking": piece}),
            ));
        }
    }
    if let Some(text) = &reply.text {
        for piece in deltas(text, reply.cut_after) {
            parts.push_text(line(json!({"role": "assistant", "content": piece})), &piece);
        }
    }
    for call in &reply.tool_calls {
        // Arguments are an object here; what is not JSON comes as a text.
        let sent = call.arguments_as_sent();
        let arguments: Value = serde_json::from_str(&sent).unwrap_or(Value::from(sent));
        let calls = json!([{"function": {"name": call.name, "arguments": arguments}}]);
        parts.push(line(
            json!({"role": "assistant", "content": "", "tool_calls": calls}),
        ));
    }
    let reason = match stop_reason(reply) {
        StopReason::Stop | StopReason::ToolUse => "stop".to_owned(),
        StopReason::Length => "length".to_owned(),
        StopReason::Error | StopReason::Aborted => "load".to_owned(),
        StopReason::Other(word) => word,
    };
    let tokens = usage(reply);
    let last = json!({
        "model": model, "created_at": "2026-11-15T10:00:01Z", "message": {"role": "assistant", "content": ""},
        "done": true, "done_reason": reason, "total_duration": 1_000_000, "load_duration": 1000,
        "prompt_eval_count": tokens.input + tokens.cache_read, "prompt_eval_duration": 1000,
        "eval_count": tokens.output, "eval_duration": 1000,
    });
    parts.push(format!("{last}\n"));
    parts.finish(reply)
}

pub(super) fn error_part(message: &str) -> String {
    format!("{}\n", json!({"error": message}))
}

pub(super) fn error_body(message: &str) -> String {
    json!({"error": message}).to_string()
}
