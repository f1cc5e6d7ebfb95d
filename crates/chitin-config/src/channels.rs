//! Judges the inside of `channels`, by what Chitin reads of it.
//!
//! A load does not do that: what is odd there must not quietly mean its default, so it goes on to the networks as it stands, and they refuse
//! what they cannot use. This is for whoever asks what is wrong.

use super::chitin_json5::{self, LoadedChitinConfig};
use super::keys::networks::CHANNELS_HERE;
use super::source::{ConfigFile, find};
use super::validate::{Finding, find_by};
use super::{Issue, IssueSeverity, LoadedConfig, load};
use serde_json::Value;

/// Judges `channels` of `chitin.json5`: keys that nobody knows warn, values that cannot be used are errors, and keys that only OpenClaw
/// knows are notes. What was said when the file was read is not said again.
pub fn channel_issues(own: &LoadedChitinConfig) -> Vec<Issue> {
    let findings = findings(&own.value);
    let issues = findings.iter().map(|finding| {
        let issue = chitin_json5::issue(&own.files, finding);
        let severity = if finding.idle {
            IssueSeverity::Note
        } else {
            issue.severity
        };
        Issue { severity, ..issue }
    });
    fresh(issues, &own.issues)
}

/// Judges `channels` of `openclaw.json`. The file is OpenClaw's and means what OpenClaw makes of it, so all that is said are notes.
pub fn channel_notes(loaded: &LoadedConfig) -> Vec<Issue> {
    let findings = findings(&loaded.value);
    let notes = findings.iter().map(|finding| Issue {
        severity: IssueSeverity::Note,
        ..chitin_json5::issue(&loaded.files, finding)
    });
    fresh(notes, &loaded.issues)
}

/// Gives an issue about a value the place where that value was said. A value that nobody said is looked for further up.
#[must_use]
pub fn place_issue(issue: Issue, files: &[ConfigFile], value: &Value) -> Issue {
    let mut path = issue.path.as_str();
    let place = loop {
        let steps = load::steps(value, path);
        if let Some(place) = steps.and_then(|steps| find(files, &steps)) {
            break Some(place);
        }
        match path.rsplit_once('.') {
            Some((above, _)) => path = above,
            None => break None,
        }
    };
    Issue {
        file: place.as_ref().map(|place| place.file.clone()),
        line: place.as_ref().map(|place| place.line),
        column: place.as_ref().map(|place| place.column),
        ..issue
    }
}

fn findings(value: &Value) -> Vec<Finding> {
    let channels = without_nothing(&value["channels"]);
    if channels.is_null() {
        return Vec::new();
    }
    find_by(&CHANNELS_HERE, &serde_json::json!({"channels": channels}))
}

/// Takes out what is `null`: nobody reads that as anything but absent.
fn without_nothing(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, field)| !field.is_null());
            said.map(|(key, field)| (key.clone(), without_nothing(field)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Leaves out what was said already of the same place.
fn fresh(issues: impl Iterator<Item = Issue>, said: &[Issue]) -> Vec<Issue> {
    let is_said = |issue: &Issue| {
        said.iter().any(|said| {
            said.path == issue.path && (said.line, said.column) == (issue.line, issue.column)
        })
    };
    issues.filter(|issue| !is_said(issue)).collect()
}
