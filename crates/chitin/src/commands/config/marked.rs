//! A finding with the line that it is about, without the secrets of that line.

use crate::printer::Paint;
use chitin_config::secrets::{is_secret_path, looks_random};
use chitin_config::{ConfigFile, Issue, IssueSeverity};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// How much of a source line is shown around the place that is meant.
const SHOWN_COLUMNS: usize = 100;
/// Shorter texts are no secrets, and would be found everywhere.
const SHORTEST_SECRET: usize = 4;
/// The same where nothing says that it is one: modes and levels are shorter.
const SHORTEST_UNKNOWN: usize = 6;

/// A finding with the line that it is about.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Marked {
    #[serde(flatten)]
    pub(super) issue: Issue,
    source_line: Option<String>,
    /// Where in that line the caret goes.
    #[serde(skip)]
    caret: usize,
}

impl Marked {
    pub(super) fn new(issue: Issue, line: Option<&str>) -> Self {
        let column = issue.column.unwrap_or(1);
        let (source_line, caret) = match line.filter(|line| column <= line.chars().count() + 1) {
            Some(line) => {
                let (shown, caret) = window(line, column);
                (Some(shown), caret)
            }
            None => (None, 0),
        };
        Self {
            issue,
            source_line,
            caret,
        }
    }

    /// Finds the lines of issues in files. Secrets in them are covered.
    pub(super) fn all(issues: Vec<Issue>, files: &[ConfigFile], value: &Value) -> Vec<Self> {
        let mut secrets = Vec::new();
        collect_secrets("", value, &mut secrets);
        // The longest first: one may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let marked = issues.into_iter().map(|issue| {
            let mut files = files.iter();
            let file = files.find(|file| Some(&file.path) == issue.file.as_ref());
            let line = file.and_then(|file| file.line(issue.line?));
            let line = line.map(|line| covered(line, &secrets));
            let line = line.map(|line| {
                let of_unknown = issue.is_unknown_key.then_some(issue.column).flatten();
                covered_words(&line, of_unknown)
            });
            Self::new(issue, line.as_deref())
        });
        marked.collect()
    }

    pub(super) fn is_error(&self) -> bool {
        self.issue.severity == IssueSeverity::Error
    }

    pub(super) fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let issue = &self.issue;
        let word = match issue.severity {
            IssueSeverity::Error => paint.bad("error:"),
            IssueSeverity::Warning => paint.warn("warning:"),
            IssueSeverity::Note => paint.dim("note:"),
        };
        let path = match issue.path.as_str() {
            "" => String::new(),
            path => format!("`{path}`: "),
        };
        writeln!(out, "{word} {path}{}", issue.message)?;
        if let Some(file) = &issue.file {
            write!(out, "  --> {}", file.display())?;
            if let (Some(line), Some(column)) = (issue.line, issue.column) {
                write!(out, ":{line}:{column}")?;
            }
            writeln!(out)?;
        }
        if let (Some(shown), Some(line)) = (&self.source_line, issue.line) {
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            writeln!(out, " {margin} |\n {number} | {shown}")?;
            writeln!(
                out,
                " {margin} | {}{}",
                " ".repeat(self.caret),
                paint.bad("^")
            )?;
        }
        if let Some(hint) = &issue.hint {
            writeln!(out, "  {} {hint}", paint.good("hint:"))?;
        }
        writeln!(out)
    }
}

/// Collects the texts that may be secrets.
fn collect_secrets<'v>(path: &str, value: &'v Value, secrets: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                collect_secrets(&format!("{path}.{key}"), field, secrets);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_secrets(path, item, secrets);
            }
        }
        Value::String(text) if text.len() >= SHORTEST_SECRET => {
            // A reference says where a secret is, and is none itself.
            let is_reference = path.ends_with(".source") || path.ends_with(".id");
            if is_secret_path(path.trim_start_matches('.')) && !is_reference {
                secrets.push(text);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Covers secrets, and moves nothing.
fn covered(line: &str, secrets: &[&str]) -> String {
    secrets.iter().fold(line.to_owned(), |line, secret| {
        line.replace(secret, &"*".repeat(secret.chars().count()))
    })
}

/// Covers words that look as if a machine had made them, and the texts below a key that is not known: nobody can say what it
/// holds. Moves nothing. `unknown` is the column of that key.
fn covered_words(line: &str, unknown: Option<usize>) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=');
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !is_part(c)).unwrap_or(word.len()));
        shown.push_str(before);
        if looks_random(word) {
            shown.push_str(&"*".repeat(word.chars().count()));
        } else {
            shown.push_str(word);
        }
        rest = after;
    }
    shown.push_str(rest);
    match unknown {
        Some(column) => covered_below(&shown, column),
        None => shown,
    }
}

/// Covers the texts in the value of the key at a column.
fn covered_below(line: &str, column: usize) -> String {
    let mut shown = String::with_capacity(line.len());
    let (mut in_value, mut depth, mut quote, mut text) = (false, 0_i32, None, String::new());
    for (at, c) in line.chars().enumerate() {
        match (quote, c) {
            (Some(open), c) if c == open => {
                push_covered(&mut text, in_value, &mut shown);
                quote = None;
                shown.push(c);
            }
            (Some(_), c) => text.push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                shown.push(c);
            }
            (None, c) => {
                match c {
                    ':' if !in_value && at + 1 >= column => (in_value, depth) = (true, 0),
                    '{' | '[' => depth += 1,
                    '}' | ']' => depth -= 1,
                    _ => {}
                }
                if in_value && (depth < 0 || depth == 0 && c == ',') {
                    // The value is over, and so is what is unknown.
                    return shown + &line.chars().skip(at).collect::<String>();
                }
                shown.push(c);
            }
        }
    }
    push_covered(&mut text, in_value, &mut shown);
    shown
}

fn push_covered(text: &mut String, in_value: bool, shown: &mut String) {
    let length = text.chars().count();
    if in_value && length >= SHORTEST_UNKNOWN {
        shown.push_str(&"*".repeat(length));
        text.clear();
    } else {
        shown.push_str(&std::mem::take(text));
    }
}

/// Cuts a long line around a column and says where in the cut the column is.
fn window(line: &str, column: usize) -> (String, usize) {
    let at = column.saturating_sub(1);
    let start = if at < SHOWN_COLUMNS {
        0
    } else {
        at - SHOWN_COLUMNS / 2
    };
    // A tab would move the caret; one space stands for it.
    let shown = line
        .chars()
        .skip(start)
        .take(SHOWN_COLUMNS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    (shown, at - start)
}
