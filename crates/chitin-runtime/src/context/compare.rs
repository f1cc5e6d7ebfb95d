//! Two contexts side by side: another contract, another directory, or a git revision of the workspace.

use super::{FileSource, TokenCounting, TurnContext, TurnRequest};
use crate::display::plain;
use crate::error::RuntimeError;
use crate::{AgentTarget, Host, Notes, Revision, Setup};
use chitin_context::cache::{BreakKind, Prefix, common_prefix};
use chitin_context::view::{FileState, View, view};
use chitin_context::{Context, FragmentOrigin, FragmentSource};
use chitin_guard::Root;
use chitin_protocol::nearest::nearest;
use serde::Serialize;
use similar::TextDiff;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a difference is sought for the best way to say it.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a workspace is compared with.
pub struct ComparedContext {
    /// What people call it.
    pub label: String,
    /// Its context.
    pub context: TurnContext,
    /// The workspace and the configuration that it was made with.
    pub setup: Setup,
    /// Held for as long as its files are in use.
    revision: Option<Revision>,
}

impl ComparedContext {
    /// Takes a word for a contract, else for a directory, else for a git revision of the workspace `here`.
    pub fn find(
        word: &str,
        host: &Host,
        request: &TurnRequest,
        target: &AgentTarget,
        here: &Setup,
    ) -> Result<Self, RuntimeError> {
        let mut target = target.clone();
        if chitin_contract::by_name(word).is_some() {
            target.contract = Some(word.to_owned());
        } else if Root::open(&host.env.resolve(word)).is_ok() {
            target.directory = Some(PathBuf::from(word));
        } else {
            return Self::revision(word, host, request, &target, here);
        }
        let setup = request.find(host, &target, &Notes::none())?;
        let context = request.context(host, &setup, FileSource::Disk)?;
        Ok(Self::new(word, context, setup, None))
    }

    fn revision(
        word: &str,
        host: &Host,
        request: &TurnRequest,
        target: &AgentTarget,
        here: &Setup,
    ) -> Result<Self, RuntimeError> {
        let revision = Revision::open(host, &here.directory, word, &here.options.root_files)
            .map_err(|error| {
                let names = chitin_contract::ALL.iter().map(|one| one.name);
                match nearest(word, names) {
                    Some(near) => error.hint(format!("did you mean the contract `{near}`?")),
                    None => error,
                }
            })?;
        let setup = request.find(host, target, &Notes::none())?;
        let context = request.context(host, &setup, FileSource::Copy(&revision.copy))?;
        let label = format!("{word} ({})", revision.short);
        Ok(Self::new(&label, context, setup, Some(revision)))
    }

    fn new(label: &str, context: TurnContext, setup: Setup, revision: Option<Revision>) -> Self {
        Self {
            label: plain(label, '\u{fffd}'),
            context,
            setup,
            revision,
        }
    }
}

/// How two contexts differ. The other one is the left side: what was, or what another runtime makes of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextComparison {
    /// What the left side is called.
    pub left: String,
    /// What the right side is called.
    pub right: String,
    /// The commit of the left side, when it is a revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_commit: Option<String>,
    /// The tokens of the left prompt.
    pub left_tokens: usize,
    /// The tokens of the right prompt.
    pub right_tokens: usize,
    /// How far the two are the same.
    pub prefix: Prefix,
    /// How many tokens of the left prompt's cached part stay usable.
    pub cached_tokens_kept: usize,
    /// How many tokens of the right prompt's cached part must be written again.
    pub cached_tokens_lost: usize,
    /// What stands where the prefix breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_by: Option<String>,
    /// The files of which the model gets something else.
    pub files: Vec<FileComparison>,
    /// The prompts, line by line, as a unified difference.
    pub diff: String,
    /// What writing the lost part again costs, where the price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// A file that differs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileComparison {
    /// Its path below the workspace.
    pub name: String,
    /// What became of it on the left side; nothing where it was not looked at.
    pub left: Option<FileState>,
    /// The same on the right side.
    pub right: Option<FileState>,
    /// How much of it the left prompt has.
    pub left_units: usize,
    /// How much of it the right prompt has.
    pub right_units: usize,
}

impl ContextComparison {
    /// Compares what a workspace gives now with something else.
    pub fn with(
        other: &ComparedContext,
        setup: &Setup,
        context: &TurnContext,
        tokens: TokenCounting,
    ) -> Self {
        let revision = other.revision.as_ref();
        Self {
            left_commit: revision.map(|revision| revision.commit.clone()),
            ..Self::between(
                (&other.label, &other.context),
                (&here(setup, context), context),
                tokens,
            )
        }
    }

    /// Compares two turns, each with what people call it.
    pub fn between(
        (left_label, left_seen): (&str, &TurnContext),
        (right_label, seen): (&str, &TurnContext),
        tokens: TokenCounting,
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
        let mut config = TextDiff::configure();
        let diff = config
            .timeout(PATIENCE)
            .diff_lines(&*left_text, &*right_text);
        let diff = diff
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
                    Some(FragmentOrigin::Boundary) => "the cache boundary".to_owned(),
                    Some(FragmentOrigin::Section { key }) => format!("section `{key}`"),
                    Some(FragmentOrigin::File { name, .. }) => format!("`{name}`"),
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
fn changes(left: (&Context, &View), right: (&Context, &View)) -> Vec<FileComparison> {
    let (left, right) = (sides(left), sides(right));
    let (lefts, rights) = (by_name(&left), by_name(&right));
    let added = right
        .iter()
        .filter(|(name, _)| !lefts.contains_key(name.as_str()));
    left.iter()
        .chain(added)
        .filter_map(|(name, _)| {
            let (before, after) = (lefts.get(name.as_str()), rights.get(name.as_str()));
            (before.map(|side| side.key()) != after.map(|side| side.key())).then(|| {
                FileComparison {
                    name: name.clone(),
                    left: before.map(|side| side.state),
                    right: after.map(|side| side.state),
                    left_units: before.map_or(0, |side| side.units),
                    right_units: after.map_or(0, |side| side.units),
                }
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
                FragmentSource::File { .. } | FragmentSource::Rewritten { .. } => true,
                FragmentSource::Ours | FragmentSource::Given => false,
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
