//! The labelled set: notes, queries, and for each query the lines that answer it.
//!
//! A label quotes a line instead of counting to it, so it survives an edit above it and knows nothing of chunks. Loading
//! finds the line, and reports everything that is wrong with the set at once.

use chitin_guard::{DirectoryEntryKind, LinkPolicy, ReadPolicy, Root};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

// Named by its path, because the test of the set includes this file from elsewhere.
#[path = "unsound.rs"]
mod unsound;
pub(crate) use unsound::{Problem, Unsound};

/// No note is near this size; a larger one is a mistake.
const MOST_BYTES: u64 = 1 << 20;
/// No folder of the set is near this size either.
const MOST_NAMES: usize = 10_000;
/// Notes lie at most this many folders deep.
const MOST_FOLDERS: usize = 4;

/// What a query tries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Words as they are written in the note.
    Exact,
    /// A natural question that shares some words with its answer.
    Question,
    /// The same matter in other words: no content word is shared with any labelled line.
    Paraphrase,
    /// Other forms of the words: plural, tense, compound.
    Inflected,
    /// A person or firm, often one of several with a like name.
    Name,
    /// A day or a stretch of days.
    Date,
    /// A file, by its name.
    Path,
    /// A query in another language, about a note in that language.
    Foreign,
    /// The query is in one language, the answer in another.
    Crosslingual,
    /// Something that was decided anew: the newest truth has grade 3, older ones have grade 1.
    Changed,
    /// Nothing in the notes answers this.
    Nothing,
}

/// One note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// The path beneath `notes`, with `/` between its parts: what a workspace would call it.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

/// One line that answers a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// The note.
    pub(crate) path: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// 3 answers the query, 2 answers it in part, 1 belongs to the matter.
    pub(crate) grade: u8,
}

/// One query and the lines that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    /// Its name in reports.
    pub(crate) id: String,
    /// What is typed.
    pub(crate) text: String,
    /// The language it is typed in.
    pub(crate) language: String,
    /// What it tries out.
    pub(crate) kind: Kind,
    /// The lines that answer it; none for [`Kind::Nothing`].
    pub(crate) labels: Vec<Label>,
}

/// The whole set, found sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Set {
    /// By path.
    pub(crate) notes: Vec<Note>,
    /// In the order of the file.
    pub(crate) queries: Vec<Query>,
}

/// A line of `queries.jsonl`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    query: String,
    language: String,
    kind: Kind,
    relevant: Vec<WrittenLabel>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLabel {
    path: String,
    quote: String,
    grade: u8,
    /// Says which line is meant when the quote stands in several.
    line: Option<usize>,
}

/// Loads the set in a directory, or tells all that is wrong with it.
pub(crate) fn load(directory: &Path) -> Result<Set, Unsound> {
    let root = Root::open(directory).map_err(Problem::from)?;
    let mut notes = Vec::new();
    read_notes(&root, "notes", MOST_FOLDERS, &mut notes)?;
    notes.sort_by(|a, b| a.path.cmp(&b.path));
    let written = read_text(&root, "queries.jsonl")?;
    let queries = check(&notes, &written)?;
    Ok(Set { notes, queries })
}

/// Checks the text of `queries.jsonl` against the notes.
pub(crate) fn check(notes: &[Note], written: &str) -> Result<Vec<Query>, Unsound> {
    let by_path: BTreeMap<&str, &str> = notes
        .iter()
        .map(|note| (note.path.as_str(), note.text.as_str()))
        .collect();
    let mut problems = Vec::new();
    let mut queries = Vec::new();
    let (mut ids, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for (index, line) in written.lines().enumerate() {
        let written: Written = match serde_json::from_str(line) {
            Ok(written) => written,
            Err(source) => {
                let line = index + 1;
                problems.push(Problem::NotAQuery { line, source });
                continue;
            }
        };
        let id = written.id.clone();
        if !ids.insert(id.clone()) {
            problems.push(Problem::SameId { id: id.clone() });
        }
        if !texts.insert(written.query.clone()) {
            problems.push(Problem::SameText { id: id.clone() });
        }
        let query = find_lines(&by_path, written, &mut problems);
        let answered = query.labels.iter().any(|label| label.grade == 3);
        match (query.kind, query.labels.is_empty()) {
            (Kind::Nothing, false) => problems.push(Problem::AnswerToNothing { id }),
            (kind, _) if kind != Kind::Nothing && !answered => {
                problems.push(Problem::NoAnswer { id });
            }
            _ => {}
        }
        queries.push(query);
    }
    if problems.is_empty() {
        Ok(queries)
    } else {
        Err(Unsound(problems))
    }
}

fn find_lines(
    notes: &BTreeMap<&str, &str>,
    written: Written,
    problems: &mut Vec<Problem>,
) -> Query {
    let id = written.id;
    let mut labels: Vec<Label> = Vec::new();
    for given in written.relevant {
        match find_line(notes, &id, given) {
            Ok(found) if labels.iter().any(|label| same_line(label, &found)) => {
                problems.push(Problem::SameLine {
                    id: id.clone(),
                    path: found.path,
                    line: found.line,
                });
            }
            Ok(found) => labels.push(found),
            Err(problem) => problems.push(problem),
        }
    }
    Query {
        id,
        text: written.query,
        language: written.language,
        kind: written.kind,
        labels,
    }
}

fn same_line(one: &Label, other: &Label) -> bool {
    one.path == other.path && one.line == other.line
}

fn find_line(
    notes: &BTreeMap<&str, &str>,
    id: &str,
    given: WrittenLabel,
) -> Result<Label, Problem> {
    let id = id.to_owned();
    let WrittenLabel {
        path,
        quote,
        grade,
        line,
    } = given;
    if !(1..=3).contains(&grade) {
        return Err(Problem::NoSuchGrade { id, grade });
    }
    let Some(text) = notes.get(path.as_str()) else {
        return Err(Problem::NoSuchNote { id, path });
    };
    let lines: Vec<usize> = (1..)
        .zip(text.lines())
        .filter(|(number, text)| text.contains(&quote) && line.is_none_or(|line| line == *number))
        .map(|(number, _)| number)
        .collect();
    match lines[..] {
        // An empty quote stands everywhere and says nothing.
        _ if quote.trim().is_empty() => Err(Problem::NoSuchQuote { id, path, quote }),
        [] => Err(Problem::NoSuchQuote { id, path, quote }),
        [line] => Ok(Label { path, line, grade }),
        _ => Err(Problem::ManyLines {
            id,
            path,
            quote,
            lines,
        }),
    }
}

fn read_notes(
    root: &Root,
    folder: &str,
    depth: usize,
    notes: &mut Vec<Note>,
) -> Result<(), Problem> {
    for entry in root.list(Path::new(folder), &LinkPolicy::Refuse, MOST_NAMES)? {
        let name = entry.name.to_string_lossy();
        let inside = format!("{folder}/{name}");
        if entry.kind == DirectoryEntryKind::Directory && depth > 0 {
            read_notes(root, &inside, depth - 1, notes)?;
        } else if entry.kind == DirectoryEntryKind::File && name.ends_with(".md") {
            let text = read_text(root, &inside)?;
            let path = inside.trim_start_matches("notes/").to_owned();
            notes.push(Note { path, text });
        }
    }
    Ok(())
}

fn read_text(root: &Root, path: &str) -> Result<String, Problem> {
    let read = root.read(Path::new(path), &ReadPolicy::inside(MOST_BYTES))?;
    String::from_utf8(read.bytes).map_err(|_| Problem::NotText {
        path: path.to_owned(),
    })
}
