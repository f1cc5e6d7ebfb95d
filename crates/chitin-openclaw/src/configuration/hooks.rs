//! Hooks (H71).

use serde::Serialize;
use serde_json::Value;

/// The hooks that are configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfiguredHooks {
    /// Whether the webhooks over HTTP are on.
    pub enabled: Option<bool>,
    /// The internal hooks that are on.
    pub internal: Vec<String>,
}

/// Returns the hooks of a configuration.
pub(crate) fn hooks(config: &Value) -> ConfiguredHooks {
    let hooks = &config["hooks"];
    let entries = hooks["internal"]["entries"].as_object();
    let mut internal: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter(|(_, entry)| entry["enabled"] != Value::Bool(false))
        .map(|(name, _)| name.clone())
        .collect();
    internal.sort();
    ConfiguredHooks {
        enabled: hooks["enabled"].as_bool(),
        internal,
    }
}
