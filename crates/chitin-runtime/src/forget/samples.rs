//! What was said in sessions: passages to search for afterwards, and what may be remembered as typed.

use chitin_agent::journal::ForgetMode;
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use serde_json::Value;
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// How many passages are searched for.
const MOST_WORDS: usize = 48;
/// How many are collected to choose from.
const MOST_COLLECTED: usize = 4096;
/// A shorter passage may stand anywhere.
const SHORTEST: usize = 16;
/// How much of a passage is searched for.
const LONGEST: usize = 64;
/// Longer lines of transcripts are passed over.
const MOST_OF_A_LINE: u64 = 64 << 20;
/// How many messages are remembered as typed.
const MOST_TYPED: usize = 100_000;
/// The most that the terminal remembers.
const MOST_OF_HISTORY: u64 = 64 << 20;
/// What stands for a line end in what the terminal remembers.
const LINE_END: &str = "<\\n>";
/// Tools whose results are the workspace's or memory's words, not the session's.
const READERS: [&str; 8] = [
    "read",
    "ls",
    "grep",
    "find",
    "glob",
    "memory_search",
    "memory_get",
    "sessions_history",
];

/// What was said in sessions.
#[derive(Debug, Default)]
pub(super) struct Samples {
    passages: Vec<String>,
    typed: HashSet<String>,
}

impl Samples {
    /// Reads transcripts. One that cannot be read says nothing.
    pub(super) fn of<'p>(transcripts: impl Iterator<Item = &'p PathBuf>) -> Self {
        let mut samples = Self::default();
        for path in transcripts {
            let _ = samples.read(path);
        }
        samples
    }

    fn read(&mut self, path: &Path) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(());
        };
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            hardlinks: Hardlinks::Allow,
            max_bytes: u64::MAX,
            oversized: Oversized::Keep,
        };
        let file = Root::open(parent)
            .and_then(|root| root.open_reader(Path::new(name), &policy))
            .map_err(io::Error::other)?;
        let mut lines = BufReader::with_capacity(256 << 10, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = lines
                .by_ref()
                .take(MOST_OF_A_LINE)
                .read_until(b'\n', &mut line)?;
            if count == 0 {
                return Ok(());
            }
            if let Ok(record) = serde_json::from_slice::<Value>(&line) {
                self.record(&record);
            }
        }
    }

    fn record(&mut self, record: &Value) {
        let message = &record["message"];
        let role = message["role"].as_str().unwrap_or_default();
        let is_reader = message["toolName"]
            .as_str()
            .is_some_and(|tool| READERS.contains(&tool));
        if role == "toolResult" && is_reader {
            return;
        }
        match &message["content"] {
            Value::String(text) => self.text(text, role),
            Value::Array(blocks) => {
                for block in blocks {
                    for field in ["text", "thinking"] {
                        if let Some(text) = block[field].as_str() {
                            self.text(text, role);
                        }
                    }
                    if let Value::Object(arguments) = &block["arguments"] {
                        for text in arguments.values().filter_map(Value::as_str) {
                            self.text(text, role);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, role: &str) {
        if role == "user" && self.typed.len() < MOST_TYPED {
            self.typed.insert(text.trim().replace('\n', LINE_END));
        }
        if self.passages.len() < MOST_COLLECTED {
            self.passages.extend(passage(text));
        }
    }

    /// Returns what to search for: ids, and passages from all over the sessions.
    pub(super) fn words(&self, ids: &[String]) -> Vec<(String, bool)> {
        let mut words: Vec<(String, bool)> = ids.iter().map(|id| (id.clone(), true)).collect();
        let step = self.passages.len().div_ceil(MOST_WORDS).max(1);
        let mut seen: HashSet<&str> = HashSet::new();
        for passage in self.passages.iter().step_by(step) {
            if seen.insert(passage) {
                words.push((passage.clone(), false));
            }
        }
        words
    }

    /// Takes what was typed in the sessions out of what the terminal remembers; returns how many lines that is.
    pub(super) fn typed_in(
        &self,
        history: &Path,
        mode: ForgetMode,
    ) -> Result<usize, chitin_guard::WriteError> {
        let (Some(parent), Some(name)) = (history.parent(), history.file_name()) else {
            return Ok(0);
        };
        let Ok(root) = Root::open(parent) else {
            return Ok(0);
        };
        let Ok(read) = root.read(Path::new(name), &ReadPolicy::inside(MOST_OF_HISTORY)) else {
            return Ok(0);
        };
        let text = String::from_utf8_lossy(&read.bytes);
        let is_typed = |line: &str| self.typed.contains(line.trim());
        let lines = text.split_inclusive('\n');
        let kept: String = lines.clone().filter(|line| !is_typed(line)).collect();
        let gone = lines.filter(|line| is_typed(line)).count();
        if gone > 0 && mode == ForgetMode::Forget {
            root.replace_private(Path::new(name), kept.as_bytes())?;
        }
        Ok(gone)
    }
}

/// Returns the longest part of a text that stands in a file as it is, however the file writes text down.
fn passage(text: &str) -> Option<String> {
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\' | '<' | '>' | '&');
    let parts = text.split(|c| !is_plain(c)).map(str::trim);
    let longest = parts.max_by_key(|part| part.len())?;
    if longest.len() < SHORTEST {
        return None;
    }
    let end = longest.floor_char_boundary(LONGEST);
    Some(longest[..end].trim().to_owned())
}
