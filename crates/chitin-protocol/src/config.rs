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
    /// What files may take in the prompt; left out, the contract and `openclaw.json` say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSetting>,
    /// What shrinks when the prompt is too large for the model's window; left out, nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_window: Option<SmallWindowSetting>,
    /// Keys of the prompt's own sections that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections_off: Option<Vec<String>>,
    /// When an edit of the workspace shows in a running session; left out, the contract says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshSetting>,
}

/// What files may take in the prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetSetting {
    /// What the bounds are counted in; left out, characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<BudgetUnit>,
    /// The bound of one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_file: Option<u32>,
    /// The bound of all files together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
    /// Bounds of single files, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, u32>,
}

/// What bounds are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BudgetUnit {
    /// UTF-16 units, as OpenClaw counts.
    Characters,
    /// Tokens, as Chitin estimates them.
    Tokens,
}

/// What shrinks when the prompt is too large for the model's window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SmallWindowSetting {
    /// The plan: the name of a built-in one, or steps of your own.
    pub plan: PlanSetting,
    /// How much of the window the system prompt may take, in percent; left out, 25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<u8>,
    /// How many tokens the system prompt may have, whatever the window is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
}

/// A plan for small windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PlanSetting {
    /// A built-in one.
    Named(String),
    /// Steps, taken in order until the prompt fits.
    Steps(Vec<StepSetting>),
}

/// One step of a plan for small windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepSetting {
    /// Names of files, `extras` for those from below the root, or `*` for all.
    pub files: Vec<String>,
    /// How much of each stays, in percent; 0 leaves only a line that says so.
    pub keep: u8,
}

/// When an edit of the workspace shows in a running session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RefreshSetting {
    /// On the next turn.
    Live,
    /// When the session is reset or compacted.
    Session,
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
