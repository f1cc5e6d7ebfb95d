//! Packing, moving, signing and laying out agents, as a user meets it.
#![expect(
    clippy::disallowed_methods,
    reason = "tests build trees on purpose and look at what is there afterwards"
)]

mod bad_input;
mod damaged;
mod definitions;
mod layouts;
mod offline;
mod readme_only;
mod registry;
mod signed_files;
mod signed_names;
mod story;
mod whole_agent;

use chitin_test::TestEnv;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The workspaces that this repository shows.
const EXAMPLES: [&str; 2] = ["harbor", "minimal"];

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

/// Copies an example into the test's own directory: tests change it.
fn copied(env: &TestEnv, name: &str) {
    for (path, (executable, bytes)) in tree(&example(name)) {
        let file = env.file(&format!("{name}/{path}"), bytes);
        if executable {
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

/// Every file below a directory: path → whether it may be run, and its bytes.
fn tree(directory: &Path) -> BTreeMap<String, (bool, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for entry in fs::read_dir(directory.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                waiting.push(path);
                continue;
            }
            let executable = entry.metadata().unwrap().permissions().mode() & 0o111 != 0;
            let bytes = fs::read(entry.path()).unwrap();
            found.insert(path.to_str().unwrap().to_owned(), (executable, bytes));
        }
    }
    found
}

/// What of an example is an agent: all of it but `MEMORY.md`, which travels by request, and state.
fn shipped(directory: &Path) -> BTreeMap<String, (bool, Vec<u8>)> {
    let mut files = tree(directory);
    files.retain(|path, _| path != "MEMORY.md" && !path.starts_with(".openclaw/"));
    files
}

/// The JSON that a command printed; it must have ended well.
fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_str(&text).unwrap()
}
