//! An agent together with its packages, as one set of layers. Files stay in the blobs they came in; what is kept here is
//! where each one is.

use super::merge::{in_rule_order, merge, merge_members, merge_secrets, units_member};
use super::rule::RuleFacts;
use crate::archive::{ArchiveEntryKind, SeenPaths};
use crate::artifact::Artifact;
use crate::compat::{PACKAGE, PACKAGE_LAYER_IGNORED};
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use crate::warning::PackWarning;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;

/// The layers of files that packages add to.
const OF_FILES: [LayerKind; 5] = [
    LayerKind::Knowledge,
    LayerKind::Rules,
    LayerKind::Skills,
    LayerKind::InstructionTree,
    LayerKind::Surfaces,
];
/// The layers of one document that packages add to.
const OF_DOCUMENTS: [LayerKind; 3] = [LayerKind::Mcp, LayerKind::Secrets, LayerKind::Subagents];
/// Front matter stands at the beginning; no rule's is longer.
const MAX_FRONT_MATTER: u64 = 64 * 1024;

/// A file that the merged layers hold, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedFile {
    /// The artifact that it comes from, counted from the lowest precedence.
    pub source: usize,
    /// The path in that artifact's layer, and in the merged one.
    pub path: String,
    /// Whether it may be run.
    pub executable: bool,
    /// Its size.
    pub size: u64,
    /// What it says of itself, where it is a rule.
    pub rule: RuleFacts,
}

/// The layers of an agent and its packages, merged (rules P50, P51).
#[derive(Debug)]
pub struct Merged {
    sources: Vec<Artifact>,
    agent: Artifact,
    files: BTreeMap<LayerKind, Vec<MergedFile>>,
    documents: BTreeMap<LayerKind, Value>,
    /// What packages carry and nobody takes over.
    pub warnings: Vec<PackWarning>,
}

impl Merged {
    /// Merges packages, from the lowest precedence to the highest, and the agent above them. See
    /// [`super::Resolution::low_to_high`].
    pub fn new(packages: Vec<Artifact>, agent: Artifact) -> Result<Self, PackError> {
        let warnings = packages.iter().map(check_package);
        let warnings = warnings.collect::<Result<Vec<_>, _>>()?.concat();
        let mut sources = packages;
        sources.push(agent.clone());
        let mut merged = Self {
            sources,
            agent,
            files: BTreeMap::new(),
            documents: BTreeMap::new(),
            warnings,
        };
        for kind in OF_FILES {
            let files = merged.merge_files(kind)?;
            merged.files.insert(kind, files);
        }
        for kind in OF_DOCUMENTS {
            if let Some(document) = merged.merge_documents(kind)? {
                merged.documents.insert(kind, document);
            }
        }
        Ok(merged)
    }

    /// Returns the agent. Its prompt, persona, memory and config are its own and come from here.
    pub const fn agent(&self) -> &Artifact {
        &self.agent
    }

    /// Returns all artifacts, from the lowest precedence to the highest; the agent is the last.
    pub fn sources(&self) -> &[Artifact] {
        &self.sources
    }

    /// Returns the files of a layer: rules in the order in which they are read, others by path.
    pub fn files(&self, kind: LayerKind) -> &[MergedFile] {
        self.files.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Returns a merged document: MCP servers, declarations of secrets, or subagents.
    pub fn document(&self, kind: LayerKind) -> Option<&Value> {
        self.documents.get(&kind)
    }

    fn merge_files(&self, kind: LayerKind) -> Result<Vec<MergedFile>, PackError> {
        let mut levels = Vec::new();
        for (source, artifact) in self.sources.iter().enumerate() {
            let mut level = Vec::new();
            artifact.files(kind, kind.limit(), |entry, content| {
                let ArchiveEntryKind::File { executable, size } = entry.kind else {
                    return Ok(());
                };
                let rule = match kind {
                    LayerKind::Rules => read_rule(content)?,
                    _ => RuleFacts::default(),
                };
                let file = MergedFile {
                    source,
                    path: entry.path.clone(),
                    executable,
                    size,
                    rule,
                };
                level.push((key(kind, &file), file));
                Ok(())
            })?;
            levels.push(level);
        }
        let units = merge(levels);
        let mut files: Vec<MergedFile> = match kind {
            LayerKind::Rules => {
                in_rule_order(&units, |file| (file.rule.priority, file.path.as_str()))
                    .into_iter()
                    .map(|(_, file)| file.clone())
                    .collect()
            }
            _ => units.into_iter().flat_map(|unit| unit.items).collect(),
        };
        if kind != LayerKind::Rules {
            files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        }
        check_together(kind, &files)?;
        Ok(files)
    }

    fn merge_documents(&self, kind: LayerKind) -> Result<Option<Value>, PackError> {
        let documents = self.sources.iter().map(|artifact| artifact.json(kind));
        let documents: Vec<_> = documents.collect::<Result<Vec<_>, _>>()?;
        let documents: Vec<_> = documents.into_iter().flatten().collect();
        if documents.is_empty() {
            return Ok(None);
        }
        if let Some(member) = units_member(kind) {
            return Ok(merge_members(&documents, member));
        }
        let lists = documents.into_iter().map(|document| match document {
            Value::Array(list) => list,
            Value::Object(mut members) => match members.remove("secrets") {
                Some(Value::Array(list)) => list,
                _ => Vec::new(),
            },
            _ => Vec::new(),
        });
        Ok(Some(json!({
            "secrets": merge_secrets(lists),
            "specVersion": crate::compat::SPEC_VERSION,
        })))
    }
}

/// What a file is replaced by.
fn key(kind: LayerKind, file: &MergedFile) -> String {
    let path = file.path.as_str();
    match kind {
        LayerKind::Skills => path.split('/').next().unwrap_or(path).to_owned(),
        LayerKind::Surfaces => path.rsplit('/').next().unwrap_or(path).to_owned(),
        LayerKind::Rules => match &file.rule.id {
            Some(id) => format!("id:{id}"),
            None => format!("path:{path}"),
        },
        _ => path.to_owned(),
    }
}

fn read_rule(content: &mut dyn Read) -> Result<RuleFacts, PackError> {
    let mut beginning = Vec::new();
    content
        .take(MAX_FRONT_MATTER)
        .read_to_end(&mut beginning)
        .map_err(crate::archive::broken)?;
    Ok(RuleFacts::read(&beginning))
}

/// Files of several artifacts must fit into one directory and one limit, as those of one artifact must. Rules are told
/// apart by their ids, and two artifacts may well have a file of the same name.
fn check_together(kind: LayerKind, files: &[MergedFile]) -> Result<(), PackError> {
    let total: u64 = files.iter().map(|file| file.size).sum();
    if total > kind.limit() {
        let message = format!("the {} layers are too large together", kind.name());
        return Err(PackError::new(ErrorClass::LayerTooLarge, message));
    }
    if kind == LayerKind::Rules {
        return Ok(());
    }
    let mut seen = SeenPaths::default();
    for file in files {
        seen.add(&file.path)?;
    }
    match files.iter().find_map(|file| seen.file_above(&file.path)) {
        None => Ok(()),
        Some(parent) => {
            let message = format!("`{parent}` is both a file and a directory");
            Err(PackError::new(ErrorClass::DuplicatePath, message))
        }
    }
}

/// Refuses what is no package, and names the layers that a package has no business to carry.
fn check_package(artifact: &Artifact) -> Result<Vec<PackWarning>, PackError> {
    // The real program labels packages as agents and says what they are in the config.
    let says_so = artifact.config.get("kind").and_then(Value::as_str) == Some("package");
    if artifact.manifest.artifact_type != PACKAGE && !says_so {
        let message = format!("{} is not a package", artifact.digest);
        return Err(PackError::new(ErrorClass::MissingPackage, message));
    }
    let is_taken = |kind: LayerKind| {
        OF_FILES.contains(&kind) || OF_DOCUMENTS.contains(&kind) || kind == LayerKind::Packages
    };
    let ignored = artifact
        .layers()
        .iter()
        .filter(|(kind, _)| !is_taken(*kind));
    Ok(ignored
        .map(|(kind, _)| {
            let message = format!(
                "the package {} carries a {} layer, which packages do not have; it is not used",
                artifact.digest,
                kind.name()
            );
            PackWarning::new(PACKAGE_LAYER_IGNORED, message).layer(kind.name())
        })
        .collect())
}
