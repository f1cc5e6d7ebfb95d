//! Filling a new workspace: `seed`, `status`.
#![expect(
    clippy::disallowed_methods,
    reason = "the runner deletes and looks at files between the steps"
)]

use crate::Check;
use crate::stage::Stage;
use anyhow::{Context, Result};
use chitin_contract::SeedState;
use chitin_guard::Root;
use chitin_workspace::seed::{self, OnVanished, SeedError, SeedFiles, SeedRequest};
use serde_json::{Map, Value, json};
use std::path::Path;

const STATE_FILE: &str = ".openclaw/workspace-state.json";
const NOW: &str = "2026-04-24T08:00:00.000Z";

pub(super) fn seed(check: &Check<'_>) -> Result<Value> {
    let stage = Stage::build(check.input)?;
    let chitin_home = stage.parent().join("state");
    let mut snapshots = Vec::new();
    for step in check.input["steps"].as_array().context("steps")? {
        if let Some(name) = step["delete"].as_str() {
            // Releases seed different files; what is not there need not be deleted.
            match std::fs::remove_file(stage.workspace.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                Ok(()) | Err(_) => {}
            }
        } else if step["write"].is_object() {
            stage.write(&step["write"])?;
        } else {
            snapshots.push(ensure(check, &stage, &chitin_home, step)?);
        }
    }
    Ok(json!({ "snapshots": snapshots }))
}

/// Runs the steps that a `context` case asks for first; tells whether set-up is complete afterwards.
pub(super) fn pre_steps(check: &Check<'_>, stage: &Stage) -> Result<bool> {
    let chitin_home = stage.parent().join("state");
    for step in check.input["pre_steps"].as_array().into_iter().flatten() {
        if let Some(name) = step["delete"].as_str() {
            let _ = std::fs::remove_file(stage.workspace.join(name));
        } else if step["write"].is_object() {
            stage.write(&step["write"])?;
        } else {
            ensure(check, stage, &chitin_home, step)?;
        }
    }
    let Ok(root) = Root::open(&stage.workspace) else {
        return Ok(false);
    };
    let git = |_: &Path| Ok(());
    let request = SeedRequest {
        directory: &stage.workspace,
        contract: check.contract,
        files: SeedFiles::DirectoryOnly,
        templates: None,
        now: NOW,
        state_directory: (check.contract.seeding.state == SeedState::StateDirectory)
            .then_some(&*chitin_home),
        vanished: OnVanished::AsContract,
        git: Some(&git),
    };
    Ok(seed::read_state(&root, &request).is_complete())
}

fn ensure(check: &Check<'_>, stage: &Stage, chitin_home: &Path, step: &Value) -> Result<Value> {
    // What counts is whether a repository is asked for; making one needs no program.
    let git = |directory: &Path| std::fs::create_dir_all(directory.join(".git"));
    let request = SeedRequest {
        directory: &stage.workspace,
        contract: check.contract,
        templates: None,
        files: if step["ensure_files"] == false {
            SeedFiles::DirectoryOnly
        } else {
            SeedFiles::Templates
        },
        now: NOW,
        state_directory: (check.contract.seeding.state == SeedState::StateDirectory)
            .then_some(chitin_home),
        vanished: OnVanished::AsContract,
        git: Some(&git),
    };
    let result = seed::seed(&request);
    let mut snapshot = Map::new();
    let mut entries: Vec<String> = std::fs::read_dir(&stage.workspace)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    entries.sort();
    snapshot.insert("entries".into(), json!(entries));
    snapshot.insert("git".into(), json!(stage.workspace.join(".git").exists()));
    if check.contract.seeding.state != SeedState::Nowhere {
        let has_file = stage.workspace.join(STATE_FILE).exists();
        snapshot.insert("state_file".into(), json!(has_file));
        let root = Root::open(&stage.workspace)?;
        let known = seed::read_state(&root, &request);
        if has_file || check.contract.seeding.state == SeedState::StateDirectory {
            let mut fields: Vec<String> = known
                .to_json()
                .as_object()
                .into_iter()
                .flat_map(Map::keys)
                .cloned()
                .collect();
            fields.sort();
            snapshot.insert("state_fields".into(), json!(fields));
        } else {
            snapshot.insert("state_fields".into(), Value::Null);
        }
        snapshot.insert(
            "bootstrap_status".into(),
            json!(seed::status(&root, &known)),
        );
    }
    if let Some(names) = check.input["check_unchanged"].as_array() {
        let unchanged: Map<String, Value> = names
            .iter()
            .filter_map(Value::as_str)
            .map(|name| {
                let given = check.input["workspace"]["files"]
                    .as_array()
                    .into_iter()
                    .flatten();
                let given = given
                    .filter(|file| file["path"] == name)
                    .find_map(|file| crate::stage::content(file).ok());
                (
                    name.to_owned(),
                    json!(std::fs::read(stage.workspace.join(name)).ok() == given),
                )
            })
            .collect();
        snapshot.insert("unchanged".into(), Value::Object(unchanged));
    }
    match result {
        Ok(_) => {}
        Err(SeedError::Vanished { .. }) => {
            snapshot.insert("error".into(), json!("WorkspaceVanishedError"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Value::Object(snapshot))
}

pub(super) fn status(check: &Check<'_>) -> Result<Value> {
    let stage = Stage::build(check.input)?;
    let request = SeedRequest {
        directory: &stage.workspace,
        contract: check.contract,
        files: SeedFiles::DirectoryOnly,
        templates: None,
        now: NOW,
        state_directory: None,
        vanished: OnVanished::AsContract,
        git: None,
    };
    let root = Root::open(&stage.workspace)?;
    let known = seed::read_state(&root, &request);
    known.migrate(&root)?;
    let after = std::fs::read_to_string(stage.workspace.join(STATE_FILE)).ok();
    let after: Value = after
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    Ok(json!({ "status": seed::status(&root, &known), "state_after": after }))
}
