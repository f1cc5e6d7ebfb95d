//! Plugins: programs of the user's own that Chitin starts and talks to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One plugin: a program that reads requests from its input and writes answers to its output.
///
/// Only the user's own configuration names plugins. A workspace cannot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PluginSettings {
    /// The program and its arguments. `~` is the user's home. A relative path that names a file is looked up in Chitin's
    /// home; a program without a slash is looked up on the `PATH`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Whether it is used; left out, yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The names of variables that it gets of Chitin's environment, besides language, time zone and `PATH`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// How much memory each of its processes may have, in MiB; left out, 512. Enforced on Linux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u32>,
    /// The place of its adapter in the order: lower is asked first. Left out, the plugin says it when it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Further files and directories that it may read in the sandbox.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
    /// Whether it runs in the sandbox, with the workspace read-only and without network; left out, yes. Without it the
    /// program may do whatever the user may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<bool>,
    /// How long one answer may take, in seconds; left out, 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}
