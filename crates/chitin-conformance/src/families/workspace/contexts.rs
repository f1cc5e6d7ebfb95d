//! A whole turn's files, from the directory to the blocks: `context`, `refresh`.
#![expect(
    clippy::disallowed_methods,
    reason = "session files and edits are written by the runner"
)]

use super::rendering::{context_files, rendered};
use super::seeding;
use super::turns::{context_mode, run_kind};
use crate::stage::{self, Stage};
use crate::{Check, unprivileged};
use anyhow::{Context, Result};
use chitin_config::heartbeat;
use chitin_config::settings::settings;
use chitin_context::budget::{BudgetLimits, ContextFile};
use chitin_context::files::{Files, FilesIn, files};
use chitin_context::refresh::{Frozen, RefreshRule};
use chitin_contract::{Contract, RefusalStyle};
use chitin_guard::Root;
use chitin_protocol::session_key::ChatType;
use chitin_workspace::Workspace;
use chitin_workspace::extras::{self, ExtraFiles};
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::load::{LoadError, LoadOptions, Loader, read_policy};
use chitin_workspace::persona_swap::{self, SwapMoment};
use chitin_workspace::snapshot::Record;
use chitin_workspace::turn_marker;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// What one turn found on disk.
#[derive(Clone)]
struct Found {
    workspace: Arc<Workspace>,
    extras: Arc<ExtraFiles>,
}

pub(super) fn context(check: &Check<'_>) -> Result<Value> {
    let stage = Stage::build(check.input)?;
    let redact = |text: &str| redacted(text, &stage);
    let setup_complete = seeding::pre_steps(check, &stage)?;
    let loader = Loader::new(&stage.workspace, check.contract, &LoadOptions::default());
    let needs_user = check.input["needs"]
        .as_array()
        .is_some_and(|needs| needs.iter().any(|n| n == "unprivileged"));
    let config = &check.input["config"];
    let look = || look(&loader, &stage, check.contract, config, check.input);
    let found = if needs_user {
        unprivileged::run(look)?
    } else {
        look()
    };
    let found = match found {
        Ok(found) => found,
        Err(LoadError::File { name, .. }) => return Ok(json!({ "error": { "file": name } })),
        Err(LoadError::Root { path, .. }) => {
            return Ok(json!({ "error": { "file": redact(&path.to_string_lossy()) } }));
        }
    };
    let marked = is_marked(check, &stage)?;
    let turn = place(
        check.contract,
        config,
        check.input,
        &found,
        marked,
        setup_complete,
    );
    let mut result = Map::new();
    let only = check.input["only_paths"].as_array();
    let wanted = |path: &Path| {
        only.is_none_or(|only| {
            only.iter()
                .filter_map(Value::as_str)
                .any(|name| path == stage.workspace.join(name))
        })
    };
    let kept: Vec<Value> = turn
        .records
        .iter()
        .zip(&turn.outcomes)
        .filter(|(record, outcome)| {
            !matches!(outcome, chitin_context::files::FileOutcome::NotKept(_))
                && wanted(&record.path)
        })
        .map(|(record, _)| bootstrap_file(record, check.contract, &redact))
        .collect();
    result.insert("bootstrap_files".into(), json!(kept));
    let shown: Vec<_> = turn
        .files
        .iter()
        .filter(|file| wanted(Path::new(&*file.path)))
        .cloned()
        .collect();
    result.insert(
        "context_files".into(),
        shown_files(&shown, check.contract, &redact),
    );
    let warnings: Vec<String> = turn.warnings.iter().map(ToString::to_string).collect();
    result.insert("warnings".into(), json!(warnings));
    if check.expected.get("diagnostics").is_some() {
        result.insert(
            "diagnostics".into(),
            diagnostics(&found.extras, check, &redact),
        );
    }
    let blocks = if only.is_some() {
        let placed: Vec<_> = turn
            .files
            .iter()
            .zip(0..)
            .filter(|(file, at)| {
                wanted(Path::new(&*file.path))
                    && turn
                        .outcomes
                        .contains(&chitin_context::files::FileOutcome::In { file: *at })
            })
            .map(|(file, _)| file.clone())
            .collect();
        chitin_context::render::blocks(&placed, &check.contract.rendering, &[])
    } else {
        turn.blocks
    };
    result.insert("rendered".into(), rendered(check, blocks, &redact)?);
    Ok(Value::Object(result))
}

pub(super) fn refresh(check: &Check<'_>) -> Result<Value> {
    let stage = Stage::build(check.input)?;
    let redact = |text: &str| redacted(text, &stage);
    let loader = Loader::new(&stage.workspace, check.contract, &LoadOptions::default());
    let mut frozen = Frozen::new(16);
    let policy = RefreshRule::of(check.contract);
    let mut turn = |input: &Value| -> Result<Files> {
        let key = input["session_key"].as_str();
        let found = frozen.take(key, policy, || {
            look(&loader, &stage, check.contract, &input["config"], input)
        })?;
        Ok(place(
            check.contract,
            &input["config"],
            input,
            &found,
            false,
            false,
        ))
    };
    let first = turn(&check.input["first"])?;
    for edit in check.input["edit"].as_array().into_iter().flatten() {
        apply(edit, &stage)?;
    }
    let second = turn(&check.input["second"])?;
    let mut result = json!({
        "first": shown_files(&first.files, check.contract, &redact),
        "second": shown_files(&second.files, check.contract, &redact),
    });
    if check.expected.get("second_warnings").is_some() {
        let warnings: Vec<String> = second.warnings.iter().map(ToString::to_string).collect();
        result["second_warnings"] = json!(warnings);
    }
    Ok(result)
}

/// Reads the directory and what configuration adds to it.
fn look(
    loader: &Loader,
    stage: &Stage,
    contract: &'static Contract,
    config: &Value,
    input: &Value,
) -> Result<Found, LoadError> {
    let mut workspace = loader.load()?;
    let mut found = ExtraFiles::default();
    if let Ok(root) = Root::open(&stage.workspace) {
        let policy = read_policy(contract, &LoadOptions::default());
        if let Some(patterns) = extras::patterns(config) {
            let patterns: Vec<String> = patterns.iter().map(|p| stage.fill_in(p)).collect();
            found = extras::find(&root, &patterns, contract, &policy, workspace.records());
        }
        let moment = SwapMoment {
            dice: 0.5,
            minutes: 720,
        };
        let key = input["session_key"].as_str();
        let swapped = persona_swap::swapped(
            config,
            contract,
            key,
            &root,
            &policy,
            workspace.records(),
            moment,
        );
        if let Some(persona) = swapped {
            let records = workspace.records().iter().map(|record| {
                if record.path == persona.path {
                    persona.clone()
                } else {
                    record.clone()
                }
            });
            workspace = Arc::new(Workspace::from_records(
                workspace.path(),
                contract,
                records.collect(),
            ));
        }
    }
    Ok(Found {
        workspace,
        extras: Arc::new(found),
    })
}

fn place(
    contract: &'static Contract,
    config: &Value,
    input: &Value,
    found: &Found,
    marked: bool,
    setup_complete: bool,
) -> Files {
    let key = input["session_key"].as_str();
    let agent = input["agent_id"].as_str().map_or_else(
        || {
            key.and_then(|key| {
                chitin_protocol::session_key::SessionKey::parse(key, contract.session_keys)
                    .map(|key| key.agent().to_string())
            })
            .unwrap_or_else(|| "main".to_owned())
        },
        str::to_owned,
    );
    let settings = settings(config, Some(&agent), contract);
    let facts = TurnFacts {
        session_key: key,
        session_id: input["session_id"].as_str(),
        context_mode: context_mode(input),
        run_kind: run_kind(&input["run_kind"]),
        chat_type: input["chat_type"].as_str().and_then(ChatType::parse),
        context_injection: Some(&settings.context_injection),
        marked,
        setup_complete,
        bootstrap_full: input["bootstrap_mode"] == "full",
        heartbeat_off: !config.is_null() && heartbeat::is_off(config, &agent, contract),
        subagent_files: None,
        linked_memory: &[],
        without_memory: false,
    };
    files(&FilesIn {
        workspace: &found.workspace,
        extras: &found.extras.records,
        facts: &facts,
        limits: &BudgetLimits::of(contract).with_settings(&settings),
        projects: &[],
    })
}

fn is_marked(check: &Check<'_>, stage: &Stage) -> Result<bool> {
    if check.input["session_file"].is_null() {
        return Ok(false);
    }
    let mut path = stage.parent().join("session.jsonl");
    std::fs::write(&path, stage::content(&check.input["session_file"])?)?;
    if check.input["session_symlink"] == true {
        let link = stage.parent().join("link.jsonl");
        std::os::unix::fs::symlink(&path, &link)?;
        path = link;
    }
    Ok(turn_marker::is_marked(&path, check.contract)?)
}

fn bootstrap_file(record: &Record, contract: &Contract, redact: &dyn Fn(&str) -> String) -> Value {
    let mut fields = json!({
        "name": &*record.name,
        "path": redact(&record.path.to_string_lossy()),
        "missing": record.shown(contract).is_none(),
    });
    if let (Some(reason), RefusalStyle::Named) = (record.refused(), contract.loading.refusals) {
        fields["refused"] = json!(reason.as_str());
    }
    if let Some(oversize) = record.content().and_then(|content| content.oversize) {
        fields["oversize"] = json!(oversize);
    }
    if record.extra && contract.rendering.extras_last {
        fields["extra"] = json!(true);
    }
    fields
}

fn diagnostics(found: &ExtraFiles, check: &Check<'_>, redact: &dyn Fn(&str) -> String) -> Value {
    let mut list: Vec<(String, Value)> = found
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let path = diagnostic.path.to_string_lossy();
            let mut fields = json!({ "path": redact(&path), "reason": diagnostic.reason });
            if let (Some(refused), RefusalStyle::Named) =
                (diagnostic.refused, check.contract.loading.refusals)
            {
                fields["refused"] = json!(refused.as_str());
            }
            (path.into_owned(), fields)
        })
        .collect();
    list.sort_by(|(left, _), (right, _)| left.cmp(right));
    list.into_iter().map(|(_, fields)| fields).collect()
}

/// Puts placeholders in place of paths. A marker that was clamped holds the beginning of the workspace's path, which
/// cases write as `{WORKSPACE:n}`.
pub(super) fn redacted(text: &str, stage: &Stage) -> String {
    let path = stage.workspace.to_string_lossy();
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('…') {
        let (before, after) = rest.split_at(at);
        let stem = before
            .rfind(": ")
            .map_or(before, |colon| &before[colon + 2..]);
        if !stem.is_empty() && path.len() > stem.len() && path.starts_with(stem) {
            shown.push_str(&stage.redact(&before[..before.len() - stem.len()]));
            let _ = write!(shown, "{{WORKSPACE:{}}}", stem.len());
        } else {
            shown.push_str(&stage.redact(before));
        }
        shown.push('…');
        rest = &after['…'.len_utf8()..];
    }
    shown + &stage.redact(rest)
}

/// Context files; releases have no flag for added ones.
fn shown_files(
    turn: &[ContextFile],
    contract: &Contract,
    redact: &dyn Fn(&str) -> String,
) -> Value {
    let mut files = context_files(turn, redact);
    if !contract.rendering.extras_last {
        for file in &mut files {
            file.as_object_mut()
                .and_then(|fields| fields.remove("extra"));
        }
    }
    json!(files)
}

fn apply(edit: &Value, stage: &Stage) -> Result<()> {
    let at = |name: &Value| -> Result<std::path::PathBuf> {
        Ok(stage.workspace.join(name.as_str().context("a path")?))
    };
    if !edit["delete"].is_null() {
        std::fs::remove_file(at(&edit["delete"])?)?;
        return Ok(());
    }
    if !edit["symlink"].is_null() {
        let path = at(&edit["symlink"]["path"])?;
        let _ = std::fs::remove_file(&path);
        let target = edit["symlink"]["target"].as_str().context("a target")?;
        std::os::unix::fs::symlink(stage.fill_in(target), path)?;
        return Ok(());
    }
    let path = at(&edit["path"])?;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let before = std::fs::metadata(&path).and_then(|m| m.modified()).ok();
    let bytes = stage::content(edit)?;
    if edit["replace"] == true {
        let beside = stage.workspace.join(".replacement");
        std::fs::write(&beside, bytes)?;
        std::fs::rename(beside, &path)?;
    } else {
        std::fs::write(&path, bytes)?;
    }
    if let (true, Some(before)) = (edit["keep_mtime"] == true, before) {
        std::fs::File::options()
            .write(true)
            .open(&path)?
            .set_modified(before)?;
    }
    Ok(())
}
