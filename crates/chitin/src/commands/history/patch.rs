//! A turn as a patch that `patch -p1` and `git apply` take, to the byte; and the same for a person to read.

use super::{described, shown};
use crate::printer::{Paint, plain};
use chitin_undo::{Change, Difference, DifferenceLine, Entry, FilePath};
use std::fmt::{self, Write};

/// Git's name for no bytes, by which `patch` knows that a file is empty and not gone.
const EMPTY: &str = "e69de29";

/// For whom a difference is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// A person at a terminal: nothing that a terminal would obey.
    Person,
    /// A program: exact bytes, no colours.
    Program,
}

/// Writes what became of one name. What no patch can say is a line that patch programs pass over.
pub(super) fn write(
    out: &mut dyn Write,
    paint: Paint,
    reader: Reader,
    change: &Change,
    difference: &Difference,
) -> fmt::Result {
    let head = modes(change).and_then(|modes| head(change, modes, difference));
    if head.is_none() || has_other_permissions(change) {
        let was = described(change.before.as_ref());
        let is = described(change.after.as_ref());
        let told = format!("# {}: was {was}, is {is}", shown(change));
        writeln!(out, "{}", marked(reader, &told, |told| paint.dim(told)))?;
    }
    let Some(head) = head else {
        return Ok(());
    };
    for line in head {
        writeln!(out, "{}", marked(reader, &line, |line| paint.dim(line)))?;
    }
    if difference.lines.is_empty() {
        return Ok(());
    }
    let named = |mark: &str, entry: &Option<Entry>, side: &str| {
        let name = match entry {
            None => "/dev/null".to_owned(),
            // A name with a space ends at a tab.
            Some(_) if change.path.bytes().contains(&b' ') => {
                format!("{}\t", name(side, &change.path))
            }
            Some(_) => name(side, &change.path),
        };
        marked(reader, &format!("{mark} {name}"), |text| paint.bold(text))
    };
    writeln!(out, "{}", named("---", &change.before, "a/"))?;
    writeln!(out, "{}", named("+++", &change.after, "b/"))?;
    for line in &difference.lines {
        let text = |mark: char, text: &str| match reader {
            Reader::Person => format!("{mark}{}", plain(&text.replace('\t', "    "), '\u{fffd}')),
            Reader::Program => format!("{mark}{text}"),
        };
        let line = match line {
            DifferenceLine::Place {
                before,
                before_lines,
                after,
                after_lines,
            } => {
                let place = format!("@@ -{before},{before_lines} +{after},{after_lines} @@");
                marked(reader, &place, |place| paint.dim(place))
            }
            DifferenceLine::Same { text: line } => text(' ', line),
            DifferenceLine::Added { text: line } => {
                marked(reader, &text('+', line), |line| paint.good(line))
            }
            DifferenceLine::Removed { text: line } => {
                marked(reader, &text('-', line), |line| paint.bad(line))
            }
            DifferenceLine::NoNewline => "\\ No newline at end of file".to_owned(),
        };
        writeln!(out, "{line}")?;
    }
    if difference.is_shortened {
        writeln!(out, "{}", paint.dim("there are more lines than are shown"))?;
    }
    Ok(())
}

/// Paints for a person only.
fn marked(reader: Reader, text: &str, paint: impl Fn(&str) -> String) -> String {
    match reader {
        Reader::Person => paint(text),
        Reader::Program => text.to_owned(),
    }
}

/// Returns the permission bits before and after, if only files are involved.
fn modes(change: &Change) -> Option<(Option<u32>, Option<u32>)> {
    let mode = |entry: &Option<Entry>| match entry {
        None => Some(None),
        Some(Entry::File { mode, .. }) => Some(Some(*mode)),
        Some(Entry::Directory { .. } | Entry::Link { .. } | Entry::Uncovered { .. }) => None,
    };
    Some((mode(&change.before)?, mode(&change.after)?))
}

/// Tells whether permission bits changed that patches do not know: all but the one that lets the owner run a file.
fn has_other_permissions(change: &Change) -> bool {
    match modes(change) {
        Some((Some(before), Some(after))) => before != after && git_mode(before) == git_mode(after),
        Some((None, Some(mode)) | (Some(mode), None)) => mode & 0o444 != 0o444,
        Some((None, None)) | None => false,
    }
}

const fn git_mode(mode: u32) -> &'static str {
    if mode & 0o100 == 0 {
        "100644"
    } else {
        "100755"
    }
}

/// Returns the lines above the names; nothing if a patch cannot bring the change about.
fn head(
    change: &Change,
    modes: (Option<u32>, Option<u32>),
    difference: &Difference,
) -> Option<Vec<String>> {
    let has_lines = !difference.lines.is_empty();
    let content = |entry: &Option<Entry>| entry.as_ref().and_then(Entry::content);
    let is_empty = |entry: &Option<Entry>| matches!(entry, Some(Entry::File { size: 0, .. }));
    let path = &change.path;
    let mut lines = vec![format!(
        "diff --git {} {}",
        name("a/", path),
        name("b/", path)
    )];
    match modes {
        (None, Some(mode)) if has_lines || is_empty(&change.after) => {
            lines.push(format!("new file mode {}", git_mode(mode)));
            if !has_lines {
                lines.push(format!("index 0000000..{EMPTY}"));
            }
        }
        (Some(mode), None) if has_lines || is_empty(&change.before) => {
            lines.push(format!("deleted file mode {}", git_mode(mode)));
            if !has_lines {
                lines.push(format!("index {EMPTY}..0000000"));
            }
        }
        (Some(before), Some(after)) => {
            let (before, after) = (git_mode(before), git_mode(after));
            let is_whole = has_lines || content(&change.before) == content(&change.after);
            if !is_whole || (!has_lines && before == after) {
                return None;
            }
            if before != after {
                lines.push(format!("old mode {before}"));
                lines.push(format!("new mode {after}"));
            }
        }
        (None, Some(_) | None) | (Some(_), None) => return None,
    }
    Some(lines)
}

/// Writes a name as git does: in quotes where it has bytes that are not printable ASCII.
fn name(side: &str, path: &FilePath) -> String {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !matches!(byte, b'"' | b'\\');
    let mut name = String::new();
    for byte in path.bytes() {
        if is_plain(byte) {
            name.push(char::from(*byte));
        } else {
            let _ = write!(name, "\\{byte:03o}");
        }
    }
    if path.bytes().iter().all(is_plain) {
        format!("{side}{name}")
    } else {
        format!("\"{side}{name}\"")
    }
}
