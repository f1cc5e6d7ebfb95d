//! The turns of a session, as they were recorded.

use super::recorded;
use crate::{AgentFactory, Host};
use chitin_agent::journal::{RecordedRun, TraceEvent};
use chitin_protocol::text::utf16_len;
use chitin_server::DeskError;
use serde_json::{Value, json};

/// How many turns are listed at most.
const MOST: usize = 500;

/// Lists the turns of a session, the newest first.
pub(super) fn list(host: &Host, factory: &AgentFactory, session: &str) -> Result<Value, DeskError> {
    let Some(turns) = recorded::of(host, factory, session)? else {
        return Ok(json!({
            "turns": [],
            "recorded": false,
            "hint": "This session has no recorded turns. Turns are recorded unless `CHITIN_TRAJECTORY=0` is set.",
        }));
    };
    // One is taken apart at a time: all together are many times what is told of them.
    let newest = (0..turns.len()).rev().take(MOST);
    let turns: Vec<Value> = newest
        .filter_map(|at| Some(turn(&turns.turn(at)?.run())))
        .collect();
    Ok(json!({"turns": turns, "recorded": true}))
}

fn turn(run: &RecordedRun<'_>) -> Value {
    let data = |kind: &str| run.event(kind).map(TraceEvent::data);
    let context = data("context.compiled");
    let prompt = context.and_then(|context| context["systemPrompt"].as_str());
    let messages = context.and_then(|context| context["messages"].as_array());
    let mut turn = json!({
        "id": run.run_id,
        "at": run.events.first().map(|event| event.time()),
        "systemChars": prompt.map_or(0, utf16_len),
        // The user's words come on top of what was said before.
        "messages": messages.map_or(0, Vec::len) + usize::from(context.is_some()),
    });
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            turn[name] = value;
        }
    };
    put("model", recorded::model(run).map(Value::from));
    put(
        "trigger",
        data("session.started").map(|data| data["trigger"].clone()),
    );
    put(
        "status",
        data("session.ended").map(|data| data["status"].clone()),
    );
    let usage = data("model.completed").map(|data| &data["usage"]);
    let used = |name: &str| usage.map(|usage| usage[name].clone());
    // As everywhere in the API: all that was sent, whether a cache had it or not.
    let sent = usage.and_then(|usage| {
        let part = |name: &str| usage[name].as_u64();
        let cached = part("cacheRead").unwrap_or(0) + part("cacheWrite").unwrap_or(0);
        Some(part("input")? + cached)
    });
    put("inputTokens", sent.map(Value::from));
    put("outputTokens", used("output"));
    put("cacheRead", used("cacheRead"));
    put("costUsd", usage.map(|usage| usage["cost"]["total"].clone()));
    turn
}
