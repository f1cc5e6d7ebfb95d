//! Sessions: when they are reset, and what their records look like on the disk.

use crate::{Check, Outcome};
use anyhow::{Context, Result, ensure};
use chitin_contract::{RunMarks, TranscriptRules};
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, Message, StopReason, TextBlock, ToolCallBlock,
    ToolResultMessage, Usage,
};
use chitin_protocol::settings::ResetMode;
use chitin_protocol::transcript::{Compaction, EntryBody};
use chitin_store::reset::{self, ResetType, SessionTimes};
use chitin_store::{
    Begin, FileStore, LockMode, NewEntry, RandomIds, Run, SessionSpeaker, SessionStore, compat,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let judged = match check.case.op.as_str() {
        "session.reset" => session_reset(check),
        "shape.transcript" | "shape.transcript-message" => shape(check),
        _ => return Outcome::NotYet,
    };
    judged.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}\n")))
}

fn session_reset(check: &Check<'_>) -> Result<Outcome> {
    let rules = &check.contract.runtime.reset;
    let text = |name: &str| check.input.get(name).and_then(Value::as_str);
    let time = |name: &str| -> Result<Timestamp> {
        let value = &check.input[name];
        match value.as_i64() {
            Some(milliseconds) => Ok(Timestamp::from_millisecond(milliseconds)?),
            None => Ok(value.as_str().context("no time")?.parse()?),
        }
    };
    let kind = text("resetType")
        .and_then(ResetType::parse)
        .unwrap_or(ResetType::Direct);
    let policy = reset::policy(&check.input["sessionCfg"], kind, text("channel"), rules);
    let times = SessionTimes {
        updated_at: time("updatedAt")?.as_millisecond(),
        ..SessionTimes::default()
    };
    let zone = TimeZone::get(text("tz").unwrap_or("UTC"))?;
    let fresh = reset::freshness(&policy, &times, time("now")?, &zone, rules);
    let mut freshness = json!({"fresh": fresh.fresh});
    if policy.mode != ResetMode::None {
        freshness["dailyResetAt"] = json!(fresh.daily_reset_at);
        freshness["idleExpiresAt"] = json!(fresh.idle_expires_at);
    }
    if let Some(reason) = fresh.stale_reason {
        freshness["staleReason"] = json!(reason);
    }
    Ok(Outcome::judge(
        check.expected,
        &json!({"policy": policy, "freshness": freshness}),
    ))
}

/// Writes a small session by the contract, and compares the fields of every record of the kind in the file with those that
/// were recorded: all that are always there, and none that is never there.
fn shape(check: &Check<'_>) -> Result<Outcome> {
    let wanted = check.input["record"].as_str().context("no record")?;
    let records = written(&check.contract.runtime.transcript)?;
    let of_messages = check.case.op == "shape.transcript-message";
    let found: Vec<&Value> = records
        .iter()
        .filter(|record| match (of_messages, record["type"].as_str()) {
            (true, _) => record["message"]["role"] == wanted,
            (false, Some(kind @ "message")) => is_named(wanted, kind, &record["message"]["role"]),
            (false, Some(kind @ "custom")) => is_named(wanted, kind, &record["customType"]),
            (false, Some(kind)) => wanted == kind,
            (false, None) => false,
        })
        .map(|record| {
            if of_messages {
                &record["message"]
            } else {
                record
            }
        })
        .collect();
    ensure!(!found.is_empty(), "no record `{wanted}` was written");
    let recorded = |name: &str| -> BTreeSet<&str> {
        let keys = check.expected[name].as_array().map(Vec::as_slice);
        keys.unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .collect()
    };
    let (required, all) = (recorded("requiredKeys"), recorded("allKeys"));
    for record in found {
        let ours: BTreeSet<&str> = record
            .as_object()
            .context("no object")?
            .keys()
            .map(String::as_str)
            .collect();
        if !required.is_subset(&ours) || !ours.is_subset(&all) {
            return Ok(Outcome::judge(check.expected, &json!({"keys": ours})));
        }
    }
    Ok(Outcome::Passed)
}

fn is_named(wanted: &str, kind: &str, name: &Value) -> bool {
    match wanted.split_once(':') {
        Some((wanted_kind, wanted_name)) => wanted_kind == kind && name == wanted_name,
        None => wanted == kind,
    }
}

/// Writes one record of each kind and reads the file back.
fn written(rules: &TranscriptRules) -> Result<Vec<Value>> {
    let directory = tempfile::tempdir()?;
    let store = FileStore::new(directory.path().join("sessions"), rules, RandomIds);
    let begin = Begin {
        workspace: "/workspace",
        now: "2026-04-01T12:00:00.000Z",
        now_ms: 1_775_044_800_000,
        new_session: false,
    };
    let mut session = store.open("agent:main:main", &begin, LockMode::Refuse)?;
    session.begin_run(&Run {
        id: "run".to_owned(),
        speaker: SessionSpeaker::Owner,
    });
    let bodies = bodies(rules, begin.now_ms);
    let entries = bodies.into_iter().map(|body| NewEntry { body }).collect();
    session.append(entries, begin.now)?;
    drop(session);
    let mut bytes = Vec::new();
    store.export("agent:main:main", &mut bytes)?;
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| Ok(serde_json::from_slice(line)?))
        .collect()
}

fn bodies(rules: &TranscriptRules, now: i64) -> Vec<EntryBody> {
    let custom = |custom_type: &str| EntryBody::Custom {
        custom_type: custom_type.to_owned(),
        data: Some(json!({ "timestamp": now })),
    };
    let mut bodies = vec![
        EntryBody::ModelChange {
            provider: "mock".to_owned(),
            model_id: "mock-1".to_owned(),
        },
        EntryBody::ThinkingLevelChange {
            thinking_level: "off".to_owned(),
        },
        custom(compat::MODEL_SNAPSHOT),
        custom(compat::FULL_CONTEXT),
        custom(compat::CACHE_TTL),
        EntryBody::Message(Message::user("Read the note.", now)),
        EntryBody::Message(Message::Assistant(answer(now))),
        EntryBody::Message(Message::ToolResult(ToolResultMessage {
            tool_call_id: "call".to_owned(),
            tool_name: Some("read".to_owned()),
            content: Content::Blocks(vec![Block::text("kumquat")]),
            details: Some(json!({"kind": "text"})),
            is_error: false,
            timestamp: Some(now),
            extra: Extra::new(),
        })),
        EntryBody::Compaction(Compaction {
            summary: "So far.".to_owned(),
            first_kept_entry_id: "first".to_owned(),
            tokens_before: 100,
            details: Some(json!({})),
            from_hook: Some(false),
            extra: Extra::new(),
        }),
    ];
    match rules.run_marks {
        RunMarks::None => {}
        RunMarks::Noted => bodies.push(EntryBody::Message(Message::Other(json!({
            "role": "custom", "customType": compat::NESTED_TOOL, "display": true,
            "excludeFromContext": true, "content": "", "details": {}, "timestamp": now,
            compat::IDEMPOTENCY_KEY: "run:nested",
        })))),
    }
    bodies
}

fn answer(now: i64) -> AssistantMessage {
    AssistantMessage {
        content: Content::Blocks(vec![
            Block::Text(TextBlock {
                text: "I will.".to_owned(),
                ..TextBlock::default()
            }),
            Block::ToolCall(ToolCallBlock {
                id: "call".to_owned(),
                name: "read".to_owned(),
                arguments: Some(Value::Object(Map::new())),
                extra: Extra::new(),
            }),
        ]),
        api: Some("anthropic-messages".to_owned()),
        provider: Some("mock".to_owned()),
        model: Some("mock-1".to_owned()),
        usage: Some(Usage::default()),
        stop_reason: Some(StopReason::ToolUse),
        error_message: None,
        timestamp: Some(now),
        response_id: Some("msg".to_owned()),
        extra: Extra::new(),
    }
}
