//! Model providers: requests as bytes, answers as events, breakpoints.

use crate::{Check, Outcome, tree};
use anyhow::{Context, Result, bail};
use chitin_agent::history::{
    Assembling, CallIdForm, CurrentTurn, MessageStamp, cap_result, messages_for_model,
    tool_result_limit,
};
use chitin_contract::{OwnTurnResults, ProviderRules, RuntimeLine};
use chitin_model::stream::StreamEvent;
use chitin_model::wire::{self, cache};
use chitin_model::{Api, ModelRequest, Retention};
use chitin_protocol::message::{AssistantMessage, Message};
use chitin_protocol::tool::ToolSpec;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What the recorded calls were made with.
const MODEL: &str = "test-model";
const PROVIDER: &str = "test-provider";
const KEY: &str = "$KEY";
const MAX_TOKENS: u64 = 1000;
const WINDOW: u64 = 32_768;

/// Marks of the releases that are for themselves and for nobody else.
const BOUNDARY: &str = "<!-- OPENCLAW_CACHE_BOUNDARY -->";
pub(super) const MOVABLE: [&str; 2] = [
    "<!-- OPENCLAW-RELOCATABLE-BOUNDARY -->",
    "<!-- /OPENCLAW-RELOCATABLE-BOUNDARY -->",
];

/// Stands for the wording of an error, which every program has of its own.
const ANY_MESSAGE: &str = "{MESSAGE}";

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "provider.anthropicCache" => anthropic_cache(check),
        "provider.stream" => stream(check),
        "provider.ollama" => ollama(check),
        "provider.conversation" => conversation(check),
        _ => return Outcome::NotYet,
    };
    match actual {
        Ok(actual) => Outcome::judge(check.expected, &actual),
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

fn rules(check: &Check<'_>) -> &'static ProviderRules {
    &check.contract.runtime.provider
}

fn anthropic_cache(check: &Check<'_>) -> Result<Value> {
    let policy = &check.input["policy"];
    let rules = &rules(check).anthropic;
    let retention = match &policy["cacheRetention"] {
        Value::Null => Retention::default(),
        word => serde_json::from_value(word.clone())?,
    };
    let base_url = policy["baseUrl"].as_str().unwrap_or_default();
    let retention = cache::retention_at(retention, base_url, rules);
    let mut payload = check.input["payload"]
        .as_object()
        .cloned()
        .context("no payload")?;
    cache::set_breakpoints(&mut payload, retention, rules);
    Ok(json!({ "payload": payload }))
}

fn stream(check: &Check<'_>) -> Result<Value> {
    let api = match check.input["api"].as_str() {
        Some("anthropic-messages") => Api::AnthropicMessages,
        Some("openai-completions") => Api::OpenaiCompletions,
        Some("openai-responses") => Api::OpenaiResponses,
        other => bail!("unknown API {other:?}"),
    };
    let mut sent = String::new();
    for event in items(&check.input["sse"]) {
        if let Some(name) = event["event"].as_str() {
            sent.extend(["event: ", name, "\n"]);
        }
        match &event["data"] {
            Value::String(text) => sent.extend(["data: ", text, "\n\n"]),
            data => sent.extend(["data: ", &data.to_string(), "\n\n"]),
        }
    }
    exchange(check, api, &sent)
}

/// Builds the request of a whole turn from the records of a session, and tells what is sent of them.
fn conversation(check: &Check<'_>) -> Result<Value> {
    let api: Api = serde_json::from_value(check.input["api"].clone())?;
    let runtime = &check.contract.runtime;
    let zone = check.input["timezone"].as_str().unwrap_or("UTC");
    let zone = TimeZone::get(zone)?;
    let stamp = MessageStamp::of(&runtime.transcript, || zone);
    let window = check.input["window"].as_u64().unwrap_or(WINDOW);
    let given = messages(check, api)?;
    // Between turns all records are earlier ones.
    let earlier = check.input["earlier"]
        .as_u64()
        .map_or(Ok(given.len()), usize::try_from)?;
    let limit = tool_result_limit(window, &runtime.history.tool_results);
    let mut whole = HashMap::new();
    let records: Vec<TranscriptEntry> = given
        .into_iter()
        .enumerate()
        .map(|(at, mut message)| {
            let id = at.to_string();
            // The transcript keeps what the limit leaves of a result.
            if let Message::ToolResult(result) = &mut message
                && let Some(kept) = cap_result(result, limit, &runtime.history.tool_results)
            {
                let result = std::mem::replace(result, kept);
                let keeps_whole = runtime.history.tool_results.own_turn != OwnTurnResults::AsStored;
                if at >= earlier && keeps_whole {
                    whole.insert(id.clone(), result.content.blocks().to_vec());
                }
            }
            TranscriptEntry::new(id, None, String::new(), EntryBody::Message(message))
        })
        .collect();
    let assembled = messages_for_model(
        &records,
        &Assembling {
            window,
            call_ids: CallIdForm::of(&runtime.history.repair, api, PROVIDER),
            stamp: stamp.as_ref(),
            running: Some(CurrentTurn {
                records_before: earlier,
                whole: &whole,
            }),
            ..Assembling::default()
        },
        &runtime.history,
    );
    let line = "Runtime: {RUNTIME}";
    let system = match runtime.provider.runtime_line {
        RuntimeLine::InPlace => format!("Rules.\n\n{BOUNDARY}\n\n## Runtime\n{line}"),
        RuntimeLine::FirstMessage => {
            let [begin, end] = MOVABLE;
            format!("Rules.\n\n{BOUNDARY}\n\n## Runtime\n{begin}\n{line}\n{end}")
        }
    };
    let request = ModelRequest {
        model: MODEL,
        system: &system,
        messages: &assembled.messages,
        tools: &[],
        max_tokens: MAX_TOKENS,
        context_window: Some(window),
        thinking: None,
        retention: Retention::Short,
        extra: &Map::new(),
        rules: rules(check),
    };
    let body = wire::of(api).body(&request)?;
    let sent = String::from_utf8_lossy(&body).into_owned();
    let mut body: Value = serde_json::from_str(&sent)?;
    for message in body["messages"].as_array_mut().into_iter().flatten() {
        for block in message["content"].as_array_mut().into_iter().flatten() {
            if let Some(fields) = block.as_object_mut() {
                fields.shift_remove("cache_control");
            }
        }
        if let Some(text) = message["content"].as_str().map(str::to_owned) {
            let units = text.encode_utf16().count();
            message["content"] = tree::quoted(text, units);
        }
    }
    let (system, messages): (Vec<&Value>, Vec<&Value>) = items(&body["messages"])
        .iter()
        .partition(|message| message["role"] == "system");
    let in_system = body["system"].to_string() + &json!(system).to_string();
    let marks: Vec<&str> = [BOUNDARY, MOVABLE[0], MOVABLE[1]]
        .into_iter()
        .filter(|mark| sent.contains(*mark))
        .collect();
    Ok(json!({
        "messages": messages,
        "runtimeLine": if in_system.contains(line) { "system" } else { "first-message" },
        "marks": marks,
    }))
}

fn ollama(check: &Check<'_>) -> Result<Value> {
    // The lines that the server sends are the one list besides what it is asked.
    let lists = check.input.as_object().into_iter().flatten();
    let lines = lists
        .filter(|(name, _)| !matches!(name.as_str(), "messages" | "tools"))
        .find_map(|(_, value)| value.as_array())
        .context("no lines")?;
    let mut sent = String::new();
    for line in lines {
        match line.as_str() {
            Some(text) => sent += text,
            None => sent += &line.get("data").unwrap_or(line).to_string(),
        }
        sent += "\n";
    }
    let mut answer = exchange(check, Api::Ollama, &sent)?;
    // Not every recording shows headers, or tokens of a cache that the server does not have.
    for (object, names) in [
        ("/request", ["headers"].as_slice()),
        ("/result/usage", &["cacheRead", "cacheWrite"]),
    ] {
        let recorded = check.expected.pointer(object).and_then(Value::as_object);
        let shown = answer.pointer_mut(object).and_then(Value::as_object_mut);
        let (Some(recorded), Some(shown)) = (recorded, shown) else {
            continue;
        };
        for name in names {
            let says_nothing = matches!(shown.get(*name), Some(Value::Number(number)) if number.as_u64() == Some(0));
            if !recorded.contains_key(*name) && (*name == "headers" || says_nothing) {
                shown.shift_remove(*name);
            }
        }
    }
    for block in answer["result"]["content"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        if block["type"] == "toolCall" {
            block["id"] = json!("$ID");
        }
    }
    Ok(answer)
}

/// Builds the request, reads the answer and tells both.
fn exchange(check: &Check<'_>, api: Api, sent: &str) -> Result<Value> {
    let wire = wire::of(api);
    let messages = messages(check, api)?;
    let tools: Vec<ToolSpec> = items(&check.input["tools"])
        .iter()
        .map(|tool| serde_json::from_value(tool.clone()))
        .collect::<Result<_, _>>()?;
    let request = ModelRequest {
        model: MODEL,
        system: check.input["systemPrompt"].as_str().unwrap_or_default(),
        messages: &messages,
        tools: &tools,
        max_tokens: MAX_TOKENS,
        context_window: Some(WINDOW),
        thinking: None,
        retention: Retention::Short,
        extra: &Map::new(),
        rules: rules(check),
    };
    let body: Value = serde_json::from_slice(&wire.body(&request)?)?;
    let mut headers: Map<String, Value> = wire
        .headers(&request)
        .into_iter()
        .map(|(name, value)| (name, json!(value)))
        .collect();
    for (name, before) in wire.key_headers() {
        headers.insert((*name).to_owned(), json!(format!("{before}{KEY}")));
    }
    let url = wire::url(wire, "http://localhost");
    let mut events = Vec::new();
    let mut decoder = wire.decoder_by(PROVIDER, MODEL, rules(check));
    decoder.feed(sent.as_bytes(), &mut events)?;
    decoder.finish(&mut events)?;
    let mut names: Vec<&str> = events.iter().map(StreamEvent::name).collect();
    names.dedup();
    let Some(StreamEvent::Done(message) | StreamEvent::Failed(message)) = events.last() else {
        bail!("the answer has no end");
    };
    Ok(json!({
        "request": {
            "method": "POST",
            "path": url.trim_start_matches("http://localhost"),
            "headers": headers,
            "body": body,
        },
        "events": names,
        "result": result(message, &check.expected["result"])?,
    }))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn messages(check: &Check<'_>, api: Api) -> Result<Vec<Message>> {
    let mut given = check.input["messages"].clone();
    for block in given
        .as_array_mut()
        .into_iter()
        .flatten()
        .flat_map(|message| message["content"].as_array_mut().into_iter().flatten())
    {
        if block["text"].is_object() {
            block["text"] = json!(tree::text(&block["text"])?);
        }
    }
    let text = given.to_string();
    let text = text
        .replace("\"$api\"", &json!(api.name()).to_string())
        .replace("\"$provider\"", &json!(PROVIDER).to_string());
    Ok(serde_json::from_str(&text)?)
}

/// Tells of a message what the cases tell.
fn result(message: &AssistantMessage, expected: &Value) -> Result<Value> {
    let told = serde_json::to_value(message)?;
    let mut result = Map::new();
    result.insert("content".to_owned(), plain_names(&told["content"]));
    result.insert("stopReason".to_owned(), told["stopReason"].clone());
    if let Some(words) = told.get("errorMessage") {
        let words = match expected["errorMessage"].as_str() {
            Some(ANY_MESSAGE) => json!(ANY_MESSAGE),
            Some(_) | None => words.clone(),
        };
        result.insert("errorMessage".to_owned(), words);
    }
    let mut usage = told["usage"].clone();
    if let Some(usage) = usage.as_object_mut() {
        usage.shift_remove("cost");
    }
    result.insert("usage".to_owned(), usage);
    Ok(Value::Object(result))
}

/// Replaces what no two programs make alike: the digits in the name of a commentary.
fn plain_names(content: &Value) -> Value {
    let mut content = content.clone();
    for block in content.as_array_mut().into_iter().flatten() {
        let Some(mark) = block["textSignature"].as_str() else {
            continue;
        };
        let Ok(mut mark) = serde_json::from_str::<Value>(mark) else {
            continue;
        };
        let Some(id) = mark["id"].as_str() else {
            continue;
        };
        if let Some((name, digits)) = id.rsplit_once('-')
            && name.starts_with("commentary-")
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            mark["id"] = json!(format!("{name}-$HEX"));
            block["textSignature"] = json!(mark.to_string());
        }
    }
    content
}
