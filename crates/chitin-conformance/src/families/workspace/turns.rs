//! What a turn keeps and knows: `filter`, `session_keys`, `completed_turn`, `marker_due`, `bootstrap_mode`.
#![expect(
    clippy::disallowed_methods,
    reason = "session files are written by the runner"
)]

use crate::{Check, stage};
use anyhow::Result;
use chitin_contract::UnparsableKey;
use chitin_protocol::session_key::{self, ChatType, SessionKey};
use chitin_workspace::filter::{ContextMode, RunKind, TurnFacts, filter as keep};
use chitin_workspace::seed::{BootstrapRun, bootstrap_mode as mode};
use chitin_workspace::snapshot::{Record, RecordState};
use chitin_workspace::turn_marker::{self, FinishedTurn, Reduced, TurnOutcome};
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) fn filter(check: &Check<'_>) -> Value {
    let input = check.input;
    let records: Vec<Record> = strings(&input["names"])
        .map(|name| Record {
            name: name.into(),
            path: Path::new("/w").join(name),
            state: RecordState::Missing,
            extra: false,
        })
        .collect();
    let mut kept = Map::new();
    for key in input["session_keys"].as_array().into_iter().flatten() {
        let facts = TurnFacts {
            session_key: key.as_str(),
            context_mode: context_mode(input),
            run_kind: run_kind(&input["run_kind"]),
            chat_type: input["chat_type"].as_str().and_then(ChatType::parse),
            context_injection: input["context_injection"].as_str(),
            marked: input["marked"] == true,
            ..TurnFacts::default()
        };
        let names: Vec<_> = keep(&records, check.contract, &facts, Path::new("/w"))
            .into_iter()
            .map(|record| &*record.name)
            .collect();
        kept.insert(key.as_str().unwrap_or("null").to_owned(), json!(names));
    }
    json!({ "kept": kept })
}

pub(super) fn session_keys(check: &Check<'_>) -> Value {
    let grammar = check.contract.session_keys;
    let keys = strings(&check.input["keys"]).map(|key| {
        let mut fields = json!({ "key": key, "subagent": session_key::is_subagent(key, grammar) });
        if check.contract.filters.cron_files.is_some() {
            fields["cron"] = json!(session_key::is_cron(key, grammar));
            fields["cron_run"] = json!(session_key::is_cron_run(key, grammar));
        }
        let parsed = SessionKey::parse(key, grammar).map(|parsed| parsed.agent());
        fields["agent_id"] = match (parsed, check.contract.agents.unparsable_key) {
            (Some(agent), _) => json!(agent),
            (None, UnparsableKey::Main) => json!("main"),
            (None, UnparsableKey::Error) => json!({ "error": "{MESSAGE}" }),
        };
        fields
    });
    json!({ "keys": keys.collect::<Vec<_>>() })
}

pub(super) fn completed_turn(check: &Check<'_>) -> Result<Value> {
    let directory = tempfile::tempdir()?;
    let mut path = directory.path().join("session.jsonl");
    if !check.input["session_file"].is_null() {
        std::fs::write(&path, stage::content(&check.input["session_file"])?)?;
    }
    if check.input["symlink"] == true {
        let link = directory.path().join("link.jsonl");
        std::os::unix::fs::symlink(&path, &link)?;
        path = link;
    }
    Ok(json!({ "completed": turn_marker::is_marked(&path, check.contract)? }))
}

pub(super) fn marker_due(check: &Check<'_>) -> Value {
    let turns = check.input["turns"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|turn| {
            let outcome = if turn["outcome"] == "ok" {
                TurnOutcome::Completed
            } else {
                TurnOutcome::Incomplete
            };
            let reduced = if context_mode(turn) == ContextMode::Lightweight {
                Reduced::Yes
            } else {
                Reduced::No
            };
            let injection = turn["context_injection"].as_str().unwrap_or("always");
            let mut fields = turn.clone();
            fields["due"] = json!(turn_marker::is_due(
                check.contract,
                &FinishedTurn {
                    outcome,
                    reduced,
                    context_injection: injection,
                    marked: turn["marked"] == true,
                    bootstrap_full: false,
                },
            ));
            fields
        });
    json!({ "turns": turns.collect::<Vec<_>>() })
}

pub(super) fn bootstrap_mode(check: &Check<'_>) -> Value {
    let modes = check.input["params"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|params| {
            let run = BootstrapRun {
                pending: params["bootstrapPending"] == true,
                kind: run_kind(&params["runKind"]),
                primary: params["isPrimaryRun"] == true,
                user_facing: params["isInteractiveUserFacing"] == true,
                can_read: params["hasBootstrapFileAccess"] == true,
                own_workspace: params["isCanonicalWorkspace"] == true,
                loaded: false,
            };
            json!({ "params": params, "mode": mode(check.contract, &run) })
        });
    json!({ "modes": modes.collect::<Vec<_>>() })
}

pub(super) fn context_mode(value: &Value) -> ContextMode {
    if value["context_mode"] == "lightweight" {
        ContextMode::Lightweight
    } else {
        ContextMode::Full
    }
}

pub(super) fn run_kind(value: &Value) -> RunKind {
    match value.as_str() {
        Some("heartbeat") => RunKind::Heartbeat,
        Some("cron") => RunKind::Cron,
        _ => RunKind::Default,
    }
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}
