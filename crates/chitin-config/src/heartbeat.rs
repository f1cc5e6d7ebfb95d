//! Whether heartbeats are switched off for an agent, which takes HEARTBEAT.md away in one contract (W18).

use crate::agents;
use chitin_contract::Contract;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::text::trim_js;
use serde_json::Value;

const DEFAULT_EVERY: &str = "30m";

/// Tells whether heartbeat guidance is off for the agent. Only the default agent can lose it.
pub fn is_off(config: &Value, agent: &str, contract: &Contract) -> bool {
    let id = AgentId::normalize(agent);
    if agents::default_agent(config, contract).is_ok_and(|default| default != id) {
        return false;
    }
    let roster = agents::roster(config, contract);
    let own = roster
        .iter()
        .find(|entry| entry.id == id)
        .map(|entry| &entry.settings["heartbeat"]);
    let own = own.filter(|heartbeat| agents::is_truthy(heartbeat));
    let others_have = roster
        .iter()
        .any(|entry| agents::is_truthy(&entry.settings["heartbeat"]));
    if others_have && own.is_none() {
        return true;
    }
    let defaults = &config["agents"]["defaults"]["heartbeat"];
    let setting = |key: &str| {
        own.map(|own| &own[key])
            .filter(|value| !value.is_null())
            .unwrap_or(&defaults[key])
    };
    if setting("includeSystemPromptSection") == &Value::Bool(false) {
        return true;
    }
    let every = setting("every").as_str().map_or(DEFAULT_EVERY, trim_js);
    let every = if every.is_empty() {
        DEFAULT_EVERY
    } else {
        every
    };
    parse_duration(every, MINUTE).is_none_or(|milliseconds| milliseconds <= 0.0)
}

const SECOND: f64 = 1000.0;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// Reads `90`, `15m`, `1h30m` as milliseconds; a bare number takes the default unit.
pub fn parse_duration(text: &str, default_unit: f64) -> Option<f64> {
    let text = trim_js(text).to_lowercase();
    if text.is_empty() {
        return None;
    }
    let mut total = 0.0;
    let mut rest = text.as_str();
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        if number.starts_with('.') || number.ends_with('.') {
            return None;
        }
        let number: f64 = number.parse().ok()?;
        let unit = match unit {
            "ms" => 1.0,
            "s" => SECOND,
            "m" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            "" if parts == 0 && after.is_empty() => default_unit,
            _ => return None,
        };
        total += number * unit;
        parts += 1;
        rest = after;
    }
    total.is_finite().then(|| total.round())
}
