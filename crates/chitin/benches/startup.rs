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

mod floor;

use floor::{median, nothing, released, time};
use std::path::Path;
use std::process::ExitCode;

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
    let chitin = released();
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
