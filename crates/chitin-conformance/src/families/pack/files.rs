//! The trees that pack cases describe: texts, modes, links and odd entries.
#![expect(
    clippy::disallowed_methods,
    reason = "cases describe trees, links and odd entries on purpose, and say what a tree holds afterwards"
)]

use crate::tree;
use anyhow::{Context, Result};
use rustix::fs::{FileType, Mode};
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Returns the bytes that a case writes as text, base64 or a repetition.
pub(super) fn content(value: &Value) -> Result<Vec<u8>> {
    if let Some(text) = value.as_str().or_else(|| value["text"].as_str()) {
        return Ok(text.as_bytes().to_vec());
    }
    if let Some(encoded) = value["base64"].as_str() {
        return tree::base64(encoded);
    }
    let part = value["repeat"].as_str().context("odd content")?;
    let times = value["times"].as_u64().context("a count")?;
    Ok(part.repeat(usize::try_from(times)?).into_bytes())
}

/// Writes a map from path to content below a directory. Hard links come last: what they name must be there.
pub(super) fn write(root: &Path, files: &Value) -> Result<()> {
    fs::create_dir_all(root)?;
    let entries: Vec<_> = files.as_object().into_iter().flatten().collect();
    let is_hard = |content: &Value| content.get("hardlink").is_some();
    let plain = entries.iter().filter(|(_, content)| !is_hard(content));
    let hard = entries.iter().filter(|(_, content)| is_hard(content));
    for (path, described) in plain.chain(hard) {
        let path = root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if let Some(target) = described["symlink"].as_str() {
            symlink(target, &path)?;
        } else if let Some(target) = described["hardlink"].as_str() {
            fs::hard_link(root.join(target), &path)?;
        } else if described["fifo"] == true {
            let mode = Mode::RUSR | Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, mode, 0)?;
        } else if described["dir"] == true {
            fs::create_dir_all(&path)?;
        } else {
            fs::write(&path, content(described)?)?;
            if let Some(mode) = described["mode"].as_str() {
                let mode = u32::from_str_radix(mode, 8)?;
                fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
            }
        }
    }
    Ok(())
}

/// Sets the times of everything below a directory to another day.
pub(super) fn touch(root: &Path) -> Result<()> {
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            touch(&entry.path())?;
        }
        if !entry.file_type()?.is_symlink() {
            fs::File::open(entry.path())?.set_modified(then)?;
        }
    }
    Ok(())
}

/// Describes the files below a directory as cases do: texts as they are, other bytes as base64, links by their target.
pub(super) fn read(root: &Path) -> Result<Value> {
    let mut found = Map::new();
    collect(root, "", &mut found)?;
    Ok(Value::Object(found))
}

fn collect(directory: &Path, prefix: &str, found: &mut Map<String, Value>) -> Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(directory)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path())?;
            found.insert(path, json!({ "symlink": target.to_string_lossy() }));
        } else {
            let bytes = fs::read(entry.path())?;
            let described = match String::from_utf8(bytes) {
                Ok(text) => json!(text),
                Err(error) => json!({ "bytes": error.into_bytes() }),
            };
            found.insert(path, described);
        }
    }
    Ok(())
}
