//! `chitin-conformance DIR...`: runs the cases beneath the directories; exits 1 when any failed.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let directories: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    anyhow::ensure!(
        !directories.is_empty(),
        "name at least one directory of cases"
    );
    let report = chitin_conformance::run(&directories)?;
    write!(std::io::stdout().lock(), "{report}")?;
    Ok(if report.has_failures() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
