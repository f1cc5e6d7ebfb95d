//! The file that remembers what was typed: for its owner alone, and bounded.

use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchQuery,
};
use rustix::fs::{FileType, Mode, OFlags};
use std::io;
use std::path::Path;

/// How many lines are remembered.
const MOST_LINES: usize = 1000;
/// Text that is longer than this was pasted, and is not remembered.
const LONGEST: usize = 4096;

/// A history that forgets what is long.
pub(super) struct Bounded(FileBackedHistory);

/// Opens the history. Its file is readable by its owner alone, whoever made it.
pub(super) fn open(file: &Path) -> io::Result<Bounded> {
    if let Some(directory) = file.parent() {
        make_private_directory(directory)?;
    }
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let owner = Mode::RUSR | Mode::WUSR;
    let opened = rustix::fs::open(file, flags, owner)?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    if kind != FileType::RegularFile {
        return Err(io::Error::other("it is not a regular file"));
    }
    rustix::fs::fchmod(&opened, owner)?;
    let history = FileBackedHistory::with_file(MOST_LINES, file.to_path_buf());
    Ok(Bounded(history.map_err(io::Error::other)?))
}

/// Makes a directory that only its owner may enter; one that is there already stays as it is.
fn make_private_directory(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

impl History for Bounded {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        if item.command_line.len() > LONGEST {
            return Ok(item);
        }
        self.0.save(item)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.0.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.0.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.0.search(query)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        self.0.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.0.delete(id)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.0.session()
    }
}
