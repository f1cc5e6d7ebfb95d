//! From a line of the prompt to the line of the file that it came from, and back.

use crate::assemble::Context;
use crate::fragment::{Fragment, FragmentOrigin, FragmentRole, FragmentSource, Text};
use memchr::memchr_iter;
use serde::Serialize;
use std::fmt;

/// A line of the prompt, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptLine {
    /// The line, counted from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// Its parts in order; an empty line has the part that its line end belongs to.
    pub parts: Vec<LinePart>,
}

/// A part of a line of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinePart {
    /// The text.
    pub text: String,
    /// The fragment, by its place.
    pub fragment: usize,
    /// Where it came from.
    pub from: Whence,
}

/// Where a part of the prompt came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Whence {
    /// A file of the workspace, to the byte.
    File {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// A passage of a file, shortened or tidied.
    Rewritten {
        /// The file.
        path: String,
        /// The first line.
        line: usize,
        /// The last line.
        last_line: usize,
    },
    /// A heading or marker that is ours, about a file.
    About {
        /// The file.
        path: String,
    },
    /// One of our own sections.
    Section {
        /// Its key.
        key: &'static str,
    },
    /// A value that was handed in with the turn, in one of our own sections.
    Given {
        /// The section's key.
        key: &'static str,
    },
    /// The line below which nothing is cached.
    Boundary,
}

impl fmt::Display for Whence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Rewritten {
                path,
                line,
                last_line,
            } => write!(f, "{path}:{line}-{last_line}, shortened"),
            Self::About { path } => write!(f, "added about {path}"),
            Self::Section { key } => write!(f, "section `{key}`"),
            Self::Given { key } => write!(f, "section `{key}`, from this turn's facts"),
            Self::Boundary => f.write_str("cache boundary"),
        }
    }
}

/// What became of a line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLine {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The line of the prompt that it stands in; nothing when none of it is there.
    pub prompt_line: Option<usize>,
    /// Whether all of it is there.
    pub whole: bool,
    /// Why some or all of it is not.
    pub reasons: Vec<String>,
}

/// Why a line of a file cannot be explained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchLine {
    /// No record has that name or path.
    #[error("no file called `{0}` belongs to this context")]
    File(String),
    /// The file gave no text.
    #[error("`{path}` has no text: {reason}")]
    NoText {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// The file has fewer lines.
    #[error("`{path}` has {lines} lines")]
    Line {
        /// The file.
        path: String,
        /// How many it has.
        lines: usize,
    },
}

impl Context {
    /// Takes a line of the system prompt apart; nothing when the prompt has fewer lines.
    pub fn explain_prompt_line(&self, line: usize) -> Option<PromptLine> {
        let prompt = self.system();
        let (start, end) = line_range(&prompt, line)?;
        // An empty line is explained by its line end.
        let reach = if start == end { end + 1 } else { end };
        let mut parts = Vec::new();
        let mut at = 0;
        for (index, fragment) in self.system_parts() {
            let lead = (fragment.lead, FragmentSource::Ours, None);
            let pieces = fragment
                .pieces
                .iter()
                .map(|piece| (piece.text.as_str(), piece.source, Some(&piece.text)));
            for (text, source, piece) in std::iter::once(lead).chain(pieces) {
                let from = at.max(start);
                let to = (at + text.len()).min(reach);
                if from < to {
                    let inside = &text[from - at..to - at];
                    let skipped = from - at;
                    parts.push(LinePart {
                        text: inside.trim_end_matches('\n').to_owned(),
                        fragment: index,
                        from: whence(
                            &fragment.origin,
                            source,
                            piece,
                            skipped,
                            self.file_text(index),
                        ),
                    });
                }
                at += text.len();
            }
            if at >= reach {
                break;
            }
        }
        parts.dedup_by(|next, last| {
            let same = next.fragment == last.fragment && next.from == last.from;
            if same {
                last.text.push_str(&next.text);
            }
            same
        });
        Some(PromptLine {
            line,
            text: prompt[start..end].to_owned(),
            parts,
        })
    }

    /// Says what became of a line of a file, which is named by name, by path, or by the end of its path.
    pub fn explain_file_line(&self, file: &str, line: usize) -> Result<Vec<FileLine>, NoSuchLine> {
        let records: Vec<usize> = (0..self.files.records.len())
            .filter(|at| self.is_called(*at, file))
            .collect();
        if records.is_empty() {
            return Err(NoSuchLine::File(file.to_owned()));
        }
        let mut explained = Vec::new();
        let mut unknown = None;
        for record in records {
            match self.file_line(record, line) {
                Ok(one) => explained.push(one),
                // Another file of that name may have the line.
                Err(error) => unknown = unknown.or(Some(error)),
            }
        }
        match unknown {
            Some(error) if explained.is_empty() => Err(error),
            Some(_) | None => Ok(explained),
        }
    }

    /// Returns the fragments of the system prompt with their places.
    fn system_parts(&self) -> impl Iterator<Item = (usize, &Fragment)> {
        self.fragments
            .iter()
            .enumerate()
            .filter(|(_, fragment)| fragment.role == FragmentRole::System)
    }

    /// Returns the text of a fragment's file; nothing for our own sections.
    fn file_text(&self, fragment: usize) -> &str {
        let Some(FragmentOrigin::File { path, .. }) =
            self.fragments.get(fragment).map(|one| &one.origin)
        else {
            return "";
        };
        let mut records = self.files.records.iter().enumerate();
        let record = records.find(|(at, record)| {
            record.path.to_string_lossy() == **path
                && self
                    .fragment_of(*at)
                    .is_some_and(|(index, _)| index == fragment)
        });
        record
            .and_then(|(_, record)| record.content())
            .map_or("", |content| &content.text)
    }

    fn is_called(&self, record: usize, file: &str) -> bool {
        let record = &self.files.records[record];
        let path = record.path.to_string_lossy();
        *record.name == *file
            || path == file
            || path
                .strip_suffix(file)
                .is_some_and(|before| before.ends_with('/'))
    }

    fn file_line(&self, record: usize, line: usize) -> Result<FileLine, NoSuchLine> {
        let found = &self.files.records[record];
        let path = found.path.to_string_lossy().into_owned();
        let Some(content) = found.content() else {
            let reason = match found.refused() {
                Some(reason) => format!("refused, {reason}"),
                None => "it is not there".to_owned(),
            };
            return Err(NoSuchLine::NoText { path, reason });
        };
        let Some((start, end)) = line_range(&content.text, line) else {
            let lines = content.text.split('\n').count();
            return Err(NoSuchLine::Line { path, lines });
        };
        // An empty line is as present as its line end; the one after the last line end, as that.
        let (from, reach) = match (start == end, end == content.text.len()) {
            (false, _) => (start, end),
            (true, false) => (start, end + 1),
            (true, true) => (start.saturating_sub(1), end),
        };
        let mut reasons = Vec::new();
        let mut first_kept = None;
        for region in self.regions(record) {
            let is_touched = region.start < reach && from < region.end;
            if is_touched || content.text.is_empty() {
                match region.missing {
                    None => first_kept = first_kept.or(Some(region.start.max(from))),
                    Some(why) => reasons.push(why.to_string()),
                }
            }
        }
        reasons.dedup();
        Ok(FileLine {
            line,
            text: content.text[start..end].to_owned(),
            prompt_line: first_kept.and_then(|byte| self.prompt_line_of(record, byte)),
            whole: reasons.is_empty() && first_kept.is_some(),
            reasons,
            path,
        })
    }

    /// Returns the line of the system prompt that holds a byte of a file's text.
    fn prompt_line_of(&self, record: usize, byte: usize) -> Option<usize> {
        let (wanted, _) = self.fragment_of(record)?;
        let mut line = 1;
        for (index, fragment) in self.system_parts() {
            line += line_feeds(fragment.lead);
            for piece in &*fragment.pieces {
                let text = piece.text.as_str();
                if let (true, FragmentSource::File { start, end }) = (index == wanted, piece.source)
                    && (start..end).contains(&byte)
                {
                    return Some(line + line_feeds(&text[..byte - start]));
                }
                line += line_feeds(text);
            }
        }
        None
    }
}

fn line_feeds(text: &str) -> usize {
    memchr_iter(b'\n', text.as_bytes()).count()
}

/// Returns the byte range of a line, counted from 1, without its line end.
fn line_range(text: &str, line: usize) -> Option<(usize, usize)> {
    let mut start = 0;
    for _ in 1..line {
        start += text[start..].find('\n')? + 1;
    }
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    (line > 0).then_some((start, end))
}

fn whence(
    origin: &FragmentOrigin,
    source: FragmentSource,
    piece: Option<&Text>,
    skipped: usize,
    whole: &str,
) -> Whence {
    let (key, path) = match origin {
        FragmentOrigin::Boundary => return Whence::Boundary,
        FragmentOrigin::Section { key } => (*key, None),
        FragmentOrigin::File { path, .. } => ("", Some(path.to_string())),
    };
    let Some(path) = path else {
        return match source {
            FragmentSource::Given => Whence::Given { key },
            FragmentSource::Ours
            | FragmentSource::File { .. }
            | FragmentSource::Rewritten { .. } => Whence::Section { key },
        };
    };
    match (source, piece) {
        (FragmentSource::File { start, .. }, Some(Text::Slice { content, .. })) => Whence::File {
            line: 1 + line_feeds(content.text.get(..start + skipped).unwrap_or_default()),
            path,
        },
        (FragmentSource::Rewritten { start, end }, _) => {
            let line_of = |byte| 1 + line_feeds(whole.get(..byte).unwrap_or_default());
            Whence::Rewritten {
                line: line_of(start),
                last_line: line_of(end),
                path,
            }
        }
        (FragmentSource::Ours | FragmentSource::Given | FragmentSource::File { .. }, _) => {
            Whence::About { path }
        }
    }
}
