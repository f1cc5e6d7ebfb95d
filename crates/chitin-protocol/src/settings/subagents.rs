//! What becomes of sessions that others began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What becomes of sessions that others began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SubagentSettings {
    /// What a session hears when one that it began is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announce: Option<AnnounceSettings>,
    /// Workspaces that a subagent may be started in besides its agent's own. Exactly these directories, each an absolute path or
    /// one that begins with `~`; left out, `sessions_spawn` takes no workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<String>,
}

/// What a session hears when one that it began is done. A spawn may say otherwise for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AnnounceSettings {
    /// Whether a message about the end is expected when the spawn does not say; left out, it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expects_completion_message: Option<bool>,
    /// What the session is asked to do with the result; left out, our own words by the contract's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}
