//! What is taken out of a file's text when it is placed, after budgets (W37, W39). Only deletions: every byte that stays
//! keeps its place in the file.

use crate::body::Body;
use crate::budget::ContextFile;
use crate::compat::{HEARTBEAT_TITLE, is_heartbeat_prompt};
use crate::order::ends_in;
use chitin_contract::{HeartbeatPrompt, Rendering};
use chitin_protocol::text::{is_js_whitespace, trim_js};
use memchr::memmem;
use std::ops::Range;

/// What an annotation that ties an entry to a project holds.
const PROJECT_MARK: &str = "project";

/// Returns the text as it is placed; `None` when nothing is taken out.
pub(crate) fn cleaned(
    file: &ContextFile,
    rendering: &Rendering,
    projects: &[String],
) -> Option<Body> {
    let body = &*file.body;
    let filters_projects = rendering
        .project_entries
        .iter()
        .any(|name| ends_in(&file.heading, name));
    let contains = |needle: &str| {
        body.pieces
            .iter()
            .any(|piece| memmem::find(piece.text.as_str().as_bytes(), needle.as_bytes()).is_some())
    };
    // A run of line feeds may cross pieces; two of them inside one piece, or a cut, are what it takes.
    let may_squeeze = rendering.squeeze && (body.pieces.len() > 1 || contains("\n\n\n"));
    let may_drop = rendering.heartbeat_prompt != HeartbeatPrompt::Kept && contains(HEARTBEAT_TITLE);
    let may_filter = filters_projects && contains("<!--");
    if !(may_squeeze || may_drop || may_filter) {
        return None;
    }
    let mut body = body.clone();
    let mut changed = false;
    let mut apply = |removed: Vec<Range<usize>>, body: &mut Body, length: usize| {
        if !removed.is_empty() {
            *body = body.keeping(&complement(&removed, length));
            changed = true;
        }
    };
    if may_filter {
        let text = body.text();
        apply(other_projects(&text, projects), &mut body, text.len());
    }
    if may_drop {
        let text = body.text();
        let rule = rendering.heartbeat_prompt;
        apply(heartbeat_prompts(&text, rule), &mut body, text.len());
    }
    if rendering.squeeze {
        let text = body.text();
        apply(surplus_line_feeds(&text), &mut body, text.len());
    }
    changed.then_some(body)
}

fn complement(removed: &[Range<usize>], length: usize) -> Vec<Range<usize>> {
    let mut kept = Vec::with_capacity(removed.len() + 1);
    let mut from = 0;
    for range in removed {
        kept.push(from..range.start);
        from = range.end;
    }
    kept.push(from..length);
    kept.retain(|range| !range.is_empty());
    kept
}

/// Of three or more line feeds in a row, all after the second.
fn surplus_line_feeds(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut removed = Vec::new();
    let mut at = 0;
    while let Some(found) = memmem::find(&bytes[at..], b"\n\n\n") {
        let start = at + found;
        let run = bytes[start..]
            .iter()
            .take_while(|byte| **byte == b'\n')
            .count();
        removed.push(start + 2..start + run);
        at = start + run;
    }
    removed
}

/// Lines with their byte ranges, line ends left out.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut offset = 0;
    text.split('\n').map(move |line| {
        let start = offset;
        offset += line.len() + 1;
        (start..start + line.len(), line)
    })
}

/// A title, the end of its line, and the quoted prompt that the next line begins with.
fn heartbeat_prompts(text: &str, rule: HeartbeatPrompt) -> Vec<Range<usize>> {
    let mut removed = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(HEARTBEAT_TITLE) {
        let start = at + found;
        at = start + HEARTBEAT_TITLE.len();
        let Some((length, quoted)) = quoted_line(&text[at..]) else {
            continue;
        };
        let block = &text[start..at + length];
        let is_dropped = match rule {
            HeartbeatPrompt::Kept => false,
            HeartbeatPrompt::Known { digest } => {
                blake3::hash(block.as_bytes()).to_hex().as_str() == digest
            }
            HeartbeatPrompt::AnyLikeIt => is_heartbeat_prompt(quoted),
        };
        if is_dropped {
            at += length;
            removed.push(start..at);
        }
    }
    removed
}

/// Returns what stands between back quotes on the next line, and the length up to the closing one, if the text begins so.
fn quoted_line(text: &str) -> Option<(usize, &str)> {
    let line = text
        .strip_prefix('\r')
        .unwrap_or(text)
        .strip_prefix("\n`")?;
    let end = line.find(['`', '\r', '\n'])?;
    let is_closed = line[end..].starts_with('`');
    is_closed.then(|| (text.len() - line.len() + end + 1, &line[..end]))
}

/// Entries that belong to projects which are not active. An entry begins at a line with `- ` or a heading, or where the
/// text begins, and has all lines up to the next.
fn other_projects(text: &str, active: &[String]) -> Vec<Range<usize>> {
    let active: Vec<String> = active.iter().filter_map(|key| project_key(key)).collect();
    let mut starts = vec![0];
    starts.extend(
        lines(text)
            .skip(1)
            .filter(|(_, line)| begins_entry(line))
            .map(|(range, _)| range.start),
    );
    let mut removed: Vec<Range<usize>> = Vec::new();
    for (at, &start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(text.len());
        if !is_foreign(&text[start..end], &active) {
            continue;
        }
        match removed.last_mut() {
            Some(before) if before.end == start => before.end = end,
            Some(_) | None => removed.push(start..end),
        }
    }
    // What ends the text takes the line feed before it along, so that no empty line is left at the end.
    if let Some(last) = removed.last_mut()
        && last.end == text.len()
    {
        last.start = last.start.saturating_sub(1);
    }
    removed
}

fn begins_entry(line: &str) -> bool {
    if line.starts_with("- ") {
        return true;
    }
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.chars().next().is_none_or(is_js_whitespace)
}

/// Tells whether an entry names a project that is not active, or names one in a way that cannot be read.
fn is_foreign(entry: &str, active: &[String]) -> bool {
    let mut from = 0;
    while let Some(value) = annotation(entry, from) {
        let Some(length) = entry[value..].find("-->") else {
            return true;
        };
        let keys = &entry[value..value + length];
        // A second annotation inside the first leaves open which of them counts.
        if annotation(keys, 0).is_some() {
            return true;
        }
        let mut keys = keys.split(';').map(project_key);
        if !keys.all(|key| key.is_some_and(|key| active.contains(&key))) {
            return true;
        }
        from = value + length;
    }
    false
}

/// Returns where the keys of the next `<!-- project: KEY; KEY -->` begin.
fn annotation(text: &str, mut from: usize) -> Option<usize> {
    loop {
        from += text[from..].find("<!--")? + "<!--".len();
        let inner = text[from..].trim_start_matches(is_js_whitespace);
        let Some((word, rest)) = inner.split_at_checked(PROJECT_MARK.len()) else {
            continue;
        };
        if !word.eq_ignore_ascii_case(PROJECT_MARK) {
            continue;
        }
        if let Some(keys) = rest.trim_start_matches(is_js_whitespace).strip_prefix(':') {
            return Some(text.len() - keys.len());
        }
    }
}

/// Tidies a key; `None` if it is none. The host of a repository is the same in any letter case, its path is not.
fn project_key(key: &str) -> Option<String> {
    let key = trim_js(key);
    if key.is_empty() || key.contains(['\r', '\n', '<', '>']) {
        return None;
    }
    let host = match key.find('/') {
        Some(slash) if !key.starts_with("path:") => slash,
        Some(_) | None => 0,
    };
    Some(key[..host].to_lowercase() + &key[host..])
}
