//! What would be written: a list that can be shown, compared and carried out (rule P43).

use super::contents::Contents;
use super::forbidden;
use super::targets::Target;
use crate::archive::{SeenPaths, check_path};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use crate::warning::PackWarning;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read;

/// More files than this are no workspace.
pub(super) const MAX_FILES: usize = 50_000;
/// The names of all files together.
pub(super) const MAX_NAME_BYTES: usize = 8 * 1024 * 1024;
/// The longest text that a shown action repeats.
const MAX_SHOWN_BYTES: u64 = 1024 * 1024;
/// The most text that a shown plan repeats in all.
const MAX_SHOWN_TOTAL: u64 = 16 * 1024 * 1024;

/// Everything that laying out would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpackPlan {
    /// The adapter in use.
    pub adapter: &'static str,
    /// How true the adapter is at its best.
    pub fidelity: &'static str,
    /// Whether anything was made up, merged, dropped or has no place.
    pub lossy: bool,
    /// What the user should know.
    pub warnings: Vec<PackWarning>,
    pub(super) files: Vec<PlannedFile>,
}

/// A file that would be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where, relative to the target; safe to join.
    pub path: String,
    /// Whether it may be run.
    pub executable: bool,
    /// Its size.
    pub size: u64,
    /// The name of its bytes.
    pub digest: Digest,
    /// Where its bytes are.
    pub content: PlannedContent,
}

/// Where the bytes of a planned file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedContent {
    /// Here: a document that was put together.
    Made(Vec<u8>),
    /// In an archive of the artifact.
    Archived {
        /// Which of the artifacts, counted from the lowest precedence.
        source: usize,
        /// The layer.
        layer: LayerKind,
        /// The path in its archive.
        path: String,
    },
}

/// One step of a plan, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedStep {
    /// What is done.
    pub kind: ActionKind,
    /// To what; directories end in `/`.
    pub path: String,
    /// The step in words.
    pub description: String,
    /// The text that would be written, unless it is large or no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// Makes a directory.
    Mkdir,
    /// Writes a file.
    Write,
}

impl UnpackPlan {
    /// Returns the files, in the order of the layout.
    pub fn files(&self) -> &[PlannedFile] {
        &self.files
    }

    /// Returns the directories that the files need, sorted, parents first.
    pub fn directories(&self) -> BTreeSet<&str> {
        self.files
            .iter()
            .flat_map(|file| {
                let path = file.path.as_str();
                path.match_indices('/').map(move |(end, _)| &path[..end])
            })
            .collect()
    }

    /// Returns the steps, with the texts that would be written, which are read again from the artifact.
    pub fn actions<'a>(
        &self,
        contents: impl Into<Contents<'a>>,
    ) -> Result<Vec<PlannedStep>, PackError> {
        let mut texts = self.texts(contents.into())?;
        let directories = self.directories().into_iter().map(|directory| PlannedStep {
            kind: ActionKind::Mkdir,
            path: format!("{directory}/"),
            description: format!("Create directory {directory}/"),
            content: None,
        });
        let files = self.files.iter().map(|file| PlannedStep {
            kind: ActionKind::Write,
            path: file.path.clone(),
            description: format!("Write {}", file.path),
            content: texts.remove(file.path.as_str()),
        });
        Ok(directories.chain(files).collect())
    }

    fn texts(&self, contents: Contents<'_>) -> Result<HashMap<&str, String>, PackError> {
        let mut texts = HashMap::new();
        let mut left = MAX_SHOWN_TOTAL;
        super::each_file(self, contents, |file, content| {
            if file.size > MAX_SHOWN_BYTES.min(left) {
                return Ok(());
            }
            let mut bytes = Vec::new();
            content
                .take(file.size)
                .read_to_end(&mut bytes)
                .map_err(crate::archive::broken)?;
            if let Ok(text) = String::from_utf8(bytes) {
                left -= file.size;
                texts.insert(file.path.as_str(), text);
            }
            Ok(())
        })?;
        Ok(texts)
    }
}

/// A plan in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    files: Vec<PlannedFile>,
    warnings: Vec<PackWarning>,
    lossy: bool,
}

impl Draft {
    /// Adds a document that was put together.
    pub(super) fn document(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let bytes = bytes.into();
        self.files.push(PlannedFile {
            path: path.into(),
            executable: false,
            size: bytes.len() as u64,
            digest: Digest::of(&bytes),
            content: PlannedContent::Made(bytes),
        });
    }

    /// Adds a file as it stands in an archive.
    pub(super) fn archived(
        &mut self,
        path: impl Into<String>,
        layer: LayerKind,
        file: &super::source::ArchivedFile,
    ) {
        self.files.push(PlannedFile {
            path: path.into(),
            executable: file.executable,
            size: file.size,
            digest: file.digest,
            content: PlannedContent::Archived {
                source: file.source,
                layer,
                path: file.path.clone(),
            },
        });
    }

    /// Returns the names of the files so far, in small letters: names that differ in case only are the same.
    pub(super) fn names(&self) -> HashSet<String> {
        let files = self.files.iter();
        files.map(|file| file.path.to_lowercase()).collect()
    }

    pub(super) fn warn(&mut self, warning: PackWarning) {
        self.warnings.push(warning);
    }

    /// Notes that something did not come through as it was.
    pub(super) const fn lose(&mut self) {
        self.lossy = true;
    }

    /// Checks the whole and closes it.
    pub(super) fn finish(self, target: Target) -> Result<UnpackPlan, PackError> {
        let mut seen = SeenPaths::default();
        for file in &self.files {
            let path = file.path.as_str();
            // Names from archives are safe already; those of rules and agents come from documents.
            check_path(path).map_err(|error| unsafe_target(path).caused_by(error))?;
            if forbidden::is_forbidden(path) {
                return Err(unsafe_target(path)
                    .hint("settings, credentials and sessions of a runtime are not an artifact's business"));
            }
            seen.add(path)?;
        }
        seen.finish()?;
        Ok(UnpackPlan {
            adapter: target.name(),
            fidelity: target.fidelity(),
            lossy: self.lossy,
            warnings: self.warnings,
            files: self.files,
        })
    }
}

pub(super) fn too_many() -> PackError {
    let message =
        format!("the artifact holds more than {MAX_FILES} files, or names of unusual length");
    PackError::new(ErrorClass::LayerTooLarge, message)
}

fn unsafe_target(path: &str) -> PackError {
    let shown: String = path.chars().take(120).collect();
    let message = format!("`{}` is never written by an artifact", shown.escape_debug());
    PackError::new(ErrorClass::UnsafePath, message)
}
