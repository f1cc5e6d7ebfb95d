//! Secrets in what is about to be shipped: the workspace checker, run over the very bytes that leave.

use crate::archive::{ArchiveEntryKind, broken};
use crate::artifact::Artifact;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use crate::store::Store;
use chitin_check::{Finding, secret_findings};
use std::io::Read;

/// Of a larger file only the beginning is looked at: nobody writes a key behind sixteen megabytes of notes.
const MAX_TEXT_BYTES: u64 = 16 * 1024 * 1024;
/// More findings than this are not listed.
const MAX_FINDINGS: usize = 100;

/// Looks for secrets in every layer that was not found free of them before.
pub fn secrets(artifact: &Artifact, store: &Store) -> Result<Vec<Finding>, PackError> {
    let mut findings = Vec::new();
    for (kind, layer) in artifact.layers() {
        if store.is_clean(&layer.digest) {
            continue;
        }
        let before = findings.len();
        match kind.format() {
            Format::Tar => artifact.files(*kind, u64::MAX, |entry, content| {
                if let ArchiveEntryKind::File { .. } = entry.kind {
                    look(&shown(*kind, &entry.path), content, &mut findings)?;
                }
                Ok(())
            })?,
            Format::Json | Format::Raw => {
                let document = artifact.document(*kind)?.unwrap_or_default();
                look(kind.name(), &mut document.as_slice(), &mut findings)?;
            }
        }
        if findings.len() == before {
            store.mark_clean(&layer.digest)?;
        }
    }
    findings.truncate(MAX_FINDINGS);
    Ok(findings)
}

/// Refuses an artifact with secrets in it, and names each place.
pub fn refuse_secrets(artifact: &Artifact, store: &Store) -> Result<(), PackError> {
    let findings = secrets(artifact, store)?;
    if findings.is_empty() {
        return Ok(());
    }
    let places = findings.iter().map(|finding| {
        let line = finding.place.map_or(1, |place| place.line);
        format!(
            "{}:{line} {} {}",
            finding.path, finding.code, finding.message
        )
    });
    Err(PackError::new(
        ErrorClass::SecretFound,
        "there are secrets in the files that would be shipped",
    )
    .about(places)
    .hint("take them out, leave the file out with `.staxignore`, or allow them if they are none"))
}

fn look(path: &str, content: &mut dyn Read, findings: &mut Vec<Finding>) -> Result<(), PackError> {
    if findings.len() >= MAX_FINDINGS {
        return Ok(());
    }
    let mut bytes = Vec::new();
    content
        .take(MAX_TEXT_BYTES)
        .read_to_end(&mut bytes)
        .map_err(broken)?;
    // What is no text has no words to look at.
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        return Ok(());
    }
    findings.extend(secret_findings(path, &String::from_utf8_lossy(&bytes)));
    Ok(())
}

/// The path as the author knows it.
fn shown(kind: LayerKind, path: &str) -> String {
    match kind.workspace_path(path) {
        Some(place) => place,
        None if kind == LayerKind::Surfaces => path.to_owned(),
        None => format!("{}/{path}", kind.name()),
    }
}

/// The record of layers without secrets, by digest: what has not changed need not be looked at again.
impl Store {
    fn is_clean(&self, layer: &Digest) -> bool {
        self.has_mark(CLEAN, layer, MARK)
    }

    fn mark_clean(&self, layer: &Digest) -> Result<(), PackError> {
        self.set_mark(CLEAN, layer, MARK)
    }
}

const CLEAN: &str = "clean";
/// Changes with the program: another version may know more secrets.
const MARK: &str = env!("CARGO_PKG_VERSION");
