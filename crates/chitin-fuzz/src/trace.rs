//! Recorded turns, as somebody else may have sent them: read, summed up, and packed to be shared.
#![expect(
    clippy::disallowed_methods,
    reason = "recordings are written behind the journal's back"
)]

use crate::recipe::Recipe;
use crate::records::{any, lines};
use crate::{novelty, scratch};
use chitin_agent::journal::{
    BundleInput, JournalRedactor, RecordedTurns, Transcript, build, logged_request, read, summarize,
};
use chitin_contract::CANONICAL;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fs;
use std::path::Path;

/// What recordings are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"traceSchema\":\"openclaw-trajectory\",\"schemaVersion\":1,\"type\":\"session.started\",\"sessionId\":\"s\",\"runId\":\"r\",\"ts\":\"t\",\"data\":{}}\n",
    "\"traceSchema\":\"openclaw-trajectory\"",
    "\"type\":\"context.compiled\"",
    "\"type\":\"model.completed\"",
    "\"type\":\"trace.artifacts\"",
    "\"type\":\"session.ended\"",
    "\"data\":{\"usage\":{\"input\":1,\"cost\":{\"total\":1.5}}}",
    "\"runId\":\"r\"",
    "\"seq\":1",
    "\"stage\":\"request\",\"payload\":{},\"payloadDigest\":\"x\"",
    "\"body\":\"x\",\"samePrefix\":1,\"sameSuffix\":1",
    "{\"p1\":[0,0],\"z\":\"AAAA\",\"sum\":\"0123456789abcdef\"}\n",
    "18446744073709551615",
    "null",
    "\n",
    "\u{0}",
];

const SECRET: &str = "sk-secret-of-the-owner-0123456789";

/// Reads the input as a recording, as a log of requests and as a transcript. One that begins with a one is choices for events.
pub fn run(data: &[u8]) {
    let content = match data.split_first() {
        Some((1, choices)) => built(&mut Recipe::new(choices)).into_bytes(),
        Some(_) | None => data.to_vec(),
    };
    check(&content);
}

/// Reads a file in every way in which recordings are read.
pub(crate) fn check(content: &[u8]) {
    let directory = scratch::fresh("trace");
    let path = directory.join("s.jsonl");
    fs::write(&path, content).expect("a recording can be written");
    let file = read(&path).expect("a file of ours can be read");
    let runs: Vec<_> = file.runs().collect();
    let turns = RecordedTurns::read(&path).expect("a file of ours can be read");
    novelty::note((
        file.len().min(8),
        runs.len().min(4),
        file.damaged.min(3),
        file.lost.min(3),
    ));
    for (at, run) in runs.iter().enumerate() {
        let run = run.run();
        assert!(
            run.events.iter().all(|event| event.run_id() == run.run_id),
            "an event of another turn"
        );
        let turn = turns.position(run.run_id).and_then(|at| turns.turn(at));
        let turn = turn.unwrap_or_else(|| panic!("the turn {at} is missing"));
        let events: Vec<_> = turn
            .run()
            .events
            .iter()
            .map(|event| event.data().clone())
            .collect();
        let same: Vec<_> = run
            .events
            .iter()
            .map(|event| event.data().clone())
            .collect();
        assert_eq!(events, same, "two ways, two turns");
    }
    for request in file.requests() {
        novelty::note((request.is_exact(), request.body.is_some()));
    }
    let summary = summarize(&path).expect("a file of ours can be read");
    novelty::note(summary.map(|summary| (summary.turns.min(4), summary.cost.is_some())));
    for request in logged_request(&path, "s").expect("a file of ours can be read") {
        novelty::note((1, request.is_exact()));
    }
    let transcript = Transcript::parse(content).ok();
    novelty::note(
        transcript
            .as_ref()
            .map(|transcript| transcript.branch.len().min(4)),
    );
    let redactor = JournalRedactor::new(|text: &str| -> Cow<'_, str> {
        Cow::Owned(text.replace(SECRET, "[redacted]"))
    });
    let events = file.newest(1_000, 1 << 20);
    assert!(events.len() <= file.len());
    let bundle = build(&BundleInput {
        events: &events,
        transcript: transcript.as_ref(),
        session_id: "s",
        session_key: "agent:main:main",
        workspace: Path::new("/home/ada/w"),
        home: Some(Path::new("/home/ada")),
        session_file: None,
        runtime_file: None,
        now: 0,
        rules: &CANONICAL.runtime.trace,
        redactor: &redactor,
    });
    for file in &bundle.files {
        let text = String::from_utf8_lossy(&file.bytes);
        assert!(!text.contains(SECRET), "a secret is in `{}`", file.name);
    }
}

fn built(recipe: &mut Recipe<'_>) -> String {
    let mut text = String::new();
    if recipe.byte().is_multiple_of(2) {
        text.push_str("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/home/ada/w\"}\n");
        text.push_str(&lines(recipe));
    }
    for seq in 0..40 {
        if recipe.is_done() {
            break;
        }
        let kind = recipe.pick(&[
            "session.started",
            "trace.metadata",
            "context.compiled",
            "prompt.submitted",
            "model.completed",
            "trace.artifacts",
            "session.ended",
            "model.request",
            "tool.call",
            "x",
            "user.message",
        ]);
        let event = json!({
            "traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": "s", "source": recipe.pick(&["runtime", "transcript", "export"]),
            "type": kind, "ts": recipe.pick(&["2026-08-01T00:00:00.000Z", "t", ""]), "seq": seq, "sourceSeq": seq, "sessionId": recipe.pick(&["s", "t", ""]),
            "sessionKey": "agent:main:main", "runId": recipe.pick(&["r", "q", "p", ""]), "workspaceDir": "/home/ada/w", "provider": "p", "modelId": "m",
            "data": details(recipe),
        });
        text.push_str(&event.to_string());
        text.push_str(if recipe.byte() > 250 { "" } else { "\n" });
    }
    text
}

fn details(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 8 {
        0 => {
            json!({"usage": {"input": u64::MAX, "output": recipe.byte(), "cacheRead": recipe.byte(), "cost": {"total": any(recipe)}}, "status": "ok"})
        }
        1 => json!({"usage": {"input": recipe.byte(), "cost": {"total": 0.25}}}),
        2 => json!({"text": format!("x {SECRET} y"), SECRET: "z", "path": "/home/ada/w/a"}),
        3 => {
            json!({"digest": "x", "body": any(recipe), "base": recipe.byte(), "keep": recipe.byte()})
        }
        4 => {
            json!({"systemPrompt": "You are.", "fragments": any(recipe), "tools": any(recipe), "messages": any(recipe)})
        }
        5 => {
            json!({"status": recipe.pick(&["success", "error", "aborted"]), "truncated": true, "reason": any(recipe)})
        }
        _ => any(recipe),
    }
}
