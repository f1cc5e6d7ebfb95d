//! `list`: what is in a directory, or which files have names of a form.

use super::roots::{FileOptions, Problem, RootedPath, Space};
use super::task::with_space;
use super::walk::{Go, Ignored, Walked, walk};
use crate::output::{Controls, clean};
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolConcurrency, ToolOutcome, TypedTool};
use chitin_guard::{DirectoryEntryKind, LinkPolicy};
use chitin_protocol::tool::ToolSpec;
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many names are shown when nothing else is asked for, and at most.
const USUAL: usize = 500;
const MOST: usize = 5000;

crate::schema_on_file!(Arguments, "list.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The directory, relative to the workspace or absolute; left out, the workspace.
    #[serde(default)]
    path: Option<String>,
    /// Only names of this form, anywhere below: `*.md`, `src/**/*.rs`.
    #[serde(default, alias = "glob")]
    pattern: Option<String>,
    /// How many levels to show; left out, 1, or all with a pattern.
    #[serde(default)]
    depth: Option<u32>,
    /// Show ignored files as well.
    #[serde(default)]
    ignored: Option<bool>,
    /// How many names to show at most; left out, 500.
    #[serde(default)]
    limit: Option<u32>,
}

/// Lists a directory.
#[derive(Debug)]
pub struct ListTool {
    spec: ToolSpec,
    options: Arc<FileOptions>,
}

impl ListTool {
    /// Makes the tool under a name.
    pub fn new(name: &str, options: Arc<FileOptions>) -> Self {
        let description = "Lists a directory, with sizes; directories end in `/`, links in `@`. With `pattern` it \
                           finds files by name in the whole tree, except files that `.gitignore` excludes.";
        Self {
            spec: spec_on_file(name, description, PARAMETERS),
            options,
        }
    }
}

impl TypedTool for ListTool {
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
            list(space, &asked, max_bytes, cancel)
        })
        .await
    }
}

/// Reads a pattern. One without a `/` fits the name alone, wherever it stands.
pub(super) fn name_pattern(pattern: &str) -> Result<GlobMatcher, Problem> {
    let anywhere = if pattern.contains('/') {
        pattern.trim_start_matches("./").to_owned()
    } else {
        format!("**/{pattern}")
    };
    GlobBuilder::new(&anywhere)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| {
            Problem::Other(format!(
                "`{pattern}` is not a valid pattern: {}.",
                error.kind()
            ))
        })
}

/// Fails with words unless there is a directory.
pub(super) fn check_directory(place: &RootedPath<'_>) -> Result<(), Problem> {
    match place.root.walk(&place.relative, place.links()) {
        Ok(end) if end.kind == DirectoryEntryKind::Directory => Ok(()),
        Ok(_) => Err(Problem::Other(format!(
            "`{}` is not a directory.",
            place.shown
        ))),
        Err(error) => Err(place.problem(error)),
    }
}

fn list(
    space: &Space,
    asked: &Arguments,
    max_bytes: usize,
    cancel: &CancellationToken,
) -> Result<ToolOutcome, Problem> {
    let place = space.place(asked.path.as_deref().unwrap_or("."))?;
    check_directory(&place)?;
    let pattern = asked.pattern.as_deref().map(name_pattern).transpose()?;
    let depth = match (asked.depth, &pattern) {
        (Some(depth), _) => depth.max(1) as usize,
        (None, Some(_)) => usize::MAX,
        (None, None) => 1,
    };
    let ignored = match (asked.ignored, depth) {
        (Some(true), _) | (None, 1) => Ignored::Included,
        (Some(false) | None, _) => Ignored::LeftOut,
    };
    let limit = asked
        .limit
        .map_or(USUAL, |limit| limit as usize)
        .clamp(1, MOST);
    let room = max_bytes.saturating_sub(256);
    let (mut lines, mut shown): (Vec<String>, Vec<PathBuf>) = Default::default();
    let mut bytes = 0;
    let mut is_full = false;
    let walked = walk(&place, depth, ignored, cancel, &mut |path, kind| {
        let inside = path.strip_prefix(&place.relative).unwrap_or(path);
        let wanted = match &pattern {
            Some(pattern) => kind != DirectoryEntryKind::Directory && pattern.is_match(inside),
            None => true,
        };
        if !wanted {
            return Go::On;
        }
        let line = line(&place, path, inside, kind);
        if lines.len() == limit || bytes + line.len() + 1 > room {
            is_full = true;
            return Go::Stop;
        }
        bytes += line.len() + 1;
        lines.push(line);
        shown.push(inside.to_path_buf());
        Go::On
    });
    place.shows_names(&shown);
    let mut text = lines.join("\n");
    let note = match walked {
        _ if is_full => {
            Some("There are more entries: use a `pattern`, a deeper `path` or a larger `limit`.")
        }
        Walked::GaveUp => {
            Some("There are more entries: the tree is too large to search completely.")
        }
        Walked::NotAll => Some("Some directories could not be read."),
        Walked::All | Walked::Stopped if lines.is_empty() => Some(match &pattern {
            Some(_) => "No file name matches.",
            None => "The directory is empty.",
        }),
        Walked::All | Walked::Stopped => None,
    };
    if let Some(note) = note {
        if !text.is_empty() {
            text.push('\n');
        }
        text.extend(["[", note, "]"]);
    }
    Ok(ToolOutcome::text(text).with_details(
        json!({"path": place.shown, "count": lines.len(), "isWhole": note.is_none()}),
    ))
}

fn line(place: &RootedPath<'_>, path: &Path, inside: &Path, kind: DirectoryEntryKind) -> String {
    let name = clean(inside.as_os_str().as_encoded_bytes(), Controls::Show).replace('\n', "\\n");
    match kind {
        DirectoryEntryKind::Directory => format!("{name}/"),
        DirectoryEntryKind::Link => format!("{name}@"),
        DirectoryEntryKind::Other => format!("{name} (not a regular file)"),
        DirectoryEntryKind::File => match place.root.walk(path, &LinkPolicy::Refuse) {
            Ok(end) => format!("{name} ({})", size(end.fingerprint.size)),
            Err(_) => name,
        },
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
