//! Globs beneath a root: `*`, `?`, `[..]`, `**` and `{a,b}`. Wildcards match no hidden name and enter no linked directory.

use chitin_guard::{DirectoryEntryKind, LinkPolicy, Root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most alternatives that braces may unfold to.
const MAX_ALTERNATIVES: usize = 256;
/// The most directory entries that one pattern looks at.
const MAX_ENTRIES: usize = 50_000;
/// The deepest that `**` goes.
const MAX_DEPTH: usize = 32;

/// Returns what a pattern matches, sorted, as paths below the root as it was given.
pub(super) fn find(root: &Root, pattern: &str) -> Vec<PathBuf> {
    let mut search = Search {
        root,
        left: MAX_ENTRIES,
        found: BTreeSet::new(),
    };
    let given = root.path().to_string_lossy();
    for alternative in unfold(pattern) {
        // An absolute pattern must name the root itself, not a neighbour whose name begins alike.
        let relative = match alternative.strip_prefix(given.trim_end_matches('/')) {
            Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
            Some(_) | None => alternative.as_str(),
        };
        if relative.starts_with('/') {
            continue;
        }
        let mut segments: Vec<&str> = relative
            .split('/')
            .filter(|s| !s.is_empty() && *s != ".")
            .collect();
        // Several in a row say what one says, and would be gone through once each.
        segments.dedup_by(|a, b| *a == "**" && *b == "**");
        search.descend(Path::new(""), &segments, 0);
    }
    search
        .found
        .into_iter()
        .map(|relative| chitin_guard::normalized(&root.path().join(relative)))
        .collect()
}

struct Search<'a> {
    root: &'a Root,
    left: usize,
    found: BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn descend(&mut self, at: &Path, segments: &[&str], depth: usize) {
        let Some((segment, rest)) = segments.split_first() else {
            return;
        };
        if depth > MAX_DEPTH {
            return;
        }
        if *segment == "**" {
            self.descend(at, rest, depth);
            for (name, kind) in self.names(at) {
                if kind == DirectoryEntryKind::Directory {
                    self.descend(&at.join(name), segments, depth + 1);
                } else if rest.is_empty() {
                    self.found.insert(at.join(name));
                }
            }
            return;
        }
        if !segment.contains(['*', '?', '[']) {
            let next = at.join(segment);
            if !rest.is_empty() {
                self.descend(&next, rest, depth + 1);
            } else if self.exists(&next) {
                self.found.insert(next);
            }
            return;
        }
        let wanted: Vec<char> = segment.chars().collect();
        for (name, kind) in self.names(at) {
            if !matches(&wanted, &name.chars().collect::<Vec<_>>()) {
                continue;
            }
            if rest.is_empty() {
                self.found.insert(at.join(name));
            } else if kind == DirectoryEntryKind::Directory {
                self.descend(&at.join(name), rest, depth + 1);
            }
        }
    }

    fn exists(&self, relative: &Path) -> bool {
        self.root.kind(relative).is_some()
            || self.root.walk(relative, &LinkPolicy::EndInside).is_ok()
    }

    /// Lists what wildcards may match: names that are not hidden.
    fn names(&mut self, at: &Path) -> Vec<(String, DirectoryEntryKind)> {
        let Ok(entries) = self.root.list(at, &LinkPolicy::EndInside, self.left) else {
            return Vec::new();
        };
        self.left -= entries.len();
        let visible = entries
            .into_iter()
            .filter_map(|entry| Some((entry.name.into_string().ok()?, entry.kind)));
        let mut names: Vec<_> = visible.filter(|(name, _)| !name.starts_with('.')).collect();
        names.sort();
        names
    }
}

/// Unfolds `{a,b}`, nested ones too; a brace without a comma, or without an end, is literal.
fn unfold(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(text) = open.pop() {
        if done.len() + open.len() > MAX_ALTERNATIVES {
            break;
        }
        match first_brace(&text) {
            Some((start, end, parts)) => {
                open.extend(
                    parts
                        .iter()
                        .map(|part| format!("{}{part}{}", &text[..start], &text[end..])),
                );
            }
            None => done.push(text),
        }
    }
    done
}

/// Finds the first brace that has a comma at its own level: where it starts, where it ends, what it offers.
fn first_brace(text: &str) -> Option<(usize, usize, Vec<&str>)> {
    for (start, _) in text.match_indices('{') {
        let (mut level, mut from) = (0_usize, start + 1);
        let mut parts = Vec::new();
        for (at, c) in text[start..].char_indices().map(|(at, c)| (start + at, c)) {
            match c {
                '{' => level += 1,
                ',' if level == 1 => {
                    parts.push(&text[from..at]);
                    from = at + 1;
                }
                '}' => {
                    level -= 1;
                    if level == 0 {
                        if parts.is_empty() {
                            break;
                        }
                        parts.push(&text[from..at]);
                        return Some((start, at + 1, parts));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// Matches one name against one segment, without going exponential: only the last star is ever taken back.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
        } else if let Some(width) = (p < pattern.len())
            .then(|| single(&pattern[p..], name[n]))
            .flatten()
        {
            p += width;
            n += 1;
        } else if let Some((at, from)) = star {
            p = at + 1;
            n = from + 1;
            star = Some((at, n));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Matches one character; returns how much of the pattern that took.
fn single(pattern: &[char], c: char) -> Option<usize> {
    match pattern[0] {
        '?' => Some(1),
        '[' => match class(pattern, c) {
            Some((width, true)) => Some(width),
            Some((_, false)) => None,
            None => (c == '[').then_some(1),
        },
        literal => (literal == c).then_some(1),
    }
}

/// Reads `[abc]`, `[a-z]`, `[!x]`; none when it never ends.
fn class(pattern: &[char], c: char) -> Option<(usize, bool)> {
    let mut at = 1;
    let negated = matches!(pattern.get(at), Some('!' | '^'));
    if negated {
        at += 1;
    }
    let first = at;
    let mut hit = false;
    loop {
        let low = *pattern.get(at)?;
        if low == ']' && at > first {
            return Some((at + 1, hit != negated));
        }
        match (pattern.get(at + 1), pattern.get(at + 2)) {
            (Some('-'), Some(high)) if *high != ']' => {
                hit |= (low..=*high).contains(&c);
                at += 3;
            }
            _ => {
                hit |= low == c;
                at += 1;
            }
        }
    }
}
