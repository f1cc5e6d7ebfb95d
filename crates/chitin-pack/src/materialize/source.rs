//! What an artifact holds, read once: small documents whole, files of archives by name, size and digest.

use super::contents::Contents;
use super::plan::{MAX_FILES, MAX_NAME_BYTES, too_many};
use crate::archive::{ArchiveEntryKind, broken};
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use crate::packages::read_list;
use crate::template;
use chitin_workspace::adapter::NATIVE_RULES_FILE;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// The largest document that is held to be merged with others.
const MAX_DOCUMENT_BYTES: u64 = 2 * 1024 * 1024;
/// All such documents together.
const MAX_DOCUMENTS_BYTES: u64 = 6 * 1024 * 1024;

/// A file in an archive.
#[derive(Debug, Clone)]
pub(super) struct ArchivedFile {
    /// Which of the artifacts holds it.
    pub(super) source: usize,
    pub(super) path: String,
    pub(super) executable: bool,
    pub(super) size: u64,
    pub(super) digest: Digest,
}

/// The content of an agent.
#[derive(Debug)]
pub(super) struct AgentContent<'a> {
    contents: Contents<'a>,
    files: BTreeMap<LayerKind, Vec<ArchivedFile>>,
    pub(super) persona: Option<Value>,
    pub(super) prompt: Option<String>,
    pub(super) mcp: Option<Value>,
    pub(super) subagents: Option<Value>,
}

impl<'a> AgentContent<'a> {
    /// Reads every layer to its end: one odd entry anywhere refuses the whole (rule P42).
    pub(super) fn read(contents: Contents<'a>) -> Result<Self, PackError> {
        let mut files = BTreeMap::new();
        let mut count = Count::default();
        for kind in LayerKind::ALL {
            if kind.format() == Format::Tar {
                files.insert(kind, list(contents, kind, &mut count)?);
            }
        }
        let agent = contents.agent;
        let persona = agent.json(LayerKind::Persona)?;
        let prompt = match agent.document(LayerKind::Prompt)? {
            Some(bytes) => {
                let template = text(bytes, "the prompt")?;
                Some(template::render(&template, persona.as_ref()))
            }
            None => None,
        };
        let document = |kind| match contents.merged {
            Some(merged) => Ok(merged.document(kind).cloned()),
            None => agent.json(kind),
        };
        Ok(Self {
            mcp: document(LayerKind::Mcp)?,
            subagents: document(LayerKind::Subagents)?,
            contents,
            files,
            persona,
            prompt,
        })
    }

    /// Tells whether there is such a layer, in the agent or in a package that adds to it.
    pub(super) fn has(&self, kind: LayerKind) -> bool {
        let in_packages = match self.contents.merged {
            Some(merged) => merged.document(kind).is_some() || !merged.files(kind).is_empty(),
            None => false,
        };
        in_packages || self.contents.agent.layer(kind).is_some()
    }

    /// Tells whether the agent builds on packages that nobody merged.
    pub(super) fn lacks_packages(&self) -> Result<bool, PackError> {
        if self.contents.merged.is_some() {
            return Ok(false);
        }
        match self.contents.agent.json(LayerKind::Packages)? {
            Some(layer) => Ok(!read_list(&layer)?.is_empty()),
            None => Ok(false),
        }
    }

    /// Returns the artifact's own config of its adapter.
    pub(super) fn adapter_config(&self) -> &Value {
        &self.contents.agent.config["adapter"]["config"]
    }

    /// Returns the files of a layer, in the order of its archive or of the merging.
    pub(super) fn files(&self, kind: LayerKind) -> &[ArchivedFile] {
        self.files.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Finds a file in a layer.
    pub(super) fn file(&self, kind: LayerKind, path: &str) -> Option<&ArchivedFile> {
        self.files(kind).iter().find(|file| file.path == path)
    }

    /// Tells whether the operating rules are a readme: no surface speaks for the agent.
    pub(super) fn is_readme_agent(&self) -> bool {
        self.files(LayerKind::Surfaces).is_empty()
            && self
                .file(LayerKind::Instructions, NATIVE_RULES_FILE)
                .is_some()
    }

    /// Reads those files of a layer that `wanted` names, in its order.
    pub(super) fn contents(
        &self,
        kind: LayerKind,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, Vec<u8>)>, PackError> {
        let files = self.files(kind).iter().filter(|file| wanted(&file.path));
        let files: Vec<&ArchivedFile> = files.collect();
        let total: u64 = files.iter().map(|file| file.size).sum();
        if let Some(large) = files.iter().find(|file| file.size > MAX_DOCUMENT_BYTES) {
            return Err(too_large(&large.path));
        }
        if total > MAX_DOCUMENTS_BYTES {
            return Err(too_large(kind.name()));
        }
        let mut found = vec![Vec::new(); files.len()];
        for (source, artifact) in self.contents.sources.iter().enumerate() {
            let own = files.iter().enumerate();
            let mut own: HashMap<&str, usize> = own
                .filter(|(_, file)| file.source == source)
                .map(|(at, file)| (file.path.as_str(), at))
                .collect();
            if own.is_empty() {
                continue;
            }
            artifact.files(kind, kind.limit(), |entry, content| {
                if let Some(at) = own.remove(entry.path.as_str()) {
                    content.read_to_end(&mut found[at]).map_err(broken)?;
                }
                Ok(())
            })?;
        }
        let paths = files.into_iter().map(|file| file.path.clone());
        Ok(paths.zip(found).collect())
    }
}

fn too_large(what: &str) -> PackError {
    let message = format!("`{}` is too large to be merged", what.escape_debug());
    PackError::new(ErrorClass::LayerTooLarge, message)
}

/// What was listed so far, of all layers.
#[derive(Debug, Default)]
struct Count {
    entries: usize,
    name_bytes: usize,
}

/// Lists a layer. Of those that no target writes only the soundness counts.
fn list(
    contents: Contents<'_>,
    kind: LayerKind,
    count: &mut Count,
) -> Result<Vec<ArchivedFile>, PackError> {
    let is_written = !matches!(
        kind,
        LayerKind::Knowledge | LayerKind::InstructionTree | LayerKind::SourceSnapshot
    );
    let mut found = Vec::new();
    for (source, artifact) in contents.sources.iter().enumerate() {
        artifact.files(kind, kind.limit(), |entry, content| {
            count.entries += 1;
            count.name_bytes += entry.path.len();
            if count.entries > MAX_FILES || count.name_bytes > MAX_NAME_BYTES {
                return Err(too_many());
            }
            let ArchiveEntryKind::File { executable, size } = entry.kind else {
                return Ok(());
            };
            if is_written {
                let mut hashing = Hashing::new(io::sink());
                io::copy(content, &mut hashing).map_err(broken)?;
                let (_, digest, _) = hashing.finish();
                found.push(ArchivedFile {
                    source,
                    path: entry.path.clone(),
                    executable,
                    size,
                    digest,
                });
            }
            Ok(())
        })?;
    }
    let Some(merged) = contents.merged else {
        return Ok(found);
    };
    if kind == LayerKind::Memory || kind.is_own() {
        // What an agent remembers is its own, and so are its extension files and documents.
        found.retain(|file| file.source + 1 == contents.sources.len());
        return Ok(found);
    }
    let mut found: HashMap<(usize, String), ArchivedFile> = found
        .into_iter()
        .map(|file| ((file.source, file.path.clone()), file))
        .collect();
    let kept = merged.files(kind).iter();
    Ok(kept
        .filter_map(|file| found.remove(&(file.source, file.path.clone())))
        .collect())
}

pub(super) fn text(bytes: Vec<u8>, what: &str) -> Result<String, PackError> {
    String::from_utf8(bytes).map_err(|error| {
        PackError::new(ErrorClass::InvalidUtf8, format!("{what} is not UTF-8 text"))
            .caused_by(error)
    })
}
