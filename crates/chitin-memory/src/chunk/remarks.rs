//! Remarks about an entry, in comments that are not shown.

use chitin_protocol::text::{is_js_whitespace, trim_js};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A remark: a comment with one of three names, a colon, and a value on the same line.
static REMARK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)<!--\s*(trigger|importance|project)\s*:([^\r\n]*?)-->").ok());

/// What may follow the importance on its line: other comments.
static TRAILING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:\s*<!--[^\r\n]*?-->)*\s*$").ok());

/// Spaces at the end of a line.
static LINE_ENDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?m)[ \t]+(\r?)$").ok());

/// The largest importance.
const MOST_IMPORTANT: u8 = 10;

/// What remarks say of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remarks {
    /// How much it matters, from 1 to 10.
    pub importance: Option<u8>,
    /// What brings it to mind, each once, in order.
    pub triggers: Vec<String>,
    /// The projects that it belongs to.
    pub projects: Projects,
}

/// The projects that an entry belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Projects {
    /// Nothing is said: it belongs to all.
    #[default]
    Unsaid,
    /// These, each once, in order.
    Named(Vec<String>),
    /// A project is meant but not named: it belongs to none that is known.
    Unnamed,
}

/// Returns what the remarks of an entry say. Of several importances the first line's holds, else the last line's; on one line the
/// last. One that is followed by more text is part of that text.
pub fn remarks(text: &str) -> Remarks {
    let mut told = Remarks::default();
    let mut later = None;
    for (index, line) in text.split('\n').enumerate() {
        for (end, name, value) in remarks_of(line) {
            match name.to_ascii_lowercase().as_str() {
                "importance" if is_trailing(&line[end..]) => {
                    let importance = importance(value);
                    if index == 0 {
                        told.importance = importance.or(told.importance);
                    } else {
                        later = importance.or(later);
                    }
                }
                "trigger" => add(&mut told.triggers, value.split([',', ';'])),
                "project" => told.projects.add(value),
                _ => {}
            }
        }
    }
    told.importance = told.importance.or(later);
    told
}

/// Returns a text as it is shown: without remarks and the spaces that they leave at the ends of lines.
pub fn without_remarks(text: &str) -> Cow<'_, str> {
    let (Some(remark), Some(ends)) = (REMARK.as_ref(), LINE_ENDS.as_ref()) else {
        return Cow::Borrowed(text);
    };
    match remark.replace_all(text, "") {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(rest) => Cow::Owned(ends.replace_all(&rest, "$1").into_owned()),
    }
}

/// Returns the remarks on a line: where each ends, its name, its value.
fn remarks_of(line: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let captures = REMARK.as_ref().map(|remark| remark.captures_iter(line));
    captures
        .into_iter()
        .flatten()
        .filter_map(|found: Captures<'_>| {
            let end = found.get(0)?.end();
            Some((end, found.get(1)?.as_str(), found.get(2)?.as_str()))
        })
}

fn is_trailing(rest: &str) -> bool {
    TRAILING
        .as_ref()
        .is_some_and(|trailing| trailing.is_match(rest))
}

fn importance(value: &str) -> Option<u8> {
    let digits = value.trim_matches(is_js_whitespace);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u8 = is_number.then(|| digits.parse().ok()).flatten()?;
    (1..=MOST_IMPORTANT).contains(&number).then_some(number)
}

/// Adds what is not blank and not there yet.
fn add<'v>(list: &mut Vec<String>, values: impl Iterator<Item = &'v str>) {
    for value in values.map(trim_js).filter(|value| !value.is_empty()) {
        if !list.iter().any(|known| known == value) {
            list.push(value.to_owned());
        }
    }
}

impl Projects {
    fn add(&mut self, value: &str) {
        let mut named = match std::mem::take(self) {
            Self::Unnamed => {
                *self = Self::Unnamed;
                return;
            }
            Self::Named(named) => named,
            Self::Unsaid => Vec::new(),
        };
        let keys: Vec<String> = value.split(';').map(|key| project(trim_js(key))).collect();
        if keys.iter().all(String::is_empty) {
            *self = Self::Unnamed;
            return;
        }
        add(&mut named, keys.iter().map(String::as_str));
        *self = Self::Named(named);
    }
}

/// Returns the name of a project. What stands before the first slash is the name of a host or an owner, in any case.
fn project(name: &str) -> String {
    match name.split_once('/') {
        Some((owner, rest)) => format!("{}/{rest}", owner.to_lowercase()),
        None => name.to_owned(),
    }
}
