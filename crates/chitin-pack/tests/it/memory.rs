//! Large artifacts in little memory.
#![cfg(target_os = "linux")]

use crate::support::{files, put};
use chitin_pack::Digest;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::{ApplyOptions, LayoutOptions, Overwrite, apply, plan};
use chitin_pack::store::Store;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

const DIRECTORY: &str = "CHITIN_TEST_MEMORY_DIRECTORY";
const ARTIFACT: &str = "CHITIN_TEST_MEMORY_ARTIFACT";
/// The most that a process may ever hold, whatever it lays out.
const MAX_KIB: u64 = 64 * 1024;

/// The child: lays one artifact out twice and looks at what it held at its largest.
#[test]
#[ignore = "run by `a_large_artifact_is_laid_out_in_little_memory`"]
fn child() {
    let (Ok(directory), Ok(digest)) = (std::env::var(DIRECTORY), std::env::var(ARTIFACT)) else {
        return;
    };
    let directory = PathBuf::from(directory);
    let store = Arc::new(Store::open(&directory.join("store")).unwrap().unwrap());
    let artifact = store.artifact(&digest.parse::<Digest>().unwrap()).unwrap();
    let plan = plan(&artifact, &LayoutOptions::default()).unwrap();
    for name in ["mine.md", "AGENTS.md"] {
        // The second time everything else has a second name while the new tree is built.
        let target = directory.join("out");
        fs::create_dir_all(&target).unwrap();
        fs::write(target.join(name), "other").unwrap();
        let overwrite = Overwrite::Allow;
        apply(&plan, &artifact, &target, ApplyOptions { overwrite }).unwrap();
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MAX_KIB, "{peak} KiB");
}

#[test]
fn a_large_artifact_is_laid_out_in_little_memory() {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() {
        TempDir::new_in(memory)
    } else {
        TempDir::new()
    }
    .unwrap();
    let store = Arc::new(Store::create(&directory.path().join("store")).unwrap());
    let large = vec![b'x'; 40 * 1024 * 1024];
    let names: Vec<String> = (0..15_000)
        .map(|n| format!("{}/{n}-{}.md", n % 50, "x".repeat(50)))
        .collect();
    let mut notes: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), &b"note"[..]))
        .collect();
    notes.push(("large.md", &large));
    let surfaces: [(&str, &[u8]); 1] = [("instructions.md", b"Follow the lamp.\n")];
    let layers = [
        files(LayerKind::Surfaces, &surfaces),
        files(LayerKind::Memory, &notes),
    ];
    let digest = put(&store, &layers);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::child", "--ignored"])
        .env(DIRECTORY, directory.path())
        .env(ARTIFACT, digest.to_string())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}
