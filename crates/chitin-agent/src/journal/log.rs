//! A file of JSON lines that is written behind the turn's back: what cannot be written is said once and then forgotten.

use super::fs::Appender;
use std::path::PathBuf;

/// A file of JSON lines.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    limit: Option<u64>,
    state: State,
    /// Lines that wait until the request is out.
    held: Option<Vec<String>>,
}

#[derive(Debug)]
enum State {
    Unopened,
    Open(Appender),
    /// It failed or is full; that was said.
    Over,
}

impl Log {
    /// Takes a path; the disk is not touched before there is something to write.
    pub(super) const fn new(path: PathBuf, limit: Option<u64>) -> Self {
        Self {
            path,
            limit,
            state: State::Unopened,
            held: None,
        }
    }

    /// Keeps lines in memory from here on.
    pub(super) fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    /// Writes what was kept, and every line at once from here on. Returns what went wrong, the first time.
    pub(super) fn release(&mut self) -> Option<String> {
        let lines = self.held.take()?;
        let mut trouble = None;
        for line in lines {
            trouble = trouble.or(self.line(line));
        }
        trouble
    }

    /// Appends a line. Returns what went wrong, the first time.
    pub(super) fn line(&mut self, mut line: String) -> Option<String> {
        if let Some(held) = &mut self.held {
            held.push(line);
            return None;
        }
        line.push('\n');
        if matches!(self.state, State::Unopened) {
            self.state = match Appender::open(&self.path) {
                Ok(appender) => State::Open(appender),
                Err(error) => return Some(self.over(&error.to_string())),
            };
        }
        let State::Open(appender) = &mut self.state else {
            return None;
        };
        let length = line.len() as u64;
        if self
            .limit
            .is_some_and(|limit| appender.bytes + length > limit)
        {
            return Some(self.over("it is as long as it may get"));
        }
        match appender.append(line.as_bytes()) {
            Ok(()) => None,
            Err(error) => Some(self.over(&error.to_string())),
        }
    }

    fn over(&mut self, why: &str) -> String {
        self.state = State::Over;
        format!(
            "nothing more is written to `{}`: {why}",
            self.path.display()
        )
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = self.release();
    }
}
