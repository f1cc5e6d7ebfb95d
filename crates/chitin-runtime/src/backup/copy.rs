//! What of a home goes into a backup, and at which moment each file is taken, while turns run and messages come in.
//!
//! The job log is begun first and finished last (see [`JobLogBackup`]); in between, each agent's sessions are taken at one moment. Files that only grow are
//! taken up to a whole line, files that are replaced as one of their versions, contents that are named by their digest as they are.

use super::archive::{BackupHead, BackupTotals, BackupWriter, check_path};
use super::{BackupError, BackupProgress};
use crate::memory::INDEXES;
use crate::secrets::REGISTRIES_FILE;
use crate::serve::{ADDRESS_FILE, JOB_LOG, LOGINS_FILE, TOKEN_FILE};
use crate::{Host, channels, checkpoints, tools};
use chitin_config::OWN_FILE;
use chitin_guard::{
    DirectoryEntryKind, Fingerprint, Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy,
    Reader, Root, SurveyEntry,
};
use chitin_pack::store::Store;
use chitin_store::{FileStore, JobLogBackup, SessionFileKind, hold_index};
use serde::Serialize;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// How many names a directory has at most.
const MOST_NAMES: usize = 4_000_000;
/// Deeper directories are left out.
const MOST_DEPTH: usize = 48;
/// Up to this size a file is read before it is written, so that one that changes meanwhile can be read again.
const MOST_IN_MEMORY: u64 = 8 << 20;
const ATTEMPTS: usize = 4;
/// How much of the end of a file is searched for the end of a line in one go.
const TAIL: usize = 64 << 10;
/// How many files that were left out are named.
const MOST_NAMED: usize = 100;

const READ: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Allow,
    max_bytes: u64::MAX,
    oversized: Oversized::Keep,
};

/// What goes into a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupOptions {
    /// Whether files that only hold secrets do.
    pub secrets: bool,
    /// Whether the artifact store does.
    pub artifacts: bool,
}

/// What was backed up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    /// The home.
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    pub home: PathBuf,
    /// Files and bytes.
    #[serde(flatten)]
    pub totals: BackupTotals,
    /// Files with secrets that are in it.
    pub secrets: Vec<String>,
    /// What was left out that somebody may miss; at most a hundred.
    pub left_out: Vec<LeftOut>,
}

/// A file or a directory that is not in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Its path in the home.
    pub path: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why something is not in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// It is made again when it is needed.
    Cache,
    /// It holds secrets, and those were not wanted.
    Secret,
    /// Artifacts were not wanted.
    Artifact,
    /// It is a link, a pipe or a device.
    NotAFile,
    /// Its name is not text.
    OddName,
    /// It went away meanwhile.
    Gone,
    /// It changed while it was read, again and again, and may hold parts of several versions. It is in the backup.
    Changed,
}

impl LeftOutReason {
    /// Returns what it means, as the end of a sentence about a file.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Cache => "is made again when it is needed",
            Self::Secret => "holds secrets",
            Self::Artifact => "holds artifacts",
            Self::NotAFile => "is not a regular file",
            Self::OddName => "has a name that is not text",
            Self::Gone => "went away meanwhile",
            Self::Changed => "changed while it was read; it is in the backup, perhaps not whole",
        }
    }
}

/// Files that hold nothing but secrets.
const fn secret_files() -> [&'static str; 4] {
    [
        TOKEN_FILE,
        LOGINS_FILE,
        channels::CREDENTIALS_FILE,
        REGISTRIES_FILE,
    ]
}

/// Writes a backup of a home. Others may use it meanwhile.
pub fn write_backup<W: Write>(
    home: &Path,
    options: BackupOptions,
    out: W,
    progress: BackupProgress<'_>,
) -> Result<(W, BackupReport), BackupError> {
    let root = Root::open(home).map_err(BackupError::file(home))?;
    let log = JobLogBackup::begin(&home.join(JOB_LOG)).map_err(BackupError::store(home))?;
    let shown = root.real_path().to_string_lossy().into_owned();
    let head = BackupHead::new(Host::now(), shown, options.secrets, options.artifacts);
    let writer = BackupWriter::begin(out, &head).map_err(BackupError::Unwritable)?;
    let mut copy = Copy {
        root: &root,
        home,
        options,
        writer,
        progress,
        totals: BackupTotals::default(),
        secrets: Vec::new(),
        left_out: Vec::new(),
    };
    copy.directory(Path::new(""), 0)?;
    if let Some(log) = log {
        let bytes = log.finish().map_err(BackupError::store(home))?;
        let path = Path::new(JOB_LOG).join(JobLogBackup::FILE_NAME);
        copy.add(&path, false, bytes.len() as u64, &mut &bytes[..])?;
    }
    let (out, totals) = copy.writer.finish().map_err(BackupError::Unwritable)?;
    let report = BackupReport {
        home: home.to_path_buf(),
        totals,
        secrets: copy.secrets,
        left_out: copy.left_out,
    };
    Ok((out, report))
}

/// What a directory of a home holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing that has rules of its own.
    Plain,
    /// The home itself.
    Home,
    /// The job log.
    JobLog,
    /// The sessions of an agent.
    Sessions,
    /// A record of changes.
    Undo,
    /// The artifact store.
    Artifacts,
    /// Whatever a plugin keeps.
    Plugins,
}

struct Copy<'a, W: Write> {
    root: &'a Root,
    home: &'a Path,
    options: BackupOptions,
    writer: BackupWriter<W>,
    progress: BackupProgress<'a>,
    totals: BackupTotals,
    secrets: Vec<String>,
    left_out: Vec<LeftOut>,
}

impl<W: Write> Copy<'_, W> {
    /// Says what a directory holds, by its path in the home.
    fn place(path: &Path) -> Place {
        let parts: Vec<&str> = path
            .components()
            .map(|part| part.as_os_str().to_str().unwrap_or_default())
            .collect();
        let sessions = || {
            let agent = parts.get(1).copied().unwrap_or_default();
            FileStore::directory_of(Path::new(""), agent)
        };
        match parts.as_slice() {
            [] => Place::Home,
            [JOB_LOG] => Place::JobLog,
            [_, _, _] if path == sessions() => Place::Sessions,
            [_, _, checkpoints::DIRECTORY, _, ..]
                if Some(&*path_of(&parts[..2])) == sessions().parent() =>
            {
                Place::Undo
            }
            [first, ..] if path_of(&[first]) == Store::directory_of(Path::new("")) => {
                Place::Artifacts
            }
            [chitin_plugin::DATA_DIRECTORY, ..] => Place::Plugins,
            _ => Place::Plain,
        }
    }

    fn directory(&mut self, here: &Path, depth: usize) -> Result<(), BackupError> {
        let place = Self::place(here);
        if place == Place::Sessions {
            return self.sessions(here);
        }
        let mut entries = match self.root.survey(here, MOST_NAMES) {
            Ok(entries) => entries,
            Err(error) if error.is_missing() && depth > 0 => return Ok(()),
            Err(error) => return Err(BackupError::file(self.home.join(here))(error)),
        };
        // What names others comes before what it names: an index before its log, and both before the contents.
        entries.sort_by(|one, other| {
            let is_directory = |entry: &SurveyEntry| entry.kind == DirectoryEntryKind::Directory;
            let by_name = match place {
                Place::Undo => other.name.cmp(&one.name),
                _ => one.name.cmp(&other.name),
            };
            is_directory(one).cmp(&is_directory(other)).then(by_name)
        });
        for entry in entries {
            let path = here.join(&entry.name);
            if let Some(reason) = self.refusal(place, &path) {
                self.leave_out(&path, reason);
                continue;
            }
            if !is_taken(place, here, &path) {
                continue;
            }
            match entry.kind {
                DirectoryEntryKind::Directory if depth < MOST_DEPTH => {
                    self.directory(&path, depth + 1)?;
                }
                DirectoryEntryKind::File if is_lines(&path) => self.growing(&path, &entry)?,
                DirectoryEntryKind::File => self.whole(&path, &READ)?,
                // A configuration that lies with the user's other ones.
                DirectoryEntryKind::Link if place == Place::Home && is_configuration(&path) => {
                    let follow = ReadPolicy {
                        links: LinkPolicy::Anywhere,
                        ..READ
                    };
                    self.whole(&path, &follow)?;
                }
                DirectoryEntryKind::Directory
                | DirectoryEntryKind::Link
                | DirectoryEntryKind::Other => self.leave_out(&path, LeftOutReason::NotAFile),
            }
        }
        Ok(())
    }

    /// Tells why something does not go into this backup although somebody may miss it.
    fn refusal(&mut self, place: Place, path: &Path) -> Option<LeftOutReason> {
        if place != Place::Home {
            return None;
        }
        let name = path.to_str()?;
        if name == INDEXES {
            return Some(LeftOutReason::Cache);
        }
        if Path::new(name) == Store::directory_of(Path::new("")) && !self.options.artifacts {
            return Some(LeftOutReason::Artifact);
        }
        if !secret_files().contains(&name) {
            return None;
        }
        if !self.options.secrets {
            return Some(LeftOutReason::Secret);
        }
        self.secrets.push(name.to_owned());
        None
    }

    /// Takes the sessions of an agent as they are at one moment.
    fn sessions(&mut self, here: &Path) -> Result<(), BackupError> {
        let path = self.home.join(here);
        let hold = hold_index(&path).map_err(BackupError::store(&path))?;
        let survey = |root: &Root| root.survey(here, MOST_NAMES);
        let mut entries = survey(self.root).map_err(BackupError::file(&path))?;
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        let mut replaced = Vec::new();
        let mut growing = Vec::new();
        for entry in entries {
            let path = here.join(&entry.name);
            let name = entry.name.to_string_lossy();
            match (entry.kind, SessionFileKind::of(&name)) {
                (_, SessionFileKind::LeftOut) => {}
                (DirectoryEntryKind::File, SessionFileKind::Replaced) => {
                    match self.root.open_reader(&path, &READ) {
                        Ok(reader) => replaced.push((path, reader)),
                        Err(error) if error.is_missing() => {
                            self.leave_out(&path, LeftOutReason::Gone);
                        }
                        Err(error) => return Err(BackupError::file(self.home.join(path))(error)),
                    }
                }
                (DirectoryEntryKind::File, SessionFileKind::Growing)
                | (DirectoryEntryKind::Directory, _) => growing.push((path, entry)),
                (DirectoryEntryKind::Link | DirectoryEntryKind::Other, _) => {
                    self.leave_out(&path, LeftOutReason::NotAFile);
                }
            }
        }
        // From here on sessions may begin and be reset again: what they were is known.
        drop(hold);
        for (path, mut reader) in replaced {
            let size = reader.fingerprint.size;
            self.add(&path, false, size, &mut reader)?;
        }
        for (path, entry) in growing {
            match entry.kind {
                DirectoryEntryKind::Directory => self.directory(&path, 4)?,
                _ => self.growing(&path, &entry)?,
            }
        }
        Ok(())
    }

    /// Takes a file that only grows, up to the last whole line that it had when its directory was listed.
    fn growing(&mut self, path: &Path, entry: &SurveyEntry) -> Result<(), BackupError> {
        let Some(mut reader) = self.same_file(path, entry)? else {
            self.leave_out(path, LeftOutReason::Gone);
            return Ok(());
        };
        let is_same = reader.fingerprint.is_same_file(&entry.fingerprint);
        let length = if is_same {
            entry.fingerprint.size.min(reader.fingerprint.size)
        } else {
            reader.fingerprint.size
        };
        let failed = |source: io::Error| BackupError::File {
            path: self.home.join(path),
            source: source.into(),
        };
        let end = end_of_lines(&reader, length).map_err(failed)?;
        self.add(path, entry.mode & 0o100 != 0, end, &mut reader)
    }

    /// Opens the file that was listed, also if it has got another name meanwhile.
    fn same_file(&self, path: &Path, entry: &SurveyEntry) -> Result<Option<Reader>, BackupError> {
        let failed = |error| BackupError::file(self.home.join(path))(error);
        let opened = match self.root.open_reader(path, &READ) {
            Ok(reader) if reader.fingerprint.is_same_file(&entry.fingerprint) => {
                return Ok(Some(reader));
            }
            // Written anew as a whole: that one is as good.
            Ok(reader) => Some(reader),
            Err(ReadError::Missing { .. } | ReadError::Refused { .. }) => None,
            Err(error) => return Err(failed(error)),
        };
        let parent = path.parent().unwrap_or(Path::new(""));
        let now = self.root.survey(parent, MOST_NAMES).map_err(failed)?;
        let renamed = now
            .iter()
            .find(|other| other.fingerprint.is_same_file(&entry.fingerprint));
        let Some(renamed) = renamed else {
            return Ok(opened);
        };
        match self.root.open_reader(&parent.join(&renamed.name), &READ) {
            Ok(reader) if reader.fingerprint.is_same_file(&entry.fingerprint) => Ok(Some(reader)),
            Ok(_) | Err(ReadError::Missing { .. } | ReadError::Refused { .. }) => Ok(opened),
            Err(error) => Err(failed(error)),
        }
    }

    /// Takes a file that is replaced as a whole, or never changes.
    fn whole(&mut self, path: &Path, policy: &ReadPolicy) -> Result<(), BackupError> {
        let mut attempt = 1;
        loop {
            let mut reader = match self.root.open_reader(path, policy) {
                Ok(reader) => reader,
                Err(ReadError::Missing { .. }) => {
                    self.leave_out(path, LeftOutReason::Gone);
                    return Ok(());
                }
                Err(ReadError::Refused { .. }) => {
                    self.leave_out(path, LeftOutReason::NotAFile);
                    return Ok(());
                }
                Err(error) => return Err(BackupError::file(self.home.join(path))(error)),
            };
            let before = reader.fingerprint;
            let executable = reader.mode & 0o100 != 0;
            if before.size > MOST_IN_MEMORY {
                self.add(path, executable, before.size, &mut reader)?;
                if self.is_changed(path, &before) {
                    self.leave_out(path, LeftOutReason::Changed);
                }
                return Ok(());
            }
            let mut bytes = Vec::new();
            let read = reader
                .by_ref()
                .take(2 * MOST_IN_MEMORY)
                .read_to_end(&mut bytes);
            read.map_err(|source| BackupError::File {
                path: self.home.join(path),
                source: source.into(),
            })?;
            // Another file in its place is no harm: this one was whole.
            let is_changed = bytes.len() as u64 != before.size || self.is_changed(path, &before);
            if is_changed && attempt < ATTEMPTS {
                attempt += 1;
                continue;
            }
            if is_changed {
                self.leave_out(path, LeftOutReason::Changed);
            }
            return self.add(path, executable, bytes.len() as u64, &mut &bytes[..]);
        }
    }

    /// Tells whether the same file was written to since.
    fn is_changed(&self, path: &Path, before: &Fingerprint) -> bool {
        let now = self.root.fingerprint(path);
        now.is_some_and(|now| {
            now.is_same_file(before) && (now.size, now.mtime) != (before.size, before.mtime)
        })
    }

    fn add(
        &mut self,
        path: &Path,
        executable: bool,
        size: u64,
        content: &mut dyn Read,
    ) -> Result<(), BackupError> {
        let Some(name) = path.to_str().filter(|name| check_path(name).is_ok()) else {
            self.leave_out(path, LeftOutReason::OddName);
            return Ok(());
        };
        let added = self.writer.file(name, executable, size, content);
        added.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => BackupError::File {
                path: self.home.join(path),
                source: "it became shorter while it was read; try again".into(),
            },
            _ => BackupError::Unwritable(error),
        })?;
        self.totals.files += 1;
        self.totals.bytes += size;
        (self.progress)(self.totals);
        Ok(())
    }

    fn leave_out(&mut self, path: &Path, reason: LeftOutReason) {
        if self.left_out.len() < MOST_NAMED {
            self.left_out.push(LeftOut {
                path: path.to_string_lossy().into_owned(),
                reason,
            });
        }
    }
}

/// Tells whether a file belongs into a backup at all: not what is about this process, this moment, or is made again for nothing.
fn is_taken(place: Place, here: &Path, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_lock = name.ends_with(".lock");
    match place {
        Place::Home => *name != *tools::CACHE && *name != *ADDRESS_FILE && !is_lock,
        Place::JobLog => {
            *name != *JobLogBackup::FILE_NAME
                && SessionFileKind::of(&name) != SessionFileKind::LeftOut
        }
        Place::Undo => {
            let below = path.components().skip(UNDO_DEPTH).collect::<PathBuf>();
            chitin_undo::is_kept_in_copies(&below)
        }
        Place::Artifacts => {
            let below = path.components().skip(1).collect::<PathBuf>();
            here.as_os_str().is_empty() || Store::is_kept_in_copies(&below)
        }
        Place::Plugins => true,
        Place::Sessions | Place::Plain => !is_lock,
    }
}

/// How deep the directory of a record of changes lies: `agents/AGENT/undo/WORKSPACE`.
const UNDO_DEPTH: usize = 4;

/// Tells whether a file only grows, line by line.
fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

fn is_configuration(path: &Path) -> bool {
    path.to_str() == Some(OWN_FILE) || path.extension().is_some_and(|end| end == "json5")
}

fn path_of(parts: &[&str]) -> PathBuf {
    parts.iter().collect()
}

/// Returns where the last whole line of a file ends.
fn end_of_lines(file: &Reader, length: u64) -> io::Result<u64> {
    let mut end = length;
    let mut buffer = vec![0; TAIL];
    while end > 0 {
        let begin = end.saturating_sub(TAIL as u64);
        let wanted = usize::try_from(end - begin).unwrap_or(TAIL);
        let mut filled = 0;
        while filled < wanted {
            match file.read_at(&mut buffer[filled..wanted], begin + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(at) = buffer[..filled].iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}
