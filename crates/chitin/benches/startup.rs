//! What a process costs from start to exit: against a program that does nothing, linked the same way, in the same run.
//!
//! `cargo static && cargo bench -p chitin --bench startup` measures the static release, prints the ratios of
//! docs/performance.md and fails when one is over. Without a static release it measures the bench build and says so.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench makes its own program to compare with"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;

/// `chitin --version` against nothing at all.
const VERSION_BUDGET: f64 = 2.0;
/// `chitin check` of an example against nothing at all.
const CHECK_BUDGET: f64 = 3.0;
/// `chitin context --text` of an example against nothing at all.
const TEXT_BUDGET: f64 = 4.0;
/// `chitin context` of an example, with its table and figures, against nothing at all.
const TABLE_BUDGET: f64 = 5.0;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let directory = tempfile::tempdir().unwrap();
    let nothing = nothing(directory.path());
    let built = PathBuf::from(env!("CARGO_BIN_EXE_chitin"));
    let released = built
        .ancestors()
        .nth(2)
        .unwrap()
        .join("x86_64-unknown-linux-gnu/release/chitin");
    let chitin = if released.exists() {
        released
    } else {
        println!("no static release: `cargo static` makes one; measuring the bench build instead");
        built
    };
    let example = |name: &str| root.join("examples").join(name).display().to_string();
    let mut rows = vec![(
        "chitin --version".to_owned(),
        vec!["--version".to_owned()],
        VERSION_BUDGET,
    )];
    for (arguments, budget) in [
        (["check"].as_slice(), CHECK_BUDGET),
        (&["context", "--text"], TEXT_BUDGET),
        (&["context"], TABLE_BUDGET),
    ] {
        for name in ["minimal", "harbor"] {
            let title = format!("chitin {} examples/{name}", arguments.join(" "));
            let arguments = arguments.iter().map(ToString::to_string);
            rows.push((title, arguments.chain([example(name)]).collect(), budget));
        }
    }
    let mut floor = Vec::new();
    let mut samples = vec![Vec::new(); rows.len()];
    for _ in 0..ROUNDS {
        floor.push(time(&nothing, &[], directory.path()));
        for (samples, (_, arguments, _)) in samples.iter_mut().zip(&rows) {
            samples.push(time(&chitin, arguments, directory.path()));
        }
    }
    let floor = median(floor);
    let mut over = false;
    for ((name, _, budget), samples) in rows.iter().zip(samples) {
        let subject = median(samples);
        let ratio = subject.as_secs_f64() / floor.as_secs_f64();
        over |= ratio > *budget;
        println!("{name} / nothing: {subject:?} / {floor:?} = {ratio:.2} (budget {budget})");
    }
    if over {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Builds a static program that does nothing.
fn nothing(directory: &Path) -> PathBuf {
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

fn time(program: &Path, arguments: &[String], home: &Path) -> Duration {
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

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}
