//! What is kept so that turns can be taken back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is kept so that turns can be taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UndoSettings {
    /// Whether what turns change is recorded; left out, it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How many bytes the contents may take on the disk; left out, 1 GiB. The oldest turns go first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// How many days a turn can be taken back; left out, 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age_days: Option<u32>,
    /// The largest file whose content is kept, in bytes; left out, 32 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file_bytes: Option<u64>,
    /// Files and directories that are neither recorded nor taken back, besides the usual ones such as `node_modules`: a name
    /// anywhere, or a path with a slash from the workspace. `!` before a usual one takes it out of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<Vec<String>>,
}
