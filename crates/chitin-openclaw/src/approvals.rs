//! What commands may do without being asked about (H65).

use crate::compat;
use crate::database::{Database, Rows};
use crate::json::text;
use crate::problem::{Problems, sentence};
use crate::sessions::StoredIn;
use crate::walk::reading;
use chitin_guard::Root;
use serde::Serialize;
use serde_json::{Map, Value};
use std::ops::ControlFlow;
use std::path::Path;

/// The largest file of approvals that is read.
const MAX_BYTES: u64 = 16 << 20;

/// The approvals of a home. The socket and its token are left out: they are of the running program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExecApprovals {
    /// Where they are kept.
    pub from: StoredIn,
    /// What holds for every agent.
    pub defaults: Map<String, Value>,
    /// What holds for single agents.
    #[serde(serialize_with = "crate::json::as_map")]
    pub agents: Vec<(String, AgentApprovals)>,
}

/// The approvals of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentApprovals {
    /// The rules, as they are.
    #[serde(flatten)]
    pub rules: Map<String, Value>,
    /// The patterns of commands that are allowed.
    pub allowlist: Vec<String>,
}

impl ExecApprovals {
    fn of(value: &Value, from: StoredIn) -> Self {
        let agents = value["agents"].as_object().into_iter().flatten();
        Self {
            from,
            defaults: value["defaults"].as_object().cloned().unwrap_or_default(),
            agents: agents
                .map(|(id, agent)| (id.clone(), AgentApprovals::of(agent)))
                .collect(),
        }
    }
}

impl AgentApprovals {
    fn of(value: &Value) -> Self {
        let mut rules = value.as_object().cloned().unwrap_or_default();
        let patterns = rules.remove("allowlist").unwrap_or_default();
        let patterns = patterns.as_array().into_iter().flatten();
        Self {
            rules,
            allowlist: patterns
                .filter_map(|entry| match entry {
                    Value::String(pattern) => Some(pattern.clone()),
                    entry => text(entry, "pattern"),
                })
                .collect(),
        }
    }
}

/// Returns the approvals: the row is newer than the file.
pub(crate) fn approvals(
    state: &Root,
    shared: Option<&Database>,
    problems: &mut Problems,
) -> Option<ExecApprovals> {
    let mut found = None;
    if let Some(database) = shared {
        const TABLE: &str = "exec_approvals_config";
        let wanted = Rows {
            table: TABLE,
            needed: &["config_key", "raw_json"],
            wanted: &[],
            of: Some(("config_key", "current")),
            order: &[],
            most: 10,
        };
        let mut odd = false;
        let outcome = database.rows(&wanted, &mut |row| {
            found = row
                .json(1)
                .map(|value| ExecApprovals::of(&value, StoredIn::Db));
            odd = found.is_none();
            ControlFlow::Break(())
        });
        if let Err(problem) = outcome {
            problems.add(problem);
        }
        if odd {
            problems.say(format!("{} {TABLE}", database.place()), "It holds no JSON.");
        }
    }
    if found.is_some() {
        return found;
    }
    let path = Path::new(compat::APPROVALS);
    match state.read(path, &reading(MAX_BYTES)) {
        Ok(read) => {
            if let Ok(value) = serde_json::from_slice(&read.bytes) {
                Some(ExecApprovals::of(&value, StoredIn::File))
            } else {
                problems.say(path, "It is no JSON.");
                None
            }
        }
        Err(error) if error.is_missing() => None,
        Err(error) => {
            problems.say(path, sentence(&error));
            None
        }
    }
}
