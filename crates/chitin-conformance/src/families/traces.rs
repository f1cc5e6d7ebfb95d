//! Shapes of logs, trajectories and bundles: a real journal is told of a turn, and what it wrote is compared field by field.
#![expect(
    clippy::disallowed_methods,
    reason = "the runner reads what the journal wrote"
)]

use crate::{Check, Outcome};
use anyhow::Context;
use chitin_agent::journal::{
    self, BundleInput, Journal, JournalEnvironment, JournalRedactor, LookupDirectories,
    RequestSent, RunEnded, RunStarted, RunSurroundings, Switches, Transcript, TurnMoment,
};
use chitin_contract::TraceRules;
use chitin_model::{Api, Prepared, StreamEvent};
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, Message, StopReason, TextBlock, ToolCallBlock,
    ToolResultMessage, Usage,
};
use chitin_protocol::settings::TraceSettings;
use chitin_protocol::tool::ToolSpec;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let name = |name: &str| check.input.get(name).and_then(Value::as_str);
    let (Some(file), record) = (name("file"), name("record").unwrap_or_default()) else {
        return Outcome::NotYet;
    };
    let written = match write(&check.contract.runtime.trace) {
        Ok(written) => written,
        Err(error) => return Outcome::Failed(format!("the journal cannot be run: {error:#}\n")),
    };
    let found: Option<Vec<&Value>> = match check.case.op.as_str() {
        "shape.log" => Some(written.logged(file, record)),
        "shape.trajectory" => Some(written.events(file, record)),
        "shape.trajectory-data" => {
            let events = written.trajectory.iter();
            let data = events.filter(|event| event["type"] == record);
            Some(data.map(|event| &event["data"]).collect())
        }
        "shape.trajectory-bundle" => {
            let files = written.bundle.iter();
            Some(
                files
                    .filter(|(name, _)| name == file)
                    .map(|(_, value)| value)
                    .collect(),
            )
        }
        _ => None,
    };
    found.map_or(Outcome::NotYet, |found| judge(check.expected, &found))
}

/// Every record must have what every recorded one had, and nothing that none had.
fn judge(expected: &Value, found: &[&Value]) -> Outcome {
    let keys = |name: &str| -> Option<BTreeSet<&str>> {
        let keys = expected.get(name)?.as_array()?;
        Some(keys.iter().filter_map(Value::as_str).collect())
    };
    let exact = keys("keys");
    let Some(required) = keys("requiredKeys").or_else(|| exact.clone()) else {
        return Outcome::NotYet;
    };
    let all = keys("allKeys")
        .or(exact)
        .unwrap_or_else(|| required.clone());
    let (mut missing, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for record in found {
        let ours: BTreeSet<&str> = record
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.keys().map(String::as_str))
            .collect();
        missing.extend(required.difference(&ours).copied());
        unknown.extend(ours.difference(&all).copied());
    }
    Outcome::judge(
        &json!({"found": true, "missing": [], "unknown": []}),
        &json!({"found": !found.is_empty(), "missing": missing, "unknown": unknown}),
    )
}

/// What a journal wrote of one turn, and the bundle made of it.
struct Written {
    logs: Vec<(&'static str, Vec<Value>)>,
    trajectory: Vec<Value>,
    bundle_events: Vec<Value>,
    bundle: Vec<(String, Value)>,
}

impl Written {
    /// Records of a log; they are named by their stage, or by their event and its type.
    fn logged(&self, file: &str, record: &str) -> Vec<&Value> {
        let logs = self.logs.iter().filter(|(name, _)| *name == file);
        let (event, kind) = record.split_once(':').unwrap_or((record, ""));
        let kind =
            Some(kind).filter(|kind| !matches!(*kind, "" | "-" | "undefined" | "null" | "None"));
        logs.flat_map(|(_, records)| records)
            .filter(|one| {
                one["stage"] == record || (one["event"] == event && one["evtType"].as_str() == kind)
            })
            .collect()
    }

    fn events(&self, file: &str, record: &str) -> Vec<&Value> {
        let events = match file {
            "trajectory" => &self.trajectory,
            _ => &self.bundle_events,
        };
        let (source, kind) = record.split_once('/').unwrap_or(("runtime", record));
        events
            .iter()
            .filter(|event| event["source"] == source && event["type"] == kind)
            .collect()
    }
}

const SESSION: &str = "0b1d8d4e-5a6f-4c7d-9e8f-0a1b2c3d4e5f";
const KEY: &str = "agent:main:main";
const NOON: i64 = 1_700_000_000_000;

fn write(rules: &TraceRules) -> anyhow::Result<Written> {
    let directory = tempfile::tempdir()?;
    let logs = directory.path().join("logs");
    let transcript = directory.path().join(format!("{SESSION}.jsonl"));
    let switches = Switches::from_lookup(
        |name| {
            let on = [
                "OPENCLAW_ANTHROPIC_PAYLOAD_LOG",
                "OPENCLAW_RAW_STREAM",
                "OPENCLAW_CACHE_TRACE",
            ];
            on.contains(&name).then(|| "1".to_owned())
        },
        &TraceSettings::default(),
        &Value::Null,
        &LookupDirectories {
            logs: logs.clone(),
            home: None,
            working_directory: directory.path().to_owned(),
        },
        rules,
    );
    let mut journal = Journal::new(
        &switches,
        JournalEnvironment {
            rules: *rules,
            redactor: JournalRedactor::default(),
            clock: Arc::new(|| NOON),
            note: Arc::new(|_| {}),
            summary: Arc::new(|_| {}),
        },
    );
    turn(&mut journal, directory.path(), &transcript);
    drop(journal);
    let switch = switches.trajectory.context("the trajectory is on")?;
    let runtime_file = journal::trajectory_path(&switch, rules, SESSION, Some(&transcript));
    let trace: Vec<_> = journal::read(&runtime_file)?.events().collect();
    let parsed = Transcript::parse(TRANSCRIPT.as_bytes()).map_err(anyhow::Error::msg)?;
    let bundle = journal::build(&BundleInput {
        events: &trace,
        transcript: Some(&parsed),
        session_id: SESSION,
        session_key: KEY,
        workspace: directory.path(),
        home: None,
        session_file: Some(&transcript),
        runtime_file: Some(&runtime_file),
        now: NOON,
        rules,
        redactor: &JournalRedactor::default(),
    });
    let mut written = Written {
        logs: Vec::new(),
        trajectory: trace.into_iter().map(|event| event.value).collect(),
        bundle_events: Vec::new(),
        bundle: Vec::new(),
    };
    for name in ["anthropic-payload", "raw-stream", "cache-trace"] {
        let text = std::fs::read_to_string(logs.join(format!("{name}.jsonl")))?;
        written.logs.push((name, lines(&text)?));
    }
    for file in bundle.files {
        let text = String::from_utf8(file.bytes)?;
        match file.name {
            "events.jsonl" => written.bundle_events = lines(&text)?,
            name if name.ends_with(".json") => {
                let value = serde_json::from_str(&text)?;
                written.bundle.push((name.to_owned(), value));
            }
            _ => {}
        }
    }
    Ok(written)
}

fn lines(text: &str) -> anyhow::Result<Vec<Value>> {
    let lines = text.lines().map(serde_json::from_str);
    Ok(lines.collect::<Result<_, _>>()?)
}

/// A small transcript with every kind of record that the recorded runs have.
const TRANSCRIPT: &str = r#"{"type":"session","version":3,"id":"0b1d8d4e-5a6f-4c7d-9e8f-0a1b2c3d4e5f","timestamp":"2023-11-14T22:13:00.000Z","cwd":"/"}
{"type":"model_change","id":"a1","parentId":null,"timestamp":"2023-11-14T22:13:00.000Z","provider":"mock","modelId":"mock-1"}
{"type":"thinking_level_change","id":"a2","parentId":"a1","timestamp":"2023-11-14T22:13:01.000Z","thinkingLevel":"off"}
{"type":"custom","customType":"model-snapshot","data":{"provider":"mock"},"id":"a3","parentId":"a2","timestamp":"2023-11-14T22:13:02.000Z"}
{"type":"message","id":"a4","parentId":"a3","timestamp":"2023-11-14T22:13:20.000Z","message":{"role":"user","content":"read the note","timestamp":1700000000000}}
{"type":"message","id":"a5","parentId":"a4","timestamp":"2023-11-14T22:13:21.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Let me see."},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"note.txt"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a6","parentId":"a5","timestamp":"2023-11-14T22:13:22.000Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"read","content":[{"type":"text","text":"kumquat"}],"isError":false}}
{"type":"message","id":"a7","parentId":"a6","timestamp":"2023-11-14T22:13:23.000Z","message":{"role":"assistant","content":[{"type":"text","text":"A kumquat."}],"stopReason":"stop"}}
"#;

fn answer(blocks: Vec<Block>, reason: StopReason) -> AssistantMessage {
    AssistantMessage {
        content: Content::Blocks(blocks),
        api: Some("anthropic-messages".to_owned()),
        provider: Some("mock".to_owned()),
        model: Some("mock-1".to_owned()),
        usage: Some(Usage {
            input: 100,
            output: 12,
            total_tokens: 112,
            ..Usage::default()
        }),
        stop_reason: Some(reason),
        error_message: None,
        timestamp: Some(NOON),
        response_id: Some("msg_1".to_owned()),
        extra: Extra::new(),
    }
}

/// Tells a journal of a turn: a few words, a call of a tool, its result, an answer.
fn turn(journal: &mut Journal, workspace: &Path, transcript: &Path) {
    let tools = [ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file.".to_owned(),
        parameters: json!({"type": "object"}),
    }];
    let skills = json!({"entries": []});
    let report = json!({"source": "run"});
    let around = RunSurroundings {
        version: "0",
        invocation: &[],
        config: None,
        skills: Some(&skills),
        skills_prompt: Some("none"),
        prompt_report: Some(&report),
        fragments: None,
        files: &[],
    };
    let (system, prompt) = ("Be brief.", "read the note");
    journal.observe(TurnMoment::RunStarted(&RunStarted {
        run_id: "run-1",
        session_id: SESSION,
        session_key: KEY,
        agent_id: "main",
        workspace,
        session_file: Some(transcript),
        provider: "mock",
        model: "mock-1",
        api: Api::AnthropicMessages,
        thinking: None,
        tools: &tools,
        trigger: "user",
        channel: Some("webchat"),
        contract: "",
        surroundings: &around,
    }));
    let mut messages: Vec<Message> = Vec::new();
    journal.observe(TurnMoment::SessionLoaded {
        messages: &messages,
        system,
    });
    journal.observe(TurnMoment::SessionSanitized {
        messages: &messages,
    });
    journal.observe(TurnMoment::SessionLimited {
        messages: &messages,
    });
    journal.observe(TurnMoment::PromptBefore {
        prompt,
        messages: &messages,
    });
    journal.observe(TurnMoment::PromptImages {
        prompt,
        messages: &messages,
        images: 0,
    });
    messages.push(Message::user(prompt, NOON));
    let call = ToolCallBlock {
        id: "t1".to_owned(),
        name: "read".to_owned(),
        arguments: Some(json!({"path": "note.txt"})),
        extra: Extra::new(),
    };
    let text = |text: &str| {
        Block::Text(TextBlock {
            text: text.to_owned(),
            ..TextBlock::default()
        })
    };
    let answers = [
        (
            vec![text("Let me see."), Block::ToolCall(call.clone())],
            StopReason::ToolUse,
        ),
        (vec![text("A kumquat.")], StopReason::Stop),
    ];
    for (number, (blocks, reason)) in (1..).zip(answers) {
        let body = json!({"model": "mock-1", "messages": messages, "system": system}).to_string();
        journal.observe(TurnMoment::RequestSent(&RequestSent {
            call: number,
            provider: "mock",
            model: "mock-1",
            prepared: &Prepared {
                api: Api::AnthropicMessages,
                method: "POST",
                url: "http://127.0.0.1/v1/messages".to_owned(),
                headers: Vec::new(),
                secret_headers: Vec::new(),
                body: body.into(),
                digest: "0".repeat(64),
                tee: None,
                gone_out: None,
                rules: chitin_contract::ProviderRules::CANONICAL,
            },
            system,
            messages: &messages,
            before_prompt: 0,
            tools: &tools,
            prompt,
            images: 0,
            max_tokens: 4096,
            leaf: Some("a3"),
            sent_at: NOON,
        }));
        let message = answer(blocks, reason);
        stream(journal, &message);
        journal.observe(TurnMoment::Answered {
            call: number,
            message: &message,
        });
        let is_call = message.tool_calls().next().is_some();
        messages.push(Message::Assistant(message));
        if is_call {
            let result = ToolResultMessage {
                tool_call_id: call.id.clone(),
                tool_name: Some(call.name.clone()),
                content: Content::Blocks(vec![text("kumquat")]),
                details: None,
                is_error: false,
                timestamp: Some(NOON),
                extra: Extra::new(),
            };
            journal.observe(TurnMoment::ToolCalled(&call));
            journal.observe(TurnMoment::ToolDone {
                result: &result,
                summary: Some("from note.txt"),
            });
            messages.push(Message::ToolResult(result));
        }
    }
    journal.observe(TurnMoment::SessionAfter {
        messages: &messages,
    });
    journal.observe(TurnMoment::RunEnded(&RunEnded {
        stop_reason: Some(&StopReason::Stop),
        stopped: None,
        error: None,
        prompt,
        messages: &messages,
        spending: None,
    }));
}

/// Takes an answer apart into the steps in which it would come in.
fn stream(journal: &mut Journal, message: &AssistantMessage) {
    let mut tell = |event: &StreamEvent| journal.observe(TurnMoment::Streamed(event));
    tell(&StreamEvent::Start);
    for (index, block) in message.content.blocks().iter().enumerate() {
        match block {
            Block::Text(block) => {
                let (delta, text) = (block.text.clone(), block.text.clone());
                tell(&StreamEvent::TextStart { index });
                tell(&StreamEvent::TextDelta { index, delta });
                tell(&StreamEvent::TextEnd { index, text });
            }
            Block::ToolCall(call) => {
                let call = call.clone();
                tell(&StreamEvent::ToolCallStart { index });
                tell(&StreamEvent::ToolCallEnd { index, call });
            }
            Block::Thinking(_) | Block::Image(_) | Block::Other(_) => {}
        }
    }
    tell(&StreamEvent::Done(Box::new(message.clone())));
}
