//! A trajectory as it lies in its file: which lines it has, which turn each belongs to, and their events, made when they are asked for.
//!
//! Each event is little in the file and much in memory, so that no more than one is made at a time.

use super::compat;
use super::packed::{Block, PackedEntry, REQUEST, Unpacker};
use super::trajectory::BodyMark;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// A trajectory as it lies in its file.
#[derive(Debug)]
pub(super) struct Recording {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    turns: Vec<Turn>,
    /// Lines that are nothing: cut short by a crash, or somebody else's.
    pub(super) damaged: usize,
    /// Lines that cannot be read because they lean on one that is damaged or missing.
    pub(super) lost: usize,
}

#[derive(Debug)]
struct Turn {
    run_id: String,
    /// Which lines have its events.
    events: Vec<usize>,
}

/// An event or a request.
#[derive(Debug)]
struct Line {
    /// The line of the file, counted from 1.
    number: usize,
    /// Where that is.
    range: Range<usize>,
    /// Which entry of the block in that line it is.
    entry: usize,
    /// The first one of its segment; itself, if it leans on nothing.
    start: usize,
    form: Form,
    content: Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// JSON as it is.
    Plain,
    /// What is new in it.
    Packed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Event,
    Request,
    /// It is read because others lean on it.
    Lost,
}

/// What makes a line an event, and the turn that it belongs to.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow)]
    trace_schema: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    _kind: Cow<'a, str>,
    #[serde(borrow, rename = "sessionId")]
    _session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    run_id: Option<Cow<'a, str>>,
}

/// A request as it was recorded, to the byte.
#[derive(Debug)]
pub(super) struct RecordedRequest {
    pub(super) digest: String,
    pub(super) body: String,
}

impl Recording {
    /// Finds the lines and turns of a file.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let mut recording = Self {
            bytes: Vec::new(),
            lines: Vec::new(),
            turns: Vec::new(),
            damaged: 0,
            lost: 0,
        };
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut unpacker = Unpacker::default();
        // The first entry of the segment that is read.
        let mut start = 0;
        let mut end = 0;
        for (number, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let range = end..end + text.len();
            end = range.end + 1;
            if text.trim_ascii().is_empty() {
                continue;
            }
            let at = recording.lines.len();
            let line = Line {
                number: number + 1,
                range,
                entry: 0,
                start: at,
                form: Form::Plain,
                content: Content::Event,
            };
            if !Block::is_one(text) {
                match plain_run(text) {
                    Some(run_id) => recording.add(line, Some(run_id), &mut known),
                    None => recording.damaged += 1,
                }
                continue;
            }
            let Some(block) = Block::read(text) else {
                recording.damaged += 1;
                continue;
            };
            if block.is_first() {
                start = at;
            }
            let Ok(entries) = unpacker.open(&block) else {
                recording.lost += 1;
                continue;
            };
            for (entry, text) in entries_of(&entries).enumerate() {
                let (content, run_id) = match taken(&mut unpacker, text) {
                    Some((kind, _)) if kind == REQUEST => (Content::Request, None),
                    Some((_, value)) if is_event(value) => {
                        let run_id = value["runId"].as_str().unwrap_or_default();
                        (Content::Event, Some(run_id.to_owned()))
                    }
                    Some(_) | None => (Content::Lost, None),
                };
                if content == Content::Lost {
                    recording.lost += 1;
                }
                let line = Line {
                    entry,
                    start,
                    form: Form::Packed,
                    content,
                    range: line.range.clone(),
                    ..line
                };
                recording.add(line, run_id, &mut known);
            }
        }
        recording.bytes = bytes;
        recording
    }

    fn add(&mut self, line: Line, run_id: Option<String>, known: &mut HashMap<String, usize>) {
        let at = self.lines.len();
        if let Some(run_id) = run_id {
            self.turn_of(run_id, known).events.push(at);
        }
        self.lines.push(line);
    }

    fn turn_of(&mut self, run_id: String, known: &mut HashMap<String, usize>) -> &mut Turn {
        let at = known.get(&run_id).copied().unwrap_or_else(|| {
            known.insert(run_id.clone(), self.turns.len());
            self.turns.push(Turn {
                run_id,
                events: Vec::new(),
            });
            self.turns.len() - 1
        });
        &mut self.turns[at]
    }

    /// Returns how many turns there are.
    pub(super) const fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Returns how many events there are.
    pub(super) fn events(&self) -> usize {
        self.turns.iter().map(|turn| turn.events.len()).sum()
    }

    /// Returns the name of a turn.
    pub(super) fn run_id(&self, turn: usize) -> Option<&str> {
        self.turns.get(turn).map(|turn| turn.run_id.as_str())
    }

    /// Returns which lines hold the events of a turn.
    pub(super) fn events_of(&self, turn: usize) -> &[usize] {
        self.turns.get(turn).map_or(&[], |turn| &turn.events)
    }

    /// Returns which lines hold events, in the order of the file.
    pub(super) fn event_lines(&self) -> impl DoubleEndedIterator<Item = usize> {
        let lines = self.lines.iter().enumerate();
        lines
            .filter(|(_, line)| line.content == Content::Event)
            .map(|(at, _)| at)
    }

    /// Returns which lines hold requests, in the order of the file.
    pub(super) fn request_lines(&self) -> impl Iterator<Item = usize> {
        let lines = self.lines.iter().enumerate();
        lines
            .filter(|(_, line)| line.content == Content::Request)
            .map(|(at, _)| at)
    }

    /// Tells whether a line leans on nothing.
    pub(super) fn is_plain(&self, at: usize) -> bool {
        self.lines[at].form == Form::Plain
    }

    /// Returns the first line of the segment that a line belongs to.
    pub(super) fn start_of(&self, at: usize) -> usize {
        self.lines[at].start
    }

    /// Returns the number of a line in its file, from 1.
    pub(super) fn number(&self, at: usize) -> usize {
        self.lines[at].number
    }

    /// Begins to read.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            recording: self,
            unpacker: Unpacker::default(),
            block: None,
            next: 0,
        }
    }
}

/// Reads lines. Those of a segment are taken one after the other: whoever goes back begins with the segment.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    recording: &'a Recording,
    unpacker: Unpacker,
    /// The block that was opened last, by where it begins, and its entries.
    block: Option<(usize, Vec<u8>, Vec<Range<usize>>)>,
    /// The first line that was not taken.
    next: usize,
}

impl Cursor<'_> {
    /// Makes the event of a line.
    pub(super) fn event(&mut self, at: usize) -> Option<Value> {
        let line = self.recording.lines.get(at)?;
        if line.form == Form::Plain {
            return event_in(&self.recording.bytes[line.range.clone()]);
        }
        let value = self.advance(at)?.clone();
        with_body(
            value,
            self.unpacker.last(REQUEST).map(|(_, request)| request),
        )
    }

    /// Puts the request of a line together.
    pub(super) fn request(&mut self, at: usize) -> Option<RecordedRequest> {
        let request = self.advance(at)?;
        Some(RecordedRequest {
            digest: request["digest"].as_str().unwrap_or_default().to_owned(),
            body: body_of(request)?.into_owned(),
        })
    }

    /// Takes lines up to one, and returns the value of that one.
    fn advance(&mut self, at: usize) -> Option<&Value> {
        let line = self.recording.lines.get(at)?;
        let is_ahead = (line.start..=at).contains(&self.next);
        // The line that was taken last is there still.
        let is_here = at + 1 == self.next;
        if !is_ahead && !is_here {
            self.next = line.start;
        }
        while self.next < at {
            let next = self.next;
            self.next += 1;
            self.take(next);
        }
        if self.next == at {
            self.next += 1;
            let (kind, number) = self.take(at)?;
            let (last, value) = self.unpacker.last(&kind)?;
            return (last == number).then_some(value);
        }
        let entry = self.entry(at)?;
        let (last, value) = self.unpacker.last(entry.kind())?;
        (last == entry.number()).then_some(value)
    }

    /// Takes a line, and returns its kind and which entry of its segment it is.
    fn take(&mut self, at: usize) -> Option<(String, u32)> {
        let line = self.recording.lines.get(at)?;
        if line.form == Form::Plain {
            return None;
        }
        let is_open = self
            .block
            .as_ref()
            .is_some_and(|(begin, ..)| *begin == line.range.start);
        if !is_open || line.start == at {
            let block = Block::read(self.recording.bytes.get(line.range.clone())?)?;
            let entries = self.unpacker.open(&block).ok()?;
            let ranges = ranges(&entries);
            self.block = Some((line.range.start, entries, ranges));
        }
        let entry = self.entry(at)?;
        let (kind, number) = (entry.kind().to_owned(), entry.number());
        let length = self.length(at)?;
        self.unpacker.take(entry, length).ok()?;
        Some((kind, number))
    }

    fn length(&self, at: usize) -> Option<usize> {
        let (_, _, ranges) = self.block.as_ref()?;
        Some(ranges.get(self.recording.lines.get(at)?.entry)?.len() + 1)
    }

    /// Reads a line of the block that is open.
    fn entry(&self, at: usize) -> Option<PackedEntry> {
        let (_, entries, ranges) = self.block.as_ref()?;
        let range = ranges.get(self.recording.lines.get(at)?.entry)?;
        PackedEntry::read(entries.get(range.clone())?)
    }
}

/// Returns where the entries of a block are.
fn ranges(entries: &[u8]) -> Vec<Range<usize>> {
    let mut end = 0;
    entries_of(entries)
        .map(|entry| {
            let range = end..end + entry.len();
            end = range.end + 1;
            range
        })
        .collect()
}

/// Returns the entries of a block. Each has its end.
pub(super) fn entries_of(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let block = block.strip_suffix(b"\n").unwrap_or(block);
    block.split(|byte| *byte == b'\n')
}

/// Takes an entry, and returns its kind and its value.
pub(super) fn taken<'a>(unpacker: &'a mut Unpacker, entry: &[u8]) -> Option<(&'a str, &'a Value)> {
    let packed = PackedEntry::read(entry)?;
    let (kind, number) = (packed.kind().to_owned(), packed.number());
    unpacker.take(packed, entry.len() + 1).ok()?;
    unpacker.entry(&kind, number)
}

/// Returns an event with its body, where a mark stands for it: it is a part of that of the request before it.
pub(super) fn with_body(mut event: Value, request: Option<&Value>) -> Option<Value> {
    if event["type"] == compat::event::REQUEST
        && let Some(mark) = BodyMark::find(&event)
    {
        let request = request?;
        if request["runId"] != event["runId"] || request["call"] != event["data"]["call"] {
            return None;
        }
        let text = body_of(request)?;
        event["data"]["body"] = Value::String(mark.part(&text)?.to_owned());
    }
    Some(event)
}

/// Returns the body of a request.
pub(super) fn body_of(request: &Value) -> Option<Cow<'_, str>> {
    match (request.get("json"), request.get("text")) {
        (Some(json), _) => Some(json.to_string().into()),
        (None, text) => Some(text?.as_str()?.into()),
    }
}

/// Returns the turn of a line that is JSON as it is, if it is an event.
fn plain_run(text: &[u8]) -> Option<String> {
    match serde_json::from_slice::<Head<'_>>(text) {
        Ok(head) if head.trace_schema == compat::TRACE_SCHEMA => {
            Some(head.run_id.unwrap_or_default().into_owned())
        }
        Ok(_) => None,
        // One that is not written as we do may be an event all the same: with a field twice, say.
        Err(_) => event_in(text).map(|event| {
            let run_id = event["runId"].as_str();
            run_id.unwrap_or_default().to_owned()
        }),
    }
}

/// Tells whether a value is an event of a trajectory.
pub(super) fn is_event(value: &Value) -> bool {
    value["traceSchema"] == compat::TRACE_SCHEMA
        && value["type"].is_string()
        && value["sessionId"].is_string()
}

/// Reads an event that is JSON as it is.
pub(super) fn event_in(line: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(line).ok()?;
    is_event(&value).then_some(value)
}
