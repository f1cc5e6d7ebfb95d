//! Which agents a configuration names, and which directory each lives in (W41, W42, CN13, CN18).

use crate::env::Env;
use crate::home::{self, HomeError};
use chitin_contract::{Contract, DefaultAgent, OtherAgents};
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::text::trim_js;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What OpenClaw calls things here.
pub mod compat {
    /// The error code for a roster that marks no single default agent.
    pub const AGENT_SELECTION_REQUIRED: &str = "AGENT_SELECTION_REQUIRED";
}

/// Several agents are configured and none, or more than one, is marked as the default.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "no single default agent: name one of {count} agents in `agents.defaults.systemAgent.agentId`, or mark exactly one with `default: true`"
)]
pub struct SelectionRequired {
    /// How many agents are configured.
    pub count: usize,
}

/// One agent of the roster, read leniently: a value of the wrong type counts as absent.
#[derive(Debug, Clone)]
pub struct AgentEntry<'a> {
    /// The normalised id.
    pub id: AgentId,
    /// Everything the entry says.
    pub settings: &'a Value,
}

/// Where an agent's directory was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceOrigin {
    /// The agent's own entry.
    Entry,
    /// `agents.defaults.workspace`.
    Defaults,
    /// The default directory.
    DefaultDirectory,
    /// Below `agents.defaults.workspace`.
    BelowDefaults,
    /// The state directory.
    StateDirectory,
    /// The environment names it.
    Environment,
    /// `chitin.json5` names it.
    ChitinConfig,
}

/// Returns the configured agents, in their order.
pub fn roster<'a>(config: &'a Value, contract: &Contract) -> Vec<AgentEntry<'a>> {
    let agents = &config["agents"];
    if contract.agents.entries_map
        && let Some(entries) = agents["entries"].as_object()
        && !entries.is_empty()
    {
        return entries
            .iter()
            .map(|(id, settings)| AgentEntry {
                id: AgentId::normalize(id),
                settings,
            })
            .collect();
    }
    let list = agents["list"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter()
        .filter(|entry| entry.is_object())
        .map(|settings| AgentEntry {
            id: AgentId::normalize(settings["id"].as_str().unwrap_or_default()),
            settings,
        })
        .collect()
}

/// Returns the default agent.
pub fn default_agent(config: &Value, contract: &Contract) -> Result<AgentId, SelectionRequired> {
    let named = setting(&config["agents"]["defaults"]["systemAgent"]["agentId"]);
    match named.filter(|_| contract.agents.system_agent) {
        Some(id) => Ok(AgentId::normalize(id)),
        None => marked_agent(config, contract),
    }
}

/// Returns the agent that the roster itself makes the default one. It has the default directory, whatever is named elsewhere.
fn marked_agent(config: &Value, contract: &Contract) -> Result<AgentId, SelectionRequired> {
    let roster = roster(config, contract);
    let main = || AgentId::normalize(agent_id::MAIN);
    match contract.agents.default_agent {
        DefaultAgent::FirstMarkedOrFirst => {
            let marked = roster
                .iter()
                .find(|entry| is_truthy(&entry.settings["default"]));
            Ok(marked
                .or(roster.first())
                .map_or_else(main, |entry| entry.id.clone()))
        }
        DefaultAgent::ExactlyOne => {
            let mut marked = roster
                .iter()
                .filter(|entry| entry.settings["default"] == Value::Bool(true));
            match (marked.next(), marked.next(), roster.as_slice()) {
                (Some(only), None, _) | (None, _, [only]) => Ok(only.id.clone()),
                (None, _, []) => Ok(main()),
                _ => Err(SelectionRequired {
                    count: roster.len(),
                }),
            }
        }
    }
}

/// Returns the directory of an agent, and why it is that one.
pub fn workspace_directory(
    config: &Value,
    agent: &str,
    env: &Env,
    contract: &Contract,
) -> Result<(PathBuf, WorkspaceOrigin), HomeError> {
    let id = AgentId::normalize(agent);
    let entry = roster(config, contract)
        .into_iter()
        .find(|entry| entry.id == id);
    let user_path = |text: &str| {
        let text = if contract.agents.strip_nul {
            text.replace('\0', "")
        } else {
            text.to_owned()
        };
        home::user_path(&text, env, &contract.agents)
    };
    if let Some(text) = entry
        .as_ref()
        .and_then(|entry| setting(&entry.settings["workspace"]))
    {
        return Ok((user_path(text)?, WorkspaceOrigin::Entry));
    }
    let defaults = setting(&config["agents"]["defaults"]["workspace"]);
    if marked_agent(config, contract).is_ok_and(|default| default == id) {
        return match defaults {
            Some(text) => Ok((user_path(text)?, WorkspaceOrigin::Defaults)),
            None => Ok((
                home::default_directory(env, contract)?,
                WorkspaceOrigin::DefaultDirectory,
            )),
        };
    }
    match (contract.agents.others, defaults) {
        (OtherAgents::BelowDefaults, Some(text)) => Ok((
            user_path(text)?.join(id.as_str()),
            WorkspaceOrigin::BelowDefaults,
        )),
        (OtherAgents::BelowDefaults | OtherAgents::StateDirectory, _) => {
            let state = home::state_directory(env, &contract.agents)?;
            Ok((
                state.join(format!("{}-{id}", home::compat::WORKSPACE)),
                WorkspaceOrigin::StateDirectory,
            ))
        }
    }
}

/// Returns the directory of a spawned agent: the one that the spawn names, else its parent's as it is.
pub fn spawn_directory(
    spawn: &Value,
    parent: &Path,
    env: &Env,
    contract: &Contract,
) -> Result<PathBuf, HomeError> {
    match setting(&spawn["workspace"]) {
        Some(text) => home::user_path(text, env, &contract.agents),
        None => Ok(parent.to_path_buf()),
    }
}

/// Returns the state directory of an agent: sessions and credentials, apart from its workspace.
pub fn agent_state_directory(
    agent: &AgentId,
    env: &Env,
    contract: &Contract,
) -> Result<PathBuf, HomeError> {
    Ok(home::state_directory(env, &contract.agents)?
        .join("agents")
        .join(agent.as_str()))
}

/// A string that says something.
fn setting(value: &Value) -> Option<&str> {
    value.as_str().map(trim_js).filter(|text| !text.is_empty())
}

/// Tells what ECMAScript takes for true.
pub(crate) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number
            .as_f64()
            .is_some_and(|number| number != 0.0 && !number.is_nan()),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
