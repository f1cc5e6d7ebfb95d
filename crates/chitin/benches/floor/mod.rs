//! The floor that processes are measured against, and how they are timed.

#[allow(dead_code, reason = "each bench uses what it needs")]
pub(crate) mod yard;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the static release; without one, the bench build, and says so.
pub(crate) fn released() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_chitin"));
    let released = built
        .ancestors()
        .nth(2)
        .unwrap()
        .join("x86_64-unknown-linux-gnu/release/chitin");
    if released.exists() {
        return released;
    }
    println!("no static release: `cargo static` makes one; measuring the bench build instead");
    built
}

/// Builds a static program that does nothing.
pub(crate) fn nothing(directory: &Path) -> PathBuf {
    let source = directory.join("nothing.rs");
    std::fs::write(&source, "fn main() {}\n").unwrap();
    let program = directory.join("nothing");
    let built = Command::new("rustc")
        .args([
            "-O",
            "-C",
            "target-feature=+crt-static",
            "-C",
            "strip=symbols",
            "-o",
        ])
        .args([&program, &source])
        .status()
        .unwrap();
    assert!(built.success());
    program
}

pub(crate) fn time(program: &Path, arguments: &[String], home: &Path) -> Duration {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap();
    let took = start.elapsed();
    assert!(status.success(), "{} {arguments:?}", program.display());
    took
}

pub(crate) fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}
