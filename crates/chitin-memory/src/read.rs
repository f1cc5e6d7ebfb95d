//! A window of a memory file.

use crate::compat;
use crate::files::{self, ExtraPath};
use chitin_contract::{FinalLine, MemoryReadRules, ReadRefusal, ReadStatusRule};
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root};
use chitin_protocol::record::FileRefusal;
use chitin_protocol::text::{trim_js, utf16_len, utf16_prefix};
use serde::Serialize;
use std::path::Path;

/// No larger file is read.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// The first line, from 1.
    pub from: Option<usize>,
    /// How many lines.
    pub lines: Option<usize>,
    /// How many UTF-16 units, the notice at the end not counted.
    pub max_chars: Option<usize>,
}

/// How a reading went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadStatus {
    /// There is a file.
    Ok,
    /// There is none; its text is empty.
    NotFound,
}

/// What is shown of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadWindow {
    /// How it went, where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ReadStatus>,
    /// The lines, and a notice if there are more.
    pub text: String,
    /// The file, relative to the workspace.
    pub path: String,
    /// The first line, if there is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// How many lines are shown, if there is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    /// Whether there is more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The line to go on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_from: Option<usize>,
}

/// Why a file is not shown.
#[derive(Debug, thiserror::Error)]
pub enum MemoryReadError {
    /// There is no path.
    #[error("{}", compat::PATH_REQUIRED)]
    NoPath,
    /// The path is not that of memory.
    #[error("`{0}` is no Markdown file of the memory.")]
    NotMemory(String),
    /// A link, a directory or something stranger is there.
    #[error("`{0}` is not a plain file.")]
    NotAFile(String),
    /// The file is larger than any note.
    #[error("`{0}` is larger than 64 MiB.")]
    TooLarge(String),
    /// The file cannot be read.
    #[error("The file cannot be read: {0}.")]
    Unreadable(ReadError),
}

impl MemoryReadError {
    /// Returns what these rules say of it.
    pub fn message(&self, rules: &MemoryReadRules) -> String {
        match (self, rules.refusal) {
            (Self::Unreadable(_) | Self::TooLarge(_), _) | (_, ReadRefusal::Reason) => {
                self.to_string()
            }
            (Self::NoPath | Self::NotMemory(_) | Self::NotAFile(_), ReadRefusal::NoPath) => {
                compat::PATH_REQUIRED.to_owned()
            }
        }
    }
}

/// Reads a window of a memory file. A file that may be read and is not there has an empty text.
pub fn read(
    root: &Root,
    extra: &[ExtraPath],
    path: &str,
    window: Window,
    rules: &MemoryReadRules,
) -> Result<ReadWindow, MemoryReadError> {
    let path = trim_js(path);
    if path.is_empty() {
        return Err(MemoryReadError::NoPath);
    }
    let Some(relative) = files::relative(root, Path::new(path)) else {
        return Err(MemoryReadError::NotMemory(path.to_owned()));
    };
    let home = extra.iter().find(|extra| extra.holds(&relative));
    if !is_allowed(&relative, extra, rules) {
        return Err(MemoryReadError::NotMemory(path.to_owned()));
    }
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Allow,
        max_bytes: MOST_BYTES,
        oversized: Oversized::Refuse,
    };
    let read = match home.and_then(|extra| extra.outside(&relative)) {
        Some((outside, name)) => outside.read(&name, &policy),
        None => root.read(Path::new(&relative), &policy),
    };
    match read {
        Ok(file) => Ok(self::window(
            &String::from_utf8_lossy(&file.bytes),
            &relative,
            window,
            rules,
        )),
        Err(error) if error.is_missing() => Ok(ReadWindow {
            status: status(ReadStatus::NotFound, rules),
            text: String::new(),
            path: relative,
            from: None,
            lines: None,
            truncated: false,
            next_from: None,
        }),
        Err(ReadError::Refused {
            reason: FileRefusal::TooLarge,
            ..
        }) => Err(MemoryReadError::TooLarge(path.to_owned())),
        Err(ReadError::Refused { .. }) => Err(MemoryReadError::NotAFile(path.to_owned())),
        Err(error) => Err(MemoryReadError::Unreadable(error)),
    }
}

/// Tells whether a file, relative to the workspace and without detours, may be read as memory.
pub fn is_allowed(relative: &str, extra: &[ExtraPath], rules: &MemoryReadRules) -> bool {
    if !relative.ends_with(compat::MARKDOWN_SUFFIX) {
        return false;
    }
    rules.root_files.contains(&relative)
        || relative
            .strip_prefix(MemoryReadRules::DIRECTORY)
            .is_some_and(|rest| rest.starts_with('/'))
        || extra.iter().any(|extra| extra.holds(relative))
}

/// Returns a window of a text.
pub fn window(text: &str, path: &str, window: Window, rules: &MemoryReadRules) -> ReadWindow {
    let from = window.from.unwrap_or(1).max(1);
    let most_lines = window
        .lines
        .unwrap_or(MemoryReadRules::DEFAULT_LINES as usize)
        .max(1);
    let most_units = window
        .max_chars
        .unwrap_or(MemoryReadRules::DEFAULT_MAX_CHARS as usize)
        .max(1);
    let text = match rules.final_line {
        FinalLine::Counted => Some(text),
        FinalLine::Ignored if text.is_empty() => None,
        FinalLine::Ignored => Some(text.strip_suffix('\n').unwrap_or(text)),
    };
    let mut lines = text
        .into_iter()
        .flat_map(|text| text.split('\n'))
        .skip(from - 1);
    let mut shown = String::new();
    let mut count = 0;
    let mut units = 0;
    let mut cut = false;
    let mut more = false;
    for line in lines.by_ref() {
        let cost = utf16_len(line) + usize::from(count > 0);
        if count == most_lines || count > 0 && units + cost > most_units {
            more = true;
            break;
        }
        if count > 0 {
            shown.push('\n');
        }
        count += 1;
        if cost > most_units {
            // Not even the first line fits.
            shown.push_str(utf16_prefix(line, most_units));
            cut = true;
            break;
        }
        shown.push_str(line);
        units += cost;
    }
    let next_from = more.then(|| from.saturating_add(count));
    if cut {
        let is_memory_proper = is_allowed(path, &[], rules);
        shown.push_str(if is_memory_proper {
            compat::LINE_CUT
        } else {
            compat::EXTRA_LINE_CUT
        });
    }
    // After an empty line the notice would be all there is; `next_from` says the same.
    if let Some(next) = next_from.filter(|_| !shown.is_empty()) {
        shown.push_str(&compat::more_lines(next));
    }
    ReadWindow {
        status: status(ReadStatus::Ok, rules),
        text: shown,
        path: path.to_owned(),
        from: Some(from),
        lines: Some(count),
        truncated: cut || more,
        next_from,
    }
}

fn status(status: ReadStatus, rules: &MemoryReadRules) -> Option<ReadStatus> {
    match rules.status {
        ReadStatusRule::Said => Some(status),
        ReadStatusRule::Unsaid => None,
    }
}
