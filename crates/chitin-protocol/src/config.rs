//! Configuration as plain data: what `chitin.json5` may say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Chitin's own configuration. Everything may be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ChitinConfig {
    /// What holds for every agent.
    #[serde(flatten)]
    pub everywhere: AgentSettings,
    /// What single agents do differently, by id; what is left out there is taken from above.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, AgentSettings>,
}

/// How an agent's workspace is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSettings {
    /// The contract to read the workspace by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// What links in the workspace may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkSetting>,
    /// What becomes of files with a second name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardlinks: Option<HardlinkSetting>,
    /// Further root files to load after the contract's own, in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_files: Option<Vec<String>>,
    /// Exactly the files that a subagent gets; left out, the contract says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_files: Option<Vec<String>>,
}

/// What links in a workspace may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LinkSetting {
    /// They may name what lies inside the workspace.
    Inside,
    /// None are followed.
    None,
    /// They may also name what lies inside these directories.
    TrustedRoots(Vec<String>),
}

/// What becomes of files with a second name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HardlinkSetting {
    /// They are refused: the other name may lie outside.
    Refuse,
    /// They are read like any other file.
    Allow,
}
