//! `openclaw.json`: the value as it is, and what a home's contents follow from.

mod agents;
mod hooks;
mod secrets;

pub use agents::HomeAgent;
pub use hooks::ConfiguredHooks;
pub use secrets::{ConfigSecret, SecretProvider, SecretReference};

pub(crate) use agents::{agents, present};
pub(crate) use hooks::hooks;
pub(crate) use secrets::{providers, references, secrets};

use crate::json::{text, texts};
use crate::paths::HomePaths;
use crate::problem::{HomeProblem, Problems};
use chitin_config::read_with_includes;
use serde::Serialize;
use serde_json::Value;

/// A credential that the configuration only announces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeclaredProfile {
    /// The provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

/// Reads the configuration. A home without one has defaults; one that cannot be read is a problem.
pub(crate) fn read(paths: &HomePaths, problems: &mut Problems) -> Value {
    match read_with_includes(&paths.config) {
        Ok(included) => included.value,
        Err(error) => {
            let missing = matches!(*error.problem, chitin_config::IncludeProblem::Missing);
            if !(missing && error.file == paths.config) {
                let place = error.file.display().to_string();
                let message = format!("The configuration cannot be used: {}.", error.problem);
                let hint = "correct it, or name another one with `OPENCLAW_CONFIG_PATH`";
                problems.add(HomeProblem::new(place, message).hint(hint));
            }
            Value::Null
        }
    }
}

/// Returns the credentials that the configuration announces.
pub(crate) fn declared_profiles(config: &Value) -> Vec<(String, DeclaredProfile)> {
    let declared = config["auth"]["profiles"].as_object();
    declared
        .into_iter()
        .flatten()
        .map(|(id, profile)| {
            let profile = DeclaredProfile {
                provider: text(profile, "provider"),
                mode: text(profile, "mode"),
            };
            (id.clone(), profile)
        })
        .collect()
}

/// Returns the senders who may do what only an owner may (H61).
pub(crate) fn owners(config: &Value) -> Vec<String> {
    texts(config["commands"].get("ownerAllowFrom"))
}

/// Returns the routes from peers to agents (H63).
pub(crate) fn bindings(config: &Value) -> Vec<Value> {
    config["bindings"].as_array().cloned().unwrap_or_default()
}
