//! Documents that the packed files link to: found by following relative Markdown links, never out of the workspace, never
//! into what is state (rule P44), and bounded in number and size.

use super::links::{relative_links, resolve};
use super::memory::Layers;
use super::options::LinkMode;
use super::refusal;
use super::tree::{Collected, LayerSource, Tree};
use crate::archive::{SeenPaths, check_path};
use crate::compat::{MEMORY_FILE, SURFACES};
use crate::error::PackError;
use crate::layer::{LayerKind, MB};
use crate::materialize::is_forbidden;
use crate::warning::PackWarning;
use chitin_guard::{
    DirectoryEntryKind, Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root,
};
use chitin_workspace::adapter::EXTENSION_FILES;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// More documents are not followed.
const MAX_DOCUMENTS: usize = 1000;
/// Larger ones stay behind.
const MAX_DOCUMENT_BYTES: u64 = 4 * MB;
/// All of them together.
const MAX_TOTAL_BYTES: u64 = 12 * MB;
/// Of larger texts the links are not looked for.
const MAX_TEXT_BYTES: u64 = MB;

/// State, by the name of any part of a path. Hidden names are never followed either.
const STATE: [&str; 9] = [
    "credentials",
    "sessions",
    "logs",
    "cache",
    "caches",
    "node_modules",
    "__pycache__",
    "openclaw.json",
    "chitin.json5",
];
const STATE_SUFFIXES: [&str; 3] = [".log", ".jsonl", ".sqlite"];
/// Directories at the root that are layers, or stay behind, whatever links to them.
const LAYERED: [&str; 2] = ["skills", "memory"];

/// A warning: a linked document stays behind.
const DOCUMENT_NOT_PACKED: &str = "DOCUMENT_NOT_PACKED";

/// What links lead to.
#[derive(Debug, Default)]
pub(super) struct Documents {
    pub(super) collected: Collected,
    pub(super) warnings: Vec<PackWarning>,
}

/// Follows the links of files, which stand at the given paths of the workspace.
pub(super) fn follow(
    root: &Root,
    tree: &Tree<'_>,
    files: &[(String, LayerSource)],
    links: LinkMode,
    layers: &mut Layers<'_>,
) -> Result<Documents, PackError> {
    let mut search = Search {
        root,
        tree,
        links: match links {
            LinkMode::Refuse => LinkPolicy::Refuse,
            LinkMode::Flatten => LinkPolicy::EndInside,
        },
        warnings: BTreeMap::new(),
        found: BTreeMap::new(),
        bytes: 0,
    };
    let linking: Vec<LayerSource> = files.iter().map(|(_, source)| source.clone()).collect();
    let targets = match layers.remembered_links(root, &linking, |target| search.look(target)) {
        Some(targets) => targets,
        None => search.scan(files)?,
    };
    let ends = targets.iter().filter_map(|target| search.look(target));
    let looked_at: Vec<LayerSource> = linking.into_iter().chain(ends).collect();
    search.warnings.clear();
    for target in &targets {
        search.take(target);
    }
    layers.remember_links(root, &looked_at, targets);
    let mut collected = Collected::default();
    let mut seen = SeenPaths::default();
    for (path, source) in search.found {
        check_path(&path)?;
        seen.add(&path)?;
        collected.files.push(source);
    }
    collected.sort();
    Ok(Documents {
        collected,
        warnings: search.warnings.into_values().collect(),
    })
}

struct Search<'t> {
    root: &'t Root,
    tree: &'t Tree<'t>,
    links: LinkPolicy,
    warnings: BTreeMap<String, PackWarning>,
    found: BTreeMap<String, LayerSource>,
    bytes: u64,
}

impl Search<'_> {
    /// Reads every text and every document that is found on the way; returns all paths that links lead to.
    fn scan(&mut self, files: &[(String, LayerSource)]) -> Result<Vec<String>, PackError> {
        let mut waiting: VecDeque<(String, LayerSource)> = files
            .iter()
            .filter(|(path, _)| is_text(path))
            .cloned()
            .collect();
        // What is packed already is in a layer of its own.
        let packed: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        let mut targets = BTreeSet::new();
        while let Some((path, source)) = waiting.pop_front() {
            let Some(text) = self.read(&source)? else {
                continue;
            };
            for link in relative_links(&text) {
                let Some(target) = resolve(&path, &link) else {
                    // Kept as it stands: the same words are said when nothing is read again.
                    targets.insert(format!("{OUTSIDE}{link}"));
                    continue;
                };
                let is_packed = packed.contains(target.as_str());
                if is_packed || is_elsewhere(&target) || !targets.insert(target.clone()) {
                    continue;
                }
                if let Some(found) = self.take(&target)
                    && is_text(&target)
                {
                    waiting.push_back((target, found));
                }
            }
        }
        self.found.clear();
        self.bytes = 0;
        Ok(targets.into_iter().collect())
    }

    fn read(&self, source: &LayerSource) -> Result<Option<String>, PackError> {
        if source.fingerprint.size > MAX_TEXT_BYTES {
            return Ok(None);
        }
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            hardlinks: Hardlinks::Refuse,
            max_bytes: MAX_TEXT_BYTES,
            oversized: Oversized::Refuse,
        };
        let read = self
            .root
            .read(&source.place, &policy)
            .map_err(refusal::of)?;
        Ok(String::from_utf8(read.bytes).ok())
    }

    /// Takes a path among the documents, unless it must stay behind.
    fn take(&mut self, target: &str) -> Option<LayerSource> {
        if let Some(link) = target.strip_prefix(OUTSIDE) {
            self.warn(link, "it leads out of the workspace");
            return None;
        }
        let source = self.look(target)?;
        let size = source.fingerprint.size;
        if size > MAX_DOCUMENT_BYTES {
            self.warn(target, "it is larger than 4 MB");
        } else if self.found.len() >= MAX_DOCUMENTS || self.bytes + size > MAX_TOTAL_BYTES {
            self.warn(
                target,
                "there are too many linked documents, or they are too large together",
            );
        } else {
            self.bytes += size;
            self.found.insert(target.to_owned(), source.clone());
            return Some(source);
        }
        None
    }

    /// Looks at a path without opening it. What is not there is not packed, and is the checker's business.
    fn look(&mut self, target: &str) -> Option<LayerSource> {
        let path = Path::new(target);
        if target.starts_with(OUTSIDE) || self.tree.leaves_out(path, DirectoryEntryKind::File) {
            return None;
        }
        let end = match self.root.walk(path, &self.links) {
            Ok(end) => end,
            Err(ReadError::Missing { .. }) => return None,
            Err(ReadError::Refused { .. } | ReadError::Io { .. }) => {
                self.warn(target, "it is a link, or cannot be read");
                return None;
            }
        };
        let place = end.path.strip_prefix(self.root.real_path()).ok()?;
        if is_state(&place.to_string_lossy()) {
            self.warn(target, "it is state or hidden");
            return None;
        }
        match end.kind {
            DirectoryEntryKind::File => Some(LayerSource {
                path: target.to_owned(),
                place: place.to_path_buf(),
                fingerprint: end.fingerprint,
            }),
            DirectoryEntryKind::Directory => {
                self.warn(target, "it is a directory; link to the documents in it");
                None
            }
            DirectoryEntryKind::Link | DirectoryEntryKind::Other => None,
        }
    }

    fn warn(&mut self, target: &str, reason: &str) {
        let message = format!(
            "`{}`, which a packed file links to, stays behind: {reason}",
            target.escape_debug()
        );
        let warning =
            PackWarning::new(DOCUMENT_NOT_PACKED, message).layer(LayerKind::Documents.name());
        self.warnings
            .insert(target.to_owned(), warning.target(target));
    }
}

/// Marks a link that leads out; no path holds it.
const OUTSIDE: &str = "\0";

fn is_text(path: &str) -> bool {
    let path = path.to_lowercase();
    path.ends_with(".md") || path.ends_with(".markdown")
}

/// Whether a path belongs to another layer, or to none by rule. `MEMORY.md` travels by request only.
fn is_elsewhere(path: &str) -> bool {
    let path = path.to_lowercase();
    let first = path.split('/').next().unwrap_or_default();
    let files = SURFACES.iter().map(|(_, file)| *file);
    LAYERED.contains(&first)
        || files
            .chain(EXTENSION_FILES)
            .chain([MEMORY_FILE])
            .any(|file| file.eq_ignore_ascii_case(&path))
        || path.starts_with(".agents/skills/")
}

fn is_state(path: &str) -> bool {
    let path = path.to_lowercase();
    is_forbidden(&path)
        || path
            .split('/')
            .any(|part| part.starts_with('.') || STATE.contains(&part))
        || STATE_SUFFIXES.iter().any(|suffix| path.ends_with(suffix))
}

/// Names what stands beside packed documents and stays behind, as far as that is little enough to be listed.
pub(super) fn beside(root: &Root, documents: &Collected) -> Vec<String> {
    const MAX_NAMES: usize = 10_000;
    const MAX_LISTED: usize = 100;
    let packed: BTreeSet<&Path> = documents
        .files
        .iter()
        .map(|file| file.place.as_path())
        .collect();
    let above: BTreeSet<&Path> = packed
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|directory| !directory.as_os_str().is_empty())
        .collect();
    let mut names = Vec::new();
    for directory in &above {
        let Ok(entries) = root.survey(directory, MAX_NAMES) else {
            continue;
        };
        for entry in entries {
            let path = directory.join(&entry.name);
            if !packed.contains(path.as_path()) && !above.contains(path.as_path()) {
                names.push(path.display().to_string());
            }
        }
    }
    names.sort_unstable();
    names.truncate(MAX_LISTED);
    names
}
