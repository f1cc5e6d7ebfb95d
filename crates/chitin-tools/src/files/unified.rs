//! Unified diffs, with the additions of Git.

use super::hunks::{Hunk, HunkLine, LastLine};
use super::patch::{Lines, PatchError, PatchedFile, hunk_line};

/// What stands for a file that does not exist.
const NOTHING: &str = "/dev/null";

/// Tells whether lines look like a unified diff.
pub(super) fn looks_like_one(lines: &[(usize, &str)]) -> bool {
    lines.iter().any(|(_, line)| {
        line.starts_with("--- ") || line.starts_with("diff --git ") || line.starts_with("+++ ")
    })
}

/// What the lines above the hunks say of a file.
#[derive(Debug, Default)]
struct Header {
    old: Option<String>,
    new: Option<String>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    is_new: bool,
    is_deleted: bool,
    hunks: Vec<Hunk>,
    /// Whether anything was said at all.
    line: usize,
}

pub(super) fn parse(lines: &[(usize, &str)]) -> Result<Vec<PatchedFile>, PatchError> {
    let mut lines = Lines::new(lines);
    let mut changes = Vec::new();
    let mut header = Header::default();
    while let Some((number, line)) = lines.next() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            changes.extend(std::mem::take(&mut header).finish()?);
            header.line = number;
            let (old, new) = git_names(names);
            (header.old, header.new) = (old, new);
        } else if let Some(name) = line.strip_prefix("--- ")
            && lines
                .peek()
                .is_some_and(|(_, next)| next.starts_with("+++ "))
        {
            if !header.hunks.is_empty() {
                changes.extend(std::mem::take(&mut header).finish()?);
            }
            header.line = number;
            header.old = Some(file_name(name).to_owned());
            header.new = lines.take("+++ ").map(|name| file_name(name).to_owned());
        } else if let Some(name) = line.strip_prefix("rename from ") {
            header.rename_from = Some(name.trim().to_owned());
        } else if let Some(name) = line.strip_prefix("rename to ") {
            header.rename_to = Some(name.trim().to_owned());
        } else if line.starts_with("new file mode") {
            header.is_new = true;
        } else if line.starts_with("deleted file mode") {
            header.is_deleted = true;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(PatchError::Binary { line: number });
        } else if line.starts_with("@@ ") {
            if header.line == 0 {
                return Err(PatchError::line(
                    number,
                    line,
                    "`--- ` and `+++ ` with the file names must precede a hunk",
                ));
            }
            let hunk = hunk(number, line, &mut lines)?;
            header.hunks.push(hunk);
        }
        // Whatever else stands between files, such as the words of a commit, says nothing.
    }
    changes.extend(header.finish()?);
    Ok(changes)
}

impl Header {
    fn finish(self) -> Result<Option<PatchedFile>, PatchError> {
        if self.line == 0 {
            return Ok(None);
        }
        let unnamed = || PatchError::line(self.line, "", "the file names are missing");
        let (old, new) = strip_sides(self.old, self.new);
        let from = self.rename_from.or_else(|| old.clone());
        let to = self.rename_to.or_else(|| new.clone());
        let is_new = self.is_new || old.as_deref() == Some(NOTHING);
        let is_deleted = self.is_deleted || new.as_deref() == Some(NOTHING);
        Ok(Some(if is_new {
            let path = to.ok_or_else(unnamed)?;
            PatchedFile::Add {
                path,
                content: content(&self.hunks),
            }
        } else if is_deleted {
            PatchedFile::Delete {
                path: from.ok_or_else(unnamed)?,
                hunks: self.hunks,
            }
        } else {
            let from = from.ok_or_else(unnamed)?;
            let move_to = to.filter(|to| *to != from);
            if self.hunks.is_empty() && move_to.is_none() {
                // A change of permissions, or of nothing at all.
                return Ok(None);
            }
            PatchedFile::Update {
                path: from,
                move_to,
                hunks: self.hunks,
            }
        }))
    }
}

fn content(hunks: &[Hunk]) -> String {
    let mut content = String::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        match line {
            HunkLine::Added(text) | HunkLine::Kept(text) => {
                content.push_str(text);
                content.push('\n');
            }
            HunkLine::Removed(_) => {}
        }
    }
    if hunks
        .last()
        .is_some_and(|hunk| hunk.last_line == LastLine::Open)
    {
        content.pop();
    }
    content
}

/// Takes the time off a name.
fn file_name(name: &str) -> &str {
    name.split('\t').next().unwrap_or(name).trim()
}

/// Takes the names of `diff --git a/x b/x` apart; those with blanks are told again below.
fn git_names(names: &str) -> (Option<String>, Option<String>) {
    match names.split_once(" b/") {
        Some((old, new)) => (Some(old.to_owned()), Some(format!("b/{new}"))),
        None => (None, None),
    }
}

/// Takes `a/` and `b/` off, if both sides have them.
fn strip_sides(old: Option<String>, new: Option<String>) -> (Option<String>, Option<String>) {
    let has = |name: &Option<String>, side: &str| {
        name.as_deref()
            .is_none_or(|name| name == NOTHING || name.starts_with(side))
    };
    if !(has(&old, "a/") && has(&new, "b/")) {
        return (old, new);
    }
    let strip = |name: Option<String>, side: &str| {
        name.map(|name| name.strip_prefix(side).map(str::to_owned).unwrap_or(name))
    };
    (strip(old, "a/"), strip(new, "b/"))
}

/// Reads one hunk; the numbers of its first line say how many lines there are.
fn hunk(number: usize, line: &str, lines: &mut Lines<'_>) -> Result<Hunk, PatchError> {
    let wrong = || PatchError::line(number, line, "a hunk starts like `@@ -1,3 +1,4 @@`");
    let mut words = line.split_whitespace().skip(1);
    let mut range = |sign: char| -> Option<(usize, usize)> {
        let word = words.next()?.strip_prefix(sign)?;
        match word.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((word.parse().ok()?, 1)),
        }
    };
    let (start, mut old_left) = range('-').ok_or_else(wrong)?;
    let (_, mut new_left) = range('+').ok_or_else(wrong)?;
    let mut hunk = Hunk {
        start: Some(start),
        ..Hunk::default()
    };
    while old_left > 0 || new_left > 0 {
        let Some((at, text)) = lines.peek() else {
            break;
        };
        if text.starts_with('\\') {
            lines.next();
            note_open_end(&mut hunk);
            continue;
        }
        // Models count badly; what is plainly the next part ends the hunk as well.
        if text.starts_with("@@ ") || text.starts_with("diff --git ") {
            break;
        }
        let line = hunk_line(at, text)?;
        lines.next();
        let (old, new) = match &line {
            HunkLine::Kept(_) => (1, 1),
            HunkLine::Removed(_) => (1, 0),
            HunkLine::Added(_) => (0, 1),
        };
        old_left = old_left.saturating_sub(old);
        new_left = new_left.saturating_sub(new);
        hunk.lines.push(line);
    }
    if lines.peek().is_some_and(|(_, text)| text.starts_with('\\')) {
        lines.next();
        note_open_end(&mut hunk);
    }
    Ok(hunk)
}

/// Takes down that the line above has no line end.
fn note_open_end(hunk: &mut Hunk) {
    hunk.last_line = match hunk.lines.last() {
        Some(HunkLine::Added(_) | HunkLine::Kept(_)) => LastLine::Open,
        // The old file had none; unless the same is said of the new one, that has.
        Some(HunkLine::Removed(_)) => LastLine::Ended,
        None => hunk.last_line,
    };
}
