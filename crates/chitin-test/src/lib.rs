//! The test kit: one hermetic environment, trees built from plain descriptions, a model server that reads a script, a
//! real registry, networks that people talk on, TLS with an authority of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "tests build trees, links and odd entries on purpose"
)]

pub mod discord;
pub mod model_server;
pub mod needs;
pub mod registry;
pub mod slack;
pub mod tls;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory of its own with a home and a workspace in it, gone when dropped.
#[derive(Debug)]
pub struct TestEnv {
    directory: TempDir,
}

impl TestEnv {
    /// Makes an empty environment: `home/` and `workspace/`.
    pub fn new() -> Self {
        let directory = TempDir::with_prefix("chitin-test-")
            .unwrap_or_else(|e| unreachable!("no temporary directory: {e}"));
        let env = Self { directory };
        env.directory_at("home");
        env.directory_at("workspace");
        env
    }

    /// Returns the directory that holds everything, links resolved.
    pub fn path(&self) -> PathBuf {
        fs::canonicalize(self.directory.path())
            .unwrap_or_else(|_| self.directory.path().to_path_buf())
    }

    /// Returns the home directory.
    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// Returns the workspace directory.
    pub fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// Makes a directory and its parents, relative to the environment.
    pub fn directory_at(&self, relative: &str) -> PathBuf {
        let path = self.directory.path().join(relative);
        done(fs::create_dir_all(&path), &path);
        path
    }

    /// Writes a file and its parents, relative to the environment.
    pub fn file(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(relative);
        if let Some(parent) = path.parent() {
            done(fs::create_dir_all(parent), parent);
        }
        done(fs::write(&path, content), &path);
        path
    }

    /// Writes files below the workspace.
    pub fn files<const N: usize>(&self, files: [(&str, &str); N]) -> &Self {
        for (path, content) in files {
            self.file(&format!("workspace/{path}"), content);
        }
        self
    }

    /// Makes a symbolic link, relative to the environment; the target is taken as written.
    pub fn link(&self, relative: &str, target: impl AsRef<Path>) -> PathBuf {
        let path = self.directory.path().join(relative);
        done(symlink(target, &path), &path);
        path
    }

    /// Makes a FIFO, relative to the environment.
    pub fn fifo(&self, relative: &str) -> PathBuf {
        let path = self.directory.path().join(relative);
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        done(
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0),
            &path,
        );
        path
    }

    /// Removes a file, relative to the environment.
    pub fn remove(&self, relative: &str) {
        let path = self.directory.path().join(relative);
        done(fs::remove_file(&path), &path);
    }

    /// Reads a file back, relative to the environment.
    pub fn read(&self, relative: &str) -> String {
        let path = self.directory.path().join(relative);
        fs::read_to_string(&path)
            .unwrap_or_else(|e| unreachable!("cannot read {}: {e}", path.display()))
    }

    /// Replaces the environment's own path by `$TEST_ENV`, so that output can be compared.
    pub fn redact(&self, text: &str) -> String {
        let real = self.path();
        text.replace(&*real.to_string_lossy(), "$TEST_ENV")
            .replace(&*self.directory.path().to_string_lossy(), "$TEST_ENV")
    }
}

impl Default for TestEnv {
    fn default() -> Self {
        Self::new()
    }
}

fn done<E: std::fmt::Display>(result: Result<(), E>, path: &Path) {
    result.unwrap_or_else(|e| unreachable!("cannot make {}: {e}", path.display()));
}
