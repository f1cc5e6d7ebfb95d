//! Lanes: the names under which turns wait for each other, and how many run at once (R82, R83).

use crate::compat::{CRON_LANE, MAIN_LANE, SESSION_LANE};
use chitin_contract::LaneRules;
use chitin_protocol::text::trim_js;
use serde::Serialize;
use serde_json::Value;

/// How many turns may ever run at once, whatever is configured.
const MOST: u32 = 10_000;

/// How many turns run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnConcurrency {
    /// Turns of sessions.
    pub agent: u32,
    /// Turns of subagents.
    pub subagent: u32,
}

impl TurnConcurrency {
    /// Reads what a configuration says; what makes no sense there says nothing.
    pub fn read(config: &Value, rules: &LaneRules) -> Self {
        let defaults = &config["agents"]["defaults"];
        Self {
            agent: at_least_one(&defaults["maxConcurrent"]).unwrap_or(rules.main),
            subagent: at_least_one(&defaults["subagents"]["maxConcurrent"])
                .unwrap_or(LaneRules::SUBAGENT),
        }
    }
}

/// Returns the lane of a session, in which one turn runs at a time.
pub fn session_lane(key: &str) -> String {
    let key = trim_js(key);
    let key = if key.is_empty() { MAIN_LANE } else { key };
    if key.starts_with(SESSION_LANE) {
        key.to_owned()
    } else {
        format!("{SESSION_LANE}{key}")
    }
}

/// Returns the lane that turns of many sessions share. What a schedule starts inside itself gets a lane of its own: the
/// schedule holds a place in its lane until all of it is done.
pub fn global_lane<'a>(name: &'a str, rules: &LaneRules) -> &'a str {
    match trim_js(name) {
        "" => MAIN_LANE,
        CRON_LANE => rules.inside_cron,
        name => name,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between one and the most"
)]
fn at_least_one(value: &Value) -> Option<u32> {
    let number = value.as_f64()?;
    number
        .is_finite()
        .then(|| number.floor().clamp(1.0, f64::from(MOST)) as u32)
}
