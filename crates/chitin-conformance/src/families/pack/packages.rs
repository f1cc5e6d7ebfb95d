//! Packages: resolving, merging, and the lock file.

use super::judge_error;
use crate::{Check, Outcome};
use chitin_pack::layer::LayerKind;
use chitin_pack::packages::{
    Lock, Locked, PackageSource, in_rule_order, merge, merge_members, merge_secrets, resolve,
    units_member,
};
use chitin_pack::{Digest, ErrorClass, PackError};
use serde_json::{Map, Value, json};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "resolve" => resolution(check.input),
        "lockfile" => lock_file(check.input, check.expected),
        _ => Ok(merged(check.input)),
    };
    match actual {
        Ok(actual) => Outcome::judge(check.expected, &actual),
        Err(error) => {
            let cycle = check.expected.get("cyclePath");
            if cycle.is_some_and(|path| *path != json!(error.items())) {
                return Outcome::Failed(format!("ours: {:?}\n", error.items()));
            }
            judge_error(check.expected, &error)
        }
    }
}

/// A registry in memory. Some references stand for something new each time they are asked for.
struct Registry<'c> {
    packages: &'c Value,
    unstable: &'c Value,
    requests: u64,
}

impl PackageSource for Registry<'_> {
    fn locate(&mut self, reference: &str) -> Result<Digest, PackError> {
        self.requests += 1;
        let Some(layer) = self.packages.get(reference) else {
            let message = format!("`{reference}` is not in the case");
            return Err(PackError::new(ErrorClass::MissingPackage, message));
        };
        let unstable = self.unstable.as_array().into_iter().flatten();
        let salt = if unstable.into_iter().any(|known| known == reference) {
            self.requests
        } else {
            0
        };
        Ok(Digest::of(format!("{reference} {layer} {salt}").as_bytes()))
    }

    fn packages(&mut self, reference: &str, _: &Digest) -> Result<Option<Value>, PackError> {
        let layer = self.packages.get(reference).cloned();
        Ok(layer.filter(|layer| !layer.is_null()))
    }
}

fn resolution(input: &Value) -> Result<Value, PackError> {
    let references = texts(&input["refs"]);
    let mut registry = Registry {
        packages: &input["packages"],
        unstable: &input["unstable"],
        requests: 0,
    };
    let lock = match input.get("lock").or_else(|| input.get("lockfile")) {
        None | Some(Value::Null) => None,
        Some(lock) => Some(Lock::from_value(lock)?),
    };
    let found = resolve(&references, &mut registry, lock.as_ref())?;
    Ok(json!({ "ok": true, "order": found.order, "dependencies": found.dependencies }))
}

fn lock_file(input: &Value, expected: &Value) -> Result<Value, PackError> {
    let lock = if let Some(text) = input["text"].as_str() {
        Lock::parse(text.as_bytes())?
    } else {
        let mut lock = Lock::default();
        for package in input["packages"].as_array().into_iter().flatten() {
            let reference = package["reference"].as_str().unwrap_or_default();
            let locked = Locked {
                digest: package["digest"].as_str().unwrap_or_default().parse()?,
                dependencies: texts(&package["dependencies"]),
            };
            lock.packages.insert(reference.to_owned(), locked);
        }
        // Written and read back: what is on the disk is what counts.
        Lock::parse(lock.to_text().as_bytes())?
    };
    let mut actual = json!({ "lock": lock.to_value() });
    if expected.get("ok").is_some() {
        actual["ok"] = json!(true);
    }
    Ok(actual)
}

/// Merges records: one object per level, with a member per kind of layer.
fn merged(input: &Value) -> Value {
    let levels: Vec<&Value> = input["lowToHigh"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let mut merged = Map::new();
    for kind in LayerKind::ALL {
        let of_kind: Vec<&Value> = levels
            .iter()
            .filter_map(|level| level.get(kind.name()))
            .collect();
        let lists = levels.iter().map(|level| match level.get(kind.name()) {
            Some(Value::Array(items)) => items.clone(),
            _ => Vec::new(),
        });
        let Some(highest) = of_kind.last() else {
            continue;
        };
        let value = match units_member(kind) {
            Some(member) if highest.is_object() => merge_members(of_kind, member),
            _ if kind == LayerKind::Secrets => Some(json!(merge_secrets(lists))),
            _ if kind == LayerKind::Rules => Some(json!(rules(lists))),
            _ if highest.is_array() => {
                let keyed = lists.map(|list| list.into_iter().map(|item| (key(kind, &item), item)));
                let units = merge(keyed.map(Iterator::collect::<Vec<_>>));
                let items: Vec<_> = units.into_iter().flat_map(|unit| unit.items).collect();
                Some(json!(items))
            }
            _ => Some((*highest).clone()),
        };
        merged.extend(value.map(|value| (kind.name().to_owned(), value)));
    }
    merged.insert("warnings".to_owned(), json!([]));
    Value::Object(merged)
}

fn key(kind: LayerKind, item: &Value) -> String {
    let path = item["path"].as_str().unwrap_or_default();
    let name = item["name"].as_str();
    match kind {
        LayerKind::Skills => name.unwrap_or_else(|| path.split('/').next().unwrap_or(path)),
        LayerKind::Surfaces => name.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path)),
        LayerKind::Subagents => name.unwrap_or(path),
        _ => path,
    }
    .to_owned()
}

fn rules(lists: impl Iterator<Item = Vec<Value>>) -> Vec<Value> {
    let units = merge(lists.map(|list| {
        let keyed = list.into_iter().map(|rule| {
            let id = rule["id"].as_str().filter(|id| !id.is_empty());
            let key = match id {
                Some(id) => format!("id:{id}"),
                None => format!("path:{}", archive_path(&rule).unwrap_or_default()),
            };
            (key, rule)
        });
        keyed.collect::<Vec<_>>()
    }));
    let ordered = in_rule_order(&units, |rule| {
        let name = archive_path(rule).or_else(|| rule["id"].as_str());
        let priority = rule["priority"].as_f64();
        (priority.unwrap_or_default(), name.unwrap_or_default())
    });
    ordered.into_iter().map(|(_, rule)| rule.clone()).collect()
}

/// Where a rule stands in its archive; records have two words for it.
fn archive_path(rule: &Value) -> Option<&str> {
    rule["archivePath"]
        .as_str()
        .or_else(|| rule["path"].as_str())
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
