//! What is written down before it is forgotten, and what past conversations say.

use super::super::context::{expanded, shortened};
use crate::{Check, Outcome};
use anyhow::{Context, Result};
use chitin_agent::compat::NO_REPLY;
use chitin_agent::history::{FlushFigures, FlushOptions, FlushPlan, FlushState, flush_gate};
use chitin_memory::archive::{ArchivedConversation, session_text};
use chitin_protocol::settings::MemoryFlushSettings;
use chitin_tools::redact::{MARKER, Redactor};
use serde_json::{Value, json};
use std::borrow::Cow;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    match answer(check) {
        Ok(Some(actual)) => Outcome::judge(check.expected, &shortened(&actual)),
        Ok(None) => Outcome::NotYet,
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

fn answer(check: &Check<'_>) -> Result<Option<Value>> {
    let input = &expanded(check.input)?;
    Ok(Some(match check.case.op.as_str() {
        "memory.flushPlan" => flush_plan(check, input)?,
        "memory.flushGate" => gate(input)?,
        "memory.sessionText" => archived(check, input)?,
        _ => return Ok(None),
    }))
}

/// Describes the plan; its prose is ours, so it is compared by what it must say.
fn flush_plan(check: &Check<'_>, input: &Value) -> Result<Value> {
    let rules = &check.contract.runtime.memory.flush;
    let config = &input["cfg"];
    let zone = Some("UTC".to_owned());
    let Some(options) = FlushOptions::from_config(config, &MemoryFlushSettings::default(), zone)
    else {
        return Ok(json!({ "plan": null }));
    };
    let now = input["nowMs"].as_i64().context("no `nowMs`")?;
    let plan = options.plan(now, input["contextWindowTokens"].as_u64(), rules);
    let custom = config["agents"]["defaults"]["compaction"]["memoryFlush"]["prompt"].as_str();
    Ok(json!({ "plan": described(&plan, custom) }))
}

fn described(plan: &FlushPlan, custom: Option<&str>) -> Value {
    let (prompt, system) = (&plan.prompt, &plan.system_prompt);
    let day = plan.day.to_string();
    let begins = custom.map(str::trim).filter(|custom| !custom.is_empty());
    json!({
        "softThresholdTokens": plan.figures.soft_threshold_tokens,
        "forceFlushTranscriptBytes": plan.figures.force_transcript_bytes,
        "reserveTokensFloor": plan.figures.reserve_floor,
        "relativePath": plan.relative_path,
        "promptHasRelativePath": prompt.contains(&plan.relative_path),
        "promptHasPlaceholder": prompt.contains("YYYY-MM-DD"),
        "promptHasNoReply": prompt.contains(NO_REPLY),
        "promptHasCurrentTime": prompt.contains("Current time:"),
        "promptMentionsAppend": prompt.to_lowercase().contains("append"),
        "systemPromptHasRelativePath": system.contains(&plan.relative_path),
        "systemPromptHasNoReply": system.contains(NO_REPLY),
        "promptStartsWithCustom": begins
            .map(|custom| prompt.starts_with(&custom.replace("YYYY-MM-DD", &day))),
    })
}

fn gate(input: &Value) -> Result<Value> {
    let number = |name: &str| input[name].as_u64().unwrap_or_default();
    let figures = FlushFigures {
        soft_threshold_tokens: number("softThresholdTokens"),
        force_transcript_bytes: number("forceFlushTranscriptBytes"),
        reserve_floor: number("reserveTokensFloor"),
    };
    let state = FlushState {
        tokens: number("tokenCount"),
        window: number("contextWindowTokens"),
        transcript_bytes: number("transcriptBytes"),
        compaction_count: number("compactionCount"),
        flushed_at: input["flushedAt"].as_u64(),
    };
    Ok(serde_json::to_value(flush_gate(&state, &figures))?)
}

fn archived(check: &Check<'_>, input: &Value) -> Result<Value> {
    let transcript = input["jsonl"].as_str().context("no `jsonl`")?;
    let conversation = ArchivedConversation {
        agent: "main",
        file_name: "s1.jsonl",
    };
    let rules = &check.contract.runtime.memory.archive;
    let redactor = Redactor::default();
    let said = session_text(conversation, transcript.as_bytes(), rules, &|text| {
        masked(&redactor, text)
    });
    Ok(json!({
        "path": said.path,
        "content": said.text,
        "lineMap": said.line_map,
    }))
}

/// Redacts as we do, then shows what the recorded programs show of a secret: its two ends. We show nothing of it; compared is
/// which part of a text is one.
fn masked<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    let redacted = redactor.redact(text);
    let mut pieces = redacted.split(MARKER);
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    let mut rest = &text[shown.len().min(text.len())..];
    for piece in pieces {
        let end = if piece.is_empty() {
            rest.len()
        } else {
            rest.find(piece).unwrap_or(rest.len())
        };
        shown.push_str(&ends_of(&rest[..end]));
        shown.push_str(piece);
        rest = rest.get(end + piece.len()..).unwrap_or_default();
    }
    Cow::Owned(shown)
}

fn ends_of(secret: &str) -> String {
    const SHORT: usize = 18;
    match (
        secret.get(..6),
        secret.get(secret.len().saturating_sub(4)..),
    ) {
        (Some("-----B"), _) => "***".to_owned(),
        (Some(begin), Some(end)) if secret.len() >= SHORT => format!("{begin}…{end}"),
        _ => "***".to_owned(),
    }
}
