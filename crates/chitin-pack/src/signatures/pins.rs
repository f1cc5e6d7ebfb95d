//! What was accepted under each name of a registry, so that an older artifact does not come back unnoticed.
//!
//! A signature that binds name and version still lets a registry serve last year's release as `latest`. So the newest version and
//! time that were accepted are remembered for each `host/repository:tag`, in a file of Chitin's home:
//!
//! ```json
//! { "pins": { "registry.example/team/agent:latest": { "version": "1.2.0", "signedAt": "…", "digest": "sha256:…" } } }
//! ```

use super::name::UsedName;
use super::verify::{AcceptedSignature, SignatureVerdict};
use crate::compat;
use crate::definition::is_version;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::warning::PackWarning;
use chitin_guard::{ClaimKind, Expected, LinkPolicy, ReadPolicy, Root, WriteError, commit_all};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

/// The file in Chitin's home.
pub const PINS_FILE: &str = "signature-pins.json";
/// What keeps a second process out while the file is changed.
const LOCK: &str = "signature-pins.lock";
/// No honest file is larger.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// More names are refused, so that the file stays one that can be read.
const MAX_PINS: usize = 20_000;
/// Only its owner may change it.
const OWNER_ONLY: u32 = 0o600;

/// What becomes of an artifact that is older than the one that was accepted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OlderArtifacts {
    /// It is refused.
    #[default]
    Refuse,
    /// It is accepted with a warning, and takes the place of the newer one.
    Accept,
}

/// What was accepted under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    signed_at: String,
    digest: Digest,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    pins: BTreeMap<String, Pin>,
}

/// Compares what a verdict accepts with what was accepted under the same name before, and remembers the newer one. Nothing is done
/// for what has no signature that counts, or a name that no registry can point elsewhere.
pub fn pin(
    home: &Root,
    used: &UsedName,
    verdict: &mut SignatureVerdict,
    older: OlderArtifacts,
) -> Result<(), PackError> {
    let newest = verdict.accepted.iter().map(Pin::of).max_by(Pin::compare);
    let (Some(name), Some(newest)) = (used.pinned_as(), newest) else {
        return Ok(());
    };
    // Blocks for the milliseconds that another process needs.
    let _alone = home
        .claim(Path::new(LOCK), ClaimKind::Alone)
        .map_err(unwritable)?;
    let (mut document, expected) = read(home)?;
    if let Some(known) = document.pins.get(&name) {
        if known == &newest {
            return Ok(());
        }
        let is_older = known.digest != newest.digest && newest.compare(known) == Ordering::Less;
        match older {
            OlderArtifacts::Refuse if is_older => return Err(too_old(&name, &newest, known)),
            OlderArtifacts::Accept if is_older => {
                let message = format!("`{name}` is {newest}, older than {known}, as you allowed");
                let warning = PackWarning::new(compat::SIGNATURE_OLDER, message);
                verdict.warnings.push(warning);
            }
            // The same content, with only the older of its signatures at hand, is no news.
            _ if newest.compare(known) == Ordering::Less => return Ok(()),
            OlderArtifacts::Refuse | OlderArtifacts::Accept => {}
        }
    } else if document.pins.len() >= MAX_PINS {
        let message = format!("`{PINS_FILE}` in Chitin's home remembers too many artifacts");
        return Err(PackError::new(ErrorClass::Io, message)
            .hint("delete the entries that you do not need any more"));
    }
    document.pins.insert(name, newest);
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(|error| PackError::new(ErrorClass::Io, error.to_string()))?;
    text.push('\n');
    home.prepare_write(Path::new(PINS_FILE), text.as_bytes(), expected, OWNER_ONLY)
        .and_then(|prepared| commit_all(vec![prepared]))
        .map_err(unwritable)
}

impl Pin {
    fn of(accepted: &AcceptedSignature) -> Self {
        Self {
            version: accepted.version.clone(),
            signed_at: accepted.signed_at.clone(),
            digest: accepted.artifact,
        }
    }

    /// By version first, so that a new signature of an old release does not pass for a new release; then by time.
    fn compare(&self, other: &Self) -> Ordering {
        let versions = self.version.as_deref().zip(other.version.as_deref());
        let versions = versions.filter(|(one, two)| is_version(one) && is_version(two));
        versions
            .map_or(Ordering::Equal, |(one, two)| compare_versions(one, two))
            .then_with(|| compare_times(&self.signed_at, &other.signed_at))
    }
}

impl std::fmt::Display for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(version) = &self.version {
            write!(f, "version {version}, ")?;
        }
        write!(f, "signed at {}", self.signed_at)
    }
}

fn too_old(name: &str, newest: &Pin, known: &Pin) -> PackError {
    let message = format!("`{name}` is older than what was accepted under this name before");
    PackError::new(ErrorClass::SignatureOlder, message).about([
        format!("now: {newest} ({})", newest.digest),
        format!("before: {known} ({})", known.digest),
    ])
}

/// Reads the file. Anything in its place that is not understood stops the command: without pins every rollback passes.
fn read(home: &Root) -> Result<(Document, Expected), PackError> {
    let name = Path::new(PINS_FILE);
    let refused = |why: String| {
        let message = format!("`{PINS_FILE}` in Chitin's home {why}");
        PackError::new(ErrorClass::Io, message).hint(
            "move it away if you know why; rollbacks are noticed again after the next use of each artifact",
        )
    };
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        ..ReadPolicy::inside(MAX_BYTES)
    };
    let read = match home.read(name, &policy) {
        Ok(read) => read,
        Err(error) if error.is_missing() => return Ok((Document::default(), Expected::Absent)),
        Err(error) => return Err(refused("cannot be read".to_owned()).caused_by(error)),
    };
    if !home.is_ours_alone(name) {
        return Err(refused(
            "belongs to another user, or others can write to it".to_owned(),
        ));
    }
    let document: Document = serde_json::from_slice(&read.bytes)
        .map_err(|error| refused(format!("is damaged: {error}")))?;
    Ok((document, Expected::Unchanged(read.fingerprint)))
}

fn unwritable(error: WriteError) -> PackError {
    let message = format!("could not store what was accepted in `{PINS_FILE}` in Chitin's home");
    PackError::new(ErrorClass::Io, message).caused_by(error)
}

/// Compares semantic versions by their rules: numbers, then the pre-release, which comes before the release. Builds do not count.
fn compare_versions(one: &str, two: &str) -> Ordering {
    fn parts(version: &str) -> (&str, Option<&str>) {
        let version = version
            .split_once('+')
            .map_or(version, |(before, _)| before);
        match version.split_once('-') {
            Some((core, before)) => (core, Some(before)),
            None => (version, None),
        }
    }
    let ((one, one_before), (two, two_before)) = (parts(one), parts(two));
    compare_words(one, two).then_with(|| match (one_before, two_before) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(one), Some(two)) => compare_words(one, two),
    })
}

/// Compares words between dots: numbers by size and before other words, more words after fewer.
fn compare_words(one: &str, two: &str) -> Ordering {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let (mut one, mut two) = (one.split('.'), two.split('.'));
    loop {
        let order = match (one.next(), two.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(one), Some(two)) => match (is_number(one), is_number(two)) {
                // Without leading zeros the longer number is the larger one, however long.
                (true, true) => one.len().cmp(&two.len()).then_with(|| one.cmp(two)),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => one.cmp(two),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Compares times of the form that signatures have, with or without a fraction of the second.
fn compare_times(one: &str, two: &str) -> Ordering {
    fn parts(time: &str) -> (&str, &str) {
        let time = time.trim_end_matches('Z');
        let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
        (whole, fraction.trim_end_matches('0'))
    }
    parts(one).cmp(&parts(two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_the_rules_of_semantic_versions() {
        let ordered = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.2.0",
            "1.10.0",
            "2.0.0",
            "100000000000000000000000000000.0.0",
        ];
        for (at, one) in ordered.iter().enumerate() {
            for (other, two) in ordered.iter().enumerate() {
                assert_eq!(compare_versions(one, two), at.cmp(&other), "{one} {two}");
            }
        }
        assert_eq!(compare_versions("1.0.0+a", "1.0.0+b"), Ordering::Equal);
    }

    #[test]
    fn times_are_ordered_with_and_without_fractions() {
        let ordered = [
            "2026-01-31T12:00:00Z",
            "2026-01-31T12:00:00.05Z",
            "2026-01-31T12:00:00.5Z",
            "2026-01-31T12:00:01Z",
            "2027-01-01T00:00:00Z",
        ];
        for (at, one) in ordered.iter().enumerate() {
            for (other, two) in ordered.iter().enumerate() {
                assert_eq!(compare_times(one, two), at.cmp(&other), "{one} {two}");
            }
        }
        assert_eq!(
            compare_times("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"),
            Ordering::Equal
        );
    }
}
