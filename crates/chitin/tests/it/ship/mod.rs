//! Packing, moving, signing and laying out agents, as a user meets it.
#![expect(
    clippy::disallowed_methods,
    reason = "tests build trees on purpose and look at what is there afterwards"
)]

mod bad_input;
mod registry;
mod story;

use chitin_test::TestEnv;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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

/// What of a workspace is an agent: the seven files, `skills/` and `memory/`.
fn shipped(directory: &Path) -> BTreeMap<String, (bool, Vec<u8>)> {
    const FILES: [&str; 7] = [
        "AGENTS.md",
        "SOUL.md",
        "TOOLS.md",
        "IDENTITY.md",
        "USER.md",
        "HEARTBEAT.md",
        "BOOTSTRAP.md",
    ];
    let mut files = tree(directory);
    files.retain(|path, _| {
        FILES.contains(&path.as_str()) || path.starts_with("skills/") || path.starts_with("memory/")
    });
    files
}
