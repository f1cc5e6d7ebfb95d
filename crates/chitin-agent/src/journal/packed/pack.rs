//! Writes values as differences.

use super::block::Window;
use super::unpack::Unpacker;
use super::{MAX_DEPTH, MAX_DIFFERENCE_DEPTH, MIN_CUT, MIN_STRING, REQUEST, chunks, marker};
use crate::journal::compat::event;
use serde_json::{Map, Value, json};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

/// How much is added to a base of no length before a segment ends.
const FREE_BYTES: u64 = 128 * 1024;
/// How many times the length of its base is added before a segment ends.
const BASE_TIMES: u64 = 6;

/// How long a string is that is looked for in others.
const MIN_PART: usize = 64;
/// A longer one is cut anyway.
const MAX_PART: usize = 8 * 1024;
/// How many strings are looked for in others.
const MOST_RECENT: usize = 8;

/// Writes blocks of a segment, and begins new ones.
#[derive(Debug, Default)]
pub(in crate::journal) struct Packer {
    /// The byte of the file at which the segment begins.
    segment: u64,
    /// The last value of each kind, and the entry that has it.
    kinds: HashMap<String, (u32, Value)>,
    strings: Strings,
    window: Window,
    next_block: u32,
    next_line: u32,
    /// How long the segment is, before compression.
    bytes: u64,
    /// How long it was when it had all of a first request.
    base: Option<u64>,
    /// Entries that are in no block yet.
    open: String,
}

/// The strings and elements that a segment defined.
#[derive(Debug, Default)]
struct Strings {
    known: HashMap<[u8; 16], u32>,
    elements: HashMap<[u8; 16], u32>,
    /// The last strings that may be part of others, with their numbers.
    recent: VecDeque<(u32, String)>,
    next: u32,
}

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
struct Position {
    /// How many objects were written as differences above it.
    depth: usize,
    /// Whether it is part of an element that has a number.
    in_element: bool,
}

impl Position {
    const TOP: Self = Self {
        depth: 0,
        in_element: false,
    };

    const fn below(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    const fn in_element(self) -> Self {
        Self {
            in_element: true,
            ..self
        }
    }
}

impl Packer {
    /// Goes on where a file ends.
    pub(in crate::journal) fn resume(unpacker: Unpacker) -> Self {
        let state = unpacker.into_state();
        let numbers = state.strings.keys().chain(state.elements.keys());
        let next = numbers.max().map_or(0, |last| last.saturating_add(1));
        let known = state.strings.iter();
        let elements = state.elements.iter();
        Self {
            segment: state.segment,
            strings: Strings {
                known: known.map(|(at, text)| (digest(text), *at)).collect(),
                elements: elements
                    .map(|(at, value)| (digest(&value.to_string()), *at))
                    .collect(),
                recent: VecDeque::new(),
                next,
            },
            kinds: state.kinds,
            window: state.window,
            next_block: state.next_block,
            next_line: state.next_line,
            bytes: state.bytes,
            base: state.base,
            open: String::new(),
        }
    }

    /// Tells whether a new segment is to begin with an entry: what is open must be sealed first.
    pub(in crate::journal) fn is_over(&self, kind: &str) -> bool {
        let may_begin = kind == REQUEST || kind == event::STARTED;
        let is_long = self.bytes > FREE_BYTES + BASE_TIMES * self.base.unwrap_or(0);
        self.next_line == u32::MAX || self.next_block == u32::MAX || (may_begin && is_long)
    }

    /// Begins a segment at a byte of the file.
    pub(in crate::journal) fn begin(segment: u64) -> Self {
        Self {
            segment,
            ..Self::default()
        }
    }

    /// Tells whether nothing was written in this segment.
    pub(in crate::journal) const fn is_new(&self) -> bool {
        self.next_block == 0 && self.next_line == 0
    }

    /// Adds a value to what is open. False for one that cannot be packed.
    pub(in crate::journal) fn add(&mut self, kind: &str, value: &Value) -> bool {
        if !is_shallow(value, MAX_DEPTH) {
            return false;
        }
        let first = self.strings.next;
        let before = self.kinds.get(kind);
        let base = before.map(|(line, _)| *line);
        let before = before.map(|(_, value)| value);
        let packed = self.strings.value(value, before, Position::TOP);
        let entry = json!([self.next_line, first, base, kind, packed]).to_string() + "\n";
        self.open.push_str(&entry);
        self.kinds
            .insert(kind.to_owned(), (self.next_line, value.clone()));
        self.next_line += 1;
        self.bytes += entry.len() as u64;
        if self.base.is_none() && kind == REQUEST {
            self.base = Some(self.bytes);
        }
        true
    }

    #[cfg(test)]
    pub(super) fn open_text(&self) -> &str {
        &self.open
    }

    /// Returns what is open as a line with its end; nothing if nothing is.
    pub(in crate::journal) fn seal(&mut self) -> Option<String> {
        if self.open.is_empty() {
            return None;
        }
        let text = std::mem::take(&mut self.open);
        let line = self.window.sealed(self.segment, self.next_block, &text)?;
        self.next_block += 1;
        Some(line)
    }
}

fn digest(text: &str) -> [u8; 16] {
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    digest
}

fn is_shallow(value: &Value, room: usize) -> bool {
    let Some(room) = room.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(items) => items.iter().all(|item| is_shallow(item, room)),
        Value::Object(fields) => fields.values().all(|field| is_shallow(field, room)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn marked(value: Value) -> Value {
    let mut fields = Map::with_capacity(1);
    fields.insert(marker::FIELD.to_owned(), value);
    Value::Object(fields)
}

fn marked_as(what: &str, value: Value) -> Value {
    let mut fields = Map::with_capacity(1);
    fields.insert(what.to_owned(), value);
    marked(Value::Object(fields))
}

impl Strings {
    /// Returns the number of a string that is known, or makes it known.
    fn number(&mut self, text: &str) -> Option<u32> {
        let next = self.next;
        let mut is_new = false;
        let number = *self.known.entry(digest(text)).or_insert_with(|| {
            is_new = true;
            next
        });
        if is_new {
            self.next = self.next.saturating_add(1);
            if (MIN_PART..MAX_PART).contains(&text.len()) {
                self.recent.truncate(MOST_RECENT - 1);
                self.recent.push_front((number, text.to_owned()));
            }
            return None;
        }
        Some(number)
    }

    fn value(&mut self, value: &Value, before: Option<&Value>, at: Position) -> Value {
        if before.is_some_and(|before| is_same(before, value)) {
            return marked(Value::Null);
        }
        let before = before.filter(|_| at.depth < MAX_DIFFERENCE_DEPTH);
        match (value, before) {
            (Value::String(text), _) => self.string(text),
            (Value::Array(items), Some(Value::Array(before))) => self.list(items, before, at),
            (Value::Object(fields), Some(Value::Object(before))) => self.fields(fields, before, at),
            (Value::Array(items), _) => {
                let items = items.iter().map(|item| self.item(item, at));
                Value::Array(items.collect())
            }
            (Value::Object(fields), _) => {
                let is_marker = fields.len() == 1 && fields.contains_key(marker::FIELD);
                let fields = fields
                    .iter()
                    .map(|(name, field)| (name.clone(), self.value(field, None, at)));
                let fields = Value::Object(fields.collect());
                if is_marker {
                    marked_as(marker::OBJECT, fields)
                } else {
                    fields
                }
            }
            (Value::Null | Value::Bool(_) | Value::Number(_), _) => value.clone(),
        }
    }

    /// Writes an element of an array.
    fn item(&mut self, item: &Value, at: Position) -> Value {
        if at.in_element || !item.is_object() {
            return self.value(item, None, at);
        }
        let digest = digest(&item.to_string());
        if let Some(number) = self.elements.get(&digest) {
            return marked_as(marker::ELEMENT, json!(number));
        }
        self.elements.insert(digest, self.next);
        self.next = self.next.saturating_add(1);
        self.value(item, None, at.in_element())
    }

    fn string(&mut self, text: &str) -> Value {
        if text.len() < MIN_STRING {
            return json!(text);
        }
        // A string of several parts is known after them; one that is its own only part is written as it is.
        if text.len() >= MIN_CUT && chunks::of(text).nth(1).is_some() {
            if let Some(number) = self.known.get(&digest(text)) {
                return marked(json!(number));
            }
            let mut parts: Vec<Value> = Vec::new();
            let mut run: Option<(u32, u32)> = None;
            for part in chunks::of(text) {
                let known = Some(part).filter(|part| part.len() >= MIN_STRING);
                let number = known.and_then(|part| self.number(part));
                run = match (run, number) {
                    (Some((from, count)), Some(number)) if from + count == number => {
                        Some((from, count + 1))
                    }
                    (run, number) => {
                        parts.extend(run.map(written));
                        number.map(|number| (number, 1))
                    }
                };
                if number.is_none() {
                    parts.push(json!(part));
                }
            }
            parts.extend(run.map(written));
            self.number(text);
            return marked(Value::Array(parts));
        }
        if self.known.contains_key(&digest(text)) {
            return self
                .number(text)
                .map_or(Value::Null, |number| marked(json!(number)));
        }
        // What a person wrote stands in the message that is sent after a few words about it.
        let part = self.recent.iter().find_map(|(number, part)| {
            let at = text.find(part.as_str())?;
            Some((*number, &text[..at], &text[at + part.len()..]))
        });
        let Some((number, head, tail)) = part else {
            self.number(text);
            return json!(text);
        };
        let mut parts = Vec::new();
        for part in [Err(head), Ok(number), Err(tail)] {
            match part {
                Ok(number) => parts.push(json!(number)),
                Err("") => {}
                // A part that is long enough gets a number of its own, or has one.
                Err(part) if part.len() >= MIN_STRING => match self.number(part) {
                    Some(number) => parts.push(json!(number)),
                    None => parts.push(json!(part)),
                },
                Err(part) => parts.push(json!(part)),
            }
        }
        self.number(text);
        marked(Value::Array(parts))
    }

    fn fields(
        &mut self,
        fields: &Map<String, Value>,
        before: &Map<String, Value>,
        at: Position,
    ) -> Value {
        let has_same_names = fields.keys().eq(before.keys());
        let mut changed = Map::new();
        for (name, field) in fields {
            let old = before.get(name);
            let is_kept = has_same_names && old.is_some_and(|old| is_same(old, field));
            if !is_kept {
                changed.insert(name.clone(), self.value(field, old, at.below()));
            }
        }
        let what = if has_same_names {
            marker::PATCH
        } else {
            marker::KEYS
        };
        marked_as(what, Value::Object(changed))
    }

    /// Writes the elements that were there before as runs. Runs keep their order: none is there twice.
    fn list(&mut self, items: &[Value], before: &[Value], at: Position) -> Value {
        let same = |(one, other): &(&Value, &Value)| is_same(one, other);
        let prefix = items.iter().zip(before).take_while(same).count();
        let (rest, old) = (&items[prefix..], &before[prefix..]);
        let ends = rest.iter().rev().zip(old.iter().rev());
        let suffix = ends.take_while(same).count();
        let (rest, old) = (&rest[..rest.len() - suffix], &old[..old.len() - suffix]);
        let mut runs = Runs::default();
        runs.add(0, prefix);
        let mut places: HashMap<u64, usize> = HashMap::with_capacity(old.len());
        for (at, value) in old.iter().enumerate() {
            places.entry(hash(value)).or_insert(at);
        }
        // What comes after the elements that are taken over.
        let mut free = 0;
        for item in rest {
            let place = match old.get(free) {
                Some(next) if is_same(next, item) => Some(free),
                Some(_) => places
                    .get(&hash(item))
                    .copied()
                    .filter(|at| *at >= free && is_same(&old[*at], item)),
                None => None,
            };
            if let Some(place) = place {
                runs.add(prefix + place, 1);
                free = place + 1;
            } else {
                let item = self.item(item, at);
                runs.items.push(item);
            }
        }
        runs.add(before.len() - suffix, suffix);
        runs.end();
        if runs.is_any {
            marked_as(marker::LIST, Value::Array(runs.items))
        } else {
            Value::Array(runs.items)
        }
    }
}

/// Writes the numbers of parts that follow each other.
fn written((from, count): (u32, u32)) -> Value {
    if count == 1 {
        json!(from)
    } else {
        json!([from, count])
    }
}

/// The elements of a list, as far as they are written.
#[derive(Default)]
struct Runs {
    items: Vec<Value>,
    open: Option<(usize, usize)>,
    /// How many items there were when the open run began.
    opened: usize,
    is_any: bool,
}

impl Runs {
    fn add(&mut self, from: usize, count: usize) {
        if count == 0 {
            return;
        }
        self.is_any = true;
        if let Some((begin, length)) = &mut self.open
            && *begin + *length == from
            && self.opened == self.items.len()
        {
            *length += count;
            return;
        }
        self.end();
        self.open = Some((from, count));
        self.opened = self.items.len();
    }

    /// Writes the run that is open, where it began.
    fn end(&mut self) {
        if let Some((from, count)) = self.open.take() {
            let run = marked_as(marker::RUN, json!([from, count]));
            self.items.insert(self.opened, run);
        }
    }
}

/// Tells whether two values are written with the same bytes: `==` passes over the order of fields and the sign of zero.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len()
                && pairs.all(|((name, one), (other_name, other))| {
                    name == other_name && is_same(one, other)
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| is_same(one, other))
        }
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            one.as_f64().map(f64::to_bits) == other.as_f64().map(f64::to_bits)
        }
        _ => one == other,
    }
}

fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    hash_into(value, &mut hasher);
    hasher.finish()
}

fn hash_into(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(truth) => truth.hash(hasher),
        Value::Number(number) => number.hash(hasher),
        Value::String(text) => text.hash(hasher),
        Value::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_into(item, hasher);
            }
        }
        Value::Object(fields) => {
            fields.len().hash(hasher);
            for (name, field) in fields {
                name.hash(hasher);
                hash_into(field, hasher);
            }
        }
    }
}
