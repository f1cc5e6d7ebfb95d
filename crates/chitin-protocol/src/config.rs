//! Configuration as plain data: what `chitin.json5` may say.

use crate::settings::{
    AccessSettings, ExecSettings, HistorySettings, LimitSettings, McpSettings, MemorySettings,
    PluginSettings, ProviderSettings, ServeSettings, SessionSettings, SubagentSettings,
    ToolSettings, TraceSettings, UndoSettings,
};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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
    /// What models take and cost, by `provider/name`, where the built-in list is wrong or silent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelSettings>,
    /// How model providers are reached, by id, where the built-in list is wrong or silent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Plugins, by name: programs of the user's own that claim directories or decide what of a conversation is sent again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub plugins: BTreeMap<String, PluginSettings>,
    /// How `chitin serve` is reached, and what it takes at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServeSettings>,
    /// Chat networks that `chitin serve` connects to, by name. What is said here is laid over the same section of `openclaw.json`; `enabled: true`
    /// connects one that is configured there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, serde_json::Value>>")]
    pub channels: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

/// How an agent's workspace is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSettings {
    /// The directory that the agent lives in. At the top it is the default agent's, under `agents` that agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Further workspaces that are composed with the agent's own, the strongest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<Vec<String>>,
    /// The contract to use for the workspace.
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
    /// How many levels below a root skills are looked for, 1 to 8; 1 is direct children only. Left out, the contract says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_depth: Option<u32>,
    /// Whose skills stand in the catalogue beside yours, under the contract of an OpenClaw release: `auto` (left out: an installation of
    /// that release, if there is one), `off`, or the directory of an installed package, which counts under every contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_skills: Option<String>,
    /// A directory with templates of your own for new workspaces. A path that is not absolute begins at Chitin's home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub templates: Option<String>,
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
    /// The model to reckon with, as `provider/name`: its window, its tokens, its prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The models that are asked when the first cannot answer, as `provider/name`, in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallbacks: Option<Vec<String>>,
    /// How deeply models are asked to think: `off`, `low`, `medium` or `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// How often a model is asked again after a failure that may pass; left out, 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// What a turn may take at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitSettings>,
    /// What of a conversation is sent again, and when it is put into a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<HistorySettings>,
    /// What is open to others than the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessSettings>,
    /// Which tools an agent has, and what they may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolSettings>,
    /// How commands are run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecSettings>,
    /// Further tools, from MCP servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpSettings>,
    /// What is remembered, and how it is found again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySettings>,
    /// The context engine: `legacy`, the built-in one, or the name of a plugin. Left out, `plugins.slots.contextEngine` of
    /// `openclaw.json` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_engine: Option<String>,
    /// How long sessions last and how much of them is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionSettings>,
    /// What becomes of sessions that others began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagents: Option<SubagentSettings>,
    /// What is written down for people who debug.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSettings>,
    /// What is kept so that turns can be taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<UndoSettings>,
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

/// What a model takes and costs. What is left out is taken from the built-in list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSettings {
    /// How many tokens it takes in all, answer included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// How many tokens an answer has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// US dollars for a million tokens that are sent and not cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_price: Option<Price>,
    /// US dollars for a million tokens of answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_price: Option<Price>,
    /// US dollars for a million tokens that are put into the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_price: Option<Price>,
    /// US dollars for a million tokens that come from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_price: Option<Price>,
    /// The published tokenizer of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<TokenizerSetting>,
}

/// A published tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TokenizerSetting {
    /// Nobody knows but the maker.
    #[serde(rename = "none")]
    None,
    /// That of GPT-4o and the models after it.
    #[serde(rename = "o200k_base")]
    O200kBase,
}

/// US dollars for a million tokens, exact to a millionth of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
pub struct Price(#[schemars(with = "f64", range(min = 0.0, max = 1_000_000.0))] u64);

impl Price {
    /// The largest price that configuration may name, in US dollars.
    pub const MOST: f64 = 1_000_000.0;

    /// Makes a price of millionths of a dollar for a million tokens.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns millionths of a dollar for a million tokens, which is the same as millionths of a millionth for one.
    pub const fn micros(self) -> u64 {
        self.0
    }
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "no price is near the fifty-two bits that are exact"
        )]
        serializer.serialize_f64(self.0 as f64 / 1e6)
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        if !(0.0..=Self::MOST).contains(&dollars) {
            return Err(D::Error::custom("a price is a number from 0 to 1000000"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was looked at"
        )]
        Ok(Self((dollars * 1e6).round() as u64))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_dollars_and_kept_exact() {
        let read = |text| serde_json::from_str::<Price>(text);
        assert_eq!(read("0.0028").expect("a price").micros(), 2800);
        assert_eq!(read("15").expect("a price").micros(), 15_000_000);
        assert!(read("-1").is_err());
        let settings: ModelSettings =
            serde_json::from_str(r#"{"inputPrice": 0.435, "tokenizer": "none"}"#)
                .expect("settings");
        assert_eq!(
            serde_json::to_string(&settings).expect("JSON"),
            r#"{"inputPrice":0.435,"tokenizer":"none"}"#
        );
    }
}
