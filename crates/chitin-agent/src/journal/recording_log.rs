//! The file of a trajectory, written behind the turn's back: each entry as what is new in it. What cannot be written is said once.

use super::fs::RecordingFile;
use super::packed::{Block, LINE_START, PackedEntry, Packer, REQUEST, Unpacker};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// How much of a file is read to go on where it ends. A longer segment is not gone on with.
const MOST_RESUMED: u64 = 64 * 1024 * 1024;

/// What is written of a turn.
#[derive(Debug)]
pub(super) enum Entry {
    /// An event.
    Event {
        /// Its type.
        kind: Cow<'static, str>,
        /// The event.
        record: Value,
        /// The body in it, where a mark stands for it because the request before it has it.
        body: Option<String>,
    },
    /// A request, to the byte.
    Request(RequestEntry),
}

/// A request, to the byte.
#[derive(Debug)]
pub(super) struct RequestEntry {
    pub(super) run_id: String,
    pub(super) call: u32,
    pub(super) digest: String,
    pub(super) text: String,
}

/// The file of a trajectory.
#[derive(Debug)]
pub(super) struct RecordingLog {
    path: PathBuf,
    limit: u64,
    state: State,
    /// What waits until the request is out.
    held: Option<Vec<Entry>>,
}

#[derive(Debug)]
enum State {
    Unopened,
    Open(Box<Open>),
    /// It failed or is full; that was said.
    Over,
}

#[derive(Debug)]
struct Open {
    file: RecordingFile,
    packer: LinePacker,
}

impl RecordingLog {
    /// Takes a path; the disk is not touched before there is something to write.
    pub(super) const fn new(path: PathBuf, limit: u64) -> Self {
        Self {
            path,
            limit,
            state: State::Unopened,
            held: None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps entries in memory from here on, and tells whether it did not before.
    pub(super) fn hold(&mut self) -> bool {
        let is_new = self.held.is_none();
        self.held.get_or_insert_default();
        is_new
    }

    /// Writes what was kept, and every entry at once from here on. Returns what went wrong, the first time.
    pub(super) fn release(&mut self) -> Option<String> {
        let entries = self.held.take()?;
        self.append(entries)
    }

    /// Writes an entry. Returns what went wrong, the first time.
    pub(super) fn entry(&mut self, entry: Entry) -> Option<String> {
        if let Some(held) = &mut self.held {
            held.push(entry);
            return None;
        }
        self.append(vec![entry])
    }

    /// Closes the file, so that others may own it. It is opened again by the next entry.
    pub(super) fn close(&mut self) {
        if matches!(self.state, State::Open(_)) {
            self.state = State::Unopened;
        }
    }

    fn append(&mut self, entries: Vec<Entry>) -> Option<String> {
        if entries.is_empty() {
            return None;
        }
        if matches!(self.state, State::Unopened) {
            self.state = match Open::new(&self.path) {
                Ok(open) => State::Open(Box::new(open)),
                Err(error) => return Some(self.over(&error.to_string())),
            };
        }
        let State::Open(open) = &mut self.state else {
            return None;
        };
        match open.append(entries, self.limit) {
            Ok(true) => None,
            Ok(false) => Some(self.over("it is as long as it may get")),
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

impl Drop for RecordingLog {
    fn drop(&mut self) {
        let _ = self.release();
    }
}

impl Open {
    fn new(path: &Path) -> std::io::Result<Self> {
        let file = RecordingFile::open(path)?;
        let resumed = if file.is_owned { resumed(&file)? } else { None };
        Ok(Self {
            file,
            packer: LinePacker(resumed.unwrap_or_default()),
        })
    }

    /// Appends entries, if there is room for them, and tells whether there was.
    fn append(&mut self, entries: Vec<Entry>, limit: u64) -> std::io::Result<bool> {
        let before = self.file.length()?;
        let mut lines = String::new();
        for entry in entries {
            // Whoever does not own the file writes lines that lean on nothing; a request is no event, and is not written then.
            match entry {
                entry if self.file.is_owned => self.packer.entry(entry, before, &mut lines),
                Entry::Event { record, body, .. } => lines.push_str(&written_out(record, body)),
                Entry::Request(_) => {}
            }
        }
        self.packer.end(&mut lines);
        if before + lines.len() as u64 > limit {
            return Ok(false);
        }
        if !lines.is_empty() {
            self.file.append(lines.as_bytes())?;
        }
        Ok(true)
    }
}

/// Writes entries as lines.
#[derive(Debug, Default)]
pub(super) struct LinePacker(Packer);

impl LinePacker {
    /// Adds an entry to lines that are to be written to a file of so many bytes.
    pub(super) fn entry(&mut self, entry: Entry, length: u64, lines: &mut String) {
        let kind: &str = match &entry {
            Entry::Event { kind, .. } => kind,
            Entry::Request(_) => REQUEST,
        };
        if self.0.is_new() || self.0.is_over(kind) {
            self.end(lines);
            self.0 = Packer::begin(length + lines.len() as u64);
        }
        match entry {
            Entry::Event { kind, record, body } => {
                if !self.0.add(&kind, &record) {
                    self.end(lines);
                    lines.push_str(&written_out(record, body));
                }
            }
            Entry::Request(request) => {
                let json = request.value(true);
                if !json.is_some_and(|json| self.0.add(REQUEST, &json))
                    && let Some(text) = request.value(false)
                {
                    self.0.add(REQUEST, &text);
                }
            }
        }
    }

    /// Writes what is not written yet.
    pub(super) fn end(&mut self, lines: &mut String) {
        if let Some(line) = self.0.seal() {
            lines.push_str(&line);
        }
    }
}

/// Returns an event as a line that leans on nothing.
fn written_out(mut record: Value, body: Option<String>) -> String {
    if let Some(body) = body {
        record["data"]["body"] = Value::String(body);
    }
    record.to_string() + "\n"
}

impl RequestEntry {
    /// Returns it with its body taken apart, if it comes back to the byte that way; or with its body as a text.
    fn value(&self, is_json: bool) -> Option<Value> {
        let mut fields = Map::new();
        fields.insert("runId".to_owned(), json!(self.run_id));
        fields.insert("call".to_owned(), json!(self.call));
        fields.insert("digest".to_owned(), json!(self.digest));
        if is_json {
            let json: Value = serde_json::from_str(&self.text).ok()?;
            // Only what is written the same way again may be kept as a value.
            let written = json.to_string();
            if written != self.text {
                return None;
            }
            fields.insert("json".to_owned(), json);
        } else {
            fields.insert("text".to_owned(), json!(self.text));
        }
        Some(Value::Object(fields))
    }
}

/// Returns what goes on with the last segment of a file; nothing if there is none that is whole.
fn resumed(file: &RecordingFile) -> std::io::Result<Option<Packer>> {
    let Some(last) = file.last_line(LINE_START, MOST_RESUMED)? else {
        return Ok(None);
    };
    let Some(segment) = Block::read(&last).map(|block| block.segment()) else {
        return Ok(None);
    };
    if file.length()?.saturating_sub(segment) > MOST_RESUMED {
        return Ok(None);
    }
    let bytes = file.read_from(segment, MOST_RESUMED)?;
    Ok(unpacked(&bytes, segment).map(Packer::resume))
}

/// Reads a segment to its end; nothing if it is not whole.
fn unpacked(bytes: &[u8], segment: u64) -> Option<Unpacker> {
    let mut unpacker = Unpacker::default();
    let mut next = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n")?;
        if !Block::is_one(line) {
            continue;
        }
        let block = Block::read(line).filter(|block| block.segment() == segment)?;
        let text = unpacker.open(&block).ok()?;
        for entry in text.split(|byte| *byte == b'\n') {
            if entry.is_empty() {
                continue;
            }
            let packed = PackedEntry::read(entry).filter(|packed| packed.number() == next)?;
            unpacker.take(packed, entry.len() + 1).ok()?;
            next += 1;
        }
    }
    (next > 0).then_some(unpacker)
}
