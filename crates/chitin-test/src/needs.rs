//! What a test needs from the machine. A test that cannot run says so, and `scripts/test` lists it at the end.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

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

/// Tells whether `bwrap` is here and may make namespaces: in a container or a changed root, an ordinary user often may not.
pub fn bwrap() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    if !programs(&["bwrap"]) {
        return false;
    }
    let works = *WORKS.get_or_init(|| {
        let mut trial = Command::new("bwrap");
        trial.args(["--unshare-user", "--unshare-pid", "--unshare-net"]);
        trial.args(["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]);
        trial.args(["--", "true"]).stdin(Stdio::null());
        trial.output().is_ok_and(|output| output.status.success())
    });
    if !works {
        skipped("the right to make namespaces with bwrap");
    }
    works
}

/// Tells whether time zones have names here, in one of the places that systems keep them.
pub fn time_zones() -> bool {
    let named = std::env::var_os("TZDIR").map(PathBuf::from);
    let usual = [
        "/usr/share/zoneinfo",
        "/usr/share/lib/zoneinfo",
        "/etc/zoneinfo",
    ]
    .map(PathBuf::from);
    let known = named
        .into_iter()
        .chain(usual)
        .any(|directory| directory.join("Europe/Oslo").is_file());
    if !known {
        skipped("tzdata");
    }
    known
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
