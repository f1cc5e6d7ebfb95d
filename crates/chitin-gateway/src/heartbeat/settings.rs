//! What a configuration says of an agent's heartbeats, and which agents have any (R90).

use super::hours::ActiveHours;
use super::prompt;
use chitin_config::agents;
use chitin_config::heartbeat::parse_duration;
use chitin_contract::{Contract, HeartbeatRules};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::time::Duration;

/// A bare number is in minutes.
const MINUTE_MS: f64 = 60_000.0;
/// Where words of a heartbeat go when nothing is said: nowhere.
const NOWHERE: &str = "none";

/// What a configuration says of an agent's heartbeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatSettings {
    /// How often; none is never.
    pub every: Option<Duration>,
    /// The hours in which it may happen.
    pub active_hours: ActiveHours,
    /// Where words go: `none`, `last`, or a channel.
    pub target: String,
    /// To whom on the channel.
    pub to: Option<String>,
    /// On which account of the channel.
    pub account_id: Option<String>,
    /// What the model is asked.
    pub prompt: String,
    /// The model, if another one than usual.
    pub model: Option<String>,
    /// Whether the context holds nothing but HEARTBEAT.md.
    pub light_context: bool,
    /// The session, if another one than the main conversation.
    pub session: Option<String>,
    /// Whether each beat has a session of its own.
    pub isolated_session: bool,
    /// What may stand beside `HEARTBEAT_OK` and still be no message, in UTF-16 units.
    pub ack_max_chars: usize,
}

/// Returns the agents that have heartbeats: those whose entry speaks of them, and if none does, the default agent.
pub fn beating(
    config: &Value,
    contract: &Contract,
    default: impl FnOnce() -> Option<AgentId>,
) -> Vec<AgentId> {
    let mut own: Vec<AgentId> = agents::roster(config, contract)
        .into_iter()
        .filter(|entry| says_something(&entry.settings["heartbeat"]))
        .map(|entry| entry.id)
        .collect();
    own.dedup();
    if own.is_empty() {
        own.extend(default());
    }
    own
}

impl HeartbeatSettings {
    /// Reads what holds for an agent: its own entry, then `agents.defaults.heartbeat`, then the contract.
    pub fn read(config: &Value, agent: &AgentId, contract: &Contract) -> Self {
        let roster = agents::roster(config, contract);
        let own = roster
            .iter()
            .find(|entry| entry.id == *agent)
            .map_or(&Value::Null, |entry| &entry.settings["heartbeat"]);
        let everybodys = &config["agents"]["defaults"]["heartbeat"];
        let setting = |key: &str| match &own[key] {
            Value::Null => &everybodys[key],
            value => value,
        };
        let text = |key: &str| {
            let text = setting(key).as_str().map(trim_js);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let yes = |key: &str| setting(key).as_bool().unwrap_or(false);
        Self {
            every: interval(setting("every"), HeartbeatRules::DEFAULT_EVERY),
            active_hours: ActiveHours::read(setting("activeHours")),
            target: text("target").unwrap_or_else(|| NOWHERE.to_owned()),
            to: text("to"),
            account_id: text("accountId"),
            prompt: prompt::prompt(setting("prompt").as_str()).to_owned(),
            model: text("model"),
            light_context: yes("lightContext"),
            session: text("session"),
            isolated_session: yes("isolatedSession"),
            ack_max_chars: characters(setting("ackMaxChars"))
                .unwrap_or(HeartbeatRules::DEFAULT_ACK_MAX_CHARS as usize),
        }
    }

    /// Tells whether words of a heartbeat go anywhere.
    pub fn is_heard(&self) -> bool {
        self.target != NOWHERE
    }
}

/// Reads how often; zero, blank and what is no duration are never.
fn interval(value: &Value, default: &str) -> Option<Duration> {
    let text = match value {
        Value::Null => default.to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let milliseconds = parse_duration(&text, MINUTE_MS)?;
    if milliseconds <= 0.0 {
        return None;
    }
    Duration::try_from_secs_f64(milliseconds / 1000.0).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; the cast saturates"
)]
fn characters(value: &Value) -> Option<usize> {
    let number = value.as_f64()?;
    number.is_finite().then(|| number.max(0.0) as usize)
}

/// An entry that is there counts, even an empty one.
fn says_something(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}
