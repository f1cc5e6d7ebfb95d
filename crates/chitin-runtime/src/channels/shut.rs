//! Channels that an agent's `CHANNELS.md` shuts out, for whoever wonders why nothing comes through.

use crate::{Configuration, Host};
use chitin_config::agents;
use chitin_contract::Contract;
use chitin_protocol::agent_id::AgentId;
use chitin_workspace::extensions::channels::ChannelFilter;
use chitin_workspace::load::{LoadOptions, read_policy};
use std::path::{Path, PathBuf};

/// Says which of the channels do not reach an agent, and why.
pub fn shut_out<'a>(
    agent: &str,
    workspace: &Path,
    contract: &Contract,
    channels: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let policy = read_policy(contract, &LoadOptions::default());
    let filter = ChannelFilter::new(workspace, policy);
    channels
        .into_iter()
        .filter_map(|channel| filter.refusal(channel))
        .map(|reason| format!("agent `{agent}`: {reason}"))
        .collect()
}

/// Lists the configured agents and their workspaces.
pub fn workspaces(host: &Host, configuration: &Configuration) -> Vec<(AgentId, PathBuf)> {
    let (config, contract) = (configuration.value(), configuration.contract);
    let roster = agents::roster(config, contract);
    let mut ids: Vec<AgentId> = roster.into_iter().map(|entry| entry.id).collect();
    ids.extend(
        agents::default_agent(config, contract)
            .ok()
            .filter(|default| !ids.contains(default)),
    );
    ids.into_iter()
        .filter_map(|id| {
            let found = agents::workspace_directory(config, id.as_str(), &host.env, contract);
            found.ok().map(|(directory, _)| (id, directory))
        })
        .collect()
}
