//! When which agent's heart beats: one timetable for all of them.

use super::settings::{HeartbeatSettings, beating};
use chitin_config::agents;
use chitin_contract::Contract;
use chitin_protocol::agent_id::AgentId;
use serde_json::Value;
use std::sync::Arc;

/// When which agent's heart beats.
#[derive(Debug, Clone, Default)]
pub struct Beats(Vec<Beating>);

/// An agent whose heart beats.
#[derive(Debug, Clone)]
struct Beating {
    agent: AgentId,
    settings: Arc<HeartbeatSettings>,
    every_ms: i64,
    next_ms: i64,
}

/// A beat whose time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueBeat {
    /// The agent.
    pub agent: AgentId,
    /// What its configuration says.
    pub settings: Arc<HeartbeatSettings>,
    /// When it was due, in milliseconds since 1970.
    pub due_ms: i64,
}

impl Beats {
    /// Reads which agents have heartbeats. The first beat of each is one interval from now.
    pub fn read(config: &Value, contract: &Contract, now_ms: i64) -> Self {
        let default = || agents::default_agent(config, contract).ok();
        Self::read_with_default(config, contract, default, now_ms)
    }

    /// The same where the caller knows the default agent.
    pub fn read_with_default(
        config: &Value,
        contract: &Contract,
        default: impl FnOnce() -> Option<AgentId>,
        now_ms: i64,
    ) -> Self {
        let beats = beating(config, contract, default)
            .into_iter()
            .filter_map(|agent| {
                let settings = HeartbeatSettings::read(config, &agent, contract);
                let every_ms = i64::try_from(settings.every?.as_millis()).ok()?.max(1);
                Some(Beating {
                    agent,
                    settings: Arc::new(settings),
                    every_ms,
                    next_ms: now_ms.saturating_add(every_ms),
                })
            });
        Self(beats.collect())
    }

    /// Returns the agents, with what their configurations say.
    pub fn agents(&self) -> impl Iterator<Item = (&AgentId, &HeartbeatSettings)> {
        self.0.iter().map(|beat| (&beat.agent, &*beat.settings))
    }

    /// Returns when the next beat is due; none when no heart beats.
    pub fn next_ms(&self) -> Option<i64> {
        self.0.iter().map(|beat| beat.next_ms).min()
    }

    /// Takes the beats whose time has come. One that was missed several times, as in a sleep of the machine, comes once.
    pub fn take_due(&mut self, now_ms: i64) -> Vec<DueBeat> {
        let mut due = Vec::new();
        for beat in self.0.iter_mut().filter(|beat| beat.next_ms <= now_ms) {
            let late = now_ms.saturating_sub(beat.next_ms);
            // The last time that it should have been.
            let due_ms = now_ms - late % beat.every_ms;
            beat.next_ms = due_ms.saturating_add(beat.every_ms);
            due.push(DueBeat {
                agent: beat.agent.clone(),
                settings: Arc::clone(&beat.settings),
                due_ms,
            });
        }
        due
    }

    /// Lets an agent's next beat come sooner, as when it was busy just now.
    pub fn sooner(&mut self, agent: &AgentId, at_ms: i64) {
        for beat in self.0.iter_mut().filter(|beat| beat.agent == *agent) {
            beat.next_ms = beat.next_ms.min(at_ms);
        }
    }
}
