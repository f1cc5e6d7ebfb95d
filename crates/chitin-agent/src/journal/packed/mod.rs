//! Recordings by differences: each event as what is new in it.
//!
//! An event of a turn says again most of what the one of its type before it said: the system prompt, the tools, the whole
//! conversation. Written out, a recording grows with the square of the conversation; written as differences, with what was said.
//!
//! A line of the file is a block, `{"p1":[segment,number],"z":"…","sum":"…"}`: what was written at one time, such as the beginning of a
//! turn when its request is out.
//!
//! - `segment` is the byte of the file at which its segment begins. Nothing leans on what is before its segment. A segment ends
//!   when what was added is a few times as long as the base with which it began, so that all bases together are no longer than a part of
//!   what was added, and whoever wants one turn reads one segment.
//! - `number` counts the blocks of a segment from 0.
//! - `z` is a text in base 64, compressed (raw deflate) with the 32 KiB of its segment that are before it.
//! - `sum` is the beginning of the BLAKE3 of all bytes of the line before it.
//!
//! Each line of that text is an entry, `[line,string,base,kind,value]`:
//!
//! - `line` counts the entries of a segment from 0, `string` is the number of the first string that the entry defines.
//! - `base` is the entry that it differs from: the one of its kind before it. `kind` is the type of an event, or `request`.
//! - `value` is what it holds. An object of the one field `~` stands for something else: see [`marker`].
//!
//! Every string of at least [`MIN_STRING`] bytes is written once in a segment; its number stands for it from then on. Longer ones are
//! cut where their content says so, so that two texts of which one holds most of the other share what they have in common. Objects that are
//! elements of an array, such as messages, have numbers too: events of several types hold the same ones. An element gets its number before
//! what is in it, a string that is cut after its parts.

mod block;
mod chunks;
mod pack;
mod unpack;

pub(super) use block::Block;
pub(super) use pack::Packer;
pub(super) use unpack::{PackedEntry, Unpacker};

/// How a line begins.
pub(super) const LINE_START: &[u8] = b"{\"p1\":[";
/// The kind of a line that holds a request: it is no event.
pub(super) const REQUEST: &str = "request";
/// Shorter strings are written again: a number for them is as long.
const MIN_STRING: usize = 24;
/// Strings from this length on are cut.
const MIN_CUT: usize = 1024;
/// What is nested deeper is not written as a difference: each level adds two.
const MAX_DIFFERENCE_DEPTH: usize = 8;
/// What is nested deeper is not packed at all: `serde_json` reads 128 levels.
const MAX_DEPTH: usize = 90;
/// How much is made of one segment, in bytes: an entry may ask for what came before it again and again.
const MOST_MADE: usize = 1 << 30;
/// How many digits of a checksum are written.
const SUM_DIGITS: usize = 16;

/// The one field of an object that stands for something else.
///
/// | value | stands for |
/// |---|---|
/// | `null` | what was there before |
/// | a number | the string of this number |
/// | an array of strings, numbers and `[number, count]` | a string of these parts, of which some have numbers that follow each other |
/// | `{"p": {…}}` | the object that was there, with these fields changed |
/// | `{"k": {…}}` | an object of these fields, of which some may be what they were |
/// | `{"l": […]}` | an array; `{"~": {"r": [from, count]}}` in it stands for elements of the array that was there, in their order |
/// | `{"e": number}` | the element of an array that has this number |
/// | `{"o": {…}}` | the object itself, which happens to have this one field |
mod marker {
    pub(super) const FIELD: &str = "~";
    pub(super) const PATCH: &str = "p";
    pub(super) const KEYS: &str = "k";
    pub(super) const LIST: &str = "l";
    pub(super) const RUN: &str = "r";
    pub(super) const ELEMENT: &str = "e";
    pub(super) const OBJECT: &str = "o";
}

/// Returns the checksum of the bytes of a line.
fn sum(bytes: &[u8]) -> String {
    let mut sum = blake3::hash(bytes).to_hex().to_string();
    sum.truncate(SUM_DIGITS);
    sum
}

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;
