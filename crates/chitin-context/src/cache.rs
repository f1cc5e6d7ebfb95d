//! What a provider can reuse: the longest common prefix of two prompts, what broke it, and what should stand elsewhere.

use crate::assemble::Context;
use crate::fragment::{CacheClass, FragmentOrigin, FragmentRole};
use serde::Serialize;

/// How far two system prompts agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prefix {
    /// How many bytes are the same from the start; never ends inside a character.
    pub bytes: usize,
    /// The line in which the first difference stands, counted from 1.
    pub line: usize,
    /// What is different there; nothing when both are the same to the end.
    pub broken_by: Option<Break>,
}

/// What stands at the first difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Break {
    /// The fragment of the first prompt; nothing when that has ended.
    pub before: Option<usize>,
    /// The fragment of the second prompt; nothing when that has ended.
    pub after: Option<usize>,
    /// Whether the same part changed, or another part stands there.
    pub kind: BreakKind,
}

/// How a prefix broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakKind {
    /// The same part says something else.
    Changed,
    /// Another part stands there, or none.
    Replaced,
}

/// Compares the system prompts of two turns.
pub fn common_prefix(before: &Context, after: &Context) -> Prefix {
    let (left, right) = (before.system(), after.system());
    let mut bytes = left
        .bytes()
        .zip(right.bytes())
        .take_while(|(left, right)| left == right)
        .count();
    while !left.is_char_boundary(bytes) {
        bytes -= 1;
    }
    let line = 1 + memchr::memchr_iter(b'\n', &left.as_bytes()[..bytes]).count();
    let is_same = bytes == left.len() && bytes == right.len();
    let broken_by = (!is_same).then(|| broken_by(before, after));
    Prefix {
        bytes,
        line,
        broken_by,
    }
}

/// Finds the first two parts that say different things. A part that grew is named itself, although the bytes may agree
/// a little further, into the separator and heading of what follows.
fn broken_by(before: &Context, after: &Context) -> Break {
    let (mut left, mut right) = (system_parts(before), system_parts(after));
    loop {
        let (before_at, after_at) = (left.next(), right.next());
        let says_the_same = match (before_at, after_at) {
            (Some(one), Some(other)) => {
                before.fragments[one].text() == after.fragments[other].text()
            }
            (None, _) | (_, None) => false,
        };
        if !says_the_same {
            let is_same_part = origin(before, before_at) == origin(after, after_at);
            return Break {
                before: before_at,
                after: after_at,
                kind: if is_same_part {
                    BreakKind::Changed
                } else {
                    BreakKind::Replaced
                },
            };
        }
    }
}

fn system_parts(context: &Context) -> impl Iterator<Item = usize> {
    let parts = context.fragments.iter().enumerate();
    parts
        .filter(|(_, fragment)| fragment.role == FragmentRole::System)
        .map(|(at, _)| at)
}

fn origin(context: &Context, at: Option<usize>) -> Option<(&str, bool)> {
    at.map(|at| identity(&context.fragments[at].origin))
}

/// What makes two fragments the same part: the key, or the file's name and kind, wherever the directory lies.
fn identity(origin: &FragmentOrigin) -> (&str, bool) {
    match origin {
        FragmentOrigin::Section { key } => (key, false),
        FragmentOrigin::File { name, extra, .. } => (name, *extra),
        FragmentOrigin::Boundary => ("boundary", false),
    }
}

/// Returns the fragments above the boundary that any turn may change: each of them spoils what is cached below it.
pub fn volatile_above_boundary(context: &Context) -> Vec<usize> {
    let boundary = context
        .fragments
        .iter()
        .position(|fragment| fragment.origin == FragmentOrigin::Boundary);
    let above = boundary.map_or(&context.fragments[..0], |at| &context.fragments[..at]);
    above
        .iter()
        .enumerate()
        .filter(|(_, fragment)| fragment.cache == CacheClass::Dynamic)
        .map(|(at, _)| at)
        .collect()
}
