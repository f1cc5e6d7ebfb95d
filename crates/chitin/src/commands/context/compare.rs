//! Two contexts side by side: another contract, another directory, or a git revision of the workspace.

use super::Args;
use crate::error::CliError;
use crate::host::Host;
use crate::printer::{Paint, Printer, Render, grouped, plain};
use crate::revision::{self, Revision};
use crate::setup::{Setup, Target};
use crate::turn::{Place, Seen};
use chitin_context::cache::{BreakKind, Prefix, common_prefix};
use chitin_context::view::{FileState, View, view};
use chitin_context::{Context, Origin};
use chitin_workspace::contract;
use chitin_workspace::guard::Root;
use serde::Serialize;
use similar::TextDiff;
use std::fmt;
use std::path::PathBuf;

/// What the workspace is compared with.
pub(super) struct Other {
    /// What people call it.
    pub(super) label: String,
    pub(super) seen: Seen,
    /// Held for as long as its files are in use.
    revision: Option<Revision>,
}

impl Other {
    /// Takes a word for a contract, else for a directory, else for a revision.
    pub(super) fn find(
        args: &Args,
        other: &str,
        host: &Host,
        here: &Setup,
        printer: &Printer,
    ) -> Result<Self, CliError> {
        let with = |target: Target| args.turn.find(host, &target, printer);
        let mut target = args.target.clone();
        if contract::by_name(other).is_some() {
            target.contract = Some(other.to_owned());
            let setup = with(target)?;
            let seen = args.turn.look(host, &setup, Place::Here)?;
            return Ok(Self::new(other, seen, None));
        }
        let path = host.env.working_directory().join(other);
        if Root::open(&path).is_ok() {
            target.directory = Some(PathBuf::from(other));
            let setup = with(target)?;
            let seen = args.turn.look(host, &setup, Place::Here)?;
            return Ok(Self::new(other, seen, None));
        }
        let revision = revision::open(host, &here.directory, other, &here.options.root_files)
            .map_err(|error| {
                let names: Vec<&str> = contract::ALL.iter().map(|one| one.name).collect();
                match crate::turn::nearest(other, &names) {
                    Some(near) => error.hint(format!("did you mean the contract `{near}`?")),
                    None => error,
                }
            })?;
        let setup = with(target)?;
        let seen = args.turn.look(host, &setup, Place::Revision(&revision))?;
        let label = format!("{other} ({})", revision.short);
        Ok(Self::new(&label, seen, Some(revision)))
    }

    fn new(label: &str, seen: Seen, revision: Option<Revision>) -> Self {
        Self {
            label: plain(label, '\u{fffd}'),
            seen,
            revision,
        }
    }
}

/// How two contexts differ. The other one is the left side: what was, or what another runtime makes of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Comparison {
    left: String,
    right: String,
    /// The commit of the left side, when it is a revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_commit: Option<String>,
    left_tokens: usize,
    right_tokens: usize,
    prefix: Prefix,
    /// How many tokens of the left prompt's cached part stay usable.
    cached_tokens_kept: usize,
    /// How many tokens of the right prompt's cached part must be written again.
    cached_tokens_lost: usize,
    /// What stands where the prefix breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_by: Option<String>,
    files: Vec<FileChange>,
    /// The prompts, line by line, as a unified difference.
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<String>,
}

/// A file that differs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileChange {
    name: String,
    left: Option<FileState>,
    right: Option<FileState>,
    left_units: usize,
    right_units: usize,
}

impl Comparison {
    pub(super) fn new(args: &Args, setup: &Setup, seen: &Seen, other: &Other) -> Self {
        let (left, right) = (&other.seen.context, &seen.context);
        let mut count = seen.model.counter(args.tokens);
        let (left_view, right_view) = (view(left, &mut count), view(right, &mut count));
        let prefix = common_prefix(left, right);
        let (left_text, right_text) = (left.system(), right.system());
        let cacheable = right.boundary().unwrap_or(right_text.len());
        let kept_bytes = prefix.bytes.min(cacheable);
        let kept = count(&right_text[..kept_bytes]);
        let lost = right_view.cached.tokens.saturating_sub(kept);
        let diff = TextDiff::from_lines(&left_text, &right_text)
            .unified_diff()
            .context_radius(3)
            .header(&other.label, &here(setup, seen))
            .to_string();
        Self {
            left: other.label.clone(),
            right: here(setup, seen),
            left_commit: other
                .revision
                .as_ref()
                .map(|revision| revision.commit.clone()),
            left_tokens: left_view.total.tokens,
            right_tokens: right_view.total.tokens,
            broken_by: prefix.broken_by.as_ref().map(|broken| {
                let name = |context: &Context, at: Option<usize>| match at
                    .map(|at| &context.fragments[at].origin)
                {
                    None => "the end".to_owned(),
                    Some(Origin::Boundary) => "the cache boundary".to_owned(),
                    Some(Origin::Section { key }) => format!("section `{key}`"),
                    Some(Origin::File { name, .. }) => format!("`{name}`"),
                };
                match broken.kind {
                    BreakKind::Changed => name(right, broken.after),
                    BreakKind::Replaced => format!(
                        "{} in place of {}",
                        name(right, broken.after),
                        name(left, broken.before)
                    ),
                }
            }),
            prefix,
            cached_tokens_kept: kept,
            cached_tokens_lost: lost,
            files: changes(&left_view, &right_view),
            diff,
            cost: seen.model.cost_of_rewriting(lost),
        }
    }
}

fn here(setup: &Setup, seen: &Seen) -> String {
    let name = setup
        .directory
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    format!(
        "{} ({})",
        plain(&name.unwrap_or_default(), '\u{fffd}'),
        seen.context.contract.name
    )
}

/// Files are the same when their names, or their paths below their workspaces, are.
fn changes(left: &View, right: &View) -> Vec<FileChange> {
    let key = |view: &View, file: &chitin_context::view::FileView| {
        file.path.strip_prefix(&view.directory).map_or_else(
            || file.name.clone(),
            |below| below.trim_start_matches('/').to_owned(),
        )
    };
    let mut names: Vec<String> = Vec::new();
    for (view, files) in [(left, &left.files), (right, &right.files)] {
        for file in files {
            let name = key(view, file);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let find = |view: &View, name: &str| {
        view.files
            .iter()
            .find(|file| key(view, file) == name)
            .map(|file| (file.state, file.injected.units))
    };
    names
        .into_iter()
        .filter_map(|name| {
            let (before, after) = (find(left, &name), find(right, &name));
            (before != after).then(|| FileChange {
                left: before.map(|(state, _)| state),
                right: after.map(|(state, _)| state),
                left_units: before.map_or(0, |(_, units)| units),
                right_units: after.map_or(0, |(_, units)| units),
                name,
            })
        })
        .collect()
}

impl Render for Comparison {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "{} {} → {}\n",
            paint.bold("Context"),
            self.left,
            self.right
        )?;
        let Some(broken_by) = &self.broken_by else {
            return writeln!(
                out,
                "The same, to the byte: {} tokens.",
                grouped(self.right_tokens)
            );
        };
        let change = self.right_tokens.cast_signed() - self.left_tokens.cast_signed();
        writeln!(
            out,
            "{} → {} tokens ({change:+})",
            grouped(self.left_tokens),
            grouped(self.right_tokens)
        )?;
        writeln!(
            out,
            "The first difference is at byte {}, line {}, in {broken_by}.",
            grouped(self.prefix.bytes),
            grouped(self.prefix.line)
        )?;
        let cost = self
            .cost
            .as_deref()
            .map(|cost| format!(", {cost}"))
            .unwrap_or_default();
        writeln!(
            out,
            "Of the cached part {} tokens stay, {} are written again{cost}.",
            grouped(self.cached_tokens_kept),
            grouped(self.cached_tokens_lost)
        )?;
        if !self.files.is_empty() {
            writeln!(out, "\n{}", paint.bold("Files"))?;
        }
        for file in &self.files {
            let word = |state: Option<FileState>| state.map_or("not looked at", FileState::word);
            writeln!(
                out,
                "  {}: {} {} → {} {}",
                plain(&file.name, '\u{fffd}'),
                word(file.left),
                grouped(file.left_units),
                word(file.right),
                grouped(file.right_units)
            )?;
        }
        writeln!(out)?;
        for line in self.diff.lines() {
            let shown = plain(line, '\u{fffd}');
            let shown = match line.as_bytes().first() {
                Some(b'+') => paint.good(&shown),
                Some(b'-') => paint.bad(&shown),
                Some(b'@') => paint.dim(&shown),
                _ => shown,
            };
            writeln!(out, "{shown}")?;
        }
        Ok(())
    }
}
