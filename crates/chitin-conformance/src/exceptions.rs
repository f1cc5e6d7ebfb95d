//! Listed exceptions: cases that we know to differ, each with its reason.

use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// The one file that lists them: a line `family/id: reason` each.
const LISTED: &str = include_str!("../exceptions.txt");

/// Returns the listed exceptions: `family/id` → reason.
pub fn built_in() -> Result<BTreeMap<String, String>> {
    parse(LISTED)
}

fn parse(text: &str) -> Result<BTreeMap<String, String>> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (case, reason) = line
                .split_once(": ")
                .with_context(|| format!("exception without a reason: {line}"))?;
            Ok((case.to_owned(), reason.to_owned()))
        })
        .collect()
}
