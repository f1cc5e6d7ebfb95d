//! Searches every file of a home, unpacked where it is packed, for what is left of forgotten sessions.

use crate::checkpoints;
use crate::memory::INDEXES;
use crate::serve::JOB_LOG;
use chitin_gateway::forget::{KeptPlace, LeftTrace, Searched};
use chitin_guard::{DirectoryEntryKind, Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use chitin_pack::store::Store;
use regex::bytes::Regex;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How many names a directory has at most.
const MOST_NAMES: usize = 4_000_000;
/// Deeper directories are not searched.
const MOST_DEPTH: usize = 64;
/// How many files are named in which something is left.
const MOST_LEFT: usize = 200;
/// How much is read at once.
const CHUNK: usize = 1 << 20;
/// What a compressed file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// What unpacks to more is not searched to its end.
const MOST_UNPACKED: u64 = 1 << 36;

const READ: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Allow,
    max_bytes: u64::MAX,
    oversized: Oversized::Keep,
};

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) searched: Searched,
    pub(super) left: Vec<LeftTrace>,
}

/// Searches a home, and a directory of exports, for words; of each is known whether it is an id.
pub(super) fn search(home: &Path, exports: &Path, words: &[(String, bool)]) -> Found {
    let mut found = Found::default();
    found.searched.words = words.len();
    let pattern: Vec<String> = words.iter().map(|(word, _)| regex::escape(word)).collect();
    let Ok(pattern) = Regex::new(&pattern.join("|")) else {
        return found;
    };
    if words.is_empty() {
        return found;
    }
    let longest = words.iter().map(|(word, _)| word.len()).max();
    let mut search = Search {
        pattern,
        overlap: longest.unwrap_or_default(),
        words,
        found,
    };
    for (directory, place) in [(home, None), (exports, Some(KeptPlace::Export))] {
        if let Ok(root) = Root::open(directory) {
            search.directory(&root, Path::new(""), 0, place);
        }
    }
    search.found
}

struct Search<'a> {
    pattern: Regex,
    overlap: usize,
    words: &'a [(String, bool)],
    found: Found,
}

impl Search<'_> {
    fn directory(&mut self, root: &Root, here: &Path, depth: usize, place: Option<KeptPlace>) {
        let Ok(mut entries) = root.survey(here, MOST_NAMES) else {
            return;
        };
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let path = here.join(&entry.name);
            match entry.kind {
                DirectoryEntryKind::Directory if depth < MOST_DEPTH => {
                    self.directory(root, &path, depth + 1, place);
                }
                DirectoryEntryKind::File => {
                    if let Ok(Some(is_id)) = self.file(root, &path) {
                        self.note(root, &path, is_id, place);
                    }
                }
                DirectoryEntryKind::Directory
                | DirectoryEntryKind::Link
                | DirectoryEntryKind::Other => {}
            }
        }
    }

    fn note(&mut self, root: &Root, path: &Path, is_id: bool, place: Option<KeptPlace>) {
        if self.found.left.len() < MOST_LEFT {
            self.found.left.push(LeftTrace {
                path: root.path().join(path).to_string_lossy().into_owned(),
                is_id,
                kept_by: place.unwrap_or_else(|| kept_by(path)),
            });
        }
    }

    /// Tells whether a file holds one of the words, and whether that is an id.
    fn file(&mut self, root: &Root, path: &Path) -> io::Result<Option<bool>> {
        let open = || root.open_reader(path, &READ).map_err(io::Error::other);
        self.found.searched.files += 1;
        let plain = self.stream(open()?)?;
        if plain.is_some() {
            return Ok(plain);
        }
        let mut start = [0; 2];
        let mut file = open()?;
        if file.read_at(&mut start, 0)? == start.len() && start == GZIP {
            let unpacked = chitin_pack::archive::decompress(&mut file);
            return self.stream(unpacked.take(MOST_UNPACKED));
        }
        match checkpoints::below_record(path) {
            Some(below) => match chitin_undo::content_of(&below, file)? {
                Some(content) => self.stream(content.take(MOST_UNPACKED)),
                None => Ok(None),
            },
            None => Ok(None),
        }
    }

    fn stream(&mut self, mut source: impl Read) -> io::Result<Option<bool>> {
        let mut buffer = Vec::with_capacity(CHUNK + self.overlap);
        loop {
            let before = buffer.len();
            let read = source.by_ref().take(CHUNK as u64).read_to_end(&mut buffer);
            self.found.searched.bytes += (buffer.len() - before) as u64;
            if let Some(found) = self.pattern.find(&buffer) {
                let word = &self
                    .words
                    .iter()
                    .find(|(word, _)| word.as_bytes() == found.as_bytes());
                return Ok(Some(word.is_some_and(|(_, is_id)| *is_id)));
            }
            if read? == 0 {
                return Ok(None);
            }
            let keep = buffer.len().min(self.overlap);
            buffer.drain(..buffer.len() - keep);
        }
    }
}

/// Says what keeps a file, by its path in the home.
fn kept_by(path: &Path) -> KeptPlace {
    let first: PathBuf = path.components().take(1).collect();
    let is = |name: &str| first == Path::new(name);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if checkpoints::below_record(path).is_some() {
        KeptPlace::Changes
    } else if name.contains(".trajectory") || is("logs") {
        KeptPlace::Recording
    } else if is(chitin_store::compat::AGENTS) && name.contains(chitin_store::compat::TRANSCRIPT)
        || path.ends_with(chitin_store::compat::INDEX)
    {
        KeptPlace::Session
    } else if is(JOB_LOG) {
        KeptPlace::Job
    } else if is(INDEXES) {
        KeptPlace::Memory
    } else if first == Store::directory_of(Path::new("")) {
        KeptPlace::Artifact
    } else if is(chitin_plugin::DATA_DIRECTORY) {
        KeptPlace::Plugin
    } else if is(chitin_gateway::cron::DIRECTORY) {
        KeptPlace::Schedule
    } else if name.ends_with(".tar.gz") {
        KeptPlace::Backup
    } else {
        KeptPlace::Other
    }
}
