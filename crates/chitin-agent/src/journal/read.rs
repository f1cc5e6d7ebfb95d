//! Reads trajectories back: which there are, what their turns came to, which requests they hold.

use super::compat::{self, event};
use super::fs;
use super::oversize::is_left_out;
use super::packed::{Block, Unpacker};
use super::recording::{entries_of, event_in, is_event, taken};
use super::request_text::Decoder;
use super::turns::{RecordedTurn, RecordedTurns};
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Longer files than any trajectory gets are not read to their end.
const READ_LIMIT: u64 = 256 * 1024 * 1024;
/// Where in a line the type of its event stands, at the latest.
const HEAD_BYTES: usize = 512;

/// Why a trajectory or a bundle could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The operating system says no.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: std::io::Error,
    },
    /// Something is there already.
    #[error("`{}` is there already", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A link stands where a directory should be.
    #[error("`{}` is a link, which is not followed", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The file is no transcript.
    #[error("`{}` is no transcript: {reason}", path.display())]
    NoTranscript {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl TraceError {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// One event of a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceEvent {
    /// The line, from 1.
    pub line: usize,
    /// The event as it was written.
    pub value: Value,
}

impl TraceEvent {
    /// Returns the type.
    pub fn kind(&self) -> &str {
        self.text("type")
    }

    /// Returns the time, as an ISO instant.
    pub fn time(&self) -> &str {
        self.text("ts")
    }

    /// Returns the turn that it belongs to.
    pub fn run_id(&self) -> &str {
        self.text("runId")
    }

    /// Returns what it says.
    pub fn data(&self) -> &Value {
        &self.value["data"]
    }

    fn text(&self, name: &str) -> &str {
        self.value[name].as_str().unwrap_or_default()
    }
}

/// A trajectory. Its events are made when they are asked for: written out, they are many times as long as the file.
#[derive(Debug)]
pub struct TraceFile {
    /// The file.
    pub path: PathBuf,
    /// How many lines are no events: cut short by a crash, or somebody else's.
    pub damaged: usize,
    /// How many lines cannot be read because they lean on one that is damaged or missing.
    pub lost: usize,
    turns: RecordedTurns,
}

/// A turn of a trajectory.
#[derive(Debug, Clone)]
pub struct RecordedRun<'a> {
    /// The turn's own name.
    pub run_id: &'a str,
    /// Its events in order.
    pub events: Vec<&'a TraceEvent>,
}

/// A request as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The SHA-256 of the bytes that were sent.
    pub digest: String,
    /// The body as far as it was kept; nothing when it was too long.
    pub body: Option<String>,
}

impl LoggedRequest {
    /// Tells whether the body is what was sent, to the byte.
    pub fn is_exact(&self) -> bool {
        let body = self.body.as_deref();
        body.is_some_and(|body| super::digest::sha256(body.as_bytes()) == self.digest)
    }
}

/// What a trajectory comes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceSummary {
    /// The session's key.
    pub session_key: String,
    /// The session's id.
    pub session_id: String,
    /// The workspace.
    pub workspace: String,
    /// The model that was asked last, as `provider/name`.
    pub model: String,
    /// When the first turn began, as an ISO instant.
    pub started: String,
    /// When the last event was written.
    pub ended: String,
    /// How many turns.
    pub turns: usize,
    /// Tokens sent fresh.
    pub input: u64,
    /// Tokens answered.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// Whether the provider did not say how many tokens some answer took.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tokens_unknown: bool,
    /// US dollars, where the contract has them recorded and all prices are known.
    pub cost: Option<f64>,
    /// Whether the cost of some turn is unknown.
    #[serde(skip)]
    cost_unknown: bool,
    /// How the last turn ended; nothing when it did not end.
    pub status: Option<String>,
    /// The file.
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    pub path: PathBuf,
}

/// Finds every trajectory: below a state directory, and in a directory that the user named.
pub fn find(state: Option<&Path>, directory: Option<&Path>) -> Result<Vec<PathBuf>, TraceError> {
    let mut found = Vec::new();
    let mut look = |directory: &Path, ending: &str| -> Result<(), TraceError> {
        let entries = fs::entries(directory).map_err(TraceError::io(directory))?;
        found.extend(entries.into_iter().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(ending)
        }));
        Ok(())
    };
    if let Some(directory) = directory {
        look(directory, ".jsonl")?;
    }
    if let Some(state) = state {
        look(
            &state.join("logs").join(compat::TRAJECTORY_DIRECTORY),
            ".jsonl",
        )?;
        let agents = state.join("agents");
        for agent in fs::entries(&agents).map_err(TraceError::io(&agents))? {
            // An entry that is no agent has no sessions below it.
            let _ = look(&agent.join("sessions"), compat::TRAJECTORY_ENDING);
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

pub(super) fn whole(path: &Path) -> Result<Vec<u8>, TraceError> {
    fs::read(path, READ_LIMIT).map_err(TraceError::io(path))
}

/// Reads a trajectory. Lines that are no events are counted and passed over.
pub fn read(path: &Path) -> Result<TraceFile, TraceError> {
    let turns = RecordedTurns::read(path)?;
    Ok(TraceFile {
        path: path.to_owned(),
        damaged: turns.recording.damaged,
        lost: turns.recording.lost,
        turns,
    })
}

/// Sums a trajectory up without reading what is long in it. Nothing, when it holds no event at all.
pub fn summarize(path: &Path) -> Result<Option<TraceSummary>, TraceError> {
    let bytes = whole(path)?;
    let mut sum = TraceSummary {
        path: path.to_owned(),
        ..TraceSummary::default()
    };
    let wanted = [event::STARTED, event::ARTIFACTS, event::ENDED];
    let quoted = wanted.map(|kind| format!("\"{kind}\""));
    let mut last = None;
    let mut unpacker = Unpacker::default();
    for (_, text) in lines(&bytes) {
        if Block::is_one(text) {
            let block = Block::read(text);
            let entries = block.and_then(|block| unpacker.open(&block).ok());
            for entry in entries.iter().flat_map(|entries| entries_of(entries)) {
                let found = taken(&mut unpacker, entry).filter(|(_, value)| is_event(value));
                let Some((kind, value)) = found else {
                    continue;
                };
                last = None;
                if wanted.contains(&kind) {
                    sum.take(value);
                } else {
                    // A turn that did not end still says when it was last heard of.
                    sum.heard(value);
                }
            }
            continue;
        }
        let head = &text[..text.len().min(HEAD_BYTES)];
        let is_wanted = |kind: &String| memchr::memmem::find(head, kind.as_bytes()).is_some();
        if !quoted.iter().any(is_wanted) {
            last = Some(text);
            continue;
        }
        let Some(value) = event_in(text) else {
            continue;
        };
        last = None;
        sum.take(&value);
    }
    if let Some(value) = last.and_then(event_in) {
        sum.heard(&value);
    }
    Ok((!sum.session_id.is_empty()).then_some(sum))
}

impl TraceSummary {
    fn heard(&mut self, event: &Value) {
        let time = event["ts"].as_str().unwrap_or_default();
        time.clone_into(&mut self.ended);
    }

    fn take(&mut self, event: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let data = &event["data"];
        self.session_id = text(&event["sessionId"]);
        self.session_key = text(&event["sessionKey"]);
        self.workspace = text(&event["workspaceDir"]);
        self.model = format!("{}/{}", text(&event["provider"]), text(&event["modelId"]));
        self.ended = text(&event["ts"]);
        match event["type"].as_str() {
            Some(event::STARTED) => {
                if self.started.is_empty() {
                    self.started = text(&event["ts"]);
                }
                self.turns += 1;
                self.status = None;
            }
            Some(event::ARTIFACTS) => {
                let usage = &data["usage"];
                let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
                for (sum, name) in [
                    (&mut self.input, "input"),
                    (&mut self.output, "output"),
                    (&mut self.cache_read, "cacheRead"),
                    (&mut self.cache_write, "cacheWrite"),
                ] {
                    *sum = sum.saturating_add(tokens(name));
                }
                self.tokens_unknown |= usage[compat::TOKENS_UNKNOWN] == true;
                match usage["cost"]["total"].as_f64() {
                    Some(cost) if !self.cost_unknown => {
                        *self.cost.get_or_insert_default() += cost;
                    }
                    Some(_) | None => {
                        self.cost_unknown = true;
                        self.cost = None;
                    }
                }
            }
            Some(event::ENDED) => self.status = data["status"].as_str().map(str::to_owned),
            Some(_) | None => {}
        }
    }
}

impl TraceFile {
    /// Returns the turns in the order in which they began.
    pub const fn turns(&self) -> &RecordedTurns {
        &self.turns
    }

    /// Returns how many events there are.
    pub fn len(&self) -> usize {
        self.turns.recording.events()
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads turn after turn, in the order in which they began.
    pub fn runs(&self) -> impl Iterator<Item = RecordedTurn> {
        self.turns.from(0)
    }

    /// Reads event after event, in the order in which they were written.
    pub fn events(&self) -> impl Iterator<Item = TraceEvent> {
        let recording = &self.turns.recording;
        let mut cursor = recording.cursor();
        recording.event_lines().filter_map(move |line| {
            Some(TraceEvent {
                line: recording.number(line),
                value: cursor.event(line)?,
            })
        })
    }

    /// Reads the newest events, up to a number and up to so many bytes of JSON; one, however long it is.
    pub fn newest(&self, count: usize, bytes: usize) -> Vec<TraceEvent> {
        let recording = &self.turns.recording;
        let mut cursor = recording.cursor();
        let mut found: VecDeque<(usize, TraceEvent)> = VecDeque::new();
        let (mut had, mut length) = (0, 0);
        let mut lines = recording.event_lines().rev().peekable();
        // One segment after the other, the last one first: within a segment, lines are read in their order.
        while let Some(last) = lines.next() {
            let start = recording.start_of(last);
            let mut segment = vec![last];
            while let Some(line) = lines.next_if(|line| recording.start_of(*line) == start) {
                segment.push(line);
            }
            segment.truncate(count.saturating_sub(had));
            let mut part: VecDeque<(usize, TraceEvent)> = VecDeque::new();
            let mut is_full = false;
            let mut part_length = 0;
            for line in segment.into_iter().rev() {
                let Some(value) = cursor.event(line) else {
                    continue;
                };
                let size = value.to_string().len();
                let line = recording.number(line);
                part.push_back((size, TraceEvent { line, value }));
                part_length += size;
                while length + part_length > bytes && had + part.len() > 1 {
                    is_full = true;
                    let Some((size, _)) = part.pop_front() else {
                        break;
                    };
                    part_length -= size;
                }
            }
            had += part.len();
            length += part_length;
            part.append(&mut found);
            found = part;
            if is_full || had >= count {
                break;
            }
        }
        found.into_iter().map(|(_, event)| event).collect()
    }

    /// Returns the newest event of a type.
    pub fn last(&self, kind: &str) -> Option<TraceEvent> {
        let turns = (0..self.turns.len()).rev();
        let mut found = turns.filter_map(|at| {
            let turn = self.turns.turn(at)?;
            let run = turn.run();
            run.events
                .into_iter()
                .rfind(|event| event.kind() == kind)
                .cloned()
        });
        found.next()
    }

    /// Returns the requests in the order in which they were sent. One by one: a recording of a few megabytes can hold gigabytes of them.
    pub fn requests(&self) -> impl Iterator<Item = LoggedRequest> {
        let recording = &self.turns.recording;
        let mut cursor = recording.cursor();
        let requests = recording.request_lines();
        let requests = requests.filter_map(move |line| {
            let found = cursor.request(line)?;
            Some(LoggedRequest {
                digest: found.digest,
                body: Some(found.body),
            })
        });
        self.older_requests().chain(requests)
    }

    /// Returns the requests that are in events alone, as earlier versions wrote them where the contract has them recorded.
    fn older_requests(&self) -> impl Iterator<Item = LoggedRequest> {
        let recording = &self.turns.recording;
        (0..recording.turns()).flat_map(move |turn| {
            let mut decoder = Decoder::default();
            let mut cursor = recording.cursor();
            let lines = recording.events_of(turn).iter();
            let lines = lines.filter(|line| recording.is_plain(**line));
            lines.filter_map(move |line| {
                let event = cursor.event(*line)?;
                let data = &event["data"];
                (event["type"] == event::REQUEST).then(|| LoggedRequest {
                    digest: data["digest"].as_str().unwrap_or_default().to_owned(),
                    body: decoder.decode(data).map(str::to_owned),
                })
            })
        })
    }
}

impl<'a> RecordedRun<'a> {
    /// Returns the first event of a type.
    pub fn event(&self, kind: &str) -> Option<&'a TraceEvent> {
        self.events
            .iter()
            .copied()
            .find(|event| event.kind() == kind)
    }

    /// Returns every context that was compiled in this turn: one, or more when it was put into a summary.
    pub fn contexts(&self) -> impl Iterator<Item = &'a TraceEvent> {
        let events = self.events.iter().copied();
        events.filter(|event| event.kind() == event::CONTEXT)
    }
}

/// Finds the requests of a session in a payload log, in the order in which they were sent.
pub fn logged_request(log: &Path, session_id: &str) -> Result<Vec<LoggedRequest>, TraceError> {
    let bytes = fs::read_tail(log, READ_LIMIT).map_err(TraceError::io(log))?;
    let mut found = Vec::new();
    for (_, text) in lines(&bytes) {
        let Ok(record) = serde_json::from_slice::<Value>(text) else {
            continue;
        };
        if record["stage"] != "request" || record["sessionId"] != session_id {
            continue;
        }
        found.push(LoggedRequest {
            digest: record["payloadDigest"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            body: payload_text(text),
        });
    }
    Ok(found)
}

/// Cuts the payload out of a line as it was written.
fn payload_text(line: &[u8]) -> Option<String> {
    let (begin, end) = (b",\"payload\":", b",\"payloadDigest\":");
    let from = memchr::memmem::find(line, begin)? + begin.len();
    let to = memchr::memmem::rfind(line, end)?;
    let text = line.get(from..to)?;
    String::from_utf8(text.to_vec()).ok()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    lines
        .map(|(at, line)| (at + 1, line))
        .filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Returns a text of an event's data, unless it was too long to be kept.
pub(super) fn text_of<'a>(event: &'a TraceEvent, name: &str) -> Option<&'a str> {
    let data = event.data();
    if is_left_out(data) {
        return None;
    }
    data.get(name).and_then(Value::as_str)
}
