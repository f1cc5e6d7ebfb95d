//! OpenAI's Responses.

use super::parts::{Parts, SIGNATURE, call_id, deltas, event, stop_reason, usage};
use chitin_protocol::message::StopReason;
use chitin_protocol::script::ScriptReply;
use serde_json::{Value, json};

/// Writes events with a running number, as the server does.
#[derive(Default)]
struct Writer {
    parts: Parts,
    sequence: u64,
}

impl Writer {
    fn text(&mut self, mut data: Value, text: &str) {
        data["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        let event = event(data["type"].as_str(), &data);
        self.parts.push_text(event, text);
    }

    fn push(&mut self, data: Value) {
        self.text(data, "");
    }
}

pub(super) fn parts(reply: &ScriptReply, model: &str, number: usize) -> Vec<String> {
    let mut writer = Writer::default();
    let response = |status: &str, more: Value| {
        let mut response = json!({
            "id": format!("resp_{number}"), "object": "response", "created_at": 1_763_200_000, "model": model,
            "status": status, "output": [], "usage": null, "incomplete_details": null, "error": null,
        });
        if let (Some(all), Some(more)) = (response.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        response
    };
    for kind in ["response.created", "response.in_progress"] {
        writer.push(json!({"type": kind, "response": response("in_progress", json!({}))}));
    }
    let mut output = Vec::new();
    if let Some(thinking) = &reply.thinking {
        reasoning(&mut writer, thinking, number, &mut output);
    }
    if let Some(text) = &reply.text {
        message(&mut writer, text, reply, number, &mut output);
    }
    for (place, call) in reply.tool_calls.iter().enumerate() {
        let (index, item_id) = (output.len(), format!("fc_{number}x{place}"));
        let item = |status: &str, arguments: &str| {
            json!({
                "id": item_id, "type": "function_call", "status": status, "name": call.name,
                "call_id": call_id(call, "call_", number, place), "arguments": arguments,
            })
        };
        let arguments = call.arguments_as_sent();
        writer.push(json!({"type": "response.output_item.added", "output_index": index, "item": item("in_progress", "")}));
        for piece in deltas(&arguments, None) {
            writer.push(json!({
                "type": "response.function_call_arguments.delta", "item_id": item_id, "output_index": index, "delta": piece,
            }));
        }
        writer.push(json!({
            "type": "response.function_call_arguments.done", "item_id": item_id, "output_index": index,
            "arguments": arguments,
        }));
        let done = item("completed", &arguments);
        writer.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": done}),
        );
        output.push(done);
    }
    let tokens = usage(reply);
    let input = tokens.input + tokens.cache_read;
    let (status, details) = match stop_reason(reply) {
        StopReason::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
        StopReason::Error | StopReason::Aborted => {
            ("incomplete", json!({"reason": "content_filter"}))
        }
        StopReason::Stop | StopReason::ToolUse | StopReason::Other(_) => ("completed", Value::Null),
    };
    let last = response(
        status,
        json!({
            "output": output,
            "incomplete_details": details,
            "usage": {
                "input_tokens": input, "input_tokens_details": {"cached_tokens": tokens.cache_read},
                "output_tokens": tokens.output, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": input + tokens.output,
            },
        }),
    );
    writer.push(json!({"type": format!("response.{status}"), "response": last}));
    writer.parts.finish(reply)
}

fn reasoning(writer: &mut Writer, thinking: &str, number: usize, output: &mut Vec<Value>) {
    let (index, item_id) = (output.len(), format!("rs_{number}"));
    let item = |summary: Value| json!({"id": item_id, "type": "reasoning", "summary": summary, "encrypted_content": SIGNATURE});
    let part = json!({"type": "summary_text", "text": thinking});
    writer.push(json!({"type": "response.output_item.added", "output_index": index, "item": item(json!([]))}));
    writer.push(json!({
        "type": "response.reasoning_summary_part.added", "item_id": item_id, "output_index": index, "summary_index": 0,
        "part": {"type": "summary_text", "text": ""},
    }));
    for piece in deltas(thinking, None) {
        writer.push(json!({
            "type": "response.reasoning_summary_text.delta", "item_id": item_id, "output_index": index,
            "summary_index": 0, "delta": piece,
        }));
    }
    writer.push(json!({
        "type": "response.reasoning_summary_text.done", "item_id": item_id, "output_index": index, "summary_index": 0,
        "text": thinking,
    }));
    writer.push(json!({
        "type": "response.reasoning_summary_part.done", "item_id": item_id, "output_index": index, "summary_index": 0,
        "part": part,
    }));
    let done = item(json!([part]));
    writer.push(json!({"type": "response.output_item.done", "output_index": index, "item": done}));
    output.push(done);
}

fn message(
    writer: &mut Writer,
    text: &str,
    reply: &ScriptReply,
    number: usize,
    output: &mut Vec<Value>,
) {
    let (index, item_id) = (output.len(), format!("msg_{number}"));
    let item = |status: &str, content: Value| json!({"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content});
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let at = |kind: &str, key: &str, value: Value| {
        let mut data =
            json!({"type": kind, "item_id": item_id, "output_index": index, "content_index": 0});
        data[key] = value;
        data
    };
    writer.push(json!({
        "type": "response.output_item.added", "output_index": index, "item": item("in_progress", json!([])),
    }));
    writer.push(at("response.content_part.added", "part", part("")));
    for piece in deltas(text, reply.cut_after) {
        writer.text(
            at("response.output_text.delta", "delta", piece.as_str().into()),
            &piece,
        );
    }
    writer.push(at("response.output_text.done", "text", text.into()));
    writer.push(at("response.content_part.done", "part", part(text)));
    let done = item("completed", json!([part(text)]));
    writer.push(json!({"type": "response.output_item.done", "output_index": index, "item": done}));
    output.push(done);
}

pub(super) fn error_part(message: &str) -> String {
    let data = json!({"type": "error", "code": "server_error", "message": message, "param": null});
    event(Some("error"), &data)
}
