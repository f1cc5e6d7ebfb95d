//! Which files a conversation read and changed (C35).

use super::summary_text::cap_summary;
use crate::compat::{MODIFIED_FILES_TAG, READ_FILES_TAG};
use chitin_contract::SummaryRules;
use chitin_protocol::message::Message;
use chitin_protocol::text::utf16_len;
use chitin_protocol::transcript::Compaction;
use serde::Serialize;
use serde_json::Value;

/// Files that tools touched, in the order in which they did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileOperations {
    /// Read.
    pub read: Vec<String>,
    /// Written as a whole.
    pub written: Vec<String>,
    /// Changed.
    pub edited: Vec<String>,
}

impl FileOperations {
    /// Adds what an earlier summary says, if its program writes down what we understand.
    pub fn add_earlier(&mut self, earlier: &Compaction) {
        if earlier.from_hook == Some(true) {
            return;
        }
        let listed = |name: &str| {
            let details = earlier.details.as_ref();
            let list = details.and_then(|details| details.get(name)?.as_array());
            list.into_iter().flatten().filter_map(Value::as_str)
        };
        for path in listed("readFiles") {
            add(&mut self.read, path);
        }
        for path in listed("modifiedFiles") {
            add(&mut self.edited, path);
        }
    }

    /// Adds what the calls of a message touch.
    pub fn add_message(&mut self, message: &Message) {
        let Message::Assistant(answer) = message else {
            return;
        };
        for call in answer.tool_calls() {
            let list = match call.name.as_str() {
                "read" => &mut self.read,
                "write" => &mut self.written,
                "edit" => &mut self.edited,
                _ => continue,
            };
            let path = call.arguments.as_ref().and_then(|given| given.get("path"));
            match path.and_then(Value::as_str) {
                Some(path) if !path.is_empty() => add(list, path),
                Some(_) | None => {}
            }
        }
    }

    /// Returns the files that were only read, sorted as UTF-16 is.
    pub fn read_only(&self) -> Vec<&str> {
        sorted(
            self.read
                .iter()
                .filter(|path| !self.written.contains(path) && !self.edited.contains(path)),
        )
    }

    /// Returns the files that were changed, sorted as UTF-16 is.
    pub fn modified(&self) -> Vec<&str> {
        sorted(self.edited.iter().chain(&self.written))
    }

    /// Returns the lists for the end of a summary; nothing if no file was touched.
    pub fn section(&self, rules: &SummaryRules) -> String {
        file_lists(&self.read_only(), &self.modified(), rules)
    }
}

/// Writes files that were read and files that were changed for the end of a summary, in the given order.
pub fn file_lists(read: &[&str], modified: &[&str], rules: &SummaryRules) -> String {
    let lists = [(READ_FILES_TAG, read), (MODIFIED_FILES_TAG, modified)];
    let mut text = String::new();
    for (tag, files) in lists {
        if let Some(list) = list(tag, files, rules) {
            text.push_str("\n\n");
            text.push_str(&list);
        }
    }
    cap_summary(&text, SummaryRules::FILE_LISTS_CHARS)
}

fn add(list: &mut Vec<String>, path: &str) {
    if !list.iter().any(|known| known == path) {
        list.push(path.to_owned());
    }
}

fn sorted<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut paths: Vec<&str> = paths.map(String::as_str).collect();
    paths.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    paths.dedup();
    paths
}

/// Writes as many files as fit, and how many more there are.
fn list(tag: &str, files: &[&str], rules: &SummaryRules) -> Option<String> {
    let more = |count: usize| format!("...and {count} more\n");
    let limit = SummaryRules::FILE_LIST_CHARS;
    // The tags and their line ends.
    let mut used = utf16_len(tag) * 2 + "<>\n".len() + "\n</>".len();
    let mut lines = String::new();
    for (at, file) in files.iter().enumerate() {
        let left = files.len() - at - 1;
        let length = utf16_len(file) + 1;
        let after = if left > 0 { more(left).len() } else { 0 };
        if used + length + after > limit {
            let rest = more(left + 1);
            if used + rest.len() <= limit {
                lines.push_str(&rest);
            }
            break;
        }
        lines.push_str(file);
        lines.push('\n');
        used += length;
    }
    if lines.is_empty() {
        return None;
    }
    let lines = lines.trim_end_matches('\n');
    Some(format!("<{tag}>\n{lines}{}</{tag}>", rules.file_list_end))
}
