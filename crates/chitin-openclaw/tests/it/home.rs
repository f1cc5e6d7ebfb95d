//! A home in a directory of its own.

use chitin_config::env::Env;
use chitin_openclaw::{Home, HomeContents, HomeOptions, HomePaths, HomeSession};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The tables of an agent's database that matter here.
const AGENT_TABLES: &str = "
    CREATE TABLE schema_meta (meta_key TEXT PRIMARY KEY, role TEXT, schema_version INTEGER, agent_id TEXT, app_version TEXT);
    INSERT INTO schema_meta VALUES ('primary', 'agent', 23, 'main', '2026.9.6');
    CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
        entry_valid INTEGER, updated_at INTEGER NOT NULL, label TEXT, spawned_by TEXT);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, PRIMARY KEY (session_id, seq));
    CREATE TABLE auth_profile_store (store_key TEXT PRIMARY KEY, store_json TEXT NOT NULL);
    PRAGMA user_version = 23;
";

/// A home that is gone when dropped, and a place for private copies beside it.
pub(crate) struct TestHome {
    directory: TempDir,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("scratch")).unwrap();
        fs::create_dir_all(directory.path().join("home/.openclaw")).unwrap();
        Self { directory }
    }

    pub(crate) fn state(&self) -> PathBuf {
        let home = fs::canonicalize(self.directory.path()).unwrap();
        home.join("home/.openclaw")
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.directory.path().join("scratch")
    }

    pub(crate) fn file(&self, relative: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.state().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Makes a database of the agent `main`; the connection stays open as long as the caller keeps it.
    pub(crate) fn database(&self, more: &str) -> Connection {
        let path = self.state().join("agents/main/agent/openclaw-agent.sqlite");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let db = Connection::open(path).unwrap();
        db.execute_batch(AGENT_TABLES).unwrap();
        db.execute_batch(more).unwrap();
        db
    }

    pub(crate) fn database_file(&self, ending: &str) -> PathBuf {
        let name = format!("agents/main/agent/openclaw-agent.sqlite{ending}");
        self.state().join(name)
    }

    /// Reads the home, and checks that nothing in it changed and nothing was left in the place for copies.
    pub(crate) fn read(&self) -> HomeContents {
        self.read_with(&Env::new("/"))
    }

    pub(crate) fn read_with(&self, env: &Env) -> HomeContents {
        let before = look(&self.state());
        let options = HomeOptions::new(self.scratch()).with_env(env.clone());
        let home = Home::open(&HomePaths::at(&self.state()), options).unwrap();
        let contents = home.read();
        assert_same(&before, &look(&self.state()));
        let left = fs::read_dir(self.scratch()).unwrap().count();
        assert_eq!(left, 0, "copies were left");
        contents
    }
}

/// Returns the only session.
pub(crate) fn only(contents: &HomeContents) -> &HomeSession {
    assert_eq!(contents.sessions.len(), 1, "{:?}", contents.problems);
    &contents.sessions[0]
}

/// Returns what was said of problems, joined.
pub(crate) fn said(contents: &HomeContents) -> String {
    let problems = contents.problems.iter();
    let lines: Vec<String> = problems
        .map(|problem| format!("{}: {}", problem.place, problem.message))
        .collect();
    lines.join("\n")
}

/// Says which entries differ, without their bytes.
pub(crate) fn assert_same(before: &Seen, after: &Seen) {
    let names = before.keys().chain(after.keys());
    let differ: BTreeSet<_> = names
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| {
            let said = |seen: &Seen| {
                seen.get(name)
                    .map(|found| (found.0, found.1, found.2, found.3.len()))
            };
            (name, said(before), said(after))
        })
        .collect();
    assert!(differ.is_empty(), "the home changed: {differ:#?}");
}

/// Inode, both times, bytes.
pub(crate) type Seen = BTreeMap<PathBuf, (u64, (i64, i64), (i64, i64), Vec<u8>)>;

/// Looks at a tree: bytes, and both times of everything in it.
pub(crate) fn look(tree: &Path) -> Seen {
    let mut seen = BTreeMap::new();
    let mut open = vec![tree.to_path_buf()];
    while let Some(here) = open.pop() {
        let found = fs::symlink_metadata(&here).unwrap();
        let bytes = if found.is_file() {
            fs::read(&here).unwrap()
        } else {
            Vec::new()
        };
        if found.is_dir() {
            open.extend(
                fs::read_dir(&here)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        let modified = (found.mtime(), found.mtime_nsec());
        let changed = (found.ctime(), found.ctime_nsec());
        seen.insert(here, (found.ino(), modified, changed, bytes));
    }
    seen
}

pub(crate) const HEADER: &str = r#"{"type":"session","version":3,"id":"s1"}"#;
pub(crate) const HELLO: &str =
    r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Hello."}]}}"#;
