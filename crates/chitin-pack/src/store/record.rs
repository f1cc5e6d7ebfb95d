//! Small notes that builds leave for the next build. Losing one costs time and nothing else.

use super::Store;
use chitin_guard::ReadPolicy;
use std::path::{Path, PathBuf};

const RECORDS: &str = "packs";
const MAX_RECORD_BYTES: u64 = 1024 * 1024;

impl Store {
    /// Returns the time that the store's file system would give to a file now, without reading the clock.
    pub(crate) fn stamp(&self) -> Option<(i64, i64)> {
        let directory = Path::new(RECORDS);
        self.root.make_directories(directory).ok()?;
        let probe = self.root.begin_file(directory, 0o600).ok()?;
        Some(probe.fingerprint().ok()?.ctime)
    }

    /// Reads a note; `None` when there is none that can be read.
    pub(crate) fn record(&self, name: &str) -> Option<Vec<u8>> {
        let policy = ReadPolicy::inside(MAX_RECORD_BYTES);
        Some(self.root.read(&path(name), &policy).ok()?.bytes)
    }

    /// Leaves a note. Where that fails, the next build reads every file.
    pub(crate) fn put_record(&self, name: &str, bytes: &[u8]) {
        let _ = self.root.replace(&path(name), bytes);
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(RECORDS).join(format!("{name}.json"))
}
