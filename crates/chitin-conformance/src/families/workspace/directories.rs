//! Agents and their directories: ids, limits, `workspace_dir`, `default_dir`, `spawn_dir`.
#![expect(
    clippy::disallowed_methods,
    reason = "directories are made by the runner"
)]

use crate::Check;
use anyhow::Result;
use chitin_config::env::Env;
use chitin_config::settings::{ContextSettings, settings};
use chitin_config::{agents, home};
use chitin_protocol::agent_id::AgentId;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A home and a working directory of the case's own.
struct Place {
    _directory: TempDir,
    home: PathBuf,
    cwd: PathBuf,
}

impl Place {
    fn new() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let base = std::fs::canonicalize(directory.path())?;
        let place = Self {
            _directory: directory,
            home: base.join("home"),
            cwd: base.join("cwd"),
        };
        std::fs::create_dir(&place.home)?;
        std::fs::create_dir(&place.cwd)?;
        Ok(place)
    }

    fn fill_in(&self, text: &str) -> String {
        text.replace("{HOME}", &self.home.to_string_lossy())
            .replace("{CWD}", &self.cwd.to_string_lossy())
    }

    fn fill_in_all(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.fill_in(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_in_all(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(k, v)| (k.clone(), self.fill_in_all(v)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn redact(&self, path: &Path) -> String {
        let text = path.to_string_lossy();
        text.replace(&*self.home.to_string_lossy(), "{HOME}")
            .replace(&*self.cwd.to_string_lossy(), "{CWD}")
    }

    /// `HOME` and, over it, what the case sets; null unsets.
    fn env(&self, over: &Value) -> Env {
        let home = self.home.to_string_lossy().into_owned();
        let mut variables = vec![("HOME".to_owned(), home.clone())];
        for (name, value) in over.as_object().into_iter().flatten() {
            variables.retain(|(known, _)| known != name);
            if let Some(text) = value.as_str() {
                variables.push((name.clone(), self.fill_in(text)));
            }
        }
        Env::new(&self.cwd)
            .with_all(variables)
            .with_os_home(self.home.join("os"))
    }
}

pub(super) fn normalize_agent_id(check: &Check<'_>) -> Value {
    let ids = check.input["ids"].as_array().into_iter().flatten();
    let ids = ids.map(|id| {
        let output = AgentId::normalize(id.as_str().unwrap_or_default());
        json!({ "input": id, "output": output })
    });
    json!({ "ids": ids.collect::<Vec<_>>() })
}

pub(super) fn limits(check: &Check<'_>) -> Value {
    let configs = check.input["configs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|given| {
            let ContextSettings {
                max_chars,
                total_max_chars,
                context_injection,
                truncation_warning,
            } = settings(&given["config"], given["agent_id"].as_str(), check.contract);
            let mut fields = given.clone();
            fields["max_chars"] = json!(max_chars);
            if let Some(total) = total_max_chars {
                fields["total_max_chars"] = json!(total);
                fields["context_injection"] = json!(context_injection);
            }
            if let Some(warning) = truncation_warning {
                fields["truncation_warning"] = json!(warning);
            }
            fields
        });
    json!({ "values": configs.collect::<Vec<_>>() })
}

pub(super) fn workspace_dir(check: &Check<'_>) -> Result<Value> {
    let place = Place::new()?;
    for directory in check.input["existing_dirs"]
        .as_array()
        .into_iter()
        .flatten()
    {
        std::fs::create_dir_all(place.fill_in(directory.as_str().unwrap_or_default()))?;
    }
    let config = place.fill_in_all(&check.input["config"]);
    let env = place.env(&check.input["env"]);
    let mut dirs = Map::new();
    for id in check.input["agent_ids"].as_array().into_iter().flatten() {
        let id = id.as_str().unwrap_or_default();
        let shown = match agents::workspace_directory(&config, id, &env, check.contract) {
            Ok((directory, _)) => json!(place.redact(&directory)),
            Err(error) => json!({ "error": error.to_string() }),
        };
        dirs.insert(id.to_owned(), shown);
    }
    let mut result = match agents::default_agent(&config, check.contract) {
        Ok(id) => json!({ "default_agent_id": id }),
        Err(_) => json!({ "default_agent_error": agents::compat::AGENT_SELECTION_REQUIRED }),
    };
    result["dirs"] = Value::Object(dirs);
    Ok(result)
}

pub(super) fn default_dir(check: &Check<'_>) -> Result<Value> {
    let place = Place::new()?;
    let values = check.input["envs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(
            |over| match home::default_directory(&place.env(over), check.contract) {
                Ok(directory) => json!({ "env": over, "dir": place.redact(&directory) }),
                Err(error) => json!({ "env": over, "dir": { "error": error.to_string() } }),
            },
        );
    Ok(json!({ "values": values.collect::<Vec<_>>() }))
}

pub(super) fn spawn_dir(check: &Check<'_>) -> Result<Value> {
    let place = Place::new()?;
    let parent =
        PathBuf::from(place.fill_in(check.input["parent_dir"].as_str().unwrap_or_default()));
    let env = place.env(&Value::Null);
    let spawns = check.input["spawns"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|spawn| {
            let directory =
                agents::spawn_directory(&place.fill_in_all(spawn), &parent, &env, check.contract);
            let shown = directory.map_or_else(
                |error| json!({ "error": error.to_string() }),
                |d| json!(place.redact(&d)),
            );
            json!({ "spawn": spawn, "dir": shown })
        });
    Ok(json!({ "values": spawns.collect::<Vec<_>>() }))
}
