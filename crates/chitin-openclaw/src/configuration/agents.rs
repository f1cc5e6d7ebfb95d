//! Agents: those that the configuration names, and those that only have a directory (H7, H8).

use crate::compat;
use crate::json::text;
use crate::paths::HomePaths;
use crate::walk;
use chitin_guard::Root;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An agent of a home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeAgent {
    /// Its id.
    pub id: String,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its workspace.
    pub workspace: PathBuf,
    /// The directory with its database and credentials.
    pub agent_dir: PathBuf,
    /// The model that is configured for it.
    pub model: Option<String>,
    /// What names it: `agents.list`, `agents.entries`, `default`, or `directory` if only its directory is left.
    pub from: &'static str,
}

/// Returns the agents of a home.
pub(crate) fn agents(config: &Value, paths: &HomePaths, state: &Root) -> Vec<HomeAgent> {
    let agents = &config["agents"];
    let mut found = Vec::new();
    if let Some(entries) = agents["entries"].as_object() {
        let entries = entries.iter();
        found.extend(entries.map(|(id, entry)| agent(id, entry, config, paths, "agents.entries")));
    } else {
        for entry in agents["list"].as_array().into_iter().flatten() {
            if let Some(id) = text(entry, "id") {
                found.push(agent(&id, entry, config, paths, "agents.list"));
            }
        }
    }
    if found.is_empty() {
        found.push(agent(compat::MAIN, &Value::Null, config, paths, "default"));
    }
    for id in walk::directories(state, Path::new(compat::AGENTS)) {
        if !id.starts_with('.') && !found.iter().any(|known| known.id == id) {
            found.push(agent(&id, &Value::Null, config, paths, "directory"));
        }
    }
    found
}

fn agent(
    id: &str,
    entry: &Value,
    config: &Value,
    paths: &HomePaths,
    from: &'static str,
) -> HomeAgent {
    let defaults = &config["agents"]["defaults"];
    let lead =
        |path: String| chitin_config::home::path_from(&path, Some(&paths.user_home), &paths.state);
    let is_first = match config["agents"]["list"]
        .as_array()
        .and_then(|list| list.first())
    {
        Some(first) => text(first, "id").is_some_and(|first| first == id),
        None => id == compat::MAIN,
    };
    let workspace =
        text(entry, "workspace").or_else(|| text(defaults, "workspace").filter(|_| is_first));
    let own = if is_first {
        paths.state.join(compat::WORKSPACE)
    } else {
        paths.state.join(format!("{}-{id}", compat::WORKSPACE))
    };
    let model = |value: &Value| match &value["model"] {
        Value::String(name) => Some(name.clone()),
        model => text(model, "primary"),
    };
    HomeAgent {
        id: id.to_owned(),
        name: text(entry, "name"),
        workspace: workspace.map_or(own, lead),
        agent_dir: text(entry, "agentDir").map_or_else(
            || paths.state.join(compat::AGENTS).join(id).join("agent"),
            lead,
        ),
        model: model(entry).or_else(|| model(defaults)),
        from,
    }
}

/// Returns a directory that the configuration names, where it is now: a home that was copied still has the former paths in it.
pub(crate) fn present(directory: &Path, state: &Path) -> Option<Root> {
    if let Ok(root) = Root::open(directory) {
        return Some(root);
    }
    let name = state.file_name()?;
    let mut parts = directory.iter();
    parts.by_ref().find(|part| *part == name)?;
    Root::open(&state.join(parts.as_path())).ok()
}
