//! Markdown links: those that lead nowhere, those that leave, and images that carry data away.

use super::finding::{Draft, Findings};
use super::rules;
use super::subject::Subject;
use chitin_guard::{LinkPolicy, ReadError, Root};
use chitin_protocol::record::FileRefusal;
use percent_encoding::percent_decode_str;
use std::ops::Range;
use std::path::PathBuf;

/// More links than this in one file are not looked up.
const MAX_LINKS: usize = 2_000;

/// More places that might be links are not even looked at.
const MAX_TRIES: usize = 20_000;

/// No destination is longer.
const MAX_DESTINATION: usize = 2_048;

/// A link in a text.
struct Link {
    /// The bytes of the destination.
    span: Range<usize>,
    image: bool,
}

/// Reports relative links whose targets are not in the workspace.
pub(crate) fn check(subject: &Subject<'_>, root: &Root, findings: &mut Findings) {
    for link in find(subject) {
        let raw = &subject.text[link.span.clone()];
        let Some(target) = local_target(raw) else {
            continue;
        };
        let quoted = subject.excerpt(link.span.clone());
        let draft = match resolve(subject.path, &target, root) {
            Target::Found => continue,
            Target::Nowhere => Draft::new(
                &rules::BROKEN_LINK,
                format!("`{quoted}` does not exist in the workspace."),
            ),
            Target::Outside => Draft::new(
                &rules::LEAVING_LINK,
                format!("`{quoted}` lies outside the workspace."),
            ),
        };
        findings.at(subject, link.span, draft);
    }
}

/// Reports images whose address has room for data.
pub(crate) fn check_images(subject: &Subject<'_>, findings: &mut Findings) {
    if !subject.is_markdown() || !subject.text.contains("](") {
        return;
    }
    for link in find(subject) {
        let destination = &subject.text[link.span.clone()];
        let remote = destination.contains("://") || destination.starts_with("//");
        if !(link.image && remote) {
            continue;
        }
        let Some((_, query)) = destination.split_once(['?', '#']) else {
            continue;
        };
        let lower = query.to_ascii_lowercase();
        let interpolates = ["{", "$", "<", "[", "%s", "%7b"]
            .iter()
            .any(|sign| lower.contains(sign))
            || [
                "=your_",
                "=data_here",
                "=base64",
                "=insert",
                "=conversation",
                "=secret",
            ]
            .iter()
            .any(|sign| lower.contains(sign));
        if interpolates {
            let quoted = subject.excerpt(link.span.clone());
            let message = format!("The image address `{quoted}` has a placeholder for data.");
            findings.at(
                subject,
                link.span,
                Draft::new(&rules::EXFILTRATION_IMAGE, message),
            );
        }
    }
}

fn find(subject: &Subject<'_>) -> Vec<Link> {
    let text = subject.text;
    let mut links = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"](").take(MAX_TRIES) {
        if links.len() >= MAX_LINKS {
            return links;
        }
        if subject.code.is_code(at) {
            continue;
        }
        if let Some(span) = inline_destination(text, at + 2) {
            links.push(Link {
                image: is_image(text, at),
                span,
            });
        }
    }
    for at in memchr::memmem::find_iter(text.as_bytes(), b"]:").take(MAX_TRIES) {
        if links.len() >= MAX_LINKS {
            return links;
        }
        if let Some(span) = definition_destination(subject, at) {
            links.push(Link { image: false, span });
        }
    }
    links
}

/// Looks for `![` before the closing bracket on the same line.
fn is_image(text: &str, close: usize) -> bool {
    let from = super::subject::floor_boundary(text, close.saturating_sub(400));
    text[from..close]
        .rfind('[')
        .is_some_and(|open| text[from..from + open].ends_with('!'))
}

fn inline_destination(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = start + bytes[start..].iter().take_while(|&&b| b == b' ').count();
    let window = &bytes[start..bytes.len().min(start + MAX_DESTINATION)];
    if window.first() == Some(&b'<') {
        let length = window.iter().position(|&b| b == b'>' || b == b'\n')?;
        return (window[length] == b'>').then(|| start + 1..start + length);
    }
    let mut depth = 0_usize;
    for (at, &byte) in window.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(start..start + at),
            b')' => depth -= 1,
            b'\n' => return None,
            // A title follows; it must be quoted, or this is no link.
            b' ' | b'\t' => {
                let title = window[at..].iter().find(|b| **b != b' ' && **b != b'\t')?;
                return matches!(title, b'"' | b'\'' | b'(' | b')').then(|| start..start + at);
            }
            _ => {}
        }
    }
    None
}

/// Reads `[label]: destination` at the beginning of a line; footnotes are none.
fn definition_destination(subject: &Subject<'_>, close: usize) -> Option<Range<usize>> {
    let text = subject.text;
    let line = subject.lines.range(subject.lines.of(close));
    if close - line.start > 1_000 {
        return None;
    }
    let label = text[line.start..close]
        .trim_start_matches(' ')
        .strip_prefix('[')?;
    if label.is_empty()
        || label.starts_with('^')
        || label.contains(['[', ']'])
        || subject.code.is_code(close)
    {
        return None;
    }
    let rest = &text[close + 2..line.end];
    let start = close + 2 + (rest.len() - rest.trim_start().len());
    let end = line.end.min(start + MAX_DESTINATION);
    let destination = text.get(start..end)?.split_whitespace().next()?;
    // A definition is a destination and perhaps a title; anything else is prose after a bracket.
    let after = text[start + destination.len()..line.end].trim();
    if !(after.is_empty() || after.starts_with(['"', '\'', '('])) {
        return None;
    }
    match destination.strip_prefix('<') {
        Some(inner) => Some(start + 1..start + 1 + inner.strip_suffix('>')?.len()),
        None => Some(start..start + destination.len()),
    }
}

/// Returns the path that a destination names, decoded; `None` for addresses, anchors and patterns.
fn local_target(destination: &str) -> Option<String> {
    let path = destination.split(['#', '?']).next().unwrap_or_default();
    let has_scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    let is_file_address = path.starts_with("file:");
    let is_pattern =
        path.contains(['{', '}', '<', '>', '*', '$', '|', '\\']) || path.contains("...");
    let is_other = path.is_empty() || path.starts_with("//") || (has_scheme && !is_file_address);
    if is_other || is_pattern || path.contains("YYYY") || path == "url" || path == "link" {
        return None;
    }
    Some(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

/// Where a link ends.
enum Target {
    Found,
    Nowhere,
    Outside,
}

fn resolve(from: &str, target: &str, root: &Root) -> Target {
    if target.starts_with('~') || target.starts_with("file:") {
        return Target::Outside;
    }
    if target.contains('\0') {
        return Target::Nowhere;
    }
    if let Some(absolute) = target.strip_prefix('/') {
        // Some tools take a leading slash for the top of the tree.
        return match look_up(root, absolute) {
            Target::Found => Target::Found,
            Target::Nowhere | Target::Outside => match target
                .strip_prefix(&*root.real_path().to_string_lossy())
                .or_else(|| target.strip_prefix(&*root.path().to_string_lossy()))
            {
                Some(inside) => look_up(root, inside.trim_start_matches('/')),
                None => Target::Outside,
            },
        };
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    look_up(root, &format!("{folder}/{target}"))
}

/// Looks a path up beneath the root. Steps up are taken by name: a link says what its reader would type.
fn look_up(root: &Root, path: &str) -> Target {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                if steps.pop().is_none() {
                    return Target::Outside;
                }
            }
            name => steps.push(name),
        }
    }
    if steps.is_empty() {
        return Target::Found;
    }
    let relative: PathBuf = steps.iter().collect();
    match root.walk(&relative, &LinkPolicy::EveryHopInside) {
        Err(ReadError::Missing { .. }) => Target::Nowhere,
        Err(ReadError::Refused { reason, .. }) => match reason {
            FileRefusal::OutsideRoot => Target::Outside,
            FileRefusal::Dangling | FileRefusal::Loop => Target::Nowhere,
            FileRefusal::NotAFile
            | FileRefusal::Hardlinked
            | FileRefusal::LinkNotAllowed
            | FileRefusal::TooLarge
            | FileRefusal::Unstable
            | FileRefusal::Unreadable => Target::Found,
        },
        // Something is there that cannot be looked at: that is no broken link.
        Ok(_) | Err(ReadError::Io { .. }) => Target::Found,
    }
}
