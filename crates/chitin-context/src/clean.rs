//! What is taken out of a file's text when it is placed, after budgets (W37, W39). Only deletions: every byte that stays
//! keeps its place in the file.

use crate::body::Body;
use crate::budget::ContextFile;
use crate::compat::{HEARTBEAT_TITLE, is_heartbeat_prompt};
use crate::order::ends_in;
use chitin_workspace::contract::Rendering;
use memchr::memmem;
use std::ops::Range;

/// What an annotation that ties an entry to a project holds.
const PROJECT_MARK: &str = "project:";

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
    let may_drop = rendering.heartbeat_prompt_dropped && contains(HEARTBEAT_TITLE);
    let may_filter = filters_projects && contains(PROJECT_MARK);
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
        apply(heartbeat_prompts(&text), &mut body, text.len());
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
fn heartbeat_prompts(text: &str) -> Vec<Range<usize>> {
    let mut removed = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(HEARTBEAT_TITLE) {
        let start = at + found;
        at = start + HEARTBEAT_TITLE.len();
        if let Some(length) = quoted_prompt(&text[at..]) {
            at += length;
            removed.push(start..at);
        }
    }
    removed
}

/// Returns the length of a line end and a quoted heartbeat prompt, if the text begins with them.
fn quoted_prompt(text: &str) -> Option<usize> {
    let line = text
        .strip_prefix('\r')
        .unwrap_or(text)
        .strip_prefix("\n`")?;
    let end = line.find(['`', '\r', '\n'])?;
    let quoted = &line[..end];
    let is_prompt = line[end..].starts_with('`') && is_heartbeat_prompt(quoted);
    is_prompt.then(|| text.len() - line.len() + end + 1)
}

/// List entries, with the lines that continue them, that belong to projects which are not active.
fn other_projects(text: &str, active: &[String]) -> Vec<Range<usize>> {
    let mut removed = Vec::new();
    let mut entry: Option<(usize, usize, bool)> = None;
    let close = |entry: &mut Option<(usize, usize, bool)>, removed: &mut Vec<Range<usize>>, end| {
        if let Some((start, _, true)) = entry.take() {
            removed.push(start..end);
        }
    };
    for (range, line) in lines(text) {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let continues = entry
            .is_some_and(|(_, outer, _)| indent > outer && !line.trim_end_matches('\r').is_empty());
        if !continues {
            close(&mut entry, &mut removed, range.start);
            if is_bullet(&line[indent..]) {
                entry = Some((range.start, indent, false));
            }
        }
        if let Some((_, _, foreign)) = &mut entry
            && project_of(line).is_some_and(|key| !active.iter().any(|known| known == key))
        {
            *foreign = true;
        }
    }
    if let Some((start, _, true)) = entry {
        // What ends the text takes the line feed before it along, so that no empty line is left at the end. Entries
        // that were taken out right before it belong to the same end.
        let mut start = start;
        while let Some(before) = removed.pop_if(|before| before.end == start) {
            start = before.start;
        }
        removed.push(start.saturating_sub(1)..text.len());
    }
    removed
}

fn is_bullet(line: &str) -> bool {
    let bytes = line.as_bytes();
    if matches!(bytes.first(), Some(b'-' | b'*' | b'+')) {
        return matches!(bytes.get(1), Some(b' ' | b'\t'));
    }
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    digits > 0
        && matches!(bytes.get(digits), Some(b'.' | b')'))
        && matches!(bytes.get(digits + 1), Some(b' ' | b'\t'))
}

/// Returns the key of the first annotation `<!-- project: KEY -->`.
fn project_of(line: &str) -> Option<&str> {
    line.split("<!--").skip(1).find_map(|comment| {
        let key = comment.trim_start().strip_prefix(PROJECT_MARK)?;
        Some(key.split_once("-->")?.0.trim())
    })
}
