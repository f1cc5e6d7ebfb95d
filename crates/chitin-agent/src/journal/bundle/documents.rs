//! The files of a bundle that sum a session up.

use super::super::compat::{self, event};
use super::super::oversize::is_left_out;
use super::super::read::{TraceEvent, text_of};
use super::super::run::instant;
use super::BundleInput;
use serde_json::{Map, Value, json};

/// What every file of a bundle begins with.
#[derive(Debug)]
pub(super) struct Head {
    generated: String,
    session_id: String,
    session_key: String,
}

impl Head {
    pub(super) fn new(input: &BundleInput<'_>) -> Self {
        Self {
            generated: instant(input.now),
            session_id: input.session_id.to_owned(),
            session_key: input.session_key.to_owned(),
        }
    }

    pub(super) fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("traceSchema", json!(compat::TRACE_SCHEMA));
        put("schemaVersion", json!(compat::SCHEMA_VERSION));
        put("generatedAt", json!(self.generated));
        put("traceId", json!(self.session_id));
        put("sessionId", json!(self.session_id));
        put("sessionKey", json!(self.session_key));
        fields
    }

    /// Returns a document of what an event says, without the time at which it was said.
    fn with(&self, data: &Value) -> Map<String, Value> {
        let mut fields = self.fields();
        for (name, value) in data.as_object().into_iter().flatten() {
            if name != "capturedAt" {
                fields.insert(name.clone(), value.clone());
            }
        }
        fields
    }
}

/// Returns the last event of a type whose data was kept.
fn last<'a>(input: &BundleInput<'a>, kind: &str) -> Option<&'a TraceEvent> {
    let mut events = input.events.iter().rev();
    events.find(|event| event.kind() == kind && !is_left_out(event.data()))
}

pub(super) fn metadata(head: &Head, input: &BundleInput<'_>) -> Option<Value> {
    let data = last(input, event::METADATA)?.data();
    let mut fields = head.with(data);
    mark_invoked(&mut fields, input);
    if !input.rules.export_prompt_parts {
        for name in ["skills", "prompting", "redaction", "metadata"] {
            fields.insert(name.to_owned(), json!(compat::TRUNCATED_MARK));
        }
    }
    Some(Value::Object(fields))
}

/// Says of every skill whether a tool was pointed at it.
fn mark_invoked(fields: &mut Map<String, Value>, input: &BundleInput<'_>) {
    let Some(entries) = fields
        .get_mut("skills")
        .and_then(|skills| skills.get_mut("entries"))
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    let calls: String = input
        .events
        .iter()
        .filter(|event| event.kind() == event::TOOL_CALL)
        .map(|event| event.data()["args"].to_string())
        .collect();
    for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
        let path = entry.get("filePath").and_then(Value::as_str);
        let invoked = path.is_some_and(|path| calls.contains(path));
        entry.insert("invoked".to_owned(), json!(invoked));
    }
}

pub(super) fn artifacts(head: &Head, input: &BundleInput<'_>) -> Option<Value> {
    let data = last(input, event::ARTIFACTS)?.data();
    Some(Value::Object(head.with(data)))
}

pub(super) fn prompts(head: &Head, input: &BundleInput<'_>) -> Option<Value> {
    let submitted: Vec<&str> = input
        .events
        .iter()
        .filter(|event| event.kind() == event::PROMPT)
        .filter_map(|event| text_of(event, "prompt"))
        .collect();
    let system = system(input);
    if submitted.is_empty() && system.is_none() {
        return None;
    }
    let mut fields = head.fields();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    if let Some(system) = system {
        put("system", json!(system));
    }
    put("submittedPrompts", json!(submitted));
    put("latestSubmittedPrompt", json!(submitted.last()));
    if input.rules.export_prompt_parts {
        let prompting = last(input, event::METADATA).map(|event| &event.data()["prompting"]);
        for name in ["skillsPrompt", "systemPromptReport"] {
            if let Some(part) = prompting.and_then(|prompting| prompting.get(name)) {
                put(name, part.clone());
            }
        }
    }
    Some(Value::Object(fields))
}

/// Returns the system prompt of the last turn that has it whole.
pub(super) fn system<'a>(input: &BundleInput<'a>) -> Option<&'a str> {
    let mut events = input.events.iter().rev();
    events.find_map(|one| match one.kind() {
        event::CONTEXT | event::PROMPT => text_of(one, "systemPrompt"),
        _ => None,
    })
}

/// Returns the tools of the last turn that has them whole.
pub(super) fn tools<'a>(input: &BundleInput<'a>) -> Option<&'a Value> {
    let mut events = input.events.iter().rev();
    events.find_map(|one| {
        let tools = one.data().get("tools").filter(|tools| tools.is_array());
        tools.filter(|_| one.kind() == event::CONTEXT)
    })
}
