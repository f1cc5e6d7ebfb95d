//! Remarks about an entry, in comments that are not shown.

use chitin_protocol::text::{trim_end_js, trim_js};
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A remark: a comment with one of three names, a colon, and a value on the same line.
static REMARK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)<!--\s*(trigger|importance|project)\s*:([^\r\n]*?)-->").ok());

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

/// Returns what the remarks of an entry say. Of several importances the largest holds. Importances and triggers on
/// a line that does not end with a comment are not meant: somebody writes about them.
pub fn remarks(text: &str) -> Remarks {
    let mut told = Remarks::default();
    for line in text.split('\n') {
        let ends_with_comment = trim_end_js(line).ends_with("-->");
        for (name, value) in remarks_of(line) {
            match name.to_ascii_lowercase().as_str() {
                "importance" if ends_with_comment => {
                    told.importance = told.importance.max(importance(value));
                }
                "trigger" if ends_with_comment => add(&mut told.triggers, value.split([',', ';'])),
                "project" => told.projects.add(value),
                _ => {}
            }
        }
    }
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

/// Returns the remarks on a line: name and value of each.
fn remarks_of(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let captures = REMARK.as_ref().map(|remark| remark.captures_iter(line));
    captures
        .into_iter()
        .flatten()
        .filter_map(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str())))
}

fn importance(value: &str) -> Option<u8> {
    let digits = trim_js(value);
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
