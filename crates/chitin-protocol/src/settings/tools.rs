//! Which tools an agent has, and what they may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which tools an agent has, and what they may do.
///
/// The profile and the lists work like those below `tools` in `openclaw.json`. What stands here replaces what stands there,
/// except `deny`: both lists hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSettings {
    /// The profile and the lists.
    #[serde(flatten)]
    pub policy: ToolPolicySettings,
    /// The same for single providers, by `provider` or `provider/model`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_provider: BTreeMap<String, ToolPolicySettings>,
    /// What the tools that work on files may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FileToolSettings>,
    /// What `web_fetch` may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_fetch: Option<WebFetchSettings>,
    /// How much text of a tool the model gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSettings>,
}

/// A profile and lists of tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolPolicySettings {
    /// The profile: `minimal`, `coding`, `messaging` or `full`; left out, every tool is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Only these tools; names, `group:<section>`, or patterns with `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// These tools besides those of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_allow: Option<Vec<String>>,
    /// None of these tools, whatever else is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<String>>,
}

/// What the tools that work on files may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FileToolSettings {
    /// Further directories, as absolute paths, beneath which files may be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_roots: Option<Vec<String>>,
    /// Further directories, as absolute paths, beneath which files may be read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_roots: Option<Vec<String>>,
    /// How many lines of a file are read at once; left out, 2000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_lines: Option<u32>,
    /// How large a picture may be to be shown to the model, in bytes; left out, 3750000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_image_bytes: Option<u32>,
    /// How large a file may be to be edited or patched, in bytes; left out, 16777216.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_edit_bytes: Option<u32>,
}

/// What `web_fetch` may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WebFetchSettings {
    /// Whether the tool is there at all; left out, it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Loopback, private and other inner addresses that may be fetched all the same: `10.1.2.3`, `10.0.0.0/8`, `::1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_addresses: Option<Vec<String>>,
    /// How much of a page is read, in bytes; left out, 2097152.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
    /// How long one fetch may take in all, in seconds; left out, 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// How many redirects are followed; left out, 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirects: Option<u32>,
}

/// How much text of a tool the model gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OutputSettings {
    /// How many bytes; left out, 50000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
    /// How many lines; left out, 2000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u32>,
}
