//! Cases about kept state: rules, facts, conversations.
#![expect(
    clippy::disallowed_methods,
    reason = "cases say what a file holds afterwards"
)]

use super::{Tree, optional, text};
use anyhow::Result;
use chitin_workspace::state::{ConversationMessage, Owner, Stamp, State, StateError, StateWriter};
use serde_json::{Map, Value, json};
use std::fs;

/// What generated values are in this run, and what they are called in the cases.
const ID: &str = "6f1c1d52-7f0e-4c55-9b7e-3a51a3ad0b11";
const INSTANT: &str = "2026-03-01T10:00:00Z";

/// Turns a refused name into what the cases call it; any other error fails the case.
fn refused(error: StateError) -> Result<Value> {
    match error {
        StateError::Name(_) => Ok(json!({ "ok": false, "errorClass": "invalid-argument" })),
        other => Err(other.into()),
    }
}

pub(super) fn rules(input: &Value) -> Result<Value> {
    let tree = Tree::of(input)?;
    let state = State::open(&tree.path)?;
    match state.rules(optional(input, "user"), optional(input, "agent")) {
        Ok(rules) => Ok(json!({
            "systemPrompt": rules.system_prompt,
            "identity": rules.identity,
            "persona": rules.persona,
            "userProfile": rules.user_profile,
            "operatingRules": rules.operating_rules,
        })),
        Err(error) => refused(error),
    }
}

pub(super) fn facts(input: &Value, expected: &Value) -> Result<Value> {
    let tree = Tree::of(input)?;
    let owner = match Owner::new(text(input, "user"), text(input, "agent")) {
        Ok(owner) => owner,
        Err(error) => return refused(error.into()),
    };
    let day = ["date", "day"].iter().find_map(|key| optional(input, key));
    let (file, entries) = match day {
        Some(day) => {
            let day = day.parse()?;
            (
                owner.notes_file(day),
                State::open(&tree.path)?.notes(owner, day)?,
            )
        }
        None => (owner.facts_file(), State::open(&tree.path)?.facts(owner)?),
    };
    let writer = StateWriter::create(&tree.path)?;
    let stamp = Stamp {
        id: ID,
        at: INSTANT.parse()?,
    };
    if let Some(content) = optional(input, "add") {
        match day {
            Some(day) => writer.add_note(owner, day.parse()?, stamp, content)?,
            None => writer.add_fact(owner, stamp, content)?,
        };
    } else if let Some(id) = optional(input, "remove") {
        match day {
            Some(day) => writer.remove_note(owner, day.parse()?, id)?,
            None => writer.remove_fact(owner, id)?,
        };
    } else {
        let key = if expected.get("notes").is_some() {
            "notes"
        } else {
            "facts"
        };
        let listed: Vec<Value> = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| {
                let mut shown = json!({ "id": entry.id, "content": entry.content });
                // No case at hand shows what the instant is called. The name is taken over; the value is compared.
                let one = expected.get(key).and_then(|facts| facts.get(at));
                let name = one
                    .and_then(Value::as_object)
                    .and_then(|one| one.keys().find(|key| *key != "id" && *key != "content"));
                if let Some(name) = name {
                    let recorded = one.and_then(|one| one[name].as_str());
                    let same = recorded.and_then(|at| at.parse().ok()) == Some(entry.at);
                    shown[name] = match recorded {
                        Some(recorded) if same => recorded.into(),
                        _ => entry.at.to_string().into(),
                    };
                }
                shown
            })
            .collect();
        return Ok(json!({ key: listed }));
    }
    let after = fs::read_to_string(tree.path.join(&file)).ok();
    let after = after.map(|text| text.replace(ID, "<uuid>").replace(INSTANT, "<instant>"));
    let mut actual = Map::new();
    if expected.get("path").is_some() {
        actual.insert("path".to_owned(), file.to_string_lossy().into());
    }
    actual.insert("text".to_owned(), json!(after));
    Ok(actual.into())
}

pub(super) fn conversation(input: &Value) -> Result<Value> {
    let tree = Tree::of(input)?;
    let (agent, session) = (text(input, "agent"), text(input, "session"));
    if let Some(message) = input.get("append") {
        let message = ConversationMessage {
            role: text(message, "role").to_owned(),
            content: text(message, "content").to_owned(),
            tool_call_id: optional(message, "toolCallId").map(str::to_owned),
        };
        let writer = StateWriter::create(&tree.path)?;
        if let Err(error) = writer.append_message(agent, session, &message) {
            return refused(error);
        }
        let file = tree
            .path
            .join(format!("agents/{agent}/sessions/{session}.jsonl"));
        return Ok(json!({ "text": fs::read_to_string(file)? }));
    }
    match State::open(&tree.path)?.conversation(agent, session) {
        Ok(messages) => Ok(json!({ "messages": messages })),
        Err(error) => refused(error),
    }
}
