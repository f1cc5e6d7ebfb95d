//! A workspace with a history, and the state of a tree as one value.

use chitin_undo::{
    ActiveTurn, FilePath, Force, History, Options, TurnInfo, UndoError, UndoRequest, Undone,
};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What stands under a name: kind, permission bits, and content or text.
pub(crate) type Tree = BTreeMap<PathBuf, (char, u32, Vec<u8>)>;

pub(crate) struct Stage {
    directory: TempDir,
    pub(crate) options: Options,
    now: Cell<i64>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("workspace")).unwrap();
        Self {
            directory,
            options: Options::default(),
            now: Cell::new(1_000),
        }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.directory.path().join("home/undo")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    pub(crate) fn history(&self) -> History {
        History::new(self.store(), &self.workspace(), self.options.clone())
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn now(&self) -> i64 {
        self.now.set(self.now.get() + 1_000);
        self.now.get()
    }

    pub(crate) fn wait(&self, ms: i64) {
        self.now.set(self.now.get() + ms);
    }

    pub(crate) fn begin(&self, message: &str) -> ActiveTurn {
        let history = self.history();
        history.checkpoint(self.now()).unwrap();
        let info = TurnInfo::new("run", "agent:main:main", message);
        history.begin(info, self.now()).unwrap()
    }

    /// Runs a turn and returns its number.
    pub(crate) fn turn(&self, message: &str, work: impl FnOnce(&Self)) -> u64 {
        let turn = self.begin(message);
        let number = turn.info().number;
        work(self);
        self.history().end(turn, self.now()).unwrap();
        number
    }

    pub(crate) fn undo(&self) -> Result<Undone, UndoError> {
        self.history()
            .undo(&UndoRequest::default(), Force::No, self.now())
    }

    pub(crate) fn undo_to(&self, turn: u64, force: Force) -> Result<Undone, UndoError> {
        let request = UndoRequest {
            turn: Some(turn),
            path: None,
        };
        self.history().undo(&request, force, self.now())
    }

    pub(crate) fn tree(&self) -> Tree {
        tree(&self.workspace())
    }

    /// The names of what a turn changed.
    pub(crate) fn changed(&self, turn: u64) -> Vec<String> {
        let turns = self.history().turns().unwrap();
        let turn = turns.iter().find(|one| one.turn.number == turn);
        let changes = turn.map(|one| one.changes.clone()).unwrap_or_default();
        changes.iter().map(|one| one.path.to_string()).collect()
    }
}

pub(crate) fn path(name: &str) -> FilePath {
    FilePath::new(name.as_bytes()).unwrap()
}

pub(crate) fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let stat = fs::symlink_metadata(&path).unwrap();
            let mode = stat.mode() & 0o7777;
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            let known = if stat.is_dir() {
                directories.push(path);
                ('d', mode, Vec::new())
            } else if stat.is_symlink() {
                let text = fs::read_link(&path).unwrap();
                ('l', 0, text.into_os_string().into_encoded_bytes())
            } else if stat.is_file() {
                ('f', mode, fs::read(&path).unwrap())
            } else {
                ('o', mode, Vec::new())
            };
            tree.insert(name, known);
        }
    }
    tree
}
