//! Keeping and forgetting: backups that are tried by restoring them, and sessions that are deleted everywhere. The real binary, and every byte of its home.
#![expect(
    clippy::disallowed_methods,
    reason = "every file of the home is looked at behind the program's back"
)]

mod backup;
mod forget;
mod hostile;

use crate::run::Talk;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A reply that calls a tool.
fn call(name: &str, arguments: Value) -> Value {
    json!({"toolCalls": [Value::from_iter([("name", name.into()), ("arguments", arguments)])]})
}

/// Records everything that can be recorded, and searches past sessions.
fn everything() -> Value {
    json!({
        "trace": {
            "payloadLog": true, "rawStream": true,
            "cacheTrace": {"enabled": true, "includeMessages": true, "includePrompt": true, "includeSystem": true},
        },
        "memory": {"sources": ["memory", "sessions"]},
    })
}

fn home(talk: &Talk) -> PathBuf {
    talk.env.home().join(".chitin")
}

/// Every file beneath a directory with its content, unpacked where it is packed.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.is_file() {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Says which files hold a text: as it stands there, or in what `chitin undo` keeps packed.
fn holders(root: &Path, text: &str) -> Vec<String> {
    let finds = |bytes: &[u8]| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    let found = files(root).into_iter().filter(|(name, bytes)| {
        let objects = name.find("objects/").map(|at| Path::new(&name[at..]));
        let unpacked = objects.and_then(|path| {
            let mut content = chitin_undo::content_of(path, &bytes[..]).ok()??;
            let mut unpacked = Vec::new();
            content.read_to_end(&mut unpacked).ok()?;
            Some(unpacked)
        });
        finds(bytes) || unpacked.is_some_and(|content| finds(&content))
    });
    found.map(|(name, _)| name).collect()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| unreachable!("{}", shown(output)))
}
