//! Reads what was written as differences. Nothing that a file says makes it read without bound.

use super::block::{Block, Window};
use super::{MIN_STRING, MOST_MADE, REQUEST, marker};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// How long a string may be.
const MOST_STRING: usize = 64 << 20;
/// How many kinds a segment may have.
const MOST_KINDS: usize = 64;
/// About what a value takes besides its text.
const VALUE_BYTES: usize = 32;

/// An entry of a segment, taken apart.
#[derive(Debug)]
pub(in crate::journal) struct PackedEntry {
    line: u32,
    string: u32,
    base: Option<u32>,
    kind: String,
    value: Value,
}

/// A value could not be made: it leans on a line that is damaged or missing, or asks for too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::journal) struct Loss;

/// Makes values of lines, one after the other.
#[derive(Debug, Default)]
pub(in crate::journal) struct Unpacker {
    segment: Option<u64>,
    /// The last value of each kind, and the line that has it.
    kinds: HashMap<String, (u32, Value)>,
    strings: HashMap<u32, Arc<str>>,
    elements: HashMap<u32, Arc<Value>>,
    window: Window,
    next_block: u32,
    next_line: u32,
    next_string: u32,
    /// How much was made of this segment.
    made: usize,
    /// Strings that the last line put together of others.
    joined: Vec<u32>,
    /// How long the segment was after its first request.
    base: Option<u64>,
    bytes: u64,
}

/// What is known at the end of a segment.
pub(super) struct State {
    pub(super) segment: u64,
    pub(super) window: Window,
    pub(super) next_block: u32,
    pub(super) bytes: u64,
    pub(super) base: Option<u64>,
    pub(super) kinds: HashMap<String, (u32, Value)>,
    pub(super) strings: HashMap<u32, Arc<str>>,
    pub(super) elements: HashMap<u32, Arc<Value>>,
    pub(super) next_line: u32,
}

impl PackedEntry {
    /// Takes a line of a block apart. Nothing for one that is none of ours.
    pub(in crate::journal) fn read(line: &[u8]) -> Option<Self> {
        let (line, string, base, kind, value) = serde_json::from_slice(line).ok()?;
        Some(Self {
            line,
            string,
            base,
            kind,
            value,
        })
    }

    /// Returns which entry of its segment it is.
    pub(in crate::journal) const fn number(&self) -> u32 {
        self.line
    }

    /// Returns what it holds: a type of event, or a request.
    pub(in crate::journal) fn kind(&self) -> &str {
        &self.kind
    }
}

impl Unpacker {
    /// Returns the entries of a block, one on each line. Those of its segment before it were opened already.
    pub(in crate::journal) fn open(&mut self, block: &Block) -> Result<Vec<u8>, Loss> {
        if block.is_first() {
            *self = Self {
                segment: Some(block.segment),
                ..Self::default()
            };
        }
        if self.segment != Some(block.segment) || block.number != self.next_block {
            return Err(Loss);
        }
        let text = self.window.opened(block).ok_or(Loss)?;
        self.next_block = block.number.checked_add(1).ok_or(Loss)?;
        self.make(text.len())?;
        Ok(text)
    }

    /// Makes the value of an entry. Those of its segment before it were taken already.
    pub(in crate::journal) fn take(
        &mut self,
        entry: PackedEntry,
        length: usize,
    ) -> Result<&Value, Loss> {
        self.next_line = self.next_line.max(entry.line.saturating_add(1));
        self.next_string = entry.string;
        self.joined.clear();
        self.bytes += length as u64;
        let before = match entry.base {
            Some(base) => match self.kinds.remove(&entry.kind) {
                Some((number, value)) if number == base => Some(value),
                Some(_) | None => return Err(Loss),
            },
            None => None,
        };
        let value = self.value(entry.value, before, false)?;
        if self.kinds.len() >= MOST_KINDS && !self.kinds.contains_key(&entry.kind) {
            return Err(Loss);
        }
        if self.base.is_none() && entry.kind == REQUEST {
            self.base = Some(self.bytes);
        }
        self.kinds.insert(entry.kind.clone(), (entry.line, value));
        self.kinds
            .get(&entry.kind)
            .map(|(_, value)| value)
            .ok_or(Loss)
    }

    /// Returns the value of an entry, if it is the last of its kind.
    pub(in crate::journal) fn entry(&self, kind: &str, number: u32) -> Option<(&str, &Value)> {
        let (kind, (last, value)) = self.kinds.get_key_value(kind)?;
        (*last == number).then_some((kind.as_str(), value))
    }

    /// Returns the last value of a kind, and the line of its segment that has it.
    pub(in crate::journal) fn last(&self, kind: &str) -> Option<(u32, &Value)> {
        self.kinds.get(kind).map(|(line, value)| (*line, value))
    }

    /// Returns the strings that the last line put together of others, with their numbers.
    pub(in crate::journal) fn joined(&self) -> impl Iterator<Item = (u32, &str)> {
        let numbers = self.joined.iter();
        numbers.filter_map(|number| Some((*number, self.strings.get(number)?.as_ref())))
    }

    pub(super) fn into_state(self) -> State {
        State {
            segment: self.segment.unwrap_or_default(),
            window: self.window,
            next_block: self.next_block,
            bytes: self.bytes,
            base: self.base,
            kinds: self.kinds,
            strings: self.strings,
            elements: self.elements,
            next_line: self.next_line,
        }
    }

    fn make(&mut self, bytes: usize) -> Result<(), Loss> {
        self.made = self.made.saturating_add(bytes);
        if self.made > MOST_MADE {
            return Err(Loss);
        }
        Ok(())
    }

    /// Gives a string the next number, if it is long enough for one.
    fn define(&mut self, text: &str) -> Result<(), Loss> {
        if text.len() >= MIN_STRING {
            self.make(text.len())?;
            self.strings.insert(self.next_string, text.into());
            self.next_string = self.next_string.checked_add(1).ok_or(Loss)?;
        }
        Ok(())
    }

    fn known(&self, number: &Value) -> Result<Arc<str>, Loss> {
        let number = number
            .as_u64()
            .and_then(|number| u32::try_from(number).ok());
        number
            .and_then(|number| self.strings.get(&number).cloned())
            .ok_or(Loss)
    }

    fn value(
        &mut self,
        value: Value,
        before: Option<Value>,
        in_element: bool,
    ) -> Result<Value, Loss> {
        self.make(VALUE_BYTES)?;
        match value {
            Value::String(text) => {
                self.define(&text)?;
                self.make(text.len())?;
                Ok(Value::String(text))
            }
            Value::Array(items) => {
                let items = items.into_iter().map(|item| self.item(item, in_element));
                Ok(Value::Array(items.collect::<Result<_, _>>()?))
            }
            Value::Object(fields) if fields.len() == 1 && fields.contains_key(marker::FIELD) => {
                let what = fields.into_iter().next().map(|(_, what)| what);
                self.marked(what.ok_or(Loss)?, before, in_element)
            }
            Value::Object(fields) => {
                let fields = fields
                    .into_iter()
                    .map(|(name, field)| Ok((name, self.value(field, None, in_element)?)));
                Ok(Value::Object(fields.collect::<Result<_, _>>()?))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value),
        }
    }

    /// Makes an element of an array.
    fn item(&mut self, item: Value, in_element: bool) -> Result<Value, Loss> {
        let Value::Object(fields) = &item else {
            return self.value(item, None, in_element);
        };
        let mark = fields.get(marker::FIELD).filter(|_| fields.len() == 1);
        if let Some(number) = mark.and_then(|mark| mark.get(marker::ELEMENT)) {
            let number = number
                .as_u64()
                .and_then(|number| u32::try_from(number).ok());
            let known = number.and_then(|number| self.elements.get(&number).cloned());
            let known = known.ok_or(Loss)?;
            self.make(size(&known))?;
            return Ok(known.as_ref().clone());
        }
        // What stands for a string or for something else is no object.
        let is_object = mark.is_none_or(|mark| mark.get(marker::OBJECT).is_some());
        if in_element || !is_object {
            return self.value(item, None, in_element);
        }
        let number = self.next_string;
        self.next_string = number.checked_add(1).ok_or(Loss)?;
        let value = self.value(item, None, true)?;
        self.make(size(&value))?;
        self.elements.insert(number, Arc::new(value.clone()));
        Ok(value)
    }

    fn marked(
        &mut self,
        what: Value,
        before: Option<Value>,
        in_element: bool,
    ) -> Result<Value, Loss> {
        match what {
            Value::Null => before.ok_or(Loss),
            Value::Number(_) => {
                let text = self.known(&what)?;
                self.make(text.len())?;
                Ok(Value::String(text.as_ref().to_owned()))
            }
            Value::Array(parts) => self.text(parts).map(Value::String),
            Value::Object(fields) => {
                let (name, value) = fields.into_iter().next().ok_or(Loss)?;
                match (name.as_str(), value, before) {
                    (marker::PATCH, Value::Object(changed), Some(Value::Object(fields))) => {
                        self.patched(changed, fields, in_element)
                    }
                    (marker::KEYS, Value::Object(fields), Some(Value::Object(before))) => {
                        self.fields(fields, before, in_element)
                    }
                    (marker::LIST, Value::Array(items), Some(Value::Array(before))) => {
                        self.list(items, before, in_element)
                    }
                    (marker::OBJECT, Value::Object(fields), _) => {
                        let fields = fields
                            .into_iter()
                            .map(|(name, field)| Ok((name, self.value(field, None, in_element)?)));
                        Ok(Value::Object(fields.collect::<Result<_, _>>()?))
                    }
                    _ => Err(Loss),
                }
            }
            Value::Bool(_) | Value::String(_) => Err(Loss),
        }
    }

    fn text(&mut self, parts: Vec<Value>) -> Result<String, Loss> {
        let mut text = String::new();
        for part in parts {
            match part {
                Value::String(part) => {
                    self.define(&part)?;
                    text.push_str(&part);
                }
                Value::Array(run) => {
                    let [from, count] = run.as_slice() else {
                        return Err(Loss);
                    };
                    let from = from.as_u64().ok_or(Loss)?;
                    for at in 0..count.as_u64().ok_or(Loss)? {
                        let number = from.checked_add(at).ok_or(Loss)?;
                        text.push_str(&self.known(&number.into())?);
                        if text.len() > MOST_STRING {
                            return Err(Loss);
                        }
                    }
                }
                number => text.push_str(&self.known(&number)?),
            }
            if text.len() > MOST_STRING {
                return Err(Loss);
            }
        }
        self.make(text.len())?;
        self.joined.push(self.next_string);
        self.define(&text)?;
        Ok(text)
    }

    fn patched(
        &mut self,
        changed: Map<String, Value>,
        mut fields: Map<String, Value>,
        in_element: bool,
    ) -> Result<Value, Loss> {
        for (name, field) in changed {
            let place = fields.get_mut(&name).ok_or(Loss)?;
            let before = place.take();
            *place = self.value(field, Some(before), in_element)?;
        }
        Ok(Value::Object(fields))
    }

    fn fields(
        &mut self,
        fields: Map<String, Value>,
        mut before: Map<String, Value>,
        in_element: bool,
    ) -> Result<Value, Loss> {
        let mut made = Map::with_capacity(fields.len());
        for (name, field) in fields {
            let old = before.swap_remove(&name);
            let value = self.value(field, old, in_element)?;
            made.insert(name, value);
        }
        Ok(Value::Object(made))
    }

    /// Elements are taken over in their order and none twice, so that a list is never longer than what was written of it.
    fn list(
        &mut self,
        items: Vec<Value>,
        mut before: Vec<Value>,
        in_element: bool,
    ) -> Result<Value, Loss> {
        let mut items = items.into_iter().peekable();
        // The usual list is the one before it with something more, and is not moved.
        let first = items.peek().and_then(run);
        let rest = match first {
            Some((0, count)) => {
                items.next();
                if count > before.len() {
                    return Err(Loss);
                }
                before.split_off(count)
            }
            Some(_) | None => std::mem::take(&mut before),
        };
        let mut at = before.len();
        let mut list = before;
        let mut rest = rest.into_iter();
        for item in items {
            let Some((from, count)) = run(&item) else {
                list.push(self.item(item, in_element)?);
                continue;
            };
            let skipped = from.checked_sub(at).ok_or(Loss)?;
            if rest.len() < skipped.checked_add(count).ok_or(Loss)? {
                return Err(Loss);
            }
            list.extend(rest.by_ref().skip(skipped).take(count));
            at = from + count;
        }
        Ok(Value::Array(list))
    }
}

/// About what a value takes.
fn size(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(size).sum(),
            Value::Object(fields) => fields
                .iter()
                .map(|(name, field)| name.len() + size(field))
                .sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

/// Reads which elements an item of a list stands for, if it stands for some.
fn run(item: &Value) -> Option<(usize, usize)> {
    let Value::Object(fields) = item else {
        return None;
    };
    let run = fields.get(marker::FIELD)?.get(marker::RUN)?.as_array()?;
    let [from, count] = run.as_slice() else {
        return None;
    };
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    Some((number(from)?, number(count)?))
}
