//! The history of a workspace: looks at it, records what is different, and keeps it within its limits.
//!
//! Every look is one step that a crash cannot split: contents first, then the record in the log, then the index. If the index is
//! behind the log, it is brought up to date before anything else happens.

use crate::entry::{Change, ContentId, Entry, NotCovered};
use crate::error::UndoError;
use crate::index::{Index, Known};
use crate::log::{self, Record, TurnInfo};
use crate::look::{Differences, Found, Look};
use crate::objects::{self, ContentWriter};
use crate::options::Options;
use crate::path::FilePath;
use crate::running::{self, ActiveTurn, RunningTurns};
use crate::{journal, prune};
use chitin_guard::{
    ClaimKind, Fingerprint, Hardlinks, LinkPolicy, NameClaim, Oversized, ReadError, ReadPolicy,
    Root,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The name of the index.
pub(crate) const INDEX: &str = "index";
/// Where an index is put that cannot be used.
const BROKEN_INDEX: &str = "index.damaged";
/// There while every turn that wrote was recorded.
const SOUND: &str = "recorded";
/// Its name after one was not, until the next one is.
pub(crate) const MISSED: &str = "not-recorded";
/// The largest index that is read.
const MAX_INDEX: u64 = 1 << 30;
/// Claimed by whoever looks, records or takes back.
pub(crate) const LOCK: &str = "lock";

/// The changes that turns made to one workspace.
#[derive(Debug, Clone)]
pub struct History {
    pub(crate) directory: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) options: Options,
}

/// What a look at a workspace found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whether it was the first one: then everything was read.
    pub is_first: bool,
    /// How many entries changed since the last look.
    pub changed: usize,
    /// How many entries there are.
    pub entries: usize,
    /// Files whose content was not kept, of those that changed.
    pub uncovered: Vec<Uncovered>,
    /// FIFOs, sockets and devices, which are left out; at most fifty.
    pub special: Vec<FilePath>,
    /// What the rules left out; at most fifty.
    pub ignored: Vec<FilePath>,
}

/// A file whose content is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncovered {
    /// The file.
    pub path: FilePath,
    /// Why.
    pub reason: NotCovered,
}

/// A store that is open and claimed.
pub(crate) struct Open<'h> {
    pub(crate) history: &'h History,
    pub(crate) store: Root,
    pub(crate) workspace: Root,
    pub(crate) index: Index,
    pub(crate) running: RunningTurns,
    is_new: bool,
    /// Where there is no index, the names of which the log says what they held last.
    logged: HashSet<FilePath>,
    _lock: NameClaim,
}

impl History {
    /// Keeps the history of a workspace in a directory, which is made when something is recorded. Nothing is opened.
    pub fn new(directory: impl Into<PathBuf>, workspace: &Path, options: Options) -> Self {
        Self {
            directory: directory.into(),
            workspace: workspace.into(),
            options,
        }
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Tells whether anything was recorded.
    pub fn is_recorded(&self) -> bool {
        let is_there = |name: &str, store: &Root| store.kind(Path::new(name)).is_some();
        Root::open(&self.directory).is_ok_and(|store| {
            [INDEX, BROKEN_INDEX, log::LOG]
                .iter()
                .any(|name| is_there(name, &store))
        })
    }

    /// Tells whether a content is kept.
    pub fn holds(&self, id: ContentId) -> bool {
        Root::open(&self.directory).is_ok_and(|store| objects::is_there(&store, id))
    }

    /// Reads a content of a known size, if it is kept.
    pub fn content(&self, id: ContentId, size: u64) -> Result<Option<Vec<u8>>, UndoError> {
        let store = self.reader()?;
        if !objects::is_there(&store, id) {
            return Ok(None);
        }
        objects::read(&store, id, size, size)
    }

    /// Notes that a turn writes without a record. A name is moved for it, which a full disk allows.
    pub fn miss(&self) -> Result<(), UndoError> {
        let store = self.reader()?;
        let (sound, missed) = (Path::new(SOUND), Path::new(MISSED));
        if store.kind(missed).is_some() {
            return Ok(());
        }
        if store.kind(sound).is_some() {
            store.rename_new(sound, missed)?;
        } else {
            store.replace_private(missed, b"")?;
        }
        Ok(())
    }

    /// Records the workspace as it is.
    pub fn checkpoint(&self, now_ms: i64) -> Result<Checkpoint, UndoError> {
        let mut open = self.open(now_ms)?;
        let checkpoint = open.advance(now_ms)?;
        prune::when_due(&mut open, now_ms)?;
        Ok(checkpoint)
    }

    /// Begins a turn that is about to write. The workspace should have been recorded by [`History::checkpoint`] before.
    pub fn begin(&self, turn: TurnInfo, now_ms: i64) -> Result<ActiveTurn, UndoError> {
        let mut open = self.open(now_ms)?;
        // What died meanwhile must not be counted to this turn.
        if open.is_new || !open.running.dead.is_empty() {
            open.advance(now_ms)?;
        }
        let number = open.running.next_number(open.index.next_turn);
        running::enter(
            &open.store,
            TurnInfo {
                number,
                began_ms: now_ms,
                ..turn
            },
        )
    }

    /// Ends a turn: what changed while it was writing is recorded.
    pub fn end(&self, turn: ActiveTurn, now_ms: i64) -> Result<Checkpoint, UndoError> {
        let mut open = self.open(now_ms)?;
        let checkpoint = open.advance(now_ms)?;
        running::leave(&open.store, turn.info.number)?;
        drop(turn);
        let (sound, missed) = (Path::new(SOUND), Path::new(MISSED));
        if open.store.kind(missed).is_some() {
            open.store.remove_file(sound)?;
            open.store.rename_new(missed, sound)?;
        }
        prune::when_due(&mut open, now_ms)?;
        Ok(checkpoint)
    }

    /// Completes what a crash left: an undo, and the records of turns whose process died.
    pub fn settle(&self, now_ms: i64) -> Result<(), UndoError> {
        if !self.is_recorded() {
            return Ok(());
        }
        let mut open = self.open(now_ms)?;
        if !open.running.dead.is_empty() {
            open.advance(now_ms)?;
        }
        Ok(())
    }

    /// Opens the store if there is one.
    pub(crate) fn reader(&self) -> Result<Root, UndoError> {
        match Root::open(&self.directory) {
            Ok(store) => Ok(store),
            Err(ReadError::Missing { .. }) => Err(UndoError::NothingRecorded),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the store for writing, waits until nobody else does, and completes what a crash left.
    pub(crate) fn open(&self, now_ms: i64) -> Result<Open<'_>, UndoError> {
        let workspace = Root::open(&self.workspace)?;
        let store = Root::create_private(&self.directory)?;
        let Some(lock) = store.claim(Path::new(LOCK), ClaimKind::Alone)? else {
            return Err(UndoError::NothingRecorded);
        };
        let (index, is_new) = read_index(&store)?;
        if is_new && store.kind(Path::new(MISSED)).is_none() {
            store.replace_private(Path::new(SOUND), b"")?;
        }
        let mut open = Open {
            history: self,
            running: RunningTurns::find(&store)?,
            store,
            workspace,
            index,
            is_new,
            logged: HashSet::new(),
            _lock: lock,
        };
        open.catch_up()?;
        journal::complete(&mut open, now_ms)?;
        Ok(open)
    }
}

/// Reads the index; tells whether there was none that can be used.
pub(crate) fn read_index(store: &Root) -> Result<(Index, bool), UndoError> {
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Refuse,
        max_bytes: MAX_INDEX,
        oversized: Oversized::Refuse,
    };
    let name = Path::new(INDEX);
    match store.read(name, &policy) {
        Ok(read) => {
            if let Ok(index) = Index::parse(&read.bytes) {
                return Ok((index, false));
            }
            // Kept, for those who want to know why; the contents are still there.
            store.remove_file(Path::new(BROKEN_INDEX))?;
            store.rename_new(name, Path::new(BROKEN_INDEX))?;
            Ok((Index::default(), true))
        }
        Err(ReadError::Missing { .. }) => Ok((Index::default(), true)),
        Err(error) => Err(error.into()),
    }
}

impl Open<'_> {
    /// Takes up records that reached the log and not the index, and removes contents that no record names.
    fn catch_up(&mut self) -> Result<(), UndoError> {
        let unfinished = self.store.kind(Path::new(objects::UNFINISHED)).is_some();
        let log_bytes = log::size(&self.store);
        let is_behind = log_bytes != self.index.log_bytes;
        if !unfinished && !is_behind {
            return Ok(());
        }
        let records = log::read(&self.store)?.records;
        for record in &records {
            self.index.next_turn = record
                .turns
                .iter()
                .map(|turn| turn.number + 1)
                .fold(self.index.next_turn, u64::max);
            if record.sequence > self.index.sequence {
                self.index.sequence = record.sequence;
                self.apply(&record.changes);
                if self.is_new {
                    let names = record.changes.iter().map(|change| change.path.clone());
                    self.logged.extend(names);
                }
            }
        }
        self.index.oldest_ms = records.first().map_or(0, |record| record.at_ms);
        self.index.log_bytes = log::size(&self.store);
        if unfinished && !self.is_new {
            self.index.stored_bytes = objects::sweep(&self.store, &self.needed(&records))?;
            self.store.remove_file(Path::new(objects::UNFINISHED))?;
        }
        if !self.is_new {
            self.write_index()?;
        }
        Ok(())
    }

    /// Brings the index to the state after changes. The next look reads these files again.
    fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match &change.after {
                Some(entry) => {
                    let known = Known {
                        entry: entry.clone(),
                        fingerprint: Fingerprint::default(),
                        settled: false,
                    };
                    self.index.entries.insert(change.path.clone(), known);
                }
                None => {
                    self.index.entries.remove(&change.path);
                }
            }
        }
    }

    /// Returns the contents that the index or a record names.
    pub(crate) fn needed(&self, records: &[Record]) -> HashSet<crate::ContentId> {
        let known = self.index.entries.values();
        let mut needed: HashSet<_> = known.filter_map(|known| known.entry.content()).collect();
        for change in records.iter().flat_map(|record| &record.changes) {
            let entries = [&change.before, &change.after];
            needed.extend(entries.into_iter().flatten().filter_map(Entry::content));
        }
        needed
    }

    /// Looks at the workspace and records what is different: the changes of the turns that are writing, or somebody else's.
    pub(crate) fn advance(&mut self, now_ms: i64) -> Result<Checkpoint, UndoError> {
        self.advance_with(now_ms, Self::attributed)
    }

    /// Does the same; who changed what is for the caller to say.
    pub(crate) fn advance_with(
        &mut self,
        now_ms: i64,
        attribute: impl FnOnce(&Self, Vec<Found>) -> Vec<(Vec<TurnInfo>, Vec<Found>)>,
    ) -> Result<Checkpoint, UndoError> {
        let limits = self.history.options.limits;
        if self.is_new {
            // No index, so nothing is known of the room that is taken.
            let sizes = objects::sizes(&self.store)?;
            self.index.stored_bytes = sizes.values().sum();
        }
        let room = limits.max_bytes.saturating_sub(self.index.stored_bytes);
        let mut contents = ContentWriter::new(&self.store, room);
        let look = Look::new(
            &self.workspace,
            &self.history.options,
            &self.index,
            &mut contents,
        );
        let Differences {
            found,
            refreshed,
            special,
            ignored,
        } = look.differences()?;
        contents.sync()?;
        let (written, has_written) = (contents.written, contents.has_written());
        let uncovered = found.iter().filter_map(|found| match &found.after {
            Some(Known {
                entry: Entry::Uncovered { reason, .. },
                ..
            }) => Some(Uncovered {
                path: found.path.clone(),
                reason: *reason,
            }),
            Some(_) | None => None,
        });
        let mut checkpoint = Checkpoint {
            is_first: self.is_new,
            changed: found.len(),
            entries: 0,
            uncovered: uncovered.collect(),
            special,
            ignored,
        };
        let is_changed = self.is_new || !found.is_empty() || !refreshed.is_empty();
        for (path, known) in refreshed {
            self.index.entries.insert(path, known);
        }
        // Without an index, a name that the log knows nothing of is taken as it is.
        let (found, unknown): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|found| !self.is_new || self.logged.contains(&found.path));
        self.take(unknown);
        if !found.is_empty() {
            self.record(attribute(self, found), now_ms)?;
        }
        checkpoint.entries = self.index.entries.len();
        if is_changed || written > 0 {
            self.index.stored_bytes += written;
            self.write_index()?;
        }
        self.is_new = false;
        if has_written {
            self.store.remove_file(Path::new(objects::UNFINISHED))?;
        }
        for turn in std::mem::take(&mut self.running.dead) {
            running::leave(&self.store, turn.info.number)?;
        }
        Ok(checkpoint)
    }

    /// Says which turns changed what. What was changed after a turn died is somebody else's.
    fn attributed(&self, found: Vec<Found>) -> Vec<(Vec<TurnInfo>, Vec<Found>)> {
        let alive = &self.running.alive;
        let dead = &self.running.dead;
        let (of_dead, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| {
            let is_before = |until| found.changed_at.is_none_or(|at| at <= until);
            dead.iter().any(|turn| is_before(turn.until))
        });
        let infos = dead.iter().map(|turn| turn.info.clone());
        let all: Vec<TurnInfo> = infos.chain(alive.iter().cloned()).collect();
        vec![(all, of_dead), (alive.clone(), rest)]
    }

    fn record(
        &mut self,
        groups: Vec<(Vec<TurnInfo>, Vec<Found>)>,
        now_ms: i64,
    ) -> Result<(), UndoError> {
        let mut records = Vec::new();
        let mut taken = Vec::new();
        for (turns, found) in groups {
            if found.is_empty() {
                continue;
            }
            self.index.sequence += 1;
            self.index.next_turn = turns
                .iter()
                .map(|turn| turn.number + 1)
                .fold(self.index.next_turn, u64::max);
            let changes = found.iter().map(|found| Change {
                path: found.path.clone(),
                before: found.before.clone(),
                after: found.after.as_ref().map(|after| after.entry.clone()),
            });
            records.push(Record {
                sequence: self.index.sequence,
                at_ms: now_ms,
                turns,
                gap: false,
                changes: changes.collect(),
            });
            taken.extend(found);
        }
        log::append(&self.store, &records)?;
        self.index.log_bytes = log::size(&self.store);
        if self.index.oldest_ms == 0 {
            self.index.oldest_ms = now_ms;
        }
        self.take(taken);
        Ok(())
    }

    fn take(&mut self, found: Vec<Found>) {
        for Found { path, after, .. } in found {
            match after {
                Some(known) => self.index.entries.insert(path, known),
                None => self.index.entries.remove(&path),
            };
        }
    }

    pub(crate) fn write_index(&self) -> Result<(), UndoError> {
        Ok(self
            .store
            .replace_private(Path::new(INDEX), &self.index.to_bytes())?)
    }
}
