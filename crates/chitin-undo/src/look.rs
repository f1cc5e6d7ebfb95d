//! Looking at a workspace: what is different from the index. What did not change is not opened.

use crate::entry::{Entry, NotCovered};
use crate::error::UndoError;
use crate::index::{Index, Known};
use crate::objects::{self, ContentWriter, Taken};
use crate::options::Options;
use crate::path::FilePath;
use chitin_guard::{
    DirectoryEntryKind, Fingerprint, Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root,
    SurveyEntry,
};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::SystemTime;

/// Deeper directories are left out.
const MAX_DEPTH: usize = 128;
/// How often a file is read that changes while it is read.
const MAX_ATTEMPTS: usize = 3;
/// What is said of left-out entries at most.
const MAX_NAMED: usize = 50;

/// How a file is read: no link is followed, a second name is no obstacle.
pub(crate) const READ: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Allow,
    max_bytes: u64::MAX,
    oversized: Oversized::Keep,
};

/// A name that is not as the index has it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: FilePath,
    pub(crate) before: Option<Entry>,
    pub(crate) after: Option<Known>,
    /// When the name was last changed, by the clock of the file system; nothing if it is gone.
    pub(crate) changed_at: Option<(i64, i64)>,
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    pub(crate) found: Vec<Found>,
    /// Files with the content that is known and another fingerprint.
    pub(crate) refreshed: Vec<(FilePath, Known)>,
    /// Entries that are neither file, directory nor link.
    pub(crate) special: Vec<FilePath>,
    /// What the rules leave out.
    pub(crate) ignored: Vec<FilePath>,
}

/// One look at a workspace.
pub(crate) struct Look<'a, 'o> {
    workspace: &'a Root,
    options: &'a Options,
    index: &'a Index,
    contents: &'a mut ContentWriter<'o>,
    excluded: Vec<Fingerprint>,
    now: SystemTime,
    seen: HashSet<&'a FilePath>,
    entries: usize,
    differences: Differences,
}

impl<'a, 'o> Look<'a, 'o> {
    pub(crate) fn new(
        workspace: &'a Root,
        options: &'a Options,
        index: &'a Index,
        contents: &'a mut ContentWriter<'o>,
    ) -> Self {
        let excluded = options.excluded.iter();
        Self {
            workspace,
            options,
            index,
            contents,
            excluded: excluded
                .filter_map(|path| Fingerprint::of_path(path))
                .collect(),
            now: chitin_guard::stamp_now(),
            seen: HashSet::with_capacity(index.entries.len()),
            entries: 0,
            differences: Differences::default(),
        }
    }

    /// Looks at everything.
    pub(crate) fn differences(mut self) -> Result<Differences, UndoError> {
        self.directory(&mut Vec::new(), 0)?;
        if self.seen.len() < self.index.entries.len() {
            let gone = self.index.entries.iter();
            let gone = gone.filter(|(path, _)| !self.seen.contains(path));
            let gone = gone.map(|(path, known)| Found {
                path: path.clone(),
                before: Some(known.entry.clone()),
                after: None,
                changed_at: None,
            });
            self.differences.found.extend(gone);
        }
        self.differences.found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(self.differences)
    }

    fn directory(&mut self, at: &mut Vec<u8>, depth: usize) -> Result<(), UndoError> {
        let here = Path::new(std::ffi::OsStr::from_bytes(at)).to_owned();
        let limit = self.options.limits.max_entries;
        let entries = match self.workspace.survey(&here, limit) {
            Ok(entries) => entries,
            Err(ReadError::Io { source, .. })
                if source.kind() == ErrorKind::PermissionDenied && !at.is_empty() =>
            {
                // It cannot be looked into. That says nothing about what is in it.
                self.keep_below(at);
                return Ok(());
            }
            Err(ReadError::Refused {
                reason: chitin_protocol::record::FileRefusal::TooLarge,
                ..
            }) => return Err(UndoError::TooMany { limit }),
            // It is gone by now, or a link.
            Err(ReadError::Missing { .. } | ReadError::Refused { .. }) if !at.is_empty() => {
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        for entry in entries {
            let name = entry.name.as_bytes();
            let length = at.len();
            if length > 0 {
                at.push(b'/');
            }
            at.extend_from_slice(name);
            let done = self.entry(at, name, &entry, depth);
            at.truncate(length);
            done?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        at: &mut Vec<u8>,
        name: &[u8],
        entry: &SurveyEntry,
        depth: usize,
    ) -> Result<(), UndoError> {
        if self.options.ignore.leaves_out(at, name) || self.is_excluded(entry) {
            if self.differences.ignored.len() < MAX_NAMED {
                self.differences.ignored.extend(FilePath::new(at));
            }
            return Ok(());
        }
        self.entries += 1;
        if self.entries > self.options.limits.max_entries {
            return Err(UndoError::TooMany {
                limit: self.options.limits.max_entries,
            });
        }
        let Some(path) = FilePath::new(at) else {
            return Ok(());
        };
        let index = self.index;
        let known = index.entries.get_key_value(&path);
        let is_same = known.is_some_and(|(_, known)| match (&known.entry, entry.kind) {
            (Entry::Directory { mode }, DirectoryEntryKind::Directory) => *mode == entry.mode,
            // There may be room by now.
            (Entry::Uncovered { reason, size, .. }, DirectoryEntryKind::File)
                if *reason == NotCovered::NoRoom && *size < self.contents.room =>
            {
                false
            }
            (Entry::File { .. } | Entry::Uncovered { .. }, DirectoryEntryKind::File)
            | (Entry::Link { .. }, DirectoryEntryKind::Link) => {
                known.settled && known.fingerprint == entry.fingerprint
            }
            _ => false,
        });
        if let (Some((path, _)), true) = (known, is_same) {
            self.seen.insert(path);
        } else {
            self.other(path, known, entry)?;
        }
        if entry.kind == DirectoryEntryKind::Directory && depth < MAX_DEPTH {
            self.directory(at, depth + 1)?;
        }
        Ok(())
    }

    /// Takes what is not as it was known.
    fn other(
        &mut self,
        path: FilePath,
        known: Option<(&'a FilePath, &'a Known)>,
        entry: &SurveyEntry,
    ) -> Result<(), UndoError> {
        let before = known.map(|(_, known)| known);
        let after = match entry.kind {
            DirectoryEntryKind::Directory => Some(Known {
                entry: Entry::Directory { mode: entry.mode },
                fingerprint: Fingerprint::default(),
                settled: true,
            }),
            DirectoryEntryKind::Link => {
                self.workspace
                    .link_text(path.as_path())
                    .ok()
                    .map(|text| Known {
                        entry: Entry::Link {
                            text: text.as_os_str().as_bytes().to_vec(),
                        },
                        fingerprint: entry.fingerprint,
                        settled: entry.fingerprint.is_settled(self.now),
                    })
            }
            DirectoryEntryKind::File => self.file(&path, before, entry)?,
            DirectoryEntryKind::Other => {
                if self.differences.special.len() < MAX_NAMED {
                    self.differences.special.push(path);
                }
                return Ok(());
            }
        };
        // What went away meanwhile was not seen.
        let Some(after) = after else { return Ok(()) };
        if let Some((path, _)) = known {
            self.seen.insert(path);
        }
        let is_unwritten = before.is_some_and(|before| {
            let is_without_room = matches!(
                before.entry,
                Entry::Uncovered {
                    reason: NotCovered::NoRoom,
                    ..
                }
            );
            before.entry == after.entry
                || (is_without_room && before.settled && before.fingerprint == after.fingerprint)
        });
        if is_unwritten {
            self.differences.refreshed.push((path, after));
        } else {
            self.differences.found.push(Found {
                path,
                before: before.map(|before| before.entry.clone()),
                after: Some(after),
                changed_at: Some(entry.fingerprint.ctime),
            });
        }
        Ok(())
    }

    fn file(
        &mut self,
        path: &FilePath,
        before: Option<&Known>,
        entry: &SurveyEntry,
    ) -> Result<Option<Known>, UndoError> {
        let uncovered = |reason| {
            Some(Known {
                entry: Entry::Uncovered {
                    reason,
                    size: entry.fingerprint.size,
                    mode: entry.mode,
                    modified: entry.fingerprint.mtime,
                },
                fingerprint: entry.fingerprint,
                settled: entry.fingerprint.is_settled(self.now),
            })
        };
        let limit = self.options.limits.max_file_bytes;
        if entry.fingerprint.size > limit {
            return Ok(uncovered(NotCovered::TooLarge));
        }
        for attempt in 1..=MAX_ATTEMPTS {
            let mut file = match self.workspace.open_reader(path.as_path(), &READ) {
                Ok(file) => file,
                Err(ReadError::Missing { .. }) => return Ok(None),
                Err(ReadError::Io { .. }) => {
                    return Ok(closed(before, entry).or_else(|| uncovered(NotCovered::Unreadable)));
                }
                // It became something else meanwhile; the next look sees what.
                Err(ReadError::Refused { .. }) => return Ok(before.cloned()),
            };
            let (fingerprint, mode) = (file.fingerprint, file.mode);
            let (id, size) = match self.contents.take(&mut file, limit)? {
                Taken::Stored { id, size } => (id, size),
                Taken::NoRoom => return Ok(uncovered(NotCovered::NoRoom)),
            };
            let is_whole = objects::is_same(self.workspace, path.as_path(), &fingerprint)
                && size == fingerprint.size;
            if is_whole || attempt == MAX_ATTEMPTS {
                return Ok(Some(Known {
                    entry: Entry::File {
                        content: id,
                        size,
                        mode,
                    },
                    fingerprint,
                    settled: is_whole && fingerprint.is_settled(self.now),
                }));
            }
        }
        Ok(None)
    }

    fn is_excluded(&self, entry: &SurveyEntry) -> bool {
        entry.kind == DirectoryEntryKind::Directory
            && self
                .excluded
                .iter()
                .any(|excluded| excluded.is_same_file(&entry.fingerprint))
    }

    /// Takes everything beneath a directory for seen.
    fn keep_below(&mut self, at: &[u8]) {
        let Some(above) = FilePath::new(at) else {
            return;
        };
        let below = self.index.entries.keys().filter(|path| path.is_in(&above));
        self.seen.extend(below);
    }
}

/// Describes a file that is closed even to its owner. If nobody wrote to it since it was read, it has the content that it had.
fn closed(before: Option<&Known>, entry: &SurveyEntry) -> Option<Known> {
    let before = before?;
    let (was, now) = (&before.fingerprint, &entry.fingerprint);
    let Entry::File { content, size, .. } = before.entry else {
        return None;
    };
    let is_unwritten = was.is_same_file(now) && (was.size, was.mtime) == (now.size, now.mtime);
    is_unwritten.then_some(Known {
        entry: Entry::File {
            content,
            size,
            mode: entry.mode,
        },
        fingerprint: entry.fingerprint,
        settled: before.settled,
    })
}

/// Says what stands under a name right now. Contents are digested and not kept.
pub(crate) fn observe(
    workspace: &Root,
    path: &FilePath,
    max_file_bytes: u64,
) -> Result<Option<(Entry, Fingerprint)>, UndoError> {
    let relative = path.as_path();
    let Some(kind) = workspace.kind(relative) else {
        return Ok(None);
    };
    let fingerprint = workspace.fingerprint(relative).unwrap_or_default();
    let mode = workspace.mode(relative).unwrap_or_default();
    let entry = match kind {
        DirectoryEntryKind::Directory => Entry::Directory { mode },
        DirectoryEntryKind::Link => Entry::Link {
            text: workspace
                .link_text(relative)?
                .as_os_str()
                .as_bytes()
                .to_vec(),
        },
        DirectoryEntryKind::File | DirectoryEntryKind::Other => {
            let uncovered = |reason| Entry::Uncovered {
                reason,
                size: fingerprint.size,
                mode,
                modified: fingerprint.mtime,
            };
            match workspace.open_reader(relative, &READ) {
                Ok(mut file) => match objects::digest(&mut file, max_file_bytes) {
                    Ok(Some((content, size))) => Entry::File {
                        content,
                        size,
                        mode,
                    },
                    Ok(None) => uncovered(NotCovered::TooLarge),
                    Err(_) => uncovered(NotCovered::Unreadable),
                },
                Err(_) => uncovered(NotCovered::Unreadable),
            }
        }
    };
    Ok(Some((entry, fingerprint)))
}
