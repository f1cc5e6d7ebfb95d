//! What the events of a trajectory say, field by field (R116).

use super::compat::{TOKENS_UNKNOWN, status};
use super::fragments::{FRAGMENTS, TOOLS};
use super::moment::{RequestSent, RunEnded, RunStarted, TurnStop};
use super::run::{JournalEnvironment, Run, STREAM_STRATEGY, instant, transport};
use super::trajectory::Tally;
use crate::limits::Spending;
use chitin_contract::TraceRules;
use chitin_model::http::without_secrets;
use chitin_protocol::message::{StopReason, ToolCallBlock, ToolResultMessage, Usage};
use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value, json};

type Data = Map<String, Value>;

fn object(value: Value) -> Data {
    match value {
        Value::Object(fields) => fields,
        _ => Data::new(),
    }
}

pub(super) fn started(started: &RunStarted<'_>, rules: &TraceRules) -> Data {
    let mut data = Data::new();
    let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
    put("trigger", json!(started.trigger));
    let file = started.session_file.map(|file| file.to_string_lossy());
    put(
        "sessionFile",
        json!(file.as_deref().unwrap_or(started.session_key)),
    );
    put("workspaceDir", json!(started.workspace.to_string_lossy()));
    put("agentId", json!(started.agent_id));
    if let Some(channel) = started.channel.filter(|_| rules.trajectory_channel) {
        put("messageChannel", json!(channel));
    }
    if rules.trajectory_details {
        put("localModelLean", json!(false));
    }
    put("toolCount", json!(started.tools.len()));
    put("clientToolCount", json!(0));
    data
}

pub(super) fn metadata(started: &RunStarted<'_>, at: i64, around: &JournalEnvironment) -> Data {
    let more = started.surroundings;
    let invocation: Vec<_> = more
        .invocation
        .iter()
        .map(|argument| around.redactor.text(argument))
        .collect();
    let mut prompting = Data::new();
    if let Some(text) = more.skills_prompt {
        prompting.insert("skillsPrompt".to_owned(), json!(text));
    }
    if let Some(report) = more.prompt_report {
        prompting.insert("systemPromptReport".to_owned(), report.clone());
    }
    if let Some(fragments) = more.fragments {
        prompting.insert(FRAGMENTS.to_owned(), fragments.clone());
        let names: Vec<&str> = started
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        prompting.insert(TOOLS.to_owned(), json!(names));
    }
    let mut metadata = Data::new();
    metadata.insert("sessionKey".to_owned(), json!(started.session_key));
    metadata.insert("agentId".to_owned(), json!(started.agent_id));
    if let Some(channel) = started.channel {
        metadata.insert("messageChannel".to_owned(), json!(channel));
    }
    object(json!({
        "capturedAt": instant(at),
        "harness": {
            "type": "chitin",
            "name": "Chitin",
            "version": more.version,
            "contract": started.contract,
            "os": {"platform": std::env::consts::OS, "arch": std::env::consts::ARCH},
            "invocation": invocation,
            "workspaceDir": started.workspace.to_string_lossy(),
            "sessionFile": started.session_file.map(|file| file.to_string_lossy()),
        },
        "model": {
            "provider": started.provider,
            "name": started.model,
            "api": started.api.name(),
            "fastMode": false,
            "thinkLevel": started.thinking.unwrap_or("off"),
            "reasoningLevel": "off",
        },
        "config": more.config.cloned().unwrap_or_else(|| json!({})),
        "plugins": {"entries": []},
        "skills": more.skills.cloned().unwrap_or_else(|| json!({"entries": []})),
        "prompting": prompting,
        "redaction": {
            "config": {"mode": "secrets", "secretsRedacted": true},
            "payloads": {"mode": "secrets", "credentialsRemoved": true, "imageDataRedacted": true},
            "harness": {"mode": "secrets", "programArgumentsRedacted": true, "localPathsRedacted": false},
        },
        "metadata": metadata,
    }))
}

/// The tools by name, as trajectories have them.
fn tools(tools: &[ToolSpec]) -> Value {
    let mut sorted: Vec<&ToolSpec> = tools.iter().collect();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    json!(sorted)
}

pub(super) fn context(
    sent: &RequestSent<'_>,
    messages: &Value,
    run: &Run,
    rules: &TraceRules,
) -> Data {
    let mut data = Data::new();
    let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
    put("systemPrompt", json!(sent.system));
    put("prompt", json!(sent.prompt));
    put("messages", messages.clone());
    put("tools", tools(sent.tools));
    if rules.trajectory_details {
        let names: Vec<&str> = sent.tools.iter().map(|tool| tool.name.as_str()).collect();
        put("providerVisibleTools", json!(names));
    }
    put("imagesCount", json!(sent.images));
    put("streamStrategy", json!(STREAM_STRATEGY));
    put("transport", json!(transport(run.api)));
    put("transcriptLeafId", json!(sent.leaf));
    data
}

pub(super) fn prompt(sent: &RequestSent<'_>, messages: Value) -> Data {
    let mut data = Data::new();
    data.insert("prompt".to_owned(), json!(sent.prompt));
    data.insert("systemPrompt".to_owned(), json!(sent.system));
    data.insert("messages".to_owned(), messages);
    data.insert("imagesCount".to_owned(), json!(sent.images));
    data
}

pub(super) fn request(sent: &RequestSent<'_>, run: &Run) -> Data {
    let prepared = sent.prepared;
    object(json!({
        "call": sent.call,
        "api": run.api.name(),
        "method": prepared.method,
        "url": without_secrets(&prepared.url),
        "headers": prepared.headers.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "bytes": prepared.body.len(),
        "digest": prepared.digest,
    }))
}

pub(super) fn tool_call(call: &ToolCallBlock) -> Data {
    object(json!({
        "toolCallId": call.id,
        "name": call.name,
        "args": call.arguments,
    }))
}

pub(super) fn tool_result(result: &ToolResultMessage) -> Data {
    let mut given = Data::new();
    given.insert("content".to_owned(), json!(result.content));
    if let Some(details) = &result.details {
        given.insert("details".to_owned(), details.clone());
    }
    object(json!({
        "toolCallId": result.tool_call_id,
        "name": result.tool_name,
        "success": !result.is_error,
        "result": given,
    }))
}

/// How a turn ended, as flags.
fn flags(ended: &RunEnded<'_>, rules: &TraceRules) -> Data {
    let stopped = ended.stopped;
    let is = |one: TurnStop| stopped == Some(one);
    let timed_out = match stopped {
        Some(
            TurnStop::TimedOut
            | TurnStop::Idle
            | TurnStop::WhileCompacting
            | TurnStop::WhileToolRan
            | TurnStop::OutOfBudget,
        ) => true,
        Some(TurnStop::ByCaller | TurnStop::ByItself) | None => false,
    };
    let mut data = Data::new();
    let mut put = |name: &str, value: bool| data.insert(name.to_owned(), json!(value));
    put("aborted", stopped.is_some());
    put("externalAbort", is(TurnStop::ByCaller));
    put("timedOut", timed_out);
    put("idleTimedOut", is(TurnStop::Idle));
    put("timedOutDuringCompaction", is(TurnStop::WhileCompacting));
    if rules.trajectory_details {
        put("timedOutDuringToolExecution", is(TurnStop::WhileToolRan));
        put("timedOutByRunBudget", is(TurnStop::OutOfBudget));
    }
    data
}

const fn status_of(ended: &RunEnded<'_>) -> &'static str {
    match (ended.error, ended.stopped) {
        (Some(_), _) => status::ERROR,
        (None, Some(_)) => status::INTERRUPTED,
        (None, None) => status::SUCCESS,
    }
}

fn stop_reason(reason: Option<&StopReason>) -> Value {
    reason.map_or(Value::Null, |reason| json!(reason))
}

pub(super) fn outcome(ended: &RunEnded<'_>, tally: &Tally, rules: &TraceRules) -> Data {
    let mut data = flags(ended, rules);
    let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
    put(
        "promptErrorSource",
        json!(ended.error.map(|error| error.source)),
    );
    if let Some(error) = ended.error {
        put("promptError", json!(error.message));
    }
    put("usage", spent(ended.spending, tally, rules));
    let mut cache = Data::new();
    if let Some(last) = tally.last_usage {
        let mut fields = object(usage(last, rules));
        let total = fields.shift_remove("total");
        fields.insert("cacheRead".to_owned(), json!(last.cache_read));
        fields.insert("cacheWrite".to_owned(), json!(last.cache_write));
        fields.insert("total".to_owned(), total.unwrap_or_default());
        cache.insert("lastCallUsage".to_owned(), Value::Object(fields));
        if rules.trajectory_details {
            let mut observation = Data::new();
            let before = tally.previous_cache_read;
            let broke = before.is_some_and(|before| last.cache_read < before);
            observation.insert("broke".to_owned(), json!(broke));
            if let Some(before) = before {
                observation.insert("previousCacheRead".to_owned(), json!(before));
            }
            observation.insert("cacheRead".to_owned(), json!(last.cache_read));
            cache.insert("observation".to_owned(), Value::Object(observation));
        }
        cache.insert("lastCacheTouchAt".to_owned(), json!(tally.answered_at));
    }
    put("promptCache", Value::Object(cache));
    put("compactionCount", json!(tally.compactions));
    put("assistantTexts", json!(tally.texts));
    if rules.trajectory_details {
        put("stopReason", stop_reason(ended.stop_reason));
    }
    put("finalPromptText", json!(ended.prompt));
    data
}

pub(super) fn artifacts(outcome: &Data, ended: &RunEnded<'_>, tally: &Tally, at: i64) -> Data {
    let mut data = Data::new();
    data.insert("capturedAt".to_owned(), json!(instant(at)));
    data.insert("finalStatus".to_owned(), json!(status_of(ended)));
    data.extend(
        outcome
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    let done = tally.tools.len();
    data.extend(object(json!({
        "itemLifecycle": {
            "startedCount": tally.tools_started,
            "completedCount": done,
            "activeCount": tally.tools_started.saturating_sub(done),
        },
        "toolMetas": tally.tools,
        "didSendViaMessagingTool": false,
        "successfulCronAdds": 0,
        "messagingToolSentTexts": [],
        "messagingToolSentMediaUrls": [],
        "messagingToolSentTargets": [],
    })));
    data
}

pub(super) fn ended(ended: &RunEnded<'_>, rules: &TraceRules) -> Data {
    let mut data = Data::new();
    data.insert("status".to_owned(), json!(status_of(ended)));
    data.extend(flags(ended, rules));
    if rules.trajectory_details {
        data.insert("stopReason".to_owned(), stop_reason(ended.stop_reason));
    }
    data
}

/// Says what the turn took; what is unknown of it is said to be so.
fn spent(spending: Option<&Spending>, tally: &Tally, rules: &TraceRules) -> Value {
    let Some(spending) = spending else {
        return usage(tally.usage, rules);
    };
    let mut fields = object(usage(spending.usage, rules));
    if spending.cost_unknown && rules.trajectory_costs {
        fields.insert("cost".to_owned(), json!({"total": null}));
    }
    if spending.tokens_unknown {
        fields.insert(TOKENS_UNKNOWN.to_owned(), json!(true));
    }
    Value::Object(fields)
}

fn usage(usage: Usage, rules: &TraceRules) -> Value {
    let total = usage.input + usage.output + usage.cache_read + usage.cache_write;
    let mut data = Data::new();
    let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
    put("input", json!(usage.input));
    put("output", json!(usage.output));
    if rules.trajectory_costs || usage.cache_read > 0 {
        put("cacheRead", json!(usage.cache_read));
    }
    if rules.trajectory_costs || usage.cache_write > 0 {
        put("cacheWrite", json!(usage.cache_write));
    }
    put("total", json!(total));
    if rules.trajectory_costs {
        put("cost", json!({"total": usage.cost.total}));
    }
    Value::Object(data)
}
