//! Two contexts side by side: another contract, another directory, or a git revision of the workspace.

use super::Args;
use crate::error::CliError;
use crate::printer::{Paint, Render, grouped, plain};
use chitin_context::cache::{BreakKind, Prefix, common_prefix};
use chitin_context::view::{FileState, View, view};
use chitin_context::{Context, Origin, Source};
use chitin_runtime::Host;
use chitin_runtime::context::{FileSource, TurnContext};
use chitin_runtime::{Revision, Setup, Target};
use chitin_workspace::contract;
use chitin_workspace::guard::Root;
use chitin_workspace::nearest::nearest;
use serde::Serialize;
use similar::TextDiff;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What the workspace is compared with.
pub(super) struct Other {
    /// What people call it.
    pub(super) label: String,
    pub(super) seen: TurnContext,
    /// The workspace and the configuration that it was seen with.
    pub(super) setup: Setup,
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
    ) -> Result<Self, CliError> {
        let quiet = chitin_runtime::Notes::none();
        let with = |target: Target| args.turn.request().find(host, &target, &quiet);
        let mut target = args.target.target();
        if contract::by_name(other).is_some() {
            target.contract = Some(other.to_owned());
            let setup = with(target)?;
            let seen = args
                .turn
                .request()
                .context(host, &setup, FileSource::Disk)?;
            return Ok(Self::new(other, seen, setup, None));
        }
        let path = host.env.resolve(other);
        if Root::open(&path).is_ok() {
            target.directory = Some(PathBuf::from(other));
            let setup = with(target)?;
            let seen = args
                .turn
                .request()
                .context(host, &setup, FileSource::Disk)?;
            return Ok(Self::new(other, seen, setup, None));
        }
        let revision = Revision::open(host, &here.directory, other, &here.options.root_files)
            .map_err(|error| {
                let names = contract::ALL.iter().map(|one| one.name);
                match nearest(other, names) {
                    Some(near) => error.hint(format!("did you mean the contract `{near}`?")),
                    None => error,
                }
            })?;
        let setup = with(target)?;
        let seen = args
            .turn
            .request()
            .context(host, &setup, FileSource::Copy(&revision.copy))?;
        let label = format!("{other} ({})", revision.short);
        Ok(Self::new(&label, seen, setup, Some(revision)))
    }

    fn new(label: &str, seen: TurnContext, setup: Setup, revision: Option<Revision>) -> Self {
        Self {
            label: plain(label, '\u{fffd}'),
            seen,
            setup,
            revision,
        }
    }
}

/// How two contexts differ. The other one is the left side: what was, or what another runtime makes of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comparison {
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
    pub(super) fn new(args: &Args, setup: &Setup, seen: &TurnContext, other: &Other) -> Self {
        let right = here(setup, seen);
        let revision = other.revision.as_ref();
        Self {
            left_commit: revision.map(|revision| revision.commit.clone()),
            ..Self::between(
                (&other.label, &other.seen),
                (&right, seen),
                args.tokens.into(),
            )
        }
    }

    /// Compares two turns, each with what people call it.
    pub(crate) fn between(
        (left_label, left_seen): (&str, &TurnContext),
        (right_label, seen): (&str, &TurnContext),
        tokens: chitin_runtime::context::TokenCounting,
    ) -> Self {
        let (left, right) = (&left_seen.context, &seen.context);
        let mut count = seen.model.counter(tokens);
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
            .header(left_label, right_label)
            .to_string();
        Self {
            left: left_label.to_owned(),
            right: right_label.to_owned(),
            left_commit: None,
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
            files: changes((left, &left_view), (right, &right_view)),
            diff,
            cost: seen.model.cost_of_rewriting(lost),
        }
    }
}

fn here(setup: &Setup, seen: &TurnContext) -> String {
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

/// Lists the files of which the model gets something else. Two files belong together when their paths below their
/// workspaces are the same; headings do not count, since they may name the directory.
fn changes(left: (&Context, &View), right: (&Context, &View)) -> Vec<FileChange> {
    let (left, right) = (sides(left), sides(right));
    let (lefts, rights) = (by_name(&left), by_name(&right));
    let added = right
        .iter()
        .filter(|(name, _)| !lefts.contains_key(name.as_str()));
    left.iter()
        .chain(added)
        .filter_map(|(name, _)| {
            let (before, after) = (lefts.get(name.as_str()), rights.get(name.as_str()));
            (before.map(|side| side.key()) != after.map(|side| side.key())).then(|| FileChange {
                name: name.clone(),
                left: before.map(|side| side.state),
                right: after.map(|side| side.state),
                left_units: before.map_or(0, |side| side.units),
                right_units: after.map_or(0, |side| side.units),
            })
        })
        .collect()
}

/// What one context has of a file.
struct Side {
    state: FileState,
    units: usize,
    /// What the model gets of the file itself.
    text: String,
}

impl Side {
    fn key(&self) -> (FileState, &str) {
        (self.state, &self.text)
    }
}

/// Of two files with one name the first one counts.
fn by_name(sides: &[(String, Side)]) -> HashMap<&str, &Side> {
    let sides = sides.iter().rev();
    sides.map(|(name, side)| (name.as_str(), side)).collect()
}

/// Returns the files of a context in their order, by their paths below the workspace.
fn sides((context, view): (&Context, &View)) -> Vec<(String, Side)> {
    let sides = view.files.iter().map(|file| {
        let below = Path::new(&file.path).strip_prefix(&view.directory);
        let name = below.map_or_else(
            |_| file.name.clone(),
            |below| below.to_string_lossy().into_owned(),
        );
        let pieces = file.fragment.map(|at| &context.fragments[at].pieces);
        let text = pieces
            .into_iter()
            .flat_map(|pieces| pieces.iter())
            .filter(|piece| match piece.source {
                Source::File { .. } | Source::Rewritten { .. } => true,
                Source::Ours | Source::Given => false,
            })
            .map(|piece| piece.text.as_str())
            .collect();
        let side = Side {
            state: file.state,
            units: file.injected.units,
            text,
        };
        (name, side)
    });
    sides.collect()
}

impl Render for Comparison {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        self.write(out, paint, Lines::Shown)
    }
}

/// Whether the lines of the prompt are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// They are.
    Shown,
    /// Only what they come to.
    Counted,
}

impl Comparison {
    /// Writes the comparison for a person.
    pub(crate) fn write(
        &self,
        out: &mut dyn fmt::Write,
        paint: Paint,
        lines: Lines,
    ) -> fmt::Result {
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
            "The first {} bytes are the same; the first difference is in line {}, in {broken_by}.",
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
        if lines == Lines::Counted {
            return Ok(());
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
