//! Rules that a table of keys cannot say.

use super::scan::Step;
use super::shape::Check;
use super::validate::Finding;
use crate::nearest::nearest;
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn run(check: Check, value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    match check {
        Check::Duration => duration(value, path, found),
        Check::ByteSize => byte_size(value, path, found),
        Check::Heartbeat => heartbeat(value, path, found),
        Check::AllowOrAlsoAllow => {
            if filled(value, "allow") && filled(value, "alsoAllow") {
                let mut finding = Finding::soft(
                    path,
                    "`allow` and `alsoAllow` cannot both be set in one place.",
                );
                finding.point = Some(below(path, "alsoAllow"));
                finding.hint = Some(
                    "move the entries of `alsoAllow` into `allow`, or drop `allow` and use `profile`"
                        .to_owned(),
                );
                found.push(finding);
            }
        }
        Check::ExecModeAlone => {
            let set = |key| value.get(key).is_some();
            if set("mode") && (set("security") || set("ask")) {
                found.push(Finding::soft(
                    &below(path, "mode"),
                    "`mode` cannot stand beside `security` or `ask`.",
                ));
            }
        }
        Check::BindingPeer => {
            let id = value.pointer("/match/peer/id").and_then(Value::as_str);
            if id.is_none_or(|id| trim_js(id).is_empty()) {
                found.push(Finding::soft(
                    &below(&below(path, "match"), "peer"),
                    "A binding of type `acp` needs the id of one conversation.",
                ));
            }
        }
        Check::BroadcastAgents => broadcast(value, &roster(value), path, found),
        Check::BindingAndBroadcastAgents => {
            let roster = roster(value);
            bindings(value, &roster, path, found);
            broadcast(value, &roster, path, found);
        }
        Check::HexColour => {
            let text = value.as_str().unwrap_or_default();
            let digits = text.strip_prefix('#').unwrap_or(text);
            if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                found.push(Finding::soft(path, "Expected a colour such as `#1a2b3c`."));
            }
        }
    }
}

fn below(path: &[Step], key: &str) -> Vec<Step> {
    [path, &[Step::Key(key.to_owned())]].concat()
}

fn filled(value: &Value, key: &str) -> bool {
    value
        .get(key)
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty())
}

/// Text as the recorded programs would spell a value that may be text or a number.
fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(trim_js(text).to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn duration(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    if spelled(value).is_some_and(|text| !is_amount(&text, &["ms", "s", "m", "h", "d"])) {
        found.push(Finding::soft(
            path,
            "Expected a duration such as `30s`, `15m`, `2h` or `7d`.",
        ));
    }
}

fn byte_size(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    const UNITS: [&str; 9] = ["b", "kb", "mb", "gb", "tb", "k", "m", "g", "t"];
    if spelled(value).is_some_and(|text| !is_amount(&text, &UNITS)) {
        found.push(Finding::soft(
            path,
            "Expected a size such as `500kb`, `2mb` or `1gb`.",
        ));
    }
}

/// Tells whether the text is a number with or without one of the units, or several with units, such as `1h30m`.
fn is_amount(text: &str, units: &[&str]) -> bool {
    let mut rest = text;
    let mut parts = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let is_number = match number.split_once('.') {
            Some((whole, fraction)) => digits(whole) && digits(fraction),
            None => digits(number),
        };
        let end = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let is_unit = units.contains(&unit) || (unit.is_empty() && parts == 0);
        if !is_number || !is_unit {
            return false;
        }
        parts += 1;
        rest = after;
    }
    parts > 0
}

fn heartbeat(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    // Without an interval nothing else of the block counts, so nothing else is judged.
    let Some(every) = value.get("every").and_then(Value::as_str) else {
        return;
    };
    if every.is_empty() {
        return;
    }
    duration(
        &Value::String(every.to_owned()),
        &below(path, "every"),
        found,
    );
    for (key, midnight_ends) in [("start", false), ("end", true)] {
        let text = value
            .pointer(&format!("/activeHours/{key}"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !text.is_empty() && !is_time(text, midnight_ends) {
            found.push(Finding::soft(
                &below(&below(path, "activeHours"), key),
                "Expected a time of day as `HH:MM`; `24:00` only as an end.",
            ));
        }
    }
}

fn is_time(text: &str, midnight_ends: bool) -> bool {
    let &[h1, h2, b':', m1, m2] = text.as_bytes() else {
        return false;
    };
    if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let hour = u32::from(h1 - b'0') * 10 + u32::from(h2 - b'0');
    let minute = u32::from(m1 - b'0') * 10 + u32::from(m2 - b'0');
    minute < 60 && (hour < 24 || (hour == 24 && minute == 0 && midnight_ends))
}

/// The ids of the configured agents, as written.
fn roster(config: &Value) -> BTreeSet<String> {
    let entries = config.pointer("/agents/entries").and_then(Value::as_object);
    if let Some(entries) = entries.filter(|entries| !entries.is_empty()) {
        return entries.keys().cloned().collect();
    }
    let list = config.pointer("/agents/list").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|agent| Some(agent.get("id")?.as_str()?.to_owned()))
        .collect()
}

fn unknown_agent(path: &[Step], id: &str, roster: &BTreeSet<String>) -> Finding {
    let mut finding = Finding::soft(path, format!("There is no agent `{id}`."));
    finding.hint = nearest(id, roster.iter().map(String::as_str))
        .map(|near| format!("did you mean `{near}`?"));
    finding
}

fn bindings(config: &Value, roster: &BTreeSet<String>, path: &[Step], found: &mut Vec<Finding>) {
    if roster.is_empty() {
        return;
    }
    let normal: BTreeSet<_> = roster.iter().map(|id| AgentId::normalize(id)).collect();
    let bound = config.get("bindings").and_then(Value::as_array);
    for (index, binding) in bound.into_iter().flatten().enumerate() {
        let Some(id) = binding.get("agentId").and_then(Value::as_str) else {
            continue;
        };
        if id != agent_id::MAIN && !normal.contains(&AgentId::normalize(id)) {
            let mut at = below(path, "bindings");
            at.push(Step::Index(index));
            found.push(unknown_agent(&below(&at, "agentId"), id, roster));
        }
    }
}

fn broadcast(config: &Value, roster: &BTreeSet<String>, path: &[Step], found: &mut Vec<Finding>) {
    if roster.is_empty() {
        return;
    }
    let groups = config.get("broadcast").and_then(Value::as_object);
    for (peer, agents) in groups.into_iter().flatten() {
        let agents = agents.as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, agent) in agents.iter().enumerate() {
            let Some(id) = agent.as_str().filter(|id| !roster.contains(*id)) else {
                continue;
            };
            let mut at = below(&below(path, "broadcast"), peer);
            at.push(Step::Index(index));
            found.push(unknown_agent(&at, id, roster));
        }
    }
}
