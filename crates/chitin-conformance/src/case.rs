//! Case files: what is given, what was recorded, for which contract.
#![expect(
    clippy::disallowed_methods,
    reason = "the runner reads its own case files"
)]

use anyhow::{Context, Result};
use chitin_contract::Contract;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// One recorded case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The family, from the directory that holds `cases`.
    pub family: String,
    /// The id, unique in its family.
    pub id: String,
    /// The operation.
    pub op: String,
    /// The whole case.
    pub body: Value,
    /// The file it was read from.
    pub path: PathBuf,
}

/// One case seen through one contract.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// The case.
    pub case: &'a Case,
    /// The contract to apply.
    pub contract: &'static Contract,
    /// What was given.
    pub input: &'a Value,
    /// What was recorded.
    pub expected: &'a Value,
}

impl Check<'_> {
    /// Returns the case id with the contract's name.
    pub fn label(&self) -> String {
        format!("{} [{}]", self.case.id, self.contract.name)
    }
}

/// The releases that were recorded, and the contracts that hold them.
const RECORDED: [(&str, &Contract); 4] = [
    ("2026.2.9", &chitin_contract::OPENCLAW_2026_2),
    ("2026.4.23", &chitin_contract::OPENCLAW_2026_4),
    ("2026.8.2", &chitin_contract::OPENCLAW_2026_8),
    ("2026.9.6", &chitin_contract::OPENCLAW_2026_9),
];

impl Case {
    /// Returns one check per contract that the case speaks of.
    pub fn checks(&self) -> Vec<Check<'_>> {
        let null = &Value::Null;
        let input = self.body.get("input").unwrap_or(null);
        let expected = self
            .body
            .get("expected")
            .or_else(|| self.body.get("expect"))
            .unwrap_or(null);
        let recorded: Vec<_> = RECORDED
            .into_iter()
            .filter_map(|(release, contract)| Some((contract, expected.get(release)?)))
            .collect();
        if recorded.is_empty() {
            let contract = match self.family.as_str() {
                "bridge" => &chitin_contract::ATMOSPHERE,
                _ => &chitin_contract::CANONICAL,
            };
            return vec![Check {
                case: self,
                contract,
                input,
                expected,
            }];
        }
        recorded
            .into_iter()
            .map(|(contract, expected)| Check {
                case: self,
                contract,
                input,
                expected,
            })
            .collect()
    }
}

/// Finds and reads every case beneath a directory, sorted by path. Only files below a directory called `cases`, or
/// directly in the directory that was named, are cases.
pub fn find(directory: &Path) -> Result<Vec<Case>> {
    let mut files = Vec::new();
    collect(directory, true, &mut files)
        .with_context(|| format!("cannot list `{}`", directory.display()))?;
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let lines: Vec<&str> = match path.extension() {
            Some(ext) if ext == "jsonl" => text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .collect(),
            _ => vec![text.as_str()],
        };
        for line in lines {
            let body: Value = serde_json::from_str(line)
                .with_context(|| format!("`{}` is not a case", path.display()))?;
            let string = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
            let (Some(id), Some(op)) = (string("id"), string("op").or_else(|| string("kind")))
            else {
                continue;
            };
            cases.push(Case {
                family: family_of(&path),
                id,
                op,
                body,
                path: path.clone(),
            });
        }
    }
    Ok(cases)
}

fn collect(directory: &Path, take_files: bool, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(
                &path,
                take_files && path.ends_with("cases") || path.ends_with("cases"),
                files,
            )?;
        } else if take_files
            && path
                .extension()
                .is_some_and(|ext| ext == "json" || ext == "jsonl")
        {
            files.push(path);
        }
    }
    Ok(())
}

fn family_of(path: &Path) -> String {
    let parent = path.parent().unwrap_or(path);
    let named = if parent.ends_with("cases") {
        parent.parent().unwrap_or(parent)
    } else {
        parent
    };
    named
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
