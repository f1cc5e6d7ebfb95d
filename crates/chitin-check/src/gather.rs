//! Collects the texts of a workspace that no contract loads: skills, memory, extensions. Bounded, and links are not followed.

use super::names;
use super::subject::has_extension;
use chitin_guard::{DirectoryEntryKind, Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use chitin_workspace::extensions::LiveText;
use std::path::Path;

/// How much of a tree is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Files at most.
    pub files: usize,
    /// Bytes at most, of all files together.
    pub bytes: u64,
    /// Bytes of one file; what follows is not looked at.
    pub file_bytes: u64,
    /// Levels of folders.
    pub depth: usize,
    /// Names in one folder.
    pub entries: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            files: 5_000,
            bytes: 64 * 1024 * 1024,
            file_bytes: 2 * 1024 * 1024,
            depth: 16,
            entries: 10_000,
        }
    }
}

/// Extension files below this many bytes are read once.
const MODERATE: usize = 64 * 1024;

/// A text of the workspace.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// The path relative to the workspace, with `/` between names.
    pub path: String,
    /// The text, with U+FFFD for what is not UTF-8.
    pub text: String,
    /// The bytes, if they are not UTF-8.
    pub invalid: Option<Vec<u8>>,
    /// Permission bits.
    pub mode: u32,
}

/// What was collected.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    /// The texts, in the order of their paths.
    pub files: Vec<TextFile>,
    /// Names at the top of the workspace, and known names one level below.
    pub names: Vec<String>,
    /// Which bounds were reached: sentences.
    pub notes: Vec<String>,
    /// Extension files that a turn cannot use, each with the reason as the rest of a sentence.
    pub unusable: Vec<(String, String)>,
}

impl Gathered {
    /// Reads the extension files again as a turn reads them: by the policy of the workspace, whole or not at all.
    pub fn read_extensions(&mut self, root: &Root, policy: &ReadPolicy) {
        for name in names::EXTENSION_NAMES {
            if !self.names.iter().any(|found| found == name) {
                continue;
            }
            let known = self.files.iter().position(|file| file.path == *name);
            // A plain file of moderate size, whole and without a mark, is the same by every policy.
            let is_same = |file: &TextFile| {
                self.notes.is_empty()
                    && file.invalid.is_none()
                    && !file.text.starts_with('\u{feff}')
                    && file.text.len()
                        < MODERATE.min(usize::try_from(policy.max_bytes).unwrap_or(0))
            };
            if known.is_some_and(|at| is_same(&self.files[at])) {
                continue;
            }
            match (LiveText::read(root, name, policy), known) {
                (LiveText::Absent, _) => {}
                (LiveText::Unreadable(reason), known) => {
                    // What is wrong with its text does not count; bytes that are not UTF-8 are a finding of their own.
                    if let Some(at) = known.filter(|at| self.files[*at].invalid.is_none()) {
                        self.files.remove(at);
                    }
                    self.unusable.push(((*name).to_owned(), reason.to_string()));
                }
                (LiveText::Text(text), Some(at)) => {
                    let file = &mut self.files[at];
                    // A byte order mark is looked at too.
                    if !file.text.ends_with(&*text) {
                        file.text = text.to_string();
                    }
                }
                // A link inside the workspace.
                (LiveText::Text(text), None) => self.files.push(TextFile {
                    path: (*name).to_owned(),
                    text: text.to_string(),
                    invalid: None,
                    mode: root.permissions(Path::new(name)).unwrap_or_default(),
                }),
            }
        }
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// The folder of notes.
const MEMORY: &str = "memory";

/// Folders that hold what others wrote or what programs made.
const SKIPPED: &[&str] = &[
    ".git",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    "target",
    ".cache",
];

/// Endings of files at the top that are looked at beside Markdown.
const TOP_EXTENSIONS: &[&str] = &["md", "txt", "json", "json5", "yaml", "yml", "toml"];

/// Up to this many names, a folder is listed to look for a few of them.
const SMALL_FOLDER: usize = 256;

/// Collects the texts below `root`, leaving out `loaded`, which the snapshot has already.
pub fn gather(root: &Root, loaded: &[&str], bounds: &Bounds) -> Gathered {
    let mut walk = Walk {
        root,
        bounds,
        gathered: Gathered::default(),
        bytes: 0,
        full: false,
    };
    walk.top(loaded);
    walk.folder(MEMORY, 0);
    walk.folder("skills", 0);
    walk.folder(".agents/skills", 0);
    walk.gathered.files.sort_by(|a, b| a.path.cmp(&b.path));
    walk.gathered.names.sort();
    walk.gathered
}

struct Walk<'a> {
    root: &'a Root,
    bounds: &'a Bounds,
    gathered: Gathered,
    bytes: u64,
    full: bool,
}

impl Walk<'_> {
    fn top(&mut self, loaded: &[&str]) {
        for (name, kind) in self.entries("") {
            match kind {
                DirectoryEntryKind::File => {
                    let wanted = TOP_EXTENSIONS.iter().any(|end| has_extension(&name, end));
                    if wanted && !loaded.contains(&&*name) {
                        self.read(&name);
                    }
                    self.gathered.names.push(name);
                }
                DirectoryEntryKind::Directory => {
                    // It is listed for its texts anyway.
                    if name != MEMORY {
                        self.known_names_in(&name);
                    }
                    // A directory in the place of a guardrail is there and cannot be used.
                    if names::EXTENSION_NAMES.contains(&&*name) {
                        self.gathered.names.push(name);
                    }
                }
                DirectoryEntryKind::Link | DirectoryEntryKind::Other => {
                    self.gathered.names.push(name);
                }
            }
        }
    }

    /// Notes known names one level below the top.
    fn known_names_in(&mut self, folder: &str) {
        if folder.starts_with('.') || folder == "skills" || SKIPPED.contains(&folder) {
            return;
        }
        // One listing is cheaper than eight looks, unless the folder is large.
        let listed = self
            .root
            .list(Path::new(folder), &LinkPolicy::Refuse, SMALL_FOLDER)
            .ok();
        for name in names::BOOTSTRAP_NAMES {
            let path = format!("{folder}/{name}");
            let is_there = match &listed {
                Some(entries) => entries
                    .iter()
                    .any(|entry| entry.kind == DirectoryEntryKind::File && entry.name == *name),
                None => self.root.kind(Path::new(&path)) == Some(DirectoryEntryKind::File),
            };
            if is_there {
                self.gathered.names.push(path);
            }
        }
    }

    /// Does the same for the folder of notes, whose entries are known. Where there are none it may be too large to be listed.
    fn known_names_of_memory(&mut self, entries: &[(String, DirectoryEntryKind)]) {
        if entries.is_empty() {
            if self.root.kind(Path::new(MEMORY)) == Some(DirectoryEntryKind::Directory) {
                self.known_names_in(MEMORY);
            }
            return;
        }
        let known = |name: &str| names::BOOTSTRAP_NAMES.contains(&name);
        let files = entries
            .iter()
            .filter(|(name, kind)| *kind == DirectoryEntryKind::File && known(name));
        let names = files.map(|(name, _)| format!("{MEMORY}/{name}"));
        self.gathered.names.extend(names);
    }

    fn folder(&mut self, path: &str, depth: usize) {
        if depth > self.bounds.depth {
            self.note(format!(
                "`{path}` is nested too deeply and was not checked."
            ));
            return;
        }
        let entries = self.entries(path);
        if path == MEMORY {
            self.known_names_of_memory(&entries);
        }
        for (name, kind) in entries {
            if self.full {
                return;
            }
            let below = format!("{path}/{name}");
            match kind {
                DirectoryEntryKind::File => self.read(&below),
                DirectoryEntryKind::Directory if SKIPPED.contains(&&*name) => {}
                DirectoryEntryKind::Directory => self.folder(&below, depth + 1),
                // A link's target inside the workspace is met under its own name; outside is not our business.
                DirectoryEntryKind::Link | DirectoryEntryKind::Other => {}
            }
        }
    }

    fn entries(&mut self, path: &str) -> Vec<(String, DirectoryEntryKind)> {
        let listed = self
            .root
            .list(Path::new(path), &LinkPolicy::Refuse, self.bounds.entries);
        let Ok(entries) = listed else {
            if self.root.kind(Path::new(path)) == Some(DirectoryEntryKind::Directory) {
                self.note(format!(
                    "`{path}` cannot be listed, or has too many entries."
                ));
            }
            return Vec::new();
        };
        let mut entries: Vec<_> = entries
            .into_iter()
            .map(|entry| (entry.name.to_string_lossy().into_owned(), entry.kind))
            .collect();
        entries.sort();
        entries
    }

    fn read(&mut self, path: &str) {
        if self.gathered.files.len() >= self.bounds.files || self.bytes >= self.bounds.bytes {
            if !self.full {
                self.full = true;
                self.note(format!(
                    "The check stopped before `{path}`, after {} files and {} bytes.",
                    self.gathered.files.len(),
                    self.bytes
                ));
            }
            return;
        }
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            hardlinks: Hardlinks::Refuse,
            max_bytes: self.bounds.file_bytes.min(self.bounds.bytes - self.bytes),
            oversized: Oversized::Keep,
        };
        let Ok(read) = self.root.read(Path::new(path), &policy) else {
            return;
        };
        self.bytes += read.bytes.len() as u64;
        if let Some(oversize) = read.oversize {
            self.note(format!(
                "Only the first {} bytes of `{path}` were checked.",
                oversize.kept
            ));
        }
        if is_binary(path, &read.bytes) {
            return;
        }
        let (text, invalid) = match String::from_utf8(read.bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let bytes = error.into_bytes();
                (String::from_utf8_lossy(&bytes).into_owned(), Some(bytes))
            }
        };
        self.gathered.files.push(TextFile {
            path: path.to_owned(),
            text,
            invalid,
            mode: read.mode,
        });
    }

    fn note(&mut self, note: String) {
        const MAX_NOTES: usize = 50;
        if self.gathered.notes.len() < MAX_NOTES {
            self.gathered.notes.push(note);
        }
    }
}

/// Markdown is always text; anything else with a NUL near its beginning, or much that is not UTF-8, is none.
fn is_binary(path: &str, bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(8192)];
    if has_extension(path, "md") || has_extension(path, "txt") {
        return false;
    }
    memchr::memchr(0, head).is_some()
        || head
            .utf8_chunks()
            .filter(|c| !c.invalid().is_empty())
            .count()
            > head.len() / 64 + 1
}
