//! What a test needs from the machine. A test that cannot run says so, and `scripts/test` lists it at the end.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// The environment variable that names the file to which every skipped test adds a line: what it needs, a tab, its name.
pub const SKIPPED: &str = "CHITIN_TEST_SKIPPED";

/// Finds a program on `PATH`.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

/// Tells whether all these programs are on `PATH`; where one is not, the test is reported as skipped.
pub fn programs(names: &[&str]) -> bool {
    let missing = names.iter().find(|name| program(name).is_none());
    if let Some(name) = missing {
        skipped(name);
    }
    missing.is_none()
}

/// Reports the test that runs on this thread as skipped: what it needs is the name of a program or a few words.
#[expect(
    clippy::print_stderr,
    reason = "a test that did not run must not look like one that did"
)]
pub fn skipped(needs: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("skipped: {test} needs {needs}");
    let Some(list) = std::env::var_os(SKIPPED).filter(|list| !list.is_empty()) else {
        return;
    };
    // One write, so that lines of tests that run side by side stay whole.
    let line = format!("{needs}\t{test}\n");
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&list)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        unreachable!("cannot add to {}: {error}", list.to_string_lossy());
    }
}
