//! Loading a directory: `load`, `extra`, `strip`.
use crate::stage::{self, Stage};
use crate::{Check, unprivileged};
use anyhow::Result;
use chitin_contract::{Contract, RefusalStyle};
use chitin_guard::Root;
use chitin_guard::normalized;
use chitin_workspace::load::{LoadError, LoadOptions, load as load_directory, read_policy};
use chitin_workspace::snapshot::{Record, RecordState};
use chitin_workspace::{extras, front_matter};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

pub(super) fn load(check: &Check<'_>) -> Result<Value> {
    let needs_user = check.input["needs"]
        .as_array()
        .is_some_and(|needs| needs.iter().any(|n| n == "unprivileged"));
    let stage = Stage::build(check.input)?;
    let mut path = stage.workspace.clone();
    if check.input["missing_dir"] == true {
        path.push("nope");
    }
    if let Some(relative) = check.input["load_path"].as_str() {
        // Paths are made absolute before they are loaded, whether or not what they lead through is there.
        path = normalized(&path.join(relative));
    }
    let mut link: Option<PathBuf> = None;
    if let Some(name) = check.input["load_via_symlink"].as_str() {
        path = stage.parent().join(name);
        std::os::unix::fs::symlink(&stage.workspace, &path)?;
        link = Some(path.clone());
    }
    let loaded = || load_directory(&path, check.contract, &LoadOptions::default());
    let loaded = if needs_user {
        unprivileged::run(loaded)?
    } else {
        loaded()
    };
    let redact = |text: &str| match &link {
        Some(link) => stage.redact(&text.replace(&*link.to_string_lossy(), "{LINK}")),
        None => stage.redact(text),
    };
    let has_warnings = check.expected.get("warnings").is_some();
    match loaded {
        Ok(workspace) => {
            let files = workspace
                .records()
                .iter()
                .map(|record| describe(record, check.contract, &stage, &redact));
            let mut result = json!({ "files": files.collect::<Vec<_>>() });
            if has_warnings {
                result["warnings"] = json!(workspace.warnings());
            }
            Ok(result)
        }
        Err(LoadError::File { name, .. }) => Ok(json!({ "error": { "file": name } })),
        Err(LoadError::Root { path, .. }) => {
            Ok(json!({ "error": { "file": redact(&path.to_string_lossy()) } }))
        }
    }
}

pub(super) fn extra(check: &Check<'_>) -> Result<Value> {
    let stage = Stage::build(check.input)?;
    let root = Root::open(&stage.workspace)?;
    let patterns: Vec<String> = check.input["patterns"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|pattern| Some(stage.fill_in(pattern.as_str()?)))
        .collect();
    let policy = read_policy(check.contract, &LoadOptions::default());
    let found = extras::find(&root, &patterns, check.contract, &policy, &[]);
    let redact = |text: &str| stage.redact(text);
    let is_canonical = check.contract.loading.refusals == RefusalStyle::Named;
    let mut files: Vec<Value> = found
        .records
        .iter()
        .map(|record| {
            let mut file = describe(record, check.contract, &stage, &redact);
            if let Some(fields) = file.as_object_mut() {
                fields.remove("missing");
            }
            file
        })
        .collect();
    let mut diagnostics: Vec<Value> = found
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let mut fields = json!({ "path": redact(&diagnostic.path.to_string_lossy()), "reason": diagnostic.reason });
            if let (true, Some(refused)) = (is_canonical, diagnostic.refused) {
                fields["refused"] = json!(refused.as_str());
            }
            fields
        })
        .collect();
    let by_path = |item: &Value| stage.fill_in(item["path"].as_str().unwrap_or_default());
    diagnostics.sort_by_key(by_path);
    // Recorded results of releases are sorted by path; canonical states the order itself.
    if !is_canonical {
        files.sort_by_key(by_path);
    }
    let mut result = json!({ "files": files, "diagnostics": diagnostics });
    if check.expected.get("warnings").is_some() {
        result["warnings"] = json!(found.warnings());
    }
    Ok(result)
}

pub(super) fn strip(check: &Check<'_>) -> Value {
    let texts = check.input["texts"].as_array().into_iter().flatten();
    let values = texts.map(|entry| {
        let bytes = stage::content(entry).unwrap_or_default();
        json!({ "content": front_matter::strip(&String::from_utf8_lossy(&bytes)) })
    });
    json!({ "values": values.collect::<Vec<_>>() })
}

/// A record as cases describe it.
fn describe(
    record: &Record,
    contract: &Contract,
    stage: &Stage,
    redact: &dyn Fn(&str) -> String,
) -> Value {
    let mut fields = Map::new();
    fields.insert("name".into(), json!(&*record.name));
    fields.insert("path".into(), json!(redact(&record.path.to_string_lossy())));
    let shown = record.shown(contract);
    fields.insert("missing".into(), json!(shown.is_none()));
    if let Some(Value::Object(text)) = shown.map(|text| stage.text_fields(&text)) {
        fields.extend(text);
    }
    if let (RecordState::Refused(reason), RefusalStyle::Named) =
        (&record.state, contract.loading.refusals)
    {
        fields.insert("refused".into(), json!(reason.as_str()));
    }
    if let Some(oversize) = record.content().and_then(|content| content.oversize) {
        fields.insert("oversize".into(), json!(oversize));
    }
    Value::Object(fields)
}
