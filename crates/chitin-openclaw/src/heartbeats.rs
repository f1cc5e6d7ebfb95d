//! Heartbeats: their settings, and the notes that a migration took out of `HEARTBEAT.md` (H54).

use crate::database::{Database, Rows};
use crate::problem::Problems;
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;

/// The heartbeat of an agent that has settings of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentHeartbeat {
    /// The agent.
    pub agent: String,
    /// The settings, as they are.
    pub heartbeat: Value,
}

/// What a heartbeat works off, in the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatScratch {
    /// The job of the heartbeat.
    pub job_id: String,
    /// The text that stood in `HEARTBEAT.md`.
    pub content: Option<String>,
    /// The digest of that file.
    pub source_sha256: Option<String>,
}

/// Returns the settings for all agents.
pub(crate) fn default(config: &Value) -> Option<Value> {
    let settings = &config["agents"]["defaults"]["heartbeat"];
    (!settings.is_null()).then(|| settings.clone())
}

/// Returns the settings of single agents.
pub(crate) fn of_agents(config: &Value) -> Vec<AgentHeartbeat> {
    let agents = &config["agents"];
    let listed = agents["list"].as_array().into_iter().flatten();
    let listed = listed.filter_map(|entry| Some((entry["id"].as_str()?, entry)));
    let entries = agents["entries"].as_object().into_iter().flatten();
    let entries = entries.map(|(id, entry)| (id.as_str(), entry));
    listed
        .chain(entries)
        .filter(|(_, entry)| !entry["heartbeat"].is_null())
        .map(|(agent, entry)| AgentHeartbeat {
            agent: agent.to_owned(),
            heartbeat: entry["heartbeat"].clone(),
        })
        .collect()
}

/// Returns the notes in the database.
pub(crate) fn scratch(database: &Database, problems: &mut Problems) -> Vec<HeartbeatScratch> {
    let wanted = Rows {
        table: "cron_job_scratch",
        needed: &["job_id", "content"],
        wanted: &["source_sha256"],
        of: None,
        order: &["job_id"],
        most: 10_000,
    };
    let mut found = Vec::new();
    let outcome = database.rows(&wanted, &mut |row| {
        if let Some(id) = row.text(0) {
            found.push(HeartbeatScratch {
                job_id: id.to_owned(),
                content: row.text(1).map(str::to_owned),
                source_sha256: row.text(2).map(str::to_owned),
            });
        }
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    found
}
