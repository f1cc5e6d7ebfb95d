//! Which files a turn keeps: by session, by run, by turn, and by what the user configured.

use chitin_config::heartbeat;
use chitin_contract::{CANONICAL, Contract, OPENCLAW_2026_4, OPENCLAW_2026_9};
use chitin_workspace::filter::{ContextMode, RunKind, TurnFacts, filter};
use chitin_workspace::snapshot::{Record, RecordState};
use serde_json::{Value, json};
use std::path::Path;

fn record(path: &str, extra: bool) -> Record {
    let path = Path::new("/w").join(path);
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    Record {
        name: name.into(),
        path,
        state: RecordState::Missing,
        extra,
    }
}

fn kept(contract: &Contract, facts: &TurnFacts<'_>) -> Vec<String> {
    let names = [
        "AGENTS.md",
        "SOUL.md",
        "HEARTBEAT.md",
        "MEMORY.md",
        "RULES.md",
    ];
    let mut records: Vec<Record> = names.iter().map(|name| record(name, false)).collect();
    records.push(record("pkg/AGENTS.md", true));
    let kept = filter(&records, contract, facts, Path::new("/w"));
    let shown = kept
        .iter()
        .map(|record| record.path.strip_prefix("/w").unwrap());
    shown.map(|path| path.display().to_string()).collect()
}

#[test]
fn a_subagent_gets_exactly_the_list_that_the_user_sets() {
    let mut facts = TurnFacts {
        session_key: Some("agent:main:subagent:1"),
        ..TurnFacts::default()
    };
    assert_eq!(
        kept(&CANONICAL, &facts),
        ["AGENTS.md", "SOUL.md", "pkg/AGENTS.md"]
    );
    let configured = ["RULES.md".to_owned(), "MEMORY.md".to_owned()];
    facts.subagent_files = Some(&configured);
    assert_eq!(kept(&CANONICAL, &facts), ["MEMORY.md", "RULES.md"]);
    facts.session_key = Some("agent:main:main");
    assert_eq!(kept(&CANONICAL, &facts).len(), 6, "others are not touched");
}

#[test]
fn a_lightweight_run_keeps_extras_only_where_the_release_does() {
    let facts = TurnFacts {
        context_mode: ContextMode::Lightweight,
        run_kind: RunKind::Heartbeat,
        ..TurnFacts::default()
    };
    assert_eq!(kept(&CANONICAL, &facts), ["HEARTBEAT.md"]);
    assert_eq!(
        kept(&OPENCLAW_2026_4, &facts),
        ["HEARTBEAT.md", "pkg/AGENTS.md"]
    );
    assert_eq!(kept(&OPENCLAW_2026_9, &facts), ["pkg/AGENTS.md"]);
}

#[test]
fn a_continuation_turn_leaves_out_the_bulk_unless_it_sets_the_workspace_up() {
    let mut facts = TurnFacts {
        context_injection: Some("continuation-skip"),
        marked: true,
        ..TurnFacts::default()
    };
    assert_eq!(kept(&CANONICAL, &facts), ["SOUL.md", "HEARTBEAT.md"]);
    assert!(kept(&OPENCLAW_2026_4, &facts).is_empty());
    facts.bootstrap_full = true;
    assert_eq!(kept(&OPENCLAW_2026_4, &facts).len(), 6);
    assert_eq!(
        kept(&CANONICAL, &facts).len(),
        2,
        "canonical exempts nobody"
    );
}

#[test]
fn a_switched_off_heartbeat_takes_its_file_from_the_default_agent() {
    let off = |config: Value, agent: &str| heartbeat::is_off(&config, agent, &OPENCLAW_2026_4);
    let every =
        |every: &str| json!({ "agents": { "defaults": { "heartbeat": { "every": every } } } });
    assert!(!off(json!({}), "main"), "on by default");
    assert!(off(every("0m"), "main") && off(every("soon"), "main"));
    assert!(!off(every("1h30m"), "main") && !off(every("15"), "main"));
    assert!(off(
        json!({ "agents": { "defaults": { "heartbeat": { "includeSystemPromptSection": false } } } }),
        "main"
    ));
    let other_has_it = json!({ "agents": { "list": [{ "id": "main" }, { "id": "ops", "heartbeat": { "every": "1h" } }] } });
    assert!(off(other_has_it.clone(), "main") && !off(other_has_it, "ops"));

    let facts = TurnFacts {
        heartbeat_off: true,
        ..TurnFacts::default()
    };
    let keeps = |contract| kept(contract, &facts).contains(&"HEARTBEAT.md".to_owned());
    assert!(!keeps(&OPENCLAW_2026_4) && keeps(&CANONICAL));
}
