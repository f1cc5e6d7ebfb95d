//! The agent definition: what an adapter makes of a directory, as plain data.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What an adapter makes of a directory (B3). Texts are raw: edges, line ends, byte order marks and front matter stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDefinition {
    /// The agent's name.
    pub name: String,
    /// The adapter that made this.
    pub adapter_name: String,
    /// The directory: absolute and normalised, links as they are spelled.
    pub workspace_root: PathBuf,
    /// The text of `IDENTITY.md`.
    pub identity: String,
    /// The text of `SOUL.md`.
    pub persona: String,
    /// The text of `USER.md`.
    pub user_profile: String,
    /// The text of `AGENTS.md`, or of `README.md` in a plain directory.
    pub operating_rules: String,
    /// The four texts as one prompt, blank ones left out.
    pub system_prompt: String,
    /// The files of the skills, in order of precedence.
    pub skill_paths: Vec<SkillPath>,
    /// The extension files that are there and not blank.
    pub extensions: Extensions,
    /// What was there and could not be read.
    pub warnings: Vec<AdapterWarning>,
}

/// Where one skill lives: a file beneath the workspace that brought it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkillPath {
    root: PathBuf,
    relative: PathBuf,
}

impl SkillPath {
    /// Names a file beneath a workspace root.
    pub fn new(root: impl Into<PathBuf>, relative: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            relative: relative.into(),
        }
    }

    /// Returns the workspace that the skill belongs to; reads of the skill stay beneath it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of the skill file relative to its workspace.
    pub fn relative(&self) -> &Path {
        &self.relative
    }

    /// Returns the absolute path.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// Returns the name of the skill's directory.
    pub fn directory_name(&self) -> String {
        self.relative
            .parent()
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

impl Serialize for SkillPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.path().serialize(serializer)
    }
}

/// The extension files, name → raw Markdown, in the order in which they were read.
///
/// `RUNTIME.md` may hold a key. The raw text is there for whoever asks by name; `Debug` shows sizes only, and
/// serialization replaces the values of key lines.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extensions {
    files: Vec<(String, String)>,
}

impl Extensions {
    /// Returns the raw text of one file.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, text)| text.as_str())
    }

    /// Sets the text of one file.
    pub fn set(&mut self, name: impl Into<String>, text: impl Into<String>) {
        let (name, text) = (name.into(), text.into());
        match self.files.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = text,
            None => self.files.push((name, text)),
        }
    }

    /// Returns names and raw texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.files
                    .iter()
                    .map(|(name, text)| (name, format!("{} bytes", text.len()))),
            )
            .finish()
    }
}

impl Serialize for Extensions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.files.len()))?;
        for (name, text) in &self.files {
            if name == crate::extensions::runtime::FILE {
                map.serialize_entry(name, &crate::extensions::runtime::without_keys(text))?;
            } else {
                map.serialize_entry(name, text)?;
            }
        }
        map.end()
    }
}

/// Something that was there and gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum AdapterWarning {
    /// The guard or the operating system did not hand it out.
    #[error("`{}` is taken as empty: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why, in words.
        reason: String,
    },
    /// It is not UTF-8.
    #[error("`{}` is taken as empty: it is not UTF-8 at byte {offset}", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first byte that does not fit.
        offset: usize,
    },
    /// A directory of skills could not be listed.
    #[error("the skills in `{}` are left out: {reason}", path.display())]
    SkillsUnlisted {
        /// The directory.
        path: PathBuf,
        /// Why, in words.
        reason: String,
    },
}
