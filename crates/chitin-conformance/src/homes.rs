//! Whole homes of releases, with what a faithful reader finds in them: `NAME/expected.json` beside `NAME/.openclaw`.
//!
//! Each top-level field of what is expected is a case, and so is that nothing in the home changes. A home is read as a private copy in which
//! `{HOME}` stands for a real path.
#![expect(
    clippy::disallowed_methods,
    reason = "the runner copies homes, and looks at them behind the reader's back"
)]

use crate::{Case, Outcome};
use anyhow::{Context, Result};
use chitin_openclaw::{Home, HomeContents, HomeOptions, HomePaths};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The family that homes belong to, whatever directory they are in.
const FAMILY: &str = "home";
/// What is expected, beside the home.
const EXPECTED: &str = "expected.json";
/// What stands for the path of the home.
const PLACEHOLDER: &str = "{HOME}";

/// Lists whose order says nothing, by the name that they have wherever they stand.
const SETS: [&str; 14] = [
    "allowlists",
    "authProfiles",
    "gatewayLocks",
    "heartbeatScratch",
    "internal",
    "leftBehind",
    "liveLegacyFiles",
    "otherTranscripts",
    "pendingPairings",
    "secretRefs",
    "sessions",
    "skills",
    "toolsCalled",
    "unreadable",
];

/// Finds every home beneath a directory, the directory itself included, sorted by path.
pub(crate) fn find(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(here) = open.pop() {
        if here.join(EXPECTED).is_file() && here.join(".openclaw").is_dir() {
            found.push(here);
            continue;
        }
        let entries =
            fs::read_dir(&here).with_context(|| format!("cannot list `{}`", here.display()))?;
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a home and compares every field of what is expected.
pub(crate) fn run(home: &Path) -> Result<Vec<(Case, Outcome)>> {
    let name = home.file_name().unwrap_or_default().to_string_lossy();
    let path = home.join(EXPECTED);
    let text = fs::read_to_string(&path)?;
    let expected: Map<String, Value> = serde_json::from_str(&text)
        .with_context(|| format!("`{}` is no map of fields", path.display()))?;
    let case = |field: &str| Case {
        family: FAMILY.to_owned(),
        id: format!("{name}/{field}"),
        op: "home".to_owned(),
        body: Value::Null,
        path: path.clone(),
    };
    let recorded = look(home)?;
    let stage = tempfile::tempdir()?;
    let base = fs::canonicalize(stage.path())?;
    let (copy, scratch) = (base.join("home"), base.join("scratch"));
    fs::create_dir(&scratch)?;
    stage_copy(home, &copy, &copy)?;
    let before = look(&copy)?;
    let contents = Home::open(&HomePaths::at(&copy), HomeOptions::new(&scratch))?.read();
    let untouched = before == look(&copy)?
        && recorded == look(home)?
        && fs::read_dir(&scratch)?.next().is_none();
    let mut ours = shown(&contents)?;
    ours["fixture"] = name.as_ref().into();
    let ours = generalised(ours, &copy.display().to_string());
    let mut outcomes: Vec<_> = expected
        .iter()
        .map(|(field, expected)| {
            let ours = ours.get(field).cloned().unwrap_or_default();
            let outcome = Outcome::judge(
                &comparable(field, expected.clone()),
                &comparable(field, ours),
            );
            (case(field), outcome)
        })
        .collect();
    outcomes.push((
        case("untouched"),
        if untouched {
            Outcome::Passed
        } else {
            Outcome::Failed("reading changed the home, or left something behind\n".to_owned())
        },
    ));
    Ok(outcomes)
}

/// Returns the contents as they are recorded: with the digests of secrets.
fn shown(contents: &HomeContents) -> Result<Value> {
    let mut value = serde_json::to_value(contents)?;
    for (at, profile) in contents.auth_profiles.iter().enumerate() {
        if let Some(secret) = &profile.secret {
            value["authProfiles"][at]["secretSha256"] = digest(secret).into();
        }
    }
    for (at, key) in contents.env.iter().enumerate() {
        value["env"][at]["sha256"] = digest(&key.value).into();
    }
    for (name, channel) in &contents.channels {
        let shown = &mut value["channels"][name];
        for (account, channel) in &channel.accounts {
            add_channel_secret(channel, &mut shown["accounts"][account]);
        }
        add_channel_secret(channel, shown);
    }
    Ok(value)
}

fn add_channel_secret(channel: &chitin_openclaw::ConfiguredChannel, shown: &mut Value) {
    let secret = channel.secret.as_ref();
    if let Some(secret) = secret.and_then(|secret| secret.secret.as_ref()) {
        shown["secret"]["sha256"] = digest(secret).into();
    }
}

fn digest(secret: &SecretString) -> String {
    sum(secret.expose_secret().as_bytes())
}

fn sum(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Puts the placeholder in the place of the real path.
fn generalised(value: Value, home: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(home, PLACEHOLDER)),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| generalised(item, home));
            Value::Array(items.collect())
        }
        Value::Object(members) => {
            let members = members.into_iter();
            let members = members.map(|(key, value)| (key, generalised(value, home)));
            Value::Object(members.collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Returns a value such that equal ones say the same: nothing and what is empty are left out, and lists without an order are sorted.
fn comparable(name: &str, value: Value) -> Value {
    let said = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    match value {
        Value::Array(items) => {
            let items = items.into_iter().map(|item| comparable("", item));
            let mut items: Vec<Value> = items.collect();
            if SETS.contains(&name) {
                items.sort_by_cached_key(Value::to_string);
            }
            Value::Array(items)
        }
        Value::Object(members) => {
            let sorted: BTreeMap<String, Value> = members
                .into_iter()
                .map(|(key, value)| {
                    let value = comparable(&key, value);
                    (key, value)
                })
                .filter(|(_, value)| said(value))
                .collect();
            json!(sorted)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            if name.is_empty() || said(&other) {
                other
            } else {
                Value::Null
            }
        }
    }
}

/// Copies a home. Texts get the real path, what is no text is copied as it is.
fn stage_copy(from: &Path, to: &Path, home: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            stage_copy(&source, &target, home)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else if entry.file_name() != EXPECTED || home != to {
            let bytes = match String::from_utf8(fs::read(&source)?) {
                Ok(text) if !is_database(&source) => text
                    .replace(PLACEHOLDER, &home.display().to_string())
                    .into_bytes(),
                Ok(text) => text.into_bytes(),
                Err(error) => error.into_bytes(),
            };
            fs::write(&target, bytes)?;
            fs::set_permissions(&target, entry.metadata()?.permissions())?;
        }
    }
    let mode = fs::metadata(from)?.permissions().mode();
    fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
    Ok(())
}

fn is_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains(".sqlite")
}

/// What tells whether an entry changed: kind and mode, size, both times, and the digest of a file.
type Seen = (u32, u64, (i64, i64), (i64, i64), String);

/// Looks at all of a tree without changing anything but access times.
fn look(tree: &Path) -> Result<BTreeMap<PathBuf, Seen>> {
    let mut seen = BTreeMap::new();
    let mut open = vec![tree.to_path_buf()];
    while let Some(here) = open.pop() {
        let found = fs::symlink_metadata(&here)?;
        let content = if found.is_file() {
            sum(&fs::read(&here)?)
        } else {
            String::new()
        };
        if found.is_dir() {
            for entry in fs::read_dir(&here)? {
                open.push(entry?.path());
            }
        }
        let modified = (found.mtime(), found.mtime_nsec());
        let changed = (found.ctime(), found.ctime_nsec());
        seen.insert(
            here,
            (found.mode(), found.size(), modified, changed, content),
        );
    }
    Ok(seen)
}
