//! One directory of this process for the trees that targets build.
#![expect(
    clippy::disallowed_methods,
    reason = "hostile trees are built and torn down by hand"
)]

use std::fs;
use std::path::PathBuf;

fn base() -> PathBuf {
    std::env::temp_dir().join(format!("chitin-fuzz-{}", std::process::id()))
}

/// Returns an empty directory of that name, whatever an earlier input left there. Its path has no links in it.
pub fn fresh(name: &str) -> PathBuf {
    let directory = base().join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the directory for temporary files can be written");
    fs::canonicalize(&directory).expect("a directory that was just made is there")
}

/// Takes everything away that [`fresh`] made.
pub fn remove() {
    let _ = fs::remove_dir_all(base());
}
