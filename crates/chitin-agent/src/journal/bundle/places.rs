//! Directories of this machine, hidden in what is exported (R118).

use super::super::compat;
use serde_json::{Map, Value};
use std::path::Path;

/// The directories that are hidden, the longest first, and what stands for them.
#[derive(Debug)]
pub(super) struct Places(Vec<(String, &'static str)>);

impl Places {
    pub(super) fn new(workspace: &Path, home: Option<&Path>) -> Self {
        let named = [
            (Some(workspace), compat::WORKSPACE_MARK),
            (home, compat::HOME_MARK),
        ];
        let mut places: Vec<(String, &'static str)> = named
            .into_iter()
            .filter_map(|(path, mark)| Some((path?.to_string_lossy().into_owned(), mark)))
            .map(|(path, mark)| (path.trim_end_matches('/').to_owned(), mark))
            .filter(|(path, _)| path.len() > 1)
            .collect();
        places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Self(places)
    }

    /// Hides the directories in every text and every name of a field.
    pub(super) fn hide(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide(item)).collect(),
            Value::Object(fields) => {
                let hidden: Map<String, Value> = fields
                    .into_iter()
                    .map(|(name, field)| (self.text(name), self.hide(field)))
                    .collect();
                Value::Object(hidden)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn text(&self, mut text: String) -> String {
        for (path, mark) in &self.0 {
            if text.contains(path.as_str()) {
                text = replace(&text, path, mark);
            }
        }
        text
    }
}

/// Replaces a path, but not the beginning of a longer name: `/home/bo` is no part of `/home/bob`.
fn replace(text: &str, path: &str, mark: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path) {
        let after = &rest[at + path.len()..];
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        out.push_str(&rest[..at]);
        out.push_str(if after.starts_with(goes_on) {
            path
        } else {
            mark
        });
        rest = after;
    }
    out.push_str(rest);
    out
}
