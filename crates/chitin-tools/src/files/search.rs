//! `search`: lines that hold a text or fit an expression.

use super::list::name_pattern;
use super::media_type::{MediaType, SNIFFED, kind};
use super::roots::{FileOptions, Problem, RootedPath, Space};
use super::task::with_space;
use super::walk::{Go, Ignored, Walked, walk};
use crate::output::{Controls, clean};
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolConcurrency, ToolOutcome, TypedTool};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, Oversized, ReadPolicy};
use chitin_protocol::tool::ToolSpec;
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many lines are found when nothing else is asked for, and at most.
const USUAL: usize = 100;
const MOST: usize = 2000;

/// So much of a line is looked at, and so much is shown.
const LONGEST_LINE: usize = 1024 * 1024;
const SHOWN_CHARACTERS: usize = 300;

/// So much of one file is looked through.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// An expression that takes more memory is refused.
const EXPRESSION_BYTES: usize = 4 * 1024 * 1024;

crate::schema_on_file!(Arguments, "search.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// What to look for: a regular expression, or a plain text with `literal`.
    #[serde(alias = "query")]
    pattern: String,
    /// Where: a directory or a file, relative to the workspace or absolute; left out, the workspace.
    #[serde(default)]
    path: Option<String>,
    /// Only in files with names of this form: `*.md`, `src/**/*.rs`.
    #[serde(default, alias = "include")]
    glob: Option<String>,
    /// Take the pattern as it is, not as an expression.
    #[serde(default)]
    literal: Option<bool>,
    /// Take upper and lower case for the same.
    #[serde(default, alias = "ignore_case")]
    ignore_case: Option<bool>,
    /// How many lines around each to show as well, up to 10.
    #[serde(default)]
    context: Option<u32>,
    /// Look into ignored files as well.
    #[serde(default)]
    ignored: Option<bool>,
    /// How many lines to find at most; left out, 100.
    #[serde(default)]
    limit: Option<u32>,
}

/// Searches files.
#[derive(Debug)]
pub struct SearchTool {
    spec: ToolSpec,
    options: Arc<FileOptions>,
}

impl SearchTool {
    /// Makes the tool.
    pub fn new(options: Arc<FileOptions>) -> Self {
        let description = "Searches text files and returns `path:line: text`. Skips binary files and files that \
                           `.gitignore` excludes.";
        Self {
            spec: spec_on_file("search", description, PARAMETERS),
            options,
        }
    }
}

impl TypedTool for SearchTool {
    type Arguments = Arguments;
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Shared;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        let max_bytes = context.max_output_bytes;
        with_space(context, &self.options, move |space, cancel| {
            search(space, &asked, max_bytes, cancel)
        })
        .await
    }
}

/// What is looked for, and what was found.
struct Search<'s> {
    expression: Regex,
    around: usize,
    limit: usize,
    room: usize,
    cancel: &'s CancellationToken,
    out: String,
    found: usize,
    files: usize,
    /// The files that something was found in, as they are shown.
    names: Vec<PathBuf>,
    is_full: bool,
}

fn search(
    space: &Space,
    asked: &Arguments,
    max_bytes: usize,
    cancel: &CancellationToken,
) -> Result<ToolOutcome, Problem> {
    let place = space.place(asked.path.as_deref().unwrap_or("."))?;
    let end = place
        .root
        .walk(&place.relative, place.links())
        .map_err(|error| place.problem(error))?;
    let names = asked.glob.as_deref().map(name_pattern).transpose()?;
    let mut search = Search {
        expression: expression(asked)?,
        around: asked.context.unwrap_or(0).min(10) as usize,
        limit: asked
            .limit
            .map_or(USUAL, |limit| limit as usize)
            .clamp(1, MOST),
        room: max_bytes.saturating_sub(256),
        cancel,
        out: String::new(),
        found: 0,
        files: 0,
        names: Vec::new(),
        is_full: false,
    };
    let walked = match end.kind {
        DirectoryEntryKind::File => {
            let policy = place.policy(u64::MAX, Oversized::Keep);
            search.file(&place, &place.relative, &place.shown, &policy);
            Walked::All
        }
        DirectoryEntryKind::Directory => {
            let ignored = match asked.ignored {
                Some(true) => Ignored::Included,
                Some(false) | None => Ignored::LeftOut,
            };
            let policy = ReadPolicy {
                links: LinkPolicy::Refuse,
                ..place.policy(u64::MAX, Oversized::Keep)
            };
            let prefix = match place.shown.trim_end_matches('/') {
                "." | "" => Path::new(""),
                shown => Path::new(shown),
            };
            walk(&place, usize::MAX, ignored, cancel, &mut |path, kind| {
                let inside = path.strip_prefix(&place.relative).unwrap_or(path);
                let wanted = names.as_ref().is_none_or(|names| names.is_match(inside));
                if kind == DirectoryEntryKind::File && wanted {
                    let shown = prefix.join(inside);
                    let shown = clean(shown.as_os_str().as_encoded_bytes(), Controls::Show);
                    search.file(&place, path, &shown.replace('\n', "\\n"), &policy);
                }
                if search.is_full { Go::Stop } else { Go::On }
            })
        }
        DirectoryEntryKind::Link | DirectoryEntryKind::Other => {
            return Err(Problem::NotAFile {
                path: place.shown.clone(),
            });
        }
    };
    place.shows_names(&search.names);
    Ok(search.finish(walked))
}

fn expression(asked: &Arguments) -> Result<Regex, Problem> {
    if asked.pattern.is_empty() {
        return Err(Problem::Other("`pattern` is empty.".to_owned()));
    }
    let pattern = match asked.literal {
        Some(true) => regex::escape(&asked.pattern),
        Some(false) | None => asked.pattern.clone(),
    };
    RegexBuilder::new(&pattern)
        .case_insensitive(asked.ignore_case == Some(true))
        .size_limit(EXPRESSION_BYTES)
        .dfa_size_limit(EXPRESSION_BYTES)
        .build()
        .map_err(|error| {
            Problem::Other(format!(
                "`{}` is not a valid regular expression: {error}. Set `literal` to search for the exact text.",
                asked.pattern
            ))
        })
}

impl Search<'_> {
    /// Looks through one file. One that cannot be read is passed over: it may have gone meanwhile.
    fn file(&mut self, place: &RootedPath<'_>, path: &Path, shown: &str, policy: &ReadPolicy) {
        let Ok(reader) = place.root.open_reader(path, policy) else {
            return;
        };
        let mut reader = BufReader::with_capacity(64 * 1024, reader.take(MOST_BYTES));
        match reader.fill_buf() {
            Ok(head) if kind(&head[..head.len().min(SNIFFED)]) == MediaType::Text => {}
            Ok(_) | Err(_) => return,
        }
        self.files += 1;
        let before_file = self.found;
        let mut before: VecDeque<(usize, String)> = VecDeque::new();
        let mut after = 0;
        let mut last_shown = 0;
        let mut line = Vec::new();
        let mut number = 0;
        while read_line(&mut reader, &mut line) {
            number += 1;
            if number % 1024 == 0 && self.cancel.is_cancelled() {
                return;
            }
            let fits = self.expression.is_match(&line);
            if fits && self.found == self.limit {
                self.is_full = true;
                return;
            }
            if fits || after > 0 {
                let gap = self.around > 0
                    && last_shown > 0
                    && before.front().map_or(number, |(n, _)| *n) > last_shown + 1;
                if fits && gap {
                    self.put("--");
                }
                for (n, text) in before.drain(..) {
                    self.put(&format!("{shown}-{n}- {text}"));
                }
                let mark = if fits { ':' } else { '-' };
                self.put(&format!("{shown}{mark}{number}{mark} {}", shorten(&line)));
                last_shown = number;
                if fits {
                    if self.found == before_file {
                        place.shows(path, shown);
                        let inside = path.strip_prefix(&place.relative).unwrap_or(path);
                        self.names.push(inside.to_path_buf());
                    }
                    self.found += 1;
                    after = self.around;
                } else {
                    after -= 1;
                }
            } else if self.around > 0 {
                before.push_back((number, shorten(&line)));
                if before.len() > self.around {
                    before.pop_front();
                }
            }
            if self.is_full {
                return;
            }
        }
    }

    fn put(&mut self, line: &str) {
        if self.out.len() + line.len() + 1 > self.room {
            self.is_full = true;
        }
        if !self.is_full {
            self.out.push_str(line);
            self.out.push('\n');
        }
    }

    fn finish(mut self, walked: Walked) -> ToolOutcome {
        let note = match walked {
            _ if self.is_full => {
                Some("There are more matches: narrow the search, or use a larger `limit`.")
            }
            Walked::GaveUp => Some("The tree is too large to search completely. Set a `path`."),
            Walked::NotAll => Some("Some directories could not be read."),
            Walked::All | Walked::Stopped if self.found == 0 => Some("No matches."),
            Walked::All | Walked::Stopped => None,
        };
        if let Some(note) = note {
            self.out.extend(["[", note, "]"]);
        }
        ToolOutcome::text(self.out).with_details(
            json!({"found": self.found, "files": self.files, "isWhole": !self.is_full && matches!(walked, Walked::All)}),
        )
    }
}

/// Reads a line without its end; of one that is too long only the beginning. Returns whether there was one.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    let mut any = false;
    loop {
        let Ok(buffer) = reader.fill_buf() else {
            return any;
        };
        if buffer.is_empty() {
            return any;
        }
        any = true;
        let (piece, used, ends) = match memchr::memchr(b'\n', buffer) {
            Some(at) => (&buffer[..at], at + 1, true),
            None => (buffer, buffer.len(), false),
        };
        let space = LONGEST_LINE.saturating_sub(line.len());
        line.extend_from_slice(&piece[..piece.len().min(space)]);
        reader.consume(used);
        if ends {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return true;
        }
    }
}

fn shorten(line: &[u8]) -> String {
    let text = clean(
        &line[..line.len().min(SHOWN_CHARACTERS * 4)],
        Controls::Show,
    );
    let mut characters = text.char_indices();
    match characters.nth(SHOWN_CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None if line.len() > SHOWN_CHARACTERS * 4 => format!("{text}…"),
        None => text,
    }
}
