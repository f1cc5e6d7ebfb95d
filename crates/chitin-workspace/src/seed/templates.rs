//! The texts that a new workspace starts with: ours, or the user's own in their place.

use chitin_guard::{LinkPolicy, ReadError, ReadPolicy, Root};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Name and text of every built-in template. Each token in them is paid on every turn, so they are short.
pub const TEMPLATES: [(&str, &str); 7] = [
    ("AGENTS.md", include_str!("templates/AGENTS.md")),
    ("SOUL.md", include_str!("templates/SOUL.md")),
    ("TOOLS.md", include_str!("templates/TOOLS.md")),
    ("IDENTITY.md", include_str!("templates/IDENTITY.md")),
    ("USER.md", include_str!("templates/USER.md")),
    ("HEARTBEAT.md", include_str!("templates/HEARTBEAT.md")),
    ("BOOTSTRAP.md", include_str!("templates/BOOTSTRAP.md")),
];

/// Files that are seeded only when a template directory of the user's has them: the extension files.
pub const ADDITIONAL_TEMPLATES: [&str; 5] = [
    "CHANNELS.md",
    "MCP.md",
    "PERMISSIONS.md",
    "RUNTIME.md",
    "SKILLS.md",
];

/// BLAKE3 digests of the profile files that OpenClaw 2026.4.23 and 2026.9.6 seed, front matter taken off. Their text is not ours
/// to carry; a file that has one of these is as it was seeded.
const RELEASED: [(&str, &str); 6] = [
    (
        "SOUL.md",
        "b6769871035c7cc75ba02914fff3f662e8dec31ee561e78dca43df506f5c0d8c",
    ),
    (
        "IDENTITY.md",
        "dede356f2ddd7bf420c32990d5b166dcfb6d32cfa3713ca92fe2195eb4026e9c",
    ),
    (
        "USER.md",
        "a7cbc20b6b671545bc89c72e0a8047e1bde09091ee5e5e52f116e48f5f230212",
    ),
    (
        "SOUL.md",
        "020e576be3f93bc2e9186602bee699e502a4bf9d5816ec8887abe83e818fb9f7",
    ),
    (
        "IDENTITY.md",
        "1382646d76f95659dd913afc3448f03f4c0409ba8532cb4882417011a099e72c",
    ),
    (
        "USER.md",
        "a1518bea90ede4d7612644db2297a178e482c373983dc5a26b9db7d877617899",
    ),
];

/// The largest template, in bytes.
pub(super) const MAX_TEMPLATE_BYTES: u64 = 2 * 1024 * 1024;
/// More names than this in a template directory are not listed.
const MAX_ENTRIES: usize = 10_000;
/// How many names that are not templates are reported.
const MAX_REPORTED: usize = 20;

/// Returns the built-in template of that name.
pub fn template(name: &str) -> Option<&'static str> {
    TEMPLATES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The templates that a workspace is seeded with. A name that the user's directory lacks has the built-in text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Templates {
    own: BTreeMap<&'static str, Vec<u8>>,
    unused: Vec<String>,
    /// Whether files that a release of OpenClaw seeded count as unedited too.
    released: bool,
}

/// Why a template directory cannot be used. Nothing was written.
#[derive(Debug, Error)]
pub enum TemplateError {
    /// The directory cannot be opened or listed.
    #[error("the template directory `{}` cannot be read", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What went wrong.
        source: ReadError,
    },
    /// A template is there and cannot be read: a link out of the directory, not a plain file, or too large.
    #[error("the template `{}` cannot be read", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: ReadError,
    },
}

impl Templates {
    /// Reads a template directory of the user's. Only the known names are read; links may not lead out of the directory.
    pub fn read(directory: &Path) -> Result<Self, TemplateError> {
        let unusable = |source| TemplateError::Directory {
            path: directory.to_path_buf(),
            source,
        };
        let root = Root::open(directory).map_err(unusable)?;
        let entries = root
            .list(Path::new(""), &LinkPolicy::EndInside, MAX_ENTRIES)
            .map_err(unusable)?;
        let names = TEMPLATES.iter().map(|(name, _)| *name);
        let names: Vec<&'static str> = names.chain(ADDITIONAL_TEMPLATES).collect();
        let mut own = BTreeMap::new();
        for name in &names {
            match root.read(Path::new(name), &ReadPolicy::inside(MAX_TEMPLATE_BYTES)) {
                Ok(read) => {
                    own.insert(*name, read.bytes);
                }
                Err(error) if error.is_missing() => {}
                Err(source) => {
                    let path = directory.join(name);
                    return Err(TemplateError::File { path, source });
                }
            }
        }
        let mut unused: Vec<String> = entries
            .iter()
            .map(|entry| entry.name.to_string_lossy().into_owned())
            .filter(|name| !name.starts_with('.') && !names.contains(&name.as_str()))
            .collect();
        unused.sort_unstable();
        unused.truncate(MAX_REPORTED);
        Ok(Self {
            own,
            unused,
            released: false,
        })
    }

    /// Returns names in the directory that are not seeded, at most twenty; hidden ones are left out.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// Recognises what releases of OpenClaw seed as well.
    #[must_use]
    pub(super) fn and_released(mut self) -> Self {
        self.released = true;
        self
    }

    /// Returns the text of a template.
    pub(super) fn get(&self, name: &str) -> &[u8] {
        let own = self.own.get(name).map(Vec::as_slice);
        own.or_else(|| template(name).map(str::as_bytes))
            .unwrap_or_default()
    }

    /// Tells whether a file is as it was seeded, with these templates or with the built-in ones.
    pub(super) fn is_unedited(&self, name: &str, bytes: &[u8]) -> bool {
        let is_released = || {
            let digest = blake3::hash(bytes).to_hex();
            RELEASED.contains(&(name, digest.as_str()))
        };
        bytes == self.get(name)
            || template(name).is_some_and(|text| bytes == text.as_bytes())
            || (self.released && is_released())
    }

    /// Returns the additional files that the user's directory has.
    pub(super) fn additional(&self) -> impl Iterator<Item = &'static str> {
        let there = |name: &&'static str| self.own.contains_key(name);
        ADDITIONAL_TEMPLATES.into_iter().filter(there)
    }
}
