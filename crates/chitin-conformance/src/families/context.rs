//! Context engine and history: estimates, cut points, summaries, pruning, repair, limits.

use crate::{Check, Outcome, tree};
use anyhow::{Context, Result, bail};
use chitin_agent::compat::PUBLIC_OWNER;
use chitin_agent::engine::{
    AssembledContext, Assembly, CompactOrder, CompactionOutcome as EngineOutcome, ContextEngine,
    EngineError, EngineFactory, EngineInfo, EngineRegistry, Ingested, Legacy, Registration,
    SessionRef, Summarizer, slot,
};
use chitin_agent::history::{
    Audit, Compacting, FailedResults, FileOperations, IdentifierPolicy, OutgoingRequest, Pruning,
    audit, cap_summary, cap_with_suffix, critical_rules, cut_point, estimate, failures_section,
    file_lists, images_kept_from, limit_start, preflight, prepare, preserve_turns,
    preserved_section, prune, repair, repair_calls, should_compact, split, tool_failures,
    truncate_text, without_images,
};
use chitin_contract::{HistoryRules, SummaryRules};
use chitin_protocol::message::Message;
use chitin_protocol::text::{utf16_len, utf16_prefix, utf16_suffix};
use chitin_protocol::transcript::TranscriptEntry;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    match answer(check) {
        Ok(Some(actual)) => {
            let mut actual = shortened(&actual);
            strip_times(&mut actual);
            Outcome::judge(check.expected, &actual)
        }
        Ok(None) => Outcome::NotYet,
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

fn answer(check: &Check<'_>) -> Result<Option<Value>> {
    let input = &expanded(check.input)?;
    let rules = &check.contract.runtime.history;
    let answer = match check.case.op.as_str() {
        "context.estimate" => {
            let message: Message = read(&input["message"])?;
            json!({ "tokens": estimate(&message, &rules.estimate) })
        }
        "context.shouldCompact" => {
            let (tokens, window) = (
                number(input, "contextTokens")?,
                number(input, "contextWindow")?,
            );
            json!({ "compact": should_compact(tokens, window, &compacting(input)?) })
        }
        "context.cutPoint" => cut(input, rules)?,
        "context.prepare" => prepared(input, rules)?,
        "context.preflight" => flight(input, rules)?,
        "context.split" => {
            let parts = usize::try_from(number(input, "parts")?)?;
            let runs = split(&messages(input)?, parts, &rules.estimate);
            json!({ "sizes": runs.iter().map(ExactSizeIterator::len).collect::<Vec<_>>() })
        }
        "context.prune" => pruned(input, rules)?,
        "context.repair" => repaired(input, rules)?,
        "context.toolCalls" => {
            let allowed: Option<Vec<String>> = read(&input["options"]["allowedToolNames"])?;
            let report = repair_calls(&messages(input)?, allowed.as_deref());
            json!({
                "messages": report.messages,
                "droppedToolCalls": report.dropped_calls,
                "droppedAssistantMessages": report.dropped_answers,
            })
        }
        "context.limitHistory" => limited(input, rules)?,
        "context.images" => images(input, rules)?,
        "context.truncate" => {
            let limit = usize::try_from(number(input, "maxChars")?)?;
            let text = truncate_text(text(input, "text")?, limit, &rules.tool_results);
            json!({ "length": utf16_len(&text), "text": text })
        }
        "context.audit" => {
            let identifiers: Vec<String> = read(&input["identifiers"])?;
            let policy = match input["identifierPolicy"].as_str() {
                None | Some("strict") => IdentifierPolicy::Strict,
                Some(_) => IdentifierPolicy::Off,
            };
            let against = Audit {
                identifiers: &identifiers,
                latest_ask: input["latestAsk"].as_str(),
                policy,
            };
            json!(audit(text(input, "summary")?, against))
        }
        "context.toolFailures" => failures(check, input)?,
        "context.fileOps" => files(check, input, rules)?,
        "context.preserved" => preserved(input)?,
        "context.capSummary" => {
            let limit = match input.get("maxChars").and_then(Value::as_u64) {
                Some(limit) => usize::try_from(limit)?,
                None => SummaryRules::MAX_CHARS,
            };
            let summary = text(input, "summary")?;
            let text = match input["suffix"].as_str() {
                Some(suffix) => cap_with_suffix(summary, suffix, limit),
                None => cap_summary(summary, limit),
            };
            json!({ "length": utf16_len(&text), "text": text })
        }
        "context.engine" => engine(check, input)?,
        "context.engineRegister" => register(input)?,
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T> {
    Ok(serde_json::from_value(value.clone())?)
}

fn messages(input: &Value) -> Result<Vec<Message>> {
    read(&input["messages"])
}

fn number(input: &Value, name: &str) -> Result<u64> {
    input[name]
        .as_u64()
        .with_context(|| format!("no number `{name}`"))
}

fn text<'a>(input: &'a Value, name: &str) -> Result<&'a str> {
    input[name]
        .as_str()
        .with_context(|| format!("no text `{name}`"))
}

/// Expands recipes for text anywhere in a value.
pub(super) fn expanded(value: &Value) -> Result<Value> {
    Ok(match value {
        Value::Object(fields)
            if fields.contains_key("$repeat") || fields.contains_key("$concat") =>
        {
            Value::String(tree::text(value)?)
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| Ok((key.clone(), expanded(value)?)));
            Value::Object(fields.collect::<Result<Map<String, Value>>>()?)
        }
        Value::Array(items) => Value::Array(items.iter().map(expanded).collect::<Result<_>>()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    })
}

/// Replaces long texts by their description, as the recorder did.
pub(super) fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if utf16_len(text) > 700 => {
            let mut digest = String::new();
            for byte in Sha256::digest(text.as_bytes()) {
                let _ = write!(digest, "{byte:02x}");
            }
            json!({ "$text": {
                "length": utf16_len(text),
                "sha256": digest,
                "head": utf16_prefix(text, 60),
                "tail": utf16_suffix(text, 160),
            } })
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), shortened(value)))
            .collect(),
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Removes times, which are not compared.
fn strip_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("timestamp");
            fields.values_mut().for_each(strip_times);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn compacting(settings: &Value) -> Result<Compacting> {
    Ok(Compacting {
        enabled: settings["enabled"].as_bool().unwrap_or(true),
        reserve_tokens: number(settings, "reserveTokens")?,
        keep_recent_tokens: number(settings, "keepRecentTokens")?,
    })
}

fn cut(input: &Value, rules: &HistoryRules) -> Result<Value> {
    let entries: Vec<TranscriptEntry> = read(&input["entries"])?;
    let keep = input["keepRecentTokens"].as_f64().context("no number")?;
    let start = input["startIndex"].as_u64().unwrap_or(0);
    let end = input["endIndex"].as_u64().unwrap_or(entries.len() as u64);
    let range = usize::try_from(start)?..usize::try_from(end)?;
    let cut = cut_point(&entries, range, keep, rules);
    let turn_start = cut.turn_start.map_or(json!(-1), |at| json!(at));
    Ok(json!({
        "firstKeptEntryIndex": cut.first_kept,
        "turnStartIndex": turn_start,
        "isSplitTurn": cut.is_split_turn(),
    }))
}

fn prepared(input: &Value, rules: &HistoryRules) -> Result<Value> {
    let entries: Vec<TranscriptEntry> = read(&input["entries"])?;
    let Some(plan) = prepare(&entries, &compacting(&input["settings"])?, rules) else {
        return Ok(json!({ "preparation": null }));
    };
    let ids = |indices: &[usize]| -> Vec<&str> {
        indices.iter().map(|at| entries[*at].id.as_str()).collect()
    };
    Ok(json!({ "preparation": {
        "firstKeptEntryId": plan.first_kept_id,
        "messagesToSummarize": ids(&plan.to_summarize),
        "turnPrefixMessages": ids(&plan.turn_prefix),
        "isSplitTurn": plan.is_split_turn,
        "tokensBefore": plan.tokens_before,
        "previousSummary": plan.previous_summary,
        "fileOps": plan.files,
    } }))
}

fn flight(input: &Value, rules: &HistoryRules) -> Result<Value> {
    let messages = messages(input)?;
    let outgoing = OutgoingRequest {
        messages: &messages,
        system: input["systemPrompt"].as_str().unwrap_or_default(),
        prompt: input["prompt"].as_str().unwrap_or_default(),
    };
    let window = number(input, "contextTokenBudget")?;
    Ok(json!(preflight(
        outgoing,
        window,
        number(input, "reserveTokens")?,
        rules
    )))
}

fn pruned(input: &Value, rules: &HistoryRules) -> Result<Value> {
    let Some(pruning) = Pruning::from_config(&input["config"], &rules.pruning) else {
        return Ok(json!({ "active": false }));
    };
    let window = number(input, "contextWindowTokens")?;
    let changed: Vec<Value> = prune(&messages(input)?, window, &pruning)
        .into_iter()
        .map(|one| json!({ "index": one.index, "content": one.message.content }))
        .collect();
    Ok(json!({ "active": true, "changed": changed }))
}

fn repaired(input: &Value, rules: &HistoryRules) -> Result<Value> {
    let failed = match input["options"]["erroredAssistantResultPolicy"].as_str() {
        Some("drop") => FailedResults::Drop,
        Some(_) | None => FailedResults::Preserve,
    };
    let report = repair(&messages(input)?, failed, &rules.repair);
    Ok(json!({
        "messages": report.messages,
        "added": report.added,
        "droppedDuplicates": report.dropped_duplicates,
        "droppedOrphans": report.dropped_orphans,
        "changed": report.changed,
    }))
}

fn limited(input: &Value, rules: &HistoryRules) -> Result<Value> {
    let messages = messages(input)?;
    // No limit, or none that makes sense, limits nothing.
    let limit = input["limit"].as_f64().filter(|limit| *limit > 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive"
    )]
    let limit = limit
        .map(|limit| limit.floor() as usize)
        .filter(|limit| *limit > 0);
    let kept: Vec<&Message> = match limit {
        None => messages.iter().collect(),
        Some(limit) => {
            let limited = limit_start(&messages, limit, rules.turn_limit);
            let kept = messages.iter().enumerate();
            kept.filter(|(at, _)| limited.keeps(*at))
                .map(|(_, one)| one)
                .collect()
        }
    };
    let first = kept.first().and_then(|one| one.content());
    let mut answer = json!({ "kept": kept.len() });
    if let Some(first) = first {
        answer["firstText"] = json!(first.text());
    }
    Ok(answer)
}

fn images(input: &Value, rules: &HistoryRules) -> Result<Value> {
    let messages = messages(input)?;
    let mut replaced = Vec::new();
    let mut changed = false;
    for (at, message) in messages[..images_kept_from(&messages, &rules.images)]
        .iter()
        .enumerate()
    {
        let Some(aged) = without_images(message, &rules.images) else {
            continue;
        };
        changed = true;
        let blocks = |message: &Message| {
            let content = message.content();
            content
                .map(|content| content.blocks().to_vec())
                .unwrap_or_default()
        };
        for (block, (old, new)) in blocks(message).iter().zip(&blocks(&aged)).enumerate() {
            if old != new {
                replaced.push(json!({ "message": at, "block": block, "text": new.as_text() }));
            }
        }
    }
    Ok(json!({ "changed": changed, "replaced": replaced }))
}

/// Keeps of an answer what a case speaks of: which of these fields a recorder writes is its own affair.
fn asked_for(check: &Check<'_>, answer: Value) -> Value {
    match answer {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(key, _)| check.expected.get(key).is_some())
            .collect(),
        other => other,
    }
}

fn failures(check: &Check<'_>, input: &Value) -> Result<Value> {
    let messages = messages(input)?;
    let found = tool_failures(&messages);
    let failures: Vec<Value> = found
        .iter()
        .map(|failure| {
            let mut one = json!({
                "toolCallId": failure.call_id,
                "toolName": failure.tool_name,
                "summary": failure.summary,
            });
            if let Some(meta) = &failure.meta {
                one["meta"] = json!(meta);
            }
            one
        })
        .collect();
    let section = failures_section(&found);
    Ok(asked_for(
        check,
        json!({
            "count": failures.len(),
            "failures": failures,
            "section": section,
            "text": section,
            "length": utf16_len(&section),
        }),
    ))
}

fn files(check: &Check<'_>, input: &Value, rules: &HistoryRules) -> Result<Value> {
    let listed = |names: &[&str]| -> Result<Vec<String>> {
        let found = names.iter().find_map(|name| {
            let own = input.get(name).or_else(|| input["fileOps"].get(name));
            own.filter(|list| list.is_array())
        });
        found.map_or(Ok(Vec::new()), read)
    };
    let files = FileOperations {
        read: listed(&["readFiles", "read"])?,
        written: listed(&["written"])?,
        edited: listed(&["modifiedFiles", "modified", "edited"])?,
    };
    // Lists that are given as they are found come in their own order.
    let is_given = input["readFiles"].is_array() || input["modifiedFiles"].is_array();
    let section = if is_given {
        let read: Vec<&str> = files.read.iter().map(String::as_str).collect();
        let modified: Vec<&str> = files.edited.iter().map(String::as_str).collect();
        file_lists(&read, &modified, &rules.summary)
    } else {
        files.section(&rules.summary)
    };
    Ok(asked_for(
        check,
        json!({
            "readFiles": files.read_only(),
            "modifiedFiles": files.modified(),
            "section": section,
            "text": section,
            "formatted": section,
            "length": utf16_len(&section),
        }),
    ))
}

fn preserved(input: &Value) -> Result<Value> {
    let messages = messages(input)?;
    let turns = match input["recentTurnsPreserve"].as_u64() {
        Some(turns) => usize::try_from(turns)?,
        None => SummaryRules::PRESERVED_TURNS,
    };
    let parted = preserve_turns(&messages, turns);
    let kept = parted.preserved.iter().map(|at| &messages[*at]);
    let mut answer = json!({
        "summarizable": parted.summarizable,
        "preserved": parted.preserved,
        "section": preserved_section(kept),
    });
    if let Some(agents) = input["agentsFile"].as_str() {
        answer["criticalRules"] = json!(critical_rules(agents));
    }
    Ok(answer)
}

/// An engine of somebody else's. What it says of itself and answers is the recorder's own fixture and stands only in the
/// case; what is tested is that it is picked, and that its answers come through.
struct Fine(Value);

impl ContextEngine for Fine {
    fn info(&self) -> EngineInfo {
        let text = |name: &str| self.0["info"][name].as_str().map(str::to_owned);
        EngineInfo {
            id: "fine-engine".to_owned(),
            name: text("name").unwrap_or_default(),
            version: text("version"),
            owns_compaction: self.0["info"]["ownsCompaction"].as_bool(),
        }
    }

    fn ingest<'a>(
        &'a self,
        _session: SessionRef<'a>,
        _message: &'a Message,
    ) -> BoxFuture<'a, Result<Ingested, EngineError>> {
        let ingested = self.0["ingest"]["ingested"] == true;
        async move { Ok(Ingested { ingested }) }.boxed()
    }

    fn assemble<'a>(
        &'a self,
        _session: SessionRef<'a>,
        assembly: Assembly,
    ) -> BoxFuture<'a, Result<AssembledContext, EngineError>> {
        let messages = if self.0["assembleSameMessages"] == false {
            Vec::new()
        } else {
            assembly.messages
        };
        let context = AssembledContext {
            messages,
            estimated_tokens: self.0["assembleEstimatedTokens"].as_u64().unwrap_or(0),
            system_prompt_addition: None,
        };
        async move { Ok(context) }.boxed()
    }

    fn compact<'a>(
        &'a self,
        session: SessionRef<'a>,
        order: &'a CompactOrder<'a>,
        summarizer: &'a dyn Summarizer,
    ) -> BoxFuture<'a, Result<EngineOutcome, EngineError>> {
        Legacy.compact(session, order, summarizer)
    }
}

fn registry(fixture: &Value) -> EngineRegistry {
    let mut registry = EngineRegistry::new();
    let failing =
        |reason: &'static str| -> EngineFactory { Box::new(move || Err(reason.to_owned())) };
    registry.register("thrower", PUBLIC_OWNER, failing("it threw"));
    registry.register(
        "incomplete",
        PUBLIC_OWNER,
        failing("it lacks assemble and compact"),
    );
    let fixture = fixture.clone();
    registry.register(
        "fine-engine",
        PUBLIC_OWNER,
        Box::new(move || Ok(Arc::new(Fine(fixture.clone())))),
    );
    registry
}

fn engine(check: &Check<'_>, input: &Value) -> Result<Value> {
    let config = json!({ "plugins": { "slots": { "contextEngine": input["slot"] } } });
    let engine = registry(check.expected).resolve(slot(&config))?.engine;
    let session = SessionRef {
        id: "session",
        key: "agent:main:main",
        agent: &chitin_workspace::adapter::LazyDefinition::none(),
    };
    let message = Message::user("hello", 1);
    let ingested = engine.ingest(session, &message).now_or_never();
    let assembly = Assembly {
        messages: vec![message.clone()],
        token_budget: 1000,
        model: "test/model".to_owned(),
        prompt: None,
    };
    let assembled = engine.assemble(session, assembly).now_or_never();
    let (Some(ingested), Some(assembled)) = (ingested, assembled) else {
        bail!("an engine that does nothing takes its time");
    };
    let assembled = assembled?;
    Ok(json!({
        "info": engine.info(),
        "ingest": ingested?,
        "assembleEstimatedTokens": assembled.estimated_tokens,
        "assembleSameMessages": assembled.messages == [message],
    }))
}

fn register(input: &Value) -> Result<Value> {
    let id = text(input, "id")?;
    let mut registry = registry(&Value::Null);
    let mut again = || {
        let factory: EngineFactory = Box::new(|| Ok(Arc::new(Legacy)));
        match registry.register(id, PUBLIC_OWNER, factory) {
            Registration::Registered => json!({ "ok": true }),
            Registration::Taken { owner } => json!({ "ok": false, "existingOwner": owner }),
        }
    };
    if input["twice"] == true {
        return Ok(json!({ "first": again(), "second": again() }));
    }
    Ok(again())
}
