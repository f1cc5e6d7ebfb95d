//! What an artifact holds, read once: small documents whole, files of archives by name, size and digest.

use super::plan::{MAX_FILES, MAX_NAME_BYTES, too_many};
use crate::archive::{EntryKind, broken};
use crate::artifact::Artifact;
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use crate::template;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;

/// The largest document that is held to be merged with others.
const MAX_DOCUMENT_BYTES: u64 = 2 * 1024 * 1024;
/// All such documents together.
const MAX_DOCUMENTS_BYTES: u64 = 6 * 1024 * 1024;

/// A file in an archive.
#[derive(Debug, Clone)]
pub(super) struct ArchivedFile {
    pub(super) path: String,
    pub(super) executable: bool,
    pub(super) size: u64,
    pub(super) digest: Digest,
}

/// The content of an artifact.
#[derive(Debug)]
pub(super) struct Source<'a> {
    artifact: &'a Artifact,
    files: BTreeMap<LayerKind, Vec<ArchivedFile>>,
    pub(super) persona: Option<Value>,
    pub(super) prompt: Option<String>,
    pub(super) mcp: Option<Value>,
    pub(super) subagents: Option<Value>,
}

impl<'a> Source<'a> {
    /// Reads every layer to its end: one odd entry anywhere refuses the whole (rule P42).
    pub(super) fn read(artifact: &'a Artifact) -> Result<Self, PackError> {
        let mut files = BTreeMap::new();
        let mut count = Count::default();
        for (kind, _) in artifact.layers() {
            if kind.format() == Format::Tar {
                let found = list(artifact, *kind, &mut count)?;
                files.insert(*kind, found);
            }
        }
        let persona = artifact.json(LayerKind::Persona)?;
        let prompt = match artifact.document(LayerKind::Prompt)? {
            Some(bytes) => Some(template::render(
                &text(bytes, "the prompt")?,
                persona.as_ref(),
            )),
            None => None,
        };
        Ok(Self {
            artifact,
            files,
            persona,
            prompt,
            mcp: artifact.json(LayerKind::Mcp)?,
            subagents: artifact.json(LayerKind::Subagents)?,
        })
    }

    /// Tells whether the artifact has such a layer.
    pub(super) fn has(&self, kind: LayerKind) -> bool {
        self.artifact.layer(kind).is_some()
    }

    /// Returns the artifact's own config of its adapter.
    pub(super) fn adapter_config(&self) -> &Value {
        &self.artifact.config["adapter"]["config"]
    }

    /// Returns the files of an archive, in its order.
    pub(super) fn files(&self, kind: LayerKind) -> &[ArchivedFile] {
        self.files.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Finds a file in an archive.
    pub(super) fn file(&self, kind: LayerKind, path: &str) -> Option<&ArchivedFile> {
        self.files(kind).iter().find(|file| file.path == path)
    }

    /// Reads those files of an archive that `wanted` names, in its order.
    pub(super) fn contents(
        &self,
        kind: LayerKind,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, Vec<u8>)>, PackError> {
        let mut found = Vec::new();
        let mut total = 0;
        self.artifact.files(kind, kind.limit(), |entry, content| {
            let EntryKind::File { size, .. } = entry.kind else {
                return Ok(());
            };
            if !wanted(&entry.path) {
                return Ok(());
            }
            total += size;
            if size > MAX_DOCUMENT_BYTES || total > MAX_DOCUMENTS_BYTES {
                let message = format!("`{}` is too large to be merged", entry.path.escape_debug());
                return Err(PackError::new(ErrorClass::LayerTooLarge, message));
            }
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes).map_err(broken)?;
            found.push((entry.path.clone(), bytes));
            Ok(())
        })?;
        Ok(found)
    }
}

/// What was listed so far, of all layers.
#[derive(Debug, Default)]
struct Count {
    entries: usize,
    name_bytes: usize,
}

/// Lists an archive. Of layers that no target writes only the soundness counts.
fn list(
    artifact: &Artifact,
    kind: LayerKind,
    count: &mut Count,
) -> Result<Vec<ArchivedFile>, PackError> {
    let is_written = !matches!(
        kind,
        LayerKind::Knowledge | LayerKind::InstructionTree | LayerKind::SourceSnapshot
    );
    let mut found = Vec::new();
    artifact.files(kind, kind.limit(), |entry, content| {
        count.entries += 1;
        count.name_bytes += entry.path.len();
        if count.entries > MAX_FILES || count.name_bytes > MAX_NAME_BYTES {
            return Err(too_many());
        }
        let EntryKind::File { executable, size } = entry.kind else {
            return Ok(());
        };
        if is_written {
            let mut hashing = Hashing::new(io::sink());
            io::copy(content, &mut hashing).map_err(broken)?;
            let (_, digest, _) = hashing.finish();
            found.push(ArchivedFile {
                path: entry.path.clone(),
                executable,
                size,
                digest,
            });
        }
        Ok(())
    })?;
    Ok(found)
}

pub(super) fn text(bytes: Vec<u8>, what: &str) -> Result<String, PackError> {
    String::from_utf8(bytes).map_err(|error| {
        PackError::new(ErrorClass::InvalidUtf8, format!("{what} is not UTF-8 text"))
            .caused_by(error)
    })
}
