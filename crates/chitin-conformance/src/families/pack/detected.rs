//! Finding out what a directory was made for.

use super::files;
use crate::{Check, Outcome};
use anyhow::Result;
use chitin_pack::adapters;
use serde_json::json;

pub(super) fn run(check: &Check<'_>) -> Result<Outcome> {
    let directory = tempfile::tempdir()?;
    let (workspace, home) = (directory.path().join("ws"), directory.path().join("home"));
    for (root, tree) in [(&workspace, "workspace"), (&home, "home")] {
        files::write(root, &check.input[tree])?;
    }
    let actual = json!(adapters::detect(&workspace, &home));
    Ok(Outcome::judge(check.expected, &actual))
}
