//! Secrets of the configuration: where they stand, and references to those that stand elsewhere (H43, H44). No value leaves this module.

use crate::json::text;
use chitin_config::secrets::is_secret_name;
use serde::Serialize;
use serde_json::Value;

/// A reference to a secret that is kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretReference {
    /// The dotted path of the value that it stands for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What keeps it: `env`, `file` or `exec`.
    pub source: String,
    /// Which of those that are configured.
    pub provider: String,
    /// Its name there.
    pub id: String,
}

/// Something that keeps secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretProvider {
    /// What it is: `env`, `file` or `exec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The file that has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What kind of file that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The program that gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A value of the configuration that is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigSecret {
    /// Its dotted path.
    pub path: String,
    /// How it is given: `literal`, `variable` for text with `${NAME}` in it, or `reference`.
    pub given: &'static str,
}

impl SecretReference {
    /// Reads a value that has exactly the three members of a reference.
    pub(crate) fn of(value: &Value, path: &str) -> Option<Self> {
        let members = value.as_object()?;
        (members.len() == 3).then_some(())?;
        Some(Self {
            path: path.to_owned(),
            source: text(value, "source")?,
            provider: text(value, "provider")?,
            id: text(value, "id")?,
        })
    }
}

/// Returns every reference of a configuration, in its order.
pub(crate) fn references(config: &Value) -> Vec<SecretReference> {
    let mut found = Vec::new();
    walk(config, &mut String::new(), &mut |path, value| {
        let reference = SecretReference::of(value, path);
        let is_one = reference.is_some();
        found.extend(reference);
        !is_one
    });
    found
}

/// Returns every secret of a configuration by its place.
pub(crate) fn secrets(config: &Value) -> Vec<ConfigSecret> {
    let mut found = Vec::new();
    walk(config, &mut String::new(), &mut |path, value| {
        if path == "secrets" || path == "env" {
            return false;
        }
        let name = path.rsplit('.').next().unwrap_or(path);
        let given = match value {
            Value::String(text) if text.contains("${") => "variable",
            Value::String(text) if !text.is_empty() => "literal",
            Value::Object(_) if SecretReference::of(value, path).is_some() => "reference",
            _ => return true,
        };
        if is_secret_name(name) || given == "reference" {
            found.push(ConfigSecret {
                path: path.to_owned(),
                given,
            });
        }
        given != "reference"
    });
    found
}

/// Returns what keeps the secrets that are referred to.
pub(crate) fn providers(config: &Value) -> Vec<(String, SecretProvider)> {
    let providers = config["secrets"]["providers"].as_object();
    providers
        .into_iter()
        .flatten()
        .map(|(name, provider)| {
            let provider = SecretProvider {
                source: text(provider, "source"),
                path: text(provider, "path"),
                mode: text(provider, "mode"),
                command: text(provider, "command"),
            };
            (name.clone(), provider)
        })
        .collect()
}

/// Visits every value below the top by its dotted path; `enter` says whether to look into it. Configurations are bounded in depth already.
fn walk(value: &Value, path: &mut String, enter: &mut dyn FnMut(&str, &Value) -> bool) {
    if !path.is_empty() && !enter(path, value) {
        return;
    }
    let length = path.len();
    let mut below = |name: &str, member: &Value, path: &mut String| {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        walk(member, path, enter);
        path.truncate(length);
    };
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                below(name, member, path);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                below(&at.to_string(), item, path);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
